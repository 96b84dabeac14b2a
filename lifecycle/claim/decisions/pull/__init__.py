"""Decisions about a pull request: open it, judge checks and reviews, when to look again."""
