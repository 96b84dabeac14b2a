"""Everything about one worktree as one value, read from files: for a text, a screen, a line, a page."""
