"""An embedded GitHub on loopback: REST, GraphQL and git over HTTP, with faults on demand.

One folder a subject: `state.py` what is remembered, `actions.py` what happens, whoever asks for it,
`payload.py` the REST objects, `rest.py` the routes, `graph.py` the GraphQL fields. `wire/` answers
requests, `seed/` makes a world and writes it down, `control/` lets people and weather into it.

What is remembered are entities, which change; whoever reads or writes holds the world's lock. Values
that cross a boundary (seeds, faults, log entries) are frozen. Two entities are equal only if they are
the same one (`eq=False`).

Nothing is imported here: a process that only needs the control client pays for no web server.
"""
