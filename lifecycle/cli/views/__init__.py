"""Everything about a worktree: as text, live on a terminal, as one line, as a page."""
