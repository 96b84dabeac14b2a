"""The commands on obstacles of a run: failures, external services, blockers, a person's stop.

`lifecycle run add-failure|retry-recommendation|retry-context|scan-dependencies`, and
`add-blocker|await-user-fix|check-user-fix|user-fix-complete|resume-context|resume|stop`.
"""

from __future__ import annotations

import sys

import click

from lifecycle.cli.run.run import RunSession
from lifecycle.cli.terminal import is_terminal, passing
from lifecycle.core.light_dataclass import fields_of
from lifecycle.core.messages import figures
from lifecycle.core.redact import visible
from lifecycle.evidence.checks import check_process
from lifecycle.run import long_run, state
from lifecycle.run.stories import story_edits
from lifecycle.run.table import WAITS, FailureCategory, RunStatus
from lifecycle.run.texts import report_text, told
from lifecycle.run.trouble import blockers
from lifecycle.run.trouble.story_failures import advice, failed
from lifecycle.settings.config import for_child


def add_failure(
    session: RunSession,
    *,
    story: str,
    text: str,
    category: FailureCategory | None,
    file: str,
    line: int | None,
) -> None:
    """Record that something failed in STORY, with TEXT as its message.

    The category decides whether and when it is tried again: lifecycle run retry-recommendation. Gates and
    reviews record their failures themselves. After three failed iterations the story is given up, and the
    next one begins.
    """
    tree = session.tree
    with session.store.changing() as change:
        where = {"file": visible(file)[:500], "line": line or 0}
        change.run = failed(change.run, story, text, session.now, category, tree=tree, **where)
        failure = change.run.story(story).failures[-1]
        added = f"Added failure: {failure.id} [{failure.category}]"
        escalations = change.told(f"{added} {failure.text}")
    data = fields_of(failure, "id", "category", "text", "file", "line", "iteration")
    session.show([added, *escalations], {**data, "escalations": escalations})


def retry_recommendation(session: RunSession, *, story: str) -> None:
    """Print as JSON whether STORY is tried again: after how many seconds, or why a person is needed.

    For infra and timeout, each failure doubles the wait. The same failure twice on an unchanged tree counts
    as stuck; if waiting is the remedy, only after the longest wait did not help.
    """
    session.show_json(advice(session.store.demanded().story(story), session.tree))


def retry_context(session: RunSession, *, story: str) -> None:
    """Print what failed in STORY, what to fix, the files changed, its checks, and the recommendation."""
    target = session.store.demanded().story(story)
    session.show(*report_text.retry(target, session.facts(target)))


def scan_dependencies(session: RunSession, *, story: str, table: bool) -> None:
    """Look for external services in STORY's title, criteria and design, by whole words.

    Each is shown with its substitute for development and tests, and is recorded in the story.
    """
    with session.store.changing() as change:
        change.run = story_edits.scanned(change.run, story)
        scanned_story = change.run.story(story)
        services = scanned_story.dependencies or ()
        keywords = ", ".join(service.keyword for service in services) or "none"
        change.note(f"Scanned {scanned_story.id} for external dependencies: {keywords}")
    shown = {name: name for name in ("type", "category", "keyword", "mock")}
    needed = [fields_of(service, **shown, requires_secrets="needs_secrets") for service in services]
    lines = told.drawn("dependencies", story=scanned_story, as_table=table)
    session.show(lines, {"story": scanned_story.id, "dependencies": needed})


def add_blocker(session: RunSession, *, text: str, severity: str, story: str) -> None:
    """Record TEXT as a blocker. If it is high or critical, it stops work on its story.

    If an automatic blocker for the same failure exists, it gets this TEXT, and no second one is added. When
    all remaining stories are blocked, the run waits for the user. To ask at once: lifecycle run
    await-user-fix.
    """
    with session.store.changing() as change:
        change.run = run = blockers.with_blocker(change.run, text, severity, session.now, story)
        entry = next(made for made in run.blockers if made not in change.before.blockers)
        index = run.blockers.index(entry)
        added = f"Added blocker: {entry.id} (index {index}) [{entry.severity}] {entry.description}"
        escalations = change.told(added)
    about = fields_of(entry, "id", "severity", "story?", "description")
    data = {**about, "index": index, "status": run.status, "escalations": escalations}
    session.show([added, *escalations], data)


def await_user_fix(
    session: RunSession, *, blocker: str, description: str, check_command: str, timeout: int
) -> None:
    """Make the run wait until the user has done DESCRIPTION about BLOCKER, an id (B1) or an index (0).

    The session may stop then. The user runs lifecycle run user-fix-complete, and the next session
    continues.
    """
    with session.store.changing() as change:
        change.run = blockers.awaiting(
            change.run, blocker, description, session.now, check_command, timeout
        )
        fix = blockers.demanded_fix(change.run)
        escalations = change.told()
    session.show_json(blockers.awaiting_data(fix, check_command.strip()))
    for line in escalations:
        click.echo(line, err=True)


