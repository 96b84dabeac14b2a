"""Wiring a project to the hooks, and examining what works."""
