"""The texts of a run: its state, its reports, and the next step for a session."""
