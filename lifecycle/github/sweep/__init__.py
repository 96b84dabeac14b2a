"""Read many repositories at once, a hundred nodes in each request."""
