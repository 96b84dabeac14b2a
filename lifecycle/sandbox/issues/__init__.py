"""Issues and their comments."""
