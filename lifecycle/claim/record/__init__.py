"""The claim file and `state.json`: what they say, how they are merged and written."""
