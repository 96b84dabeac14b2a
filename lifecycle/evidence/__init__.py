"""What was run, on which tree, with which result, and what that proves."""
