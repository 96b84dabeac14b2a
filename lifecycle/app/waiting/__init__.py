"""Waiting for the news of a pull request: with a claim, and without one."""
