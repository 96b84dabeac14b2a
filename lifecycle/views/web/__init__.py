"""Every worktree of every clone that the user has here, as a page on loopback that stays open."""
