"""The obstacles of a run: failures, retries, blockers, and who may let it continue."""
