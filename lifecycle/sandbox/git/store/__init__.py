"""The bare repositories on disk, by way of the program git."""
