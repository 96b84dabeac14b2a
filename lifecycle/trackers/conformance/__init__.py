"""What every tracker keeps, as checks that need no test runner.

    python -m lifecycle.trackers.conformance package.module:function

The function takes nothing and gives a context manager with a `Ground`: somewhere to make tasks that
nobody else needs. `docs/trackers.md` shows one.
"""
