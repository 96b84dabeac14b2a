"""The views: everything about a worktree as text, screen, line and page; statistics."""
