"""Users, organizations, bots, GitHub Apps and their tokens."""