def check_user_fix(session: RunSession) -> None:
    """Run the check command of what the user was asked to fix, and print as JSON whether it is fixed.

    The command's output goes to standard error. Without a command the user's own word decides. The
    command's time is not counted; it has a limit of its own.
    """
    run = session.store.demanded()
    fix, why = blockers.demanded_fix(run), ""
    if fix.check_command:
        session.store.refuse_held(run)
        environment = for_child("check", session.world.environment)
        asked = (fix.check_command, session.root, environment, fix.timeout)
        out = passing(sys.stderr)
        with session.world.deadline.standing_still():  # the command has its own time limit
            end = check_process.run(*asked, out=out, err=out)
        if end.signal:
            raise KeyboardInterrupt
        with session.store.changing() as change:
            passed = end.status == 0
            change.run = blockers.fix_checked(change.run, fix, session.now, passed=passed)
            if not passed:
                why = end.error or f"{fix.check_command[0]} exited with {end.status}"
                why = f"it was stopped after {fix.timeout} s" if end.is_late else why
            change.note(f"Check of {', '.join(fix.waited)}: {'PASSED' if passed else why}")
        fix = blockers.demanded_fix(change.run)
    elif not fix.completed_at:
        why = "no command checks it, and the user has not yet said that it is fixed"
    session.show_json({**blockers.fix_data(fix), **({"reason": why} if why else {})})
    if not fix.completed_at:
        click.echo(told.sentence("then-say-so"), err=True)


def user_fix_complete(session: RunSession, *, blocker: str, notes: str) -> None:
    """Say that BLOCKER, or what the run waits for, is fixed; the next session continues.

    Only a person says this: in a terminal outside of the client, or with a prompt after the run began to
    wait.
    """
    with session.store.changing(even_held=True) as change:
        fixed, asked_at = blockers.to_resolve(change.run, blocker)
        by = session.person(change.run, asked_at, "user-fix-complete")
        change.run = run = blockers.resolved(change.run, fixed, session.now, by, notes)
        ids = [entry.id for entry in fixed]
        done = f"Resolved: {', '.join(ids) or 'nothing else'} (by a {by})"
        change.note(f"{done}: {notes}" if notes else done)
    data = {"status": run.status, "resolved": ids, "by": by, "notes": notes}
    session.show([done, _goes_on(run, "The run", ": the run continues where it was")], data)


def resume_context(session: RunSession, *, text: bool) -> None:
    """Print as JSON where the run continues after the user fixed something, and what was fixed."""
    lines, data = report_text.resuming(session.store.demanded())
    if text or (is_terminal(sys.stdout) and not session.as_json):
        session.show(lines, {**data, "text": lines})
    else:
        session.show_json(data)


def resume(session: RunSession, *, iterations: int | None) -> None:
    """Let a stopped run continue, whether you, a cap or a lack of progress stopped it.

    Its counts continue; each cap is granted once more. Only a person does this: in a terminal outside of
    the client, or with a prompt after the run was stopped.
    """
    limits = session.world.settings.run
    with session.store.changing(even_held=True) as change:
        run = change.run
        blockers.demand_stopped(run)
        by = session.person(run, run.stopped_at, "resume")
        reached = long_run.exceeded(run, limits, run.stopped_at or session.now)
        run = blockers.resumed(run, session.now, by)
        change.run = run if iterations is None else long_run.with_left(run, limits, iterations)
        done = change.note(f"Resumed: {run.id} (by a {by})")
    more = "as much again" if iterations is None else f"{figures.count(iterations, 'turn')} more"
    limit = [f"The run was at a limit ({reached}), and may take {more}."] if reached else []
    data = {"status": run.status, "by": by, "reached": reached}
    session.show([done, *limit, _goes_on(run, "It")], data)


def _goes_on(run: state.Run, subject: str, whither: str = "") -> str:
    """The sentence on how an active run continues, or on its other status."""
    if run.status is not RunStatus.ACTIVE:
        return f"{subject} is {run.status.value.replace('_', ' ')}. {WAITS[run.status]}"
    return f"Start the client in this folder, or write a prompt there{whither}."


def stop(session: RunSession, *, why: str, for_good: bool) -> None:
    """Stop the run: its session may end, and no session continues it before lifecycle run resume.

    Everything is kept; --for-good, which also ends a run that was stopped before, renames its file. Only a
    person does this: in a terminal outside of the client, or with a prompt since the agent was last told to
    continue.
    """
    following, kept = "All of it is kept. To continue, run: lifecycle run resume", None
    with session.store.changing(even_held=True) as change:
        run = change.run
        command = "stop --for-good" if for_good else "stop"
        by = session.person(run, blockers.stop_asked_at(run), command)
        if not (for_good and run.status is RunStatus.STOPPED):
            change.run = run = blockers.stopped(run, session.now, by, why)
        done = f"Stopped{' for good' if for_good else ''}: {run.id} ({run.why}; by a {by})"
        change.note(done)
    if for_good:
        kept = session.store.put_away(run)
        following = f'It is kept as {kept}. Begin another with: lifecycle run init "GOAL"'
    session.show([done, following], {**fields_of(run, "status", "why"), "by": by, "kept_as": kept})
