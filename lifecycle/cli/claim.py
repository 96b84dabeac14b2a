"""`lifecycle claim`: take a task."""

from __future__ import annotations

import os
from pathlib import Path

import click

from lifecycle.claim.linked import CLAIMED
from lifecycle.claim.places import quoted
from lifecycle.claim.taking import Taken, take
from lifecycle.cli.session import Session, begin, claim_data, json_option

_DEFAULT = ""
"""What `--worktree` stands for without a PATH: the folder beside the main worktree."""


@click.command("claim", short_help="Take a task.")
@click.argument("task", nargs=-1)
@click.option(
    "--force",
    is_flag=True,
    help="Take it although it is not in Todo, depends on open issues, or is held by another.",
)
@click.option(
    "--worktree",
    metavar="[PATH]",
    is_flag=False,
    flag_value=_DEFAULT,
    default=None,
    help="Take it in a git worktree of its own: PATH (with a slash in it), else ../<folder>-<number>.",
)
@json_option
def command(task: tuple[str, ...], *, force: bool, worktree: str | None, as_json: bool) -> None:
    """Take TASK: an issue number, a part of an issue's title, or the id of a task linked to one.

    The task must be open and in Todo, and the issues named in its Dependencies closed. Taking it sets
    the lease (so that no other agent takes it), makes the branch claude/<slug>-<n> from the fresh
    default branch, assigns you, sets Status and Agent on the board, and writes .agent-claim.json.

    A task of this worktree's other tracker that is linked to the issue is claimed with it, and first.

    With --worktree the claim of this worktree does not matter, and it is left as it is.
    """
    if worktree and not _is_path(worktree):
        task, worktree = (worktree, *task), _DEFAULT  # `claim --worktree 42`: that is the task
    if not task:
        raise click.UsageError("Missing argument 'TASK...'.")
    session, query = begin(as_json=as_json, changes_tasks=True), " ".join(task)
    if worktree is None:
        _show(session, take(session.world, session.desk, query, force=force), None)
        return
    from lifecycle.claim.worktree import take_in_worktree
    from lifecycle.install import copy_to

    path = (Path.cwd() / Path(worktree).expanduser()).resolve() if worktree else None
    taken, root = take_in_worktree(session.world, query, path, force=force, prepare=copy_to)
    _show(session, taken, root)


def _is_path(text: str) -> bool:
    is_url = "://" in text
    return (os.sep in text and not is_url) or text in (".", "..", "~")


def _show(session: Session, taken: Taken, root: Path | None) -> None:
    claim = taken.record.claim
    lines = [f"Warning: {note}" for note in taken.notes]
    if taken.is_again:
        lines.append(
            f"#{claim.issue_number} {taken.title} was not held here any more; it is taken again as "
            f"{claim.agent_id}, in phase {claim.phase}."
        )
    elif taken.is_new:
        lines.append(f"Claimed #{claim.issue_number} {taken.title} as {claim.agent_id}.")
    else:
        here = "here" if root is None else f"in {root}"
        lines.append(f"#{claim.issue_number} is claimed {here} already, in phase {claim.phase}.")
    link = taken.record.link
    if link is not None and link.synced == CLAIMED:
        lines.append(f"The linked task {link.id} in {link.tracker} is claimed with it.")
    lines.append(f'On branch {claim.branch}. When done: lifecycle handoff --summary "…"')
    data = {"claim": claim_data(taken.record), "title": taken.title, "notes": taken.notes}
    if root is not None:
        start = f"cd {quoted(root)} && claude"
        lines.append(f"Start there: {start}")
        data |= {"worktree": str(root), "start": start}
    session.show(lines, {**data, "new": taken.is_new})
