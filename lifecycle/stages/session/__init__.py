"""What is kept of the sessions of a staged workflow."""
