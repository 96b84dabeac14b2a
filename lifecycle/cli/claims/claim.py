"""`lifecycle claim`, `takeover`, `handoff`, `close`, `nudge`, `release`: take, move, end a claim."""

from __future__ import annotations

import os
from pathlib import Path

import click

from lifecycle.claim.commands.admission import NAMED_IN_FULL, quoted
from lifecycle.claim.commands.moves import current, hand_off, move
from lifecycle.claim.commands.release import release_claim
from lifecycle.claim.commands.taking import Taken, take
from lifecycle.claim.decisions.card_and_link import CLAIMED
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.engine import briefing, look, observing
from lifecycle.claim.record.state import Record
from lifecycle.cli.claims import claim_look
from lifecycle.cli.command_session import Session, claim_data
from lifecycle.cli.main import Word
from lifecycle.cli.tracker.tracker_values import text_from
from lifecycle.core import plan
from lifecycle.core.errors import Refused
from lifecycle.core.messages import messages
from lifecycle.settings.resources import drawn
from lifecycle.trackers import registry

KINDS = {"phase": Word(Phase)}
"""Click's types for words on the command line, beside those of `main.py`."""


def claim(session: Session, task: tuple[str, ...], worktree: str | None) -> None:
    """Take TASK: an issue number, a part of an issue's title, or the id of a task linked to one.

    The task must be open and in Todo, and the issues named in its Dependencies closed. Taking it sets
    the lease (so that no other agent takes it), makes the branch claude/<slug>-<n> from the fresh
    default branch, assigns you, sets Status and Agent on the board, and writes .agent-claim.json.

    If a task of this worktree's other tracker is linked to the issue, that task is claimed first.

    With --worktree, this worktree's claim does not matter, and it stays unchanged. A task that somebody
    else holds is refused (exit code 4); lifecycle takeover takes it anyway.
    """
    _take(session, task, worktree, force=False)


def _take(session: Session, task: tuple[str, ...], worktree: str | None, *, force: bool) -> None:
    """Take the task that these words name, here or in a worktree of its own, and print the claim.

    Args:
        session: this worktree.
        task: the words: a number, a part of a title, or an id.
        worktree: the value of `--worktree`, or None.
        force: take it also if it is not in Todo, depends on open issues, or is held by another.

    Raises:
        click.UsageError: no words.
        LifecycleError: as `take` raises.
    """
    is_named = not task and bool(NAMED_IN_FULL.fullmatch(worktree or ""))
    if worktree and (is_named or not _is_path(worktree)):
        task, worktree = (worktree, *task), ""  # `claim --worktree 42`: the value is the task
    if not "".join(task).strip():
        raise click.UsageError("Missing argument 'TASK...'.")
    query = " ".join(task)
    if registry.is_alone(session.world):
        raise Refused(
            "There is no remote here, and another tracker keeps the tasks, so no issue was claimed. For a "
            f"task of that tracker: lifecycle tracker {'takeover' if force else 'claim'} <id>"
        )
    if worktree is None:
        _show(session, take(session.world, session.claim_store, query, force=force), None)
        return
    from lifecycle.claim.commands.task_worktree import take_in_worktree
    from lifecycle.setup.init.planning import copy_to

    path = (Path.cwd() / Path(worktree).expanduser()).resolve() if worktree else None
    taken, root = take_in_worktree(session.world, query, path, force=force, prepare=copy_to)
    _show(session, taken, root)


def _is_path(text: str) -> bool:
    is_url = "://" in text
    return (os.sep in text and not is_url) or text in (".", "..", "~")


def _show(session: Session, taken: Taken, root: Path | None) -> None:
    data = {"claim": claim_data(taken.record), "title": taken.title, "notes": taken.notes}
    if root is not None:
        data |= {"worktree": str(root), "start": f"cd {quoted(root)} && claude"}
    link = taken.record.linked.link
    linked = link if link is not None and link.synced == CLAIMED else None
    about = {"claim": taken.record.claim, "linked": linked, "start": data.get("start")}
    lines = drawn("cli/claims/templates/taken.txt", taken=taken, root=root, **about)
    session.show(lines, {**data, "new": taken.is_new})


def takeover(session: Session, task: tuple[str, ...], worktree: str | None) -> None:
    """Take TASK even if another agent holds it, it is not in Todo, or it depends on open issues.

    The agent that held it gets a notice at its next look and writes nothing more. Everything else is as
    with lifecycle claim. This is a separate command so that a permission to claim does not cover it: the
    client asks.
    """
    _take(session, task, worktree, force=True)


def _next(record: Record, hooks: plan.Hooks) -> str:
    if record.claim.phase == Phase.READY_FOR_PR:
        line = briefing.next_line(record, hooks=hooks)
        if hooks is plan.Hooks.UNSEEN:
            line = f"{line.removesuffix('.')}. {messages.no_hooks()}"
        return line
    return f"The next look adds it to PR #{record.claim.pr_number}, or says why that is too late."


