"""What follows a stage, and what the session is told: pure."""
