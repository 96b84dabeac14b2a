"""Milestones of a repository."""
