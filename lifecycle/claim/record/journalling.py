"""Journal entries of a claim: its changes of phase, and writes that were made for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lifecycle.claim.decisions.table import PHASES
from lifecycle.claim.record.claim_file import actions
from lifecycle.claim.record.state import Record, kind_of, mark_of
from lifecycle.core import plan
from lifecycle.core.light_dataclass import fields_of, replace
from lifecycle.storage import journal, state_file
from lifecycle.storage.journal import JournalEntry


def moved(record: Record, state: state_file.StateSections, at: float) -> list[JournalEntry]:
    """The entry for a change of phase since the last one in the journal; none without a change.

    The phase is noted in `state`. Until that is saved, the same change has the same key, so the journal
    has it only once.
    """
    target = record.ending.outcome or PHASES.get(record.claim.phase)
    noted = state.get(state_file.NOTED)
    if not isinstance(noted, dict) or noted.get("claim") != record.claim_key:
        noted = {"claim": record.claim_key, "phase": "", "moves": 0}
    if not target or noted.get("phase") == target:
        return []
    number = int(noted.get("moves") or 0) + 1
    state[state_file.NOTED] = {"claim": record.claim_key, "phase": str(target), "moves": number}
    nudge = record.nudges[-1] if record.nudges else None
    is_nudged = nudge is not None and nudge.target == target
    detail: dict[str, Any] = {"pull": record.claim.pr_number, "by_hand": is_nudged}
    detail |= {"title": record.title} if record.title else {}
    source, key = str(noted.get("phase") or ""), f"{record.claim_key}/move/{number}"
    entry = _entry(record, at, journal.TRANSITION)
    return [replace(entry, source=source, target=str(target), key=key, detail=detail)]


def wrote(action: plan.Action, fact: plan.Fact, record: Record, at: float) -> list[JournalEntry]:
    """The journal entry for an action's write; none if it wrote nothing worth an entry."""
    row = actions()[kind_of(action)]
    if "wrote" not in row or changed_nothing(fact) or isinstance(fact, plan.Failed):
        return []
    detail = fields_of(action, **row.get("detail", {}))
    # The same write of a card may happen twice; of any other kind, the same write counts once.
    mark = "" if isinstance(action, plan.SetBoard) else mark_of(action)
    if isinstance(fact, plan.PullRequestOpened):
        detail = {"pull": fact.pull_request.number}
        mark = str(fact.pull_request.number)
    key = f"{record.claim_key}/{kind_of(action)}/{mark}" if mark else ""
    entry = _entry(record, at, journal.WRITE)
    return [replace(entry, source=record.claim.phase, target=row["wrote"], key=key, detail=detail)]


def changed_nothing(fact: plan.Fact) -> bool:
    """True if the action turned out to be needless, or left its object as it was."""
    is_left = isinstance(fact, plan.LinkedIs) and bool(fact.left)
    return is_left or (isinstance(fact, plan.Done) and not fact.is_new)


def flaked(record: Record, flakes: Iterable[tuple[str, str]], at: float) -> Iterator[JournalEntry]:
    """An entry for each check that failed and passed at one commit; `flakes` has check and failures."""
    head, key = record.pull.head, f"{record.claim_key}/flake/{record.pull.head}"
    detail = {"pull": record.claim.pr_number, "head": head}
    entry = replace(_entry(record, at, journal.FLAKE), detail=detail)
    for check, failed in flakes:
        yield replace(entry, source=check, target=failed, key=f"{key}/{check}/{failed}")


def _entry(record: Record, at: float, kind: str) -> JournalEntry:
    """An entry of the claim, with its task, agent and session."""
    number, actor = record.claim.issue_number, record.claim.agent_id
    task, session = f"#{number}" if number else "", record.ownership.session
    return JournalEntry(at, journal.CLAIM, kind, task=task, actor=actor, session=session)