def handoff(session: Session, summary: str | None, file: str | None) -> None:
    """Run the configured validation, push the branch, and set the phase to ready_for_pr.

    The PR is opened at the agent's next stop (or by `lifecycle tick`). If a PR is already open, the new
    commits are pushed to it. The time for the validation is not counted.
    """
    if summary is None and file is None:
        raise click.UsageError("Say what was done with --summary or --summary-file.")
    text = text_from(summary, file, "--summary", "--summary-file", is_unasked=True)
    handed_off = hand_off(session.world, session.claim_store, text or "")
    claim = handed_off.record.claim
    lines = [f"Note: {note}" for note in handed_off.notes]
    hooks = observing.hooks_for(session.world, session.claim_store, handed_off.record)
    then = _next(handed_off.record, hooks)
    lines.append(f"Pushed {claim.branch} for #{claim.issue_number}. {then}")
    session.show(lines, {"claim": claim_data(handed_off.record), "notes": handed_off.notes})


def close(session: Session, override: str | None) -> int:
    """Close the claim's issue: the answer "yes" to "Should I close issue #N?".

    Closes only if the PR merged, unless --override gives a reason. Comments, closes, sets the board
    to Done, clears Agent, and deletes .agent-claim.json once GitHub shows the issue closed.
    """
    reason = (override or "").strip()
    if override is not None and not reason:
        raise Refused("--override needs a reason, which goes into the issue's comment.")
    session.claim_store.file.reload(repair=False)
    last = session.claim_store.remembered()
    is_over = last is not None and last.ending.outcome == "closed"
    if last is not None and is_over and session.claim_store.load(repair=False).record is None:
        sentence = f"#{last.claim.issue_number} was already closed; nothing was done."
        return session.show([sentence], claim_look.report_data(look.Report(last)))
    report, lines, is_left = finish_close(session, reason)
    code = claim_look.code_of(report) or int(is_left)
    return session.show(lines, claim_look.report_data(report), code=code)


def finish_close(session: Session, override: str = "") -> tuple[look.Report, list[str], bool]:
    """Record a person's yes to closing the issue, or the reason to close without a merge; look once.

    Returns:
        The report; the lines to print; and whether the claim still exists.
    """
    world, claim_store = session.world, session.claim_store
    # GitHub judges it: a yes given before the merge was seen here is still a yes.
    record = move(world, claim_store, Phase.DONE, force=True, override=override, consent="close")
    report, lines = claim_look.glance(session)
    remaining = claim_store.load(repair=False).record
    is_same = remaining is not None and remaining.claim.issue_number == record.claim.issue_number
    return report, lines, is_same


def nudge(session: Session, phase: Phase, reason: str, *, dry_run: bool, force: bool) -> int:
    """Move the claim to PHASE, record why, and look once.

    Only moves of the phase table are made; the error for another move names the possible ones. The look
    judges the move: if GitHub contradicts it, it is undone. For done, the reason is your yes to closing and
    goes into the issue's comment; with --force, done closes without a merge.

    The phases: coding, ready_for_pr, pr_created, checks_running, merged_detected, pr_closed, done.
    """
    if not reason.strip() and not dry_run:
        raise click.UsageError('A nudge needs a reason, which is recorded: --reason "…"')
    override = reason.strip() if force and phase is Phase.DONE else ""
    world, claim_store = session.world, session.claim_store
    if dry_run:
        before = current(world, claim_store).claim.phase
        why = reason.strip() or "dry run"  # checked the same way as with a reason
        record = move(world, claim_store, phase, force=force, reason=why, dry_run=True)
        line = f"would move #{record.claim.issue_number} from {before} to {phase}"
        return session.show([line], {"claim": claim_data(record), "from": before, "dry_run": True})
    move(world, claim_store, phase, force=force, override=override, reason=reason)
    return claim_look.look(session)


def release(session: Session, reason: str, *, dry_run: bool) -> int:
    """Release the claim's task, so that somebody else can take it.

    Comments on the issue how far the work got, removes you as assignee, sets the board to Todo, clears
    Agent, releases the lease, and deletes .agent-claim.json. Branch, commits and an open PR stay. Cards
    that people moved by hand are left unchanged. A task whose PR is merged is closed instead.
    """
    world, store = session.world, session.claim_store
    outcome = release_claim(world, store, reason, dry_run=dry_run)
    if outcome.said:
        report = look.Report(outcome.record)
        return session.show([outcome.said], {**claim_look.report_data(report), "notes": []})
    planned = look.rehearse(world, store, record=outcome.record) if dry_run else None
    report, lines, is_left = claim_look.finish_release(session, outcome.notes, planned)
    data = {**claim_look.report_data(report), "notes": outcome.notes}
    return session.show(lines, data, code=int(is_left))
