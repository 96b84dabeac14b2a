"""What a run shows: where it stands, what happened, what is worth keeping in mind."""
