"""The end of a run: what it lacks, the pull request and its text, and the closing word."""
