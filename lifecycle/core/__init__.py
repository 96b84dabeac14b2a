"""Values, tables and words, without I/O; imports nothing but itself."""
