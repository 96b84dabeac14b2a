"""The composition root: one worktree's world, built as it is touched, and what a session is told of it."""
