"""Whose failed checks are: the runner's, chance's, the base branch's, ours; and what follows."""
