"""GitHub's published GraphQL schema, cut down to what is answered here."""
