"""What a session begins with: the claim, the open question, what waits, and the board.

Questions and refusals are rendered from state here, however often a session starts: a hook that was
killed loses a nudge, never the question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from lifecycle import messages
from lifecycle.claim.next_task import todo_of
from lifecycle.claim.state import Record
from lifecycle.claim.table import Phase, Status
from lifecycle.model import Card, Repository

SHOWN = 5
"""How many Todo cards are listed."""

_COLUMNS = (Status.TODO, Status.IN_PROGRESS, Status.IN_REVIEW, Status.DONE)

_WATCHING = "CI and the merge are looked at when the session idles; now: lifecycle tick"

NEXT_STEPS = {
    Phase.CODING: 'When the work is done, run: lifecycle handoff --summary "…"',
    Phase.READY_FOR_PR: "The PR is opened at the next stop.",
    Phase.PR_CREATED: _WATCHING,
    Phase.CHECKS_RUNNING: _WATCHING,
    Phase.MERGED_DETECTED: messages.how_to_close(),
    Phase.PR_CLOSED: 'Reopen the PR, or hand off again: lifecycle handoff --summary "…"',
    Phase.DONE: "The issue is closed at the next stop.",
}
"""For each phase, what happens next and who does it."""


def claim_lines(record: Record) -> list[str]:
    """The claim in a few lines."""
    claim = record.claim
    phase = Phase.named(claim.phase)
    pull = f", PR #{claim.pr_number} {record.pr_url}".rstrip() if claim.pr_number else ""
    where = f"issue #{claim.issue_number} on branch {claim.branch or '(none)'}"
    lines = [f"Claim: {where}, phase {claim.phase}{pull}."]
    if record.checks is not None and phase is Phase.CHECKS_RUNNING:
        lines.append(checks_line(record))
    if phase is Phase.MERGED_DETECTED and claim.pr_number:
        lines.append(messages.merged(claim.pr_number, claim.issue_number))
    if phase is None:
        lines.append(messages.unknown_phase(claim.phase, [p.value for p in Phase]))
    else:
        lines.append(_next_step(record, phase))
    return lines + problem_lines(record)


def _next_step(record: Record, phase: Phase) -> str:
    checks = record.checks or {}
    if phase is Phase.CHECKS_RUNNING and checks.get("failed"):
        return "Fix, commit and push; the new head is looked at when the session idles."
    if phase is Phase.CHECKS_RUNNING and checks.get("passed") and not checks.get("running"):
        return f"PR #{record.claim.pr_number} waits for a person to merge it."
    return NEXT_STEPS[phase]


def checks_line(record: Record) -> str:
    """The last poll's result."""
    checks = record.checks or {}
    failed = list(checks.get("failed", ()))
    passed, running = int(checks.get("passed", 0)), int(checks.get("running", 0))
    total = passed + running + len(failed)
    if not total:
        return "CI: no check has registered yet."
    if running and not failed:
        return messages.checks_running(passed, total, running)
    text = f"CI: {passed}/{total} passed"
    if failed:
        text += f", {len(failed)} failed: {', '.join(failed[: messages.SHOWN_NAMES])}"
    return f"{text}."


def problem_lines(record: Record) -> list[str]:
    """Refusals that stand and need somebody."""
    return [
        messages.COMPLAINTS[kind](trouble.sentence, record.claim.issue_number)
        for kind, trouble in record.troubles.items()
        if trouble.is_final and kind in messages.COMPLAINTS
    ]


def board_lines(title: str, cards: Iterable[Card], repository: Repository) -> list[str]:
    """Four counts, the first five Todo, what is in progress and by whom, what is in review."""
    mine = [card for card in cards if card.repository.casefold() == str(repository).casefold()]
    counts = Counter(card.item.status for card in mine)
    lines = [f"Board {title}: " + ", ".join(f"{counts[name]} {name}" for name in _COLUMNS) + "."]
    todo = todo_of(mine, repository)[:SHOWN]
    lines += _section("Todo", [_card(card, card.priority) for card in todo])
    for status in (Status.IN_PROGRESS, Status.IN_REVIEW):
        column = [card for card in mine if card.item.status == status]
        lines += _section(status, [_card(card, card.item.agent) for card in column])
    return lines


def _section(name: str, rows: list[str]) -> list[str]:
    return [f"{name}:", *rows] if rows else []


def _card(card: Card, note: str | None) -> str:
    return f"- #{card.number} {card.title}" + (f" ({note})" if note else "")
