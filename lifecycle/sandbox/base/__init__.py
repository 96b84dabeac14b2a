"""Shared by all subjects: errors, ids and timestamps."""
