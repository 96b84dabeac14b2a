"""`lifecycle demo`."""
