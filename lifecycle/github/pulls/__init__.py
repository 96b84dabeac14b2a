"""One repository's issues, pull requests and checks."""
