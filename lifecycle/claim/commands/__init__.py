"""Commands on a claim: take, hand off, move, release."""
