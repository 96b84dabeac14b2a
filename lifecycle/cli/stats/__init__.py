"""`lifecycle stats`."""
