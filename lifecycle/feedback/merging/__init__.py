"""What keeps a pull request from its base: conflicts, found with the git of the worktree."""
