"""Real git behind the embedded GitHub: bare repositories, and smart HTTP to them."""
