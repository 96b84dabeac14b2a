"""The `.lifecycle.toml` that `init` writes: every key with its default, commented out."""

from __future__ import annotations

TEMPLATE = """\
# Settings of lifecycle for this repository. All of it is optional; every key shows its default, or
# an example where there is none. The environment wins over this file.

# Where issues and pull requests are, if not where the remote below points: in a fork, the project's
# own repository. It must be one of this clone's remotes.
# repository = "owner/name"

# The git remote that branches are pushed to.
# remote = "origin"

# The pull request's base, if not the repository's default branch.
# base = "main"

# How the pull request names its issue: "Refs", or "Closes", which lets GitHub close the issue at the
# merge, before anybody is asked.
# issue_link = "Refs"

# What `lifecycle handoff` runs first; all must exit 0. Each user allows it once: lifecycle trust
# validate = ["make test"]

# Closing the issue after the merge: "ask" somebody first, or do it of itself ("auto").
# close = "ask"

# The project board; without a number there is none.
# [project]
# owner = "owner"
# number = 1

# Labels that keep a task's Status: where the token cannot see the board ("auto"), in any case
# ("always"), or not at all ("never"); and what their names begin with.
# [labels]
# use = "auto"
# prefix = "status: "

# Seconds between two polls of the checks, at least.
# [checks]
# poll_seconds = 120

# How long a stop waits for news of the pull request where nobody attends, as in `claude -p`. Without
# this it does not wait.
# [wait]
# unattended = "20m"

# What `lifecycle reconcile` may do beside repairs: give tasks back that show no sign of life; and after
# how many hours without one a task counts as such.
# [reconcile]
# release = false
# silent_hours = 24

# Where tasks are kept: "auto" is the tracker that is found here. And where it keeps its database, if
# not where it looks by itself.
# [tracker]
# use = "auto"
# folder = "tasks"

# The staged workflow: from stage to stage while a task with this label is open. `lifecycle init --stages`
# wires it. Commands without a line here are left out of what the agent is told.
# [stages]
# use = false
# label = "auto-workflow"
# test = ["make test"]
# review = "/oracle-review"
# deploy = "./deploy_prod.sh"
# start = "/bd-start"
# require_evidence = false
# max_blocks = 50

# Fewer stages for tasks with a label; one without NEXT_TASK ends after its last stage.
# [stages.workflows]
# "auto-workflow:quick-fix" = ["CODING", "TESTING", "COMMIT_CLOSE"]
"""


def staged(review: str, start: str) -> str:
    """The same with the staged workflow switched on, and the names of its two commands."""
    text = TEMPLATE
    for commented, line in (
        ("# [stages]\n# use = false\n", "[stages]\nuse = true\n"),
        ('# review = "/oracle-review"\n', f'review = "{review}"\n'),
        ('# start = "/bd-start"\n', f'start = "{start}"\n'),
    ):
        text = text.replace(commented, line)
    return text
