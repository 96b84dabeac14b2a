"""What may be configured, read and checked once: files, environment, credentials."""
