"""Requests to GitHub: transport, REST, GraphQL, documents, pages and limits."""
