"""The events of an issue, and its timeline."""
