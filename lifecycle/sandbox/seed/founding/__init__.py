"""Make a world from a seed: one module for each subject."""
