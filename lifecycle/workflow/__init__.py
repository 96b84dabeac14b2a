"""Workflows: ordered phases whose state outlives compaction, in two documents and one view."""
