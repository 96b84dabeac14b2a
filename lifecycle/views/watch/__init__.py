"""The overview of one worktree, live on a terminal."""
