"""What is read at a compaction beside the documents: marks in `CLAUDE.local.md`, and plans."""
