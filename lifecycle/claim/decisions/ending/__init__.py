"""How a claim ends: merged and closed, given back, or lost."""
