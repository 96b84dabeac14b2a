"""Both documents of a workflow and its view: written from the record, and read into it."""
