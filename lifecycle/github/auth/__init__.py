"""Tokens: their origin, their permissions, and those of a GitHub App."""
