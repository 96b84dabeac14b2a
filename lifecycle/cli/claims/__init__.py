"""The commands of a claim."""
