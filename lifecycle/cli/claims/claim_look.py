"""`lifecycle tick`: one look at GitHub, and how a look is reported.

Separate from the commands that take and end a claim: a look needs none of their imports.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from lifecycle.claim.decisions import derive
from lifecycle.claim.engine import look as engine
from lifecycle.claim.record.claim_file import actions
from lifecycle.claim.record.claim_store import Listener
from lifecycle.cli.command_session import Session, claim_data
from lifecycle.core import plan
from lifecycle.core.light_dataclass import asdict, fields_of, replace
from lifecycle.core.messages import messages
from lifecycle.core.plan import Audience, Notice, Wake
from lifecycle.core.redact import quoted, redact
from lifecycle.core.values.model import LABELS_ITEM


def tick(session: Session, *, dry_run: bool) -> int:
    """Look at GitHub once and do what the claim needs next, as the hooks do.

    Does not wait for the polling backoff. Repeating it changes nothing. 4: another agent has the task.
    """
    if not dry_run:
        return look(session)
    report = engine.rehearse(session.world, session.claim_store)
    lines = report_lines(report, would=True)
    lines += problem_lines(report, lines)
    lines = lines or _taken(report) or ["Nothing to do."]
    return session.show(lines, report_data(report), code=code_of(report))


def look(session: Session) -> int:
    """Look at GitHub once and print the report; returns the exit code."""
    report, lines = glance(session)
    return session.show(lines, report_data(report), code=code_of(report))


def code_of(report: engine.Report) -> int:
    """The exit code: 4 if somebody else has the task, 1 if the look could not be finished."""
    return 4 if _taken(report) else int(report.problem is not None)


def _taken(report: engine.Report) -> list[str]:
    """The line that somebody else has the task, in a list; else an empty list."""
    record = report.record
    return [derive.loss_line(record)] if record is not None and record.ownership.taken_by else []


def glance(session: Session) -> tuple[engine.Report, list[str]]:
    """Look at GitHub once, without printing: the report, and its lines for a person."""
    report = _ticked(session)
    lines = report_lines(report)
    if report.record is not None and not report.record.ending.outcome:
        text = "\n".join(lines)
        lines += [line for line in session.claim_lines(report.record) if line not in text]
    lines += problem_lines(report, lines)
    if report.record is None and not lines:
        lines = session.claim_lines(None)
    return report, lines


def _ticked(session: Session) -> engine.Report:
    """Look once; the report also has the notices that wait for the agent, which stay on its queue."""
    whose, claim_store = session.client_session, session.claim_store
    report = engine.tick(session.world, claim_store, Wake.TICK, to=listener(whose))
    waiting = claim_store.ledger.waiting()
    mine = (notice for notice in waiting if notice.session in ("", whose))
    return replace(report, said=(*report.said, *mine))


def problem_lines(report: engine.Report, lines: Collection[str]) -> list[str]:
    """The sentence on the report's problem, in a list; empty if there is none or a line says it."""
    problem = report.problem
    is_said = problem is None or any(problem.sentence in line for line in lines)
    return [] if problem is None or is_said else [problem.sentence]


def finish_release(
    session: Session, notes: Collection[str] = (), planned: engine.Report | None = None
) -> tuple[engine.Report, list[str], bool]:
    """Look once after a task was released, unless that is only `planned`.

    Returns:
        The report; the notes and lines to print; and whether something is left to do, or failed.
    """
    report = planned if planned is not None else _ticked(session)
    lines = [f"Note: {note}" for note in notes]
    lines += report_lines(report, would=planned is not None)
    lines += problem_lines(report, lines)
    record = report.record
    is_left = record is not None and not record.ending.outcome
    if planned is not None:
        lines.append("Nothing was written.")
    elif is_left and record is not None and record.ending.releasing is not None:
        lines.append(messages.releasing(record.claim.issue_number))
    return report, lines, is_left or report.problem is not None


def listener(session: str) -> Listener:
    """The listener for whom this look takes notices off the queue: an agent's session gets all.

    A person who looks, in no session, must not use up notices that the agent has not received.
    """
    return Listener(audiences=tuple(Audience) if session else (Audience.NOTE,), session=session)


_LINKED = {"claimed": "claim", "closed": "close", "released": "release"}
"""The verb for the status that a linked task is to have."""


def report_lines(report: engine.Report, *, would: bool = False) -> list[str]:
    """The report as lines: one for each action, done or (with `would`) planned, then the notices."""
    mark = "would " if would else "did   "
    lines = [f"{mark}{describe(action)}" for action in report.actions]
    return lines + [line for notice in report.said for line in notice.text.split("\n")]


def said_data(notices: Iterable[Notice]) -> list[dict[str, str]]:
    """Notices for `--json`."""
    return [fields_of(notice, "key", "text", "audience") for notice in notices]


def report_data(report: engine.Report) -> dict[str, Any]:
    """The report for `--json`."""
    problem = report.problem
    return {
        "claim": claim_data(report.record),
        "actions": [{"kind": type(action).__name__, **asdict(action)} for action in report.actions],
        "said": said_data(report.said),
        "problem": problem
        and {"kind": type(problem).__name__, "sentence": redact(problem.sentence)},
    }


def describe(action: plan.Action) -> str:
    """One action in words."""
    match action:
        case plan.OpenPullRequest():
            if action.draft:
                return f"make draft PR #{action.draft} ready for review: {quoted(action.title)}"
            kind = "draft PR" if action.is_draft else "PR"
            return f"open a {kind} from {action.head} into {action.base}: {quoted(action.title)}"
        case plan.AdvancePullRequest():
            verbs = {
                plan.UPDATE_BRANCH: "merge the base into the branch of",
                plan.AUTO_MERGE_OFF: "stop the auto-merge of",
            }
            return f"have GitHub {verbs.get(action.how, 'merge')} PR #{action.number}"
        case plan.SetBoard():
            parts = [f'Status "{action.status}"'] if action.status else []
            parts += ["Agent cleared"] if action.clear_agent else []
            parts += [f'Agent "{action.agent}"'] if action.agent else []
            where = "Status label" if action.item_id.startswith(LABELS_ITEM) else "board"
            return f"set the {where}: {', '.join(parts)}"
        case plan.PostComment():
            return f"comment on #{action.issue}: {action.body.splitlines()[0]}"
        case plan.SetLinked():
            return f"{_LINKED.get(action.wanted, action.wanted)} {action.id} in {action.tracker}"
    return str(actions()[type(action).__name__]["does"]).format(action)
