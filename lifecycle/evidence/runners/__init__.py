"""Test runners: a table of them, a project's own rows, and what their options leave of a run."""
