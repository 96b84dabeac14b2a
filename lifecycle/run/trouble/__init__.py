"""What fails in a run, and what stands before it: failures, retries, blockers, and who may let it go on."""
