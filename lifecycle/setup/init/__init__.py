"""Puts the hooks into one project's settings, and takes them out; keeps what others wrote there."""
