"""HTTP: connections, the log of requests, tokens, and the ways to REST, GraphQL and git."""
