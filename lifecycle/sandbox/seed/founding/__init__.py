"""Makes a world of a seed: one file for each subject."""
