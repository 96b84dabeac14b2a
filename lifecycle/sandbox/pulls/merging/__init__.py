"""Merging pull requests: whether it is possible, how it is done, and auto-merge."""
