"""The checks of a project: which there are, how one is run, and what is kept of it."""
