"""What CI and reviewers say about a pull request: excerpts of failed jobs' logs, packets of reviews."""
