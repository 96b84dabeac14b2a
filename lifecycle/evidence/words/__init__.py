"""What words mean to whoever reads evidence: tables as data, and the readers of sentences and verdicts."""
