"""The causes of failed checks: the runner, chance, the base branch, or our changes; and what follows."""
