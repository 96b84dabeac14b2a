"""What is read at a compaction beside the documents: marks in `CLAUDE.local.md`, plans, and task graphs."""
