"""`lifecycle run`: the commands of an autonomous run, by subject."""
