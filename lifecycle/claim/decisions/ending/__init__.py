"""How a claim ends: merged and closed, released, or lost."""
