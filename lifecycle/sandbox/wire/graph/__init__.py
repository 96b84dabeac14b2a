"""Shared by all GraphQL types: run, inspect, page and refuse."""
