"""Red, green, refactor, verify: what a phase demands, and the runs of tests that prove it."""
