"""Merging: whether, how, and by itself as soon as it may be."""
