"""Any operation, after any others: done again it changes nothing; with a lost answer it converges."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lifecycle.api import Refused, Rejected, Transient
from lifecycle.sandbox.control.faults import Fault
from tests.github.operations.ground import APP, Ground, ground, is_write, still
from tests.github.operations.table import APPS, PEOPLE, Operation, Scene, prepared
from tests.repeated import soaked

EVERY = {**PEOPLE, **APPS}
MOVING = re.compile(r"[0-9a-f]{40}|\d{4}-\d\d-\d\d[T ][\d:.+Z]+|\b\d{6,}\b|http://[\d.:]+")


def shape(found: Any) -> Any:
    """A world without what differs from run to run: ids, times, commits, ports."""
    if isinstance(found, dict):
        return {shape(key): shape(value) for key, value in found.items()}
    if isinstance(found, list):
        return [shape(one) for one in found]
    return MOVING.sub("…", str(found)) if isinstance(found, (str, int)) else found


def token_of(name: str) -> str | None:
    return APP if name in APPS else None


@settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(sorted(PEOPLE)), min_size=1, max_size=8))
def test_whatever_was_done_is_not_done_again(names: list[str]) -> None:
    """After any sequence, each step repeated at once writes nothing, and a refusal is the same again."""
    with ground() as here:
        scene = prepared(here)
        for name in names:
            first = outcome(PEOPLE[name], scene)
            here.control.clear_requests()
            before = still(here.world())
            again = outcome(PEOPLE[name], scene)
            assert [one for one in here.written() if (one.status or 0) < 400] == [], name
            assert still(here.world()) == before, name
            assert again in {"unchanged", first}, name


def outcome(operation: Operation, scene: Scene) -> str:
    try:
        return "changed" if operation(scene).changed else "unchanged"
    except (Refused, Rejected) as error:
        return str(error)


def undone(name: str) -> list[str]:
    """What has to be so before an operation has something to do."""
    others = [name.removeprefix(word) for word in ("no ", "not ") if name.startswith(word)]
    others += {"open": ["closed"], "ready": ["draft"], "pull open": ["pull closed"]}.get(name, [])
    others += {"issue text": ["issue"], "comment text": ["comment"]}.get(name, [])
    return [one for one in others if one in EVERY]


def begun(name: str, here: Ground) -> Scene:
    """A scene in which the operation has something to do; the log is empty afterwards."""
    scene = prepared(here)
    for other in undone(name):
        EVERY[other](scene)
    here.asked()
    return scene


def of_writes(name: str) -> tuple[list[tuple[str, str, str | None]], Any]:
    """The writes of an operation (method, path, GraphQL operation) and the world that they make."""
    with ground(token_of(name)) as here:
        scene = begun(name, here)
        assert EVERY[name](scene).changed, name
        writes = [one for one in here.control.requests() if is_write(one)]
        return [(one.method, one.path, one.operation) for one in writes], shape(still(here.world()))


MADE = {
    *("issue", "comment", "label", "labels", "milestone", "pull", "ref", "item", "status", "check")
}
"""What makes something or takes several writes, and what only an app may do.

The others are one write that sets what may be set again. That this changes nothing, done again at once,
`test_whatever_was_done_is_not_done_again` shows.
"""


@pytest.mark.parametrize("when", [soaked("before"), "after"])
@pytest.mark.parametrize("name", [name if name in MADE else soaked(name) for name in sorted(EVERY)])
def test_a_cut_at_any_write_converges(name: str, when: Literal["before", "after"]) -> None:
    """The connection cut before or after each write: asked again, the world is as without the cut."""
    writes, wanted = of_writes(name)
    assert writes, name
    for moment, (method, path, operation) in enumerate(writes):
        earlier = sum(one == (method, path, operation) for one in writes[:moment])
        with ground(token_of(name)) as here:
            scene = begun(name, here)
            match = {"operation": operation} if operation else {"path": f"^{re.escape(path)}$"}
            cut = Fault("cut", when=when, method=method, skip=earlier, **match)  # type: ignore[arg-type]
            here.control.add_fault(cut)
            until_done(partial(EVERY[name], scene))
            assert shape(still(here.world())) == wanted, (name, moment, when)
            assert not EVERY[name](scene).changed, (name, moment, when)


def until_done(operation: Any) -> None:
    """Do it until nobody doubts it: once more is enough."""
    try:
        operation()
    except Transient as error:
        if not error.is_ambiguous:
            raise
        operation()
