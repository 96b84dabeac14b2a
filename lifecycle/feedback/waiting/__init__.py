"""Waiting for a pull request's news: what ends it, and how waiters of one machine share their looks."""
