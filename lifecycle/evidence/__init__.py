"""What was run, on which tree, how it ended, and what that proves."""
