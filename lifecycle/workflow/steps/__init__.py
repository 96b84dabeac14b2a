"""What is done with workflows: steps for commands and hooks, functions for programs, and templates."""
