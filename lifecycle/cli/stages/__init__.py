"""`lifecycle stage`."""
