"""Real git behind the embedded GitHub: smart HTTP, and the REST and GraphQL calls about git."""
