"""Reports on what the journal holds: numbers, and a page with charts."""
