"""What becomes of a stop: whose run it is, whether it goes on, and with what."""
