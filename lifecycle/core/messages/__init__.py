"""Every sentence that an agent or a person reads, by subject."""
