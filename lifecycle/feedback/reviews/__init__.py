"""A pull request's reviews by people and bots: read, remembered by GitHub's ids, packed, answered."""
