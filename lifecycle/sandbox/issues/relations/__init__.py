"""Sub-issues and dependencies."""
