"""The meaning of words in evidence: tables as data, and the readers of sentences and verdicts."""
