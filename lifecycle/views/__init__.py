"""Pictures of what is known; nothing here writes."""
