"""GitHub's side of the ports: REST through PyGithub, GraphQL and the board through gql.

Importing this package imports neither library: each client imports its own when it is first asked.
"""
