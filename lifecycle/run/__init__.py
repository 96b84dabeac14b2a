"""Autonomous runs: a goal, its stories, the gates that each passes, and what keeps the session at it."""
