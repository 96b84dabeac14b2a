"""Repositories, the world that holds them, and who sees and changes them."""
