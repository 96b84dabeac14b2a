"""A session's transcript, read from its end."""
