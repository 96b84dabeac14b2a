"""The claim system: follow one task of an agent in `.agent-claim.json`, from claim to close.

Read `engine/look.py` first: one look observes, decides, acts, commits and reports. `record/` has the claim
file and state.json, `decisions/` the pure functions that say what comes next, `commands/` what people and
agents do by command, and `linked/` what keeps a task of another tracker in step.
"""
