"""What happened to an issue: its events and its timeline."""
