"""Tokens: where they come from, what they may do, and those of a GitHub App."""
