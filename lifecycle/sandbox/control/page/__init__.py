"""The page at `/`: what a person sees of a running sandbox, as it happens."""
