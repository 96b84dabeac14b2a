"""HTTP: connections, the log of requests, tokens, and the way to REST, GraphQL and git."""
