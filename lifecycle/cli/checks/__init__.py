"""The commands about what is run in a worktree: its platform and its checks."""
