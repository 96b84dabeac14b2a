"""Search in issues, pull requests and repositories."""
