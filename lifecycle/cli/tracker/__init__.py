"""`lifecycle tracker`."""
