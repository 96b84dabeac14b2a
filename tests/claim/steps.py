"""How decisions are taken to their end in tests, believing that every write succeeds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle.claim.decisions.decide import apply_observation, decide
from lifecycle.claim.decisions.snapshot import Decision, Snapshot
from lifecycle.claim.engine import acting
from lifecycle.claim.record.state import Record, fold
from lifecycle.core.plan import (
    BoardIs,
    Done,
    OpenPullRequest,
    PullRequestOpened,
    SetBoard,
)
from lifecycle.core.values.model import BoardItem, PullState
from tests.factories import (
    issue,
    observation,
    pull,
)
from tests.repeated import soaked

REVIEW: dict[str, Any] = {
    "phase": "pr_created",
    "pr_number": 107,
    "status": "In Review",
    "last_synced_status": "In Review",
}
ITEM = BoardItem("PVTI_lADOBx", "In Review", "edouard-1738000000")


READY: dict[str, Any] = {"phase": "ready_for_pr", "summary": "Fix race condition"}
DONE: dict[str, Any] = {**REVIEW, "phase": "done"}
MERGED = pull(state=PullState.MERGED)


WAYS = pytest.mark.parametrize(
    "is_joined", [pytest.param(True, id="joined"), soaked(False, id="split")]
)
"""In one request, and one by one, as where the token or the server was found not to let it be one."""


def go(monkeypatch: pytest.MonkeyPatch, *, is_joined: bool) -> None:
    """Have writes go one of the ways."""
    if not is_joined:
        monkeypatch.setattr(acting, "_chain", lambda *_: ())


def closing() -> Any:
    return observation(issue=issue(comments=()), by_number=MERGED, item=ITEM)


def fields_of(made: Snapshot) -> dict[str, Any]:
    return {name: getattr(made, name) for name in made.__dataclass_fields__}


def configured(made: Snapshot, **changes: Any) -> Snapshot:
    """The same with other settings."""
    return replace(made, settings=replace(made.settings, **changes))


def set_by(step: Decision, before: Record | None = None) -> dict[str, Any]:
    """The claim fields that a step sets; `before`: the record, unless its values were in the file last."""
    after = step.record
    if after is None:
        return {}
    values = after.past[-1] if before is None else before.values
    return {name: value for name, value in after.values.items() if value != values.get(name)}


def run(start: Snapshot, *, absorbed: bool = False) -> list[Any]:
    return rest(start, absorbed=absorbed)[0]


def rest(start: Snapshot, *, absorbed: bool = False) -> tuple[list[Any], Record]:
    """Decide and believe until nothing is left, as the engine does when every write succeeds."""
    made = start.record
    if start.observation is not None and not absorbed:
        made = apply_observation(made, start.observation, start.now)
    actions: list[Any] = []
    for _ in range(24):
        step = decide(Snapshot(**{**fields_of(start), "record": made}))
        before = made
        made = step.record or made
        if step.action is None:
            if made == before:
                return actions, made
            continue
        actions.append(step.action)
        made = fold(made, believed(step.action), start.now)
    raise AssertionError(f"no rest after {actions}")


def believed(action: Any) -> Any:
    match action:
        case OpenPullRequest():
            return PullRequestOpened(pull())
        case SetBoard():
            item = BoardItem(action.item_id, action.status, action.agent)
            return BoardIs(item, action.status, "" if action.clear_agent else action.agent)
        case _:
            return Done(action)
