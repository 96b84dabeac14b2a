"""Everything in one picture: a worktree as a value for text, screen and page; what the journal tells."""
