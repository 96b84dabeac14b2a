"""The world in memory: what the embedded GitHub remembers, one file a subject.

These are entities, which change; whoever reads or writes holds the world's lock. Values that cross
a boundary (seeds, faults, log entries) are frozen. Two entities are equal only if they are the same
one (`eq=False`).
"""
