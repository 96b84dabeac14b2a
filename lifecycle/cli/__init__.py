"""The command line: the commands, what they print, and how they find their worktree."""
