"""One line on a worktree for the client's status line, prepared so that a script can print it."""
