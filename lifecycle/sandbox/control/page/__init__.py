"""The page at `/`, which shows a running sandbox to a person, live."""
