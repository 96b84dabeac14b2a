"""One look at one claim: observe, decide, act, commit, report."""
