"""The client's contract: read the event, dispatch, reply."""
