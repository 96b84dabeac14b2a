"""Taking, moving and giving back a claim by command."""
