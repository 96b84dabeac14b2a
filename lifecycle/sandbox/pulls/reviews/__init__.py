"""Reviews, and the conversations about lines of a diff."""
