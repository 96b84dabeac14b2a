"""Waiting for the news of a pull request: the loop of all that wait, with a claim, and without one."""
