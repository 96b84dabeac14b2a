"""What is shown: everything about a worktree as text, live, as one line, as a page; statistics."""
