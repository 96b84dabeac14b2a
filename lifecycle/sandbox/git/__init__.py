"""Real git behind the embedded GitHub: smart HTTP to it, REST and GraphQL about it."""
