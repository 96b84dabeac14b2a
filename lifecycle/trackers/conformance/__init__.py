"""The rules that every tracker keeps, as checks that need no test runner.

    python -m lifecycle.trackers.conformance package.module:function

The function takes no argument and returns a context manager with a `Ground`: a place to make tasks that
nobody else needs. `docs/trackers.md` has an example.
"""
