"""Merging pull requests: whether one can be merged, how, and auto-merge."""
