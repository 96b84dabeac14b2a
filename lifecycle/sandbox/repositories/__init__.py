"""Repositories, the world that holds them, and who can see and change them."""
