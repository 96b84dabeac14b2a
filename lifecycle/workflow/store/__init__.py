"""The files of the workflows of one worktree: found, trusted or not, read, and written in one commit."""
