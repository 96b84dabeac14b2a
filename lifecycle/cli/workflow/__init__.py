"""`lifecycle workflow`: phases whose state outlives compaction."""
