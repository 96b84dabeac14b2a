"""Reviews, and the threads about lines of a diff."""
