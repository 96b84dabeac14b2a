"""Autonomous runs: a goal, its stories, the gates that each passes, and what holds the session to it."""
