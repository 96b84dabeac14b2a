"""git in a worktree: commands, remotes, what is tracked, what is not committed, and how commits differ."""
