"""`lifecycle tracker` and `lifecycle stage`: the tasks, and where one stands in the staged workflow."""
