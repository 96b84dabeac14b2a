"""Failed checks: whose log, which lines of it, and what is told of them."""
