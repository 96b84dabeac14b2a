"""`lifecycle claim`: take a task."""

from __future__ import annotations

import click

from lifecycle.claim.taking import take
from lifecycle.cli.session import begin, claim_data, json_option


@click.command("claim", short_help="Take a task.")
@click.argument("task", nargs=-1, required=True)
@click.option(
    "--force",
    is_flag=True,
    help="Take it although it is not in Todo, depends on open issues, or is held by another.",
)
@json_option
def command(task: tuple[str, ...], *, force: bool, as_json: bool) -> None:
    """Take TASK: an issue number, or a part of an issue's title.

    The task must be open and in Todo, and the issues named in its Dependencies closed. Taking it sets
    the lease (so that no other agent takes it), makes the branch claude/<slug>-<n> from the fresh
    default branch, assigns you, sets Status and Agent on the board, and writes .agent-claim.json.
    """
    session = begin(as_json=as_json)
    taken = take(session.world, session.desk, " ".join(task), force=force)
    claim = taken.record.claim
    lines = [f"Warning: {note}" for note in taken.notes]
    if taken.is_new:
        lines.append(f"Claimed #{claim.issue_number} {taken.title} as {claim.agent_id}.")
    else:
        lines.append(f"#{claim.issue_number} is claimed here already, in phase {claim.phase}.")
    lines.append(f'On branch {claim.branch}. When done: lifecycle handoff --summary "…"')
    data = {"claim": claim_data(taken.record), "title": taken.title, "notes": taken.notes}
    session.show(lines, {**data, "new": taken.is_new})
