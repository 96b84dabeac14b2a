"""The staged workflow: which stage a session is at, what it is told next, and what is recorded.

The quick path imports from here before it knows whether the workflow is on: this file stays empty.
"""
