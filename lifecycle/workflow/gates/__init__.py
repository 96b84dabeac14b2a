"""Gates of phases: how they are written, and whether one is passed."""
