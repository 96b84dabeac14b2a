"""Branch protection, rulesets and the merge queue."""
