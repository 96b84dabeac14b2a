"""Shared by all REST endpoints: the router, and functions that read and check a request."""
