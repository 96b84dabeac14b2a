"""The staged workflow: which stage a session is at, what it is told next, and what is recorded.

The quick path imports from here before anything is known to be wanted: this file stays empty.
"""
