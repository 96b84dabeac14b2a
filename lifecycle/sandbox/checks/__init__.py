"""Check runs, check suites, commit statuses and runs of Actions."""
