"""From a world to a seed, one file a subject."""
