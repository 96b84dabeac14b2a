"""An embedded GitHub on loopback: REST, GraphQL and git over HTTP, with faults on demand.

Nothing is imported here: a process that only needs the control client pays for no web server.
"""
