"""git in a worktree: commands, remotes, and what is tracked."""
