"""`lifecycle claim` and `lifecycle takeover`: take a task."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from lifecycle.claim.commands.admission import quoted
from lifecycle.claim.commands.taking import Taken, take
from lifecycle.claim.linked.linked_decisions import CLAIMED
from lifecycle.cli.command_session import Session, begin, claim_data, json_option, timed
from lifecycle.core import redact
from lifecycle.core.messages.messages import HAND_OFF

F = TypeVar("F", bound=Callable[..., Any])

_DEFAULT = ""
"""What `--worktree` stands for without a PATH: the folder beside the main worktree."""


def without_force(verb: str) -> Callable[[F], F]:
    """Refuse `--force` on a command that is run unasked, and name the verb that forces.

    A client's permission for a command covers all of its options, wherever they stand. So forcing is a
    verb of its own, which such a permission does not cover.
    """

    def refuse(_context: click.Context, _option: click.Parameter, *, is_given: bool) -> None:
        if is_given:
            raise click.UsageError(
                "Nothing was claimed: --force is no option of claim. What another holds, or what is "
                f"not to be begun yet, is taken with a verb of its own: {verb} TASK"
            )

    return click.option(
        "--force",
        is_flag=True,
        hidden=True,
        expose_value=False,
        is_eager=True,
        callback=lambda context, option, value: refuse(context, option, is_given=value),
    )


def task_options(function: F) -> F:
    """Add TASK and `--worktree`."""
    worktree = click.option(
        "--worktree",
        metavar="[PATH]",
        is_flag=False,
        flag_value=_DEFAULT,
        default=None,
        help="Take it in a git worktree of its own: PATH (with a slash in it), else ../<folder>-<number>.",
    )
    return click.argument("task", nargs=-1)(worktree(function))


@click.command("claim", short_help="Take a task.")
@without_force("lifecycle takeover")
@task_options
@json_option
@timed
def command(task: tuple[str, ...], *, worktree: str | None, as_json: bool) -> None:
    """Take TASK: an issue number, a part of an issue's title, or the id of a task linked to one.

    The task must be open and in Todo, and the issues named in its Dependencies closed. Taking it sets
    the lease (so that no other agent takes it), makes the branch claude/<slug>-<n> from the fresh
    default branch, assigns you, sets Status and Agent on the board, and writes .agent-claim.json.

    A task of this worktree's other tracker that is linked to the issue is claimed with it, and first.

    With --worktree the claim of this worktree does not matter, and it is left as it is. What another
    holds is left (exit code 4); lifecycle takeover takes it all the same.
    """
    run(task, worktree, as_json=as_json, force=False)


def run(task: tuple[str, ...], worktree: str | None, *, as_json: bool, force: bool) -> None:
    """Take the task of these words, here or in a worktree of its own, and show what came of it.

    Args:
        task: the words.
        worktree: what was given for `--worktree`, or None.
        as_json: for a program.
        force: although it is not in Todo, depends on open issues, or is held by another.

    Raises:
        click.UsageError: no words.
        LifecycleError: as `take` raises.
    """
    if worktree and not _is_path(worktree):
        task, worktree = (worktree, *task), _DEFAULT  # `claim --worktree 42`: that is the task
    if not task:
        raise click.UsageError("Missing argument 'TASK...'.")
    session, query = begin(as_json=as_json, changes_tasks=True), " ".join(task)
    if worktree is None:
        _show(session, take(session.world, session.claim_store, query, force=force), None)
        return
    from lifecycle.claim.commands.task_worktree import take_in_worktree
    from lifecycle.setup.init import copy_to

    path = (Path.cwd() / Path(worktree).expanduser()).resolve() if worktree else None
    taken, root = take_in_worktree(session.world, query, path, force=force, prepare=copy_to)
    _show(session, taken, root)


def _is_path(text: str) -> bool:
    is_url = "://" in text
    return (os.sep in text and not is_url) or text in (".", "..", "~")


def _show(session: Session, taken: Taken, root: Path | None) -> None:
    claim, title = taken.record.claim, redact.quoted(taken.title)
    lines = [f"Warning: {note}" for note in taken.notes]
    if taken.is_again:
        lines.append(
            f"#{claim.issue_number} {title} was not held here any more; it is taken again as "
            f"{claim.agent_id}, in phase {claim.phase}."
        )
    elif taken.is_new:
        lines.append(f"Claimed #{claim.issue_number} {title} as {claim.agent_id}.")
    else:
        here = "here" if root is None else f"in {root}"
        lines.append(f"#{claim.issue_number} is claimed {here} already, in phase {claim.phase}.")
    link = taken.record.link
    if link is not None and link.synced == CLAIMED:
        lines.append(f"The linked task {link.id} in {link.tracker} is claimed with it.")
    lines.append(f"On branch {claim.branch}. When done: {HAND_OFF}")
    data = {"claim": claim_data(taken.record), "title": taken.title, "notes": taken.notes}
    if root is not None:
        start = f"cd {quoted(root)} && claude"
        lines.append(f"Start there: {start}")
        data |= {"worktree": str(root), "start": start}
    session.show(lines, {**data, "new": taken.is_new})


@click.command("takeover", short_help="Take a task from an agent that is gone.")
@task_options
@json_option
@timed
def takeover(task: tuple[str, ...], *, worktree: str | None, as_json: bool) -> None:
    """Take TASK although another holds it, it is not in Todo, or it depends on open issues.

    Whoever held it is told at the next look and writes nothing more. All else is as with lifecycle
    claim. It is a command of its own so that a permission to claim does not cover it: the client asks.
    """
    run(task, worktree, as_json=as_json, force=True)
