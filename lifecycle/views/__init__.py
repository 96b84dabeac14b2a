"""All systems in one picture: a worktree as a value for text, screen and page; the journal's statistics."""
