"""`lifecycle feedback`: what CI answers to a pull request."""
