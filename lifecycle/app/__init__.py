"""The composition root: one worktree's world, each part built when it is first touched."""
