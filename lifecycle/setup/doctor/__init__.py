"""What works here, what does not, and how to fix it; writes nothing to GitHub and the project."""
