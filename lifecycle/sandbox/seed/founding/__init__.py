"""From a seed to a world, one file a subject."""
