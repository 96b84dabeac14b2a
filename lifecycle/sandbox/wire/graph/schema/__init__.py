"""GitHub's published GraphQL schema, reduced to the parts that are answered here."""
