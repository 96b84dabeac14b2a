"""Gates of a run: what each runs, which records show it, and the moves that need them."""
