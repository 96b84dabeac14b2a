"""The composition root: one worktree's world, built when it is used, and what a session is told of it."""
