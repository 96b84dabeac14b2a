"""The claim system: `.agent-claim.json`, from claim to close."""
