"""`lifecycle sandbox` and `lifecycle demo`: the embedded GitHub, and a whole task on it."""
