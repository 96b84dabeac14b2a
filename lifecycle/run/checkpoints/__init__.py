"""Checkpoints of a run: states of the worktree, kept beside the branches, and going back to one."""
