"""An embedded GitHub on loopback: REST, GraphQL and git over HTTP, with faults on demand.

Each subject has a folder: `state.py` is its state, `actions.py` its changes, whoever asks for them,
`payload.py` the JSON of REST, `rest.py` REST's operations, `graph.py` GraphQL's fields. `wire/` answers
requests, `seed/` makes a world from a text and writes one, `control/` acts as people and sets faults.

The state consists of entities, which change; hold the world's lock while you read or write them. Values
that cross a boundary (seeds, faults, log entries) are frozen. Two entities are equal only if they are
the same object (`eq=False`).

Nothing is imported here: a process that only needs the control client pays for no web server.
"""
