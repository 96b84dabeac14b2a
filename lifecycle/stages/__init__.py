"""The staged workflow: what a session is at, what it is told next, and what is kept of it.

The quick path imports from here before anything is known to be wanted: this file stays empty.
"""
