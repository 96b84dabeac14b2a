"""The journal's statistics on stages and phases: how long, how often, how well."""
