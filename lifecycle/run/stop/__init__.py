"""The reply to one stop: whether the session leads the run, whether it continues, and with what."""
