"""Clocks, timestamps, deadlines and retries."""
