"""The end of a story and of a run: its commit, the pull request and its text, and the closing word."""
