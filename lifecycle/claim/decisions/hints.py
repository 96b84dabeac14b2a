"""Judge hints, which are agents' edits of the engine's fields: an edit counts if GitHub shows the same.

Without an observation a hint is not judged, and stays in the file.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.record.state import Record, of_pull
from lifecycle.core.light_dataclass import replace
from lifecycle.core.messages import messages
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.values.model import Observation, PullState

_SILENT = ("last_check_poll", "last_synced_status", "item_id", "schema_version")
"""Fields whose refused edits are not told: the engine's value returns without a notice."""


def judge(snapshot: Snapshot) -> tuple[dict[str, Any], list[Notice]]:
    """Judge every hint of a snapshot by its observation.

    Returns the engine fields with the edited values that GitHub shows as well, and what to tell the agent
    about the refused ones.
    """
    accepted: dict[str, Any] = {}
    notices = []
    for name, value in snapshot.hints.items():
        kept = snapshot.record.values.get(name)
        if _is_borne_out(snapshot, name, value):
            accepted[name] = value
        elif name not in _SILENT:
            is_issue = name == "issue_number"
            notice = messages.issue_kept if is_issue else partial(messages.hint_refused, name)
            notices.append(Notice(f"hint:{name}:{value}:{kept}", notice(value, kept), Audience.ACT))
    return accepted, notices


def accept(record: Record, accepted: dict[str, Any]) -> Record:
    """The record with the accepted hints; another issue has another card, and another lease."""
    if "issue_number" in accepted:
        card = replace(record.card, is_known=False, agent=None, moved_to=None)
        record = replace(record, card=card).with_ownership(lease="")
        record = record.with_values({"item_id": "", "last_synced_status": None})
    number = accepted.get("pr_number")
    record = of_pull(record, number) if isinstance(number, int) else record
    return record.with_values(accepted)


def _is_borne_out(snapshot: Snapshot, name: str, value: object) -> bool:
    """True if GitHub shows the value that somebody wrote into an engine field."""
    observed, claim = snapshot.observation, snapshot.record.claim
    if observed is None:
        return False
    item = observed.item
    if name == "pr_number":
        pull = observed.by_number
        return pull is not None and derive.is_ours(pull, claim, snapshot.rules.head_owner)
    if name == "issue_number":
        number = value if isinstance(value, int) else None
        exists = observed.issue is not None and observed.issue.is_open
        is_free = item is None or item.agent in (None, "", claim.agent_id)
        # The lease would keep the old task held, and nobody would hold the new one.
        is_held = bool(snapshot.record.ownership.lease)
        return exists and is_free and not is_held and _pulls_mention(snapshot, observed, number)
    if item is None:
        return False
    shown = {"item_id": item.id, "agent_id": item.agent, "last_synced_status": item.status}
    return name in shown and shown[name] == value


def _pulls_mention(snapshot: Snapshot, observed: Observation, number: int | None) -> bool:
    """True unless a pull request of this claim, open or merged, is for another issue.

    A yes to closing is for a merge that belongs to the claim's own issue, not for another's.
    """
    record, rules = snapshot.record, snapshot.rules
    opened = derive.open_pull_request_of(record.claim, observed, rules.head_owner)
    pulls = filter(None, (opened, derive.pull_request_of(record, observed, rules)))
    live = (pull for pull in pulls if pull.state is not PullState.CLOSED)
    return all(derive.mentions(pull, number) for pull in live)
