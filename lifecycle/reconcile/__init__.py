"""Many tasks at once, from what GitHub shows alone: swept, judged, repaired, reported."""
