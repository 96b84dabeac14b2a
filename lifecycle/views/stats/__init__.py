"""What the journal tells of stages and phases: how long, how often, how well."""
