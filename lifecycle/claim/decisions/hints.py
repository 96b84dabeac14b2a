"""Judge hints, which are agents' edits of the engine's fields: an edit counts if GitHub shows the same.

Without an observation a hint is not judged, and stays in the file. Another issue's number never counts:
the lease, the card and the branch are those of the claim's own task.
"""

from __future__ import annotations

from functools import partial

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.record.state import Record, of_pull
from lifecycle.core.messages import messages
from lifecycle.core.plan import Audience, Notice

_SILENT = ("last_check_poll", "last_synced_status", "item_id", "schema_version")
"""Fields whose refused edits are not told: the engine's value returns without a notice."""


def judge(snapshot: Snapshot) -> tuple[Record, list[Notice]]:
    """Judge every hint of a snapshot by its observation.

    Returns the record with the edited values that GitHub shows as well, and what to tell the agent about
    the refused ones.
    """
    record = snapshot.record
    notices = []
    for name, value in snapshot.hints.items():
        kept = snapshot.record.values.get(name)
        if _is_borne_out(snapshot, name, value):
            record = of_pull(record, value) if name == "pr_number" else record
            record = record.with_values({name: value})
        elif name not in _SILENT:
            is_issue = name == "issue_number"
            notice = messages.issue_kept if is_issue else partial(messages.hint_refused, name)
            notices.append(Notice(f"hint:{name}:{value}:{kept}", notice(value, kept), Audience.ACT))
    return record, notices


def _is_borne_out(snapshot: Snapshot, name: str, value: object) -> bool:
    """True if GitHub shows the value that somebody wrote into an engine field."""
    observed, claim = snapshot.observation, snapshot.record.claim
    pull, item = (observed.by_number, observed.item) if observed is not None else (None, None)
    if name == "pr_number":
        return pull is not None and derive.is_ours(pull, claim, snapshot.rules.head_owner)
    shown = {"item_id": "id", "agent_id": "agent", "last_synced_status": "status"}
    return item is not None and name in shown and getattr(item, shown[name]) == value
