"""What CI and reviewers answer to a pull request: excerpts of failed jobs' logs, packets of reviews."""
