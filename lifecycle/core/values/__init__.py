"""Frozen values: issues, pull requests, checks, boards, and what a sweep shows of them."""
