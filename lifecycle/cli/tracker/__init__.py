"""`lifecycle tracker` and `lifecycle stage`: tasks, and the stage of a task in the staged workflow."""
