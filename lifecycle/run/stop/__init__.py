"""The reply to one stop: whose run it is, whether the session goes on, and with what."""
