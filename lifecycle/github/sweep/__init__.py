"""Many repositories read at once, a hundred nodes a request."""
