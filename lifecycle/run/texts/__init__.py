"""What a run prints: where it stands, its reports, and what a session goes on with."""
