"""What CI answers to a pull request: a failed job's log as an excerpt for whoever mends it."""
