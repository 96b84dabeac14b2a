"""One Stop of a staged session: which task it is about, and what the session is told."""
