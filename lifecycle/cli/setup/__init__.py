"""The commands that set a project up and examine it."""
