"""Many tasks at once, only from what GitHub shows: swept, judged, repaired, reported."""
