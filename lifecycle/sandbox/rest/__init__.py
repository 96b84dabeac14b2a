"""The REST half: routes and their handlers, one file a subject."""
