"""A sequence is data: what agents, the client, people and the network do, drawn from a seed.

`sequence(seed)` asks nothing but a generator of chance, so that a seed gives the same steps on every
machine, whatever became of the steps before. Only `random.Random.random` is used, whose numbers Python
promises to keep for a seed (https://docs.python.org/3/library/random.html#notes-on-reproducibility).

A sequence follows one of the stories in `STORIES`, a milestone of which is left out now and then, with
disturbances in between: so chance does not have to find the way to a merged pull request by itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Step:
    """One thing that happens.

    Attributes:
        name: a function of `tests/soak/doing.py`.
        given: its arguments.
        kill: a signal's name, and right before which moment of the process it comes (`killer.py`).
        under: a slow fault of GitHub's, which lasts for this step alone.
        by: whose worktree: 1, or 2 for the second agent's clone.
        after: seconds that pass before it.
    """

    name: str
    given: Mapping[str, Any] = field(default_factory=dict)
    kill: tuple[str, int] | None = None
    under: str = ""
    by: int = 1
    after: int = 3

    def __str__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self.given.items())
        notes = [f"in clone {self.by}"] if self.by != 1 else []
        notes += [f"{self.kill[0]} at moment {self.kill[1]}"] if self.kill else []
        notes += [f"under {self.under}"] if self.under else []
        notes += [f"{self.after} s later"] if self.after != 3 else []
        return f"{self.name}({said})" + (f"  [{', '.join(notes)}]" if notes else "")


class Chance:
    """Draws from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def below(self, end: int) -> int:
        """A whole number from 0 to below `end`."""
        return int(self._random.random() * end)

    def often(self, share: float) -> bool:
        """True in this share of the cases, from 0 to 1."""
        return self._random.random() < share

    def one(self, things: Sequence[T]) -> T:
        """One of these."""
        return things[self.below(len(things))]

    def weighed(self, things: Mapping[T, int]) -> T:
        """One of these, each as often as its number says."""
        left = self.below(sum(things.values()))
        for thing, weight in things.items():
            left -= weight
            if left < 0:
                return thing
        raise AssertionError("unreachable")


def _step(name: str, /, **given: Any) -> Step:
    return Step(name, given)


START, STOP, IDLE, WAITER = (
    _step("session_start"),
    _step("on_stop"),
    _step("on_idle"),
    _step("ci_waiter"),
)
CLAIM = _step("cli", arguments=("claim", "42"))
HANDOFF = _step("cli", arguments=("handoff", "--summary", "Fix the race"))
RELEASE = _step("cli", arguments=("release", "--reason", "enough"))
CLOSE = _step("cli", arguments=("close",), is_person=True)
WORK = _step("work", push=True)
HAND_WRITTEN = _step("write_by_hand", phase="ready_for_pr")
DONE = _step("edit", phase="done")
GO_ON, YES = _step("prompt", text="go on"), _step("prompt", text="yes, close it")
RED, GREEN = (
    _step("set_check", name="test", conclusion="failure"),
    _step("set_check", name="test", conclusion="success"),
)
MERGE = _step("merge", method="squash", delete_branch=True)
AGAIN = (_step("reopen_issue"), _step("move_card", status="Todo"))
HOUR = _step("time", seconds=4000)

FORCED = _step("cli", arguments=("takeover", "42"))
OTHER = _step("cli", arguments=("claim", "45"))
OVERRIDE = _step("cli", arguments=("close", "--override", "no need"), is_person=True)


def _by_second(*steps: Step) -> tuple[Step, ...]:
    return tuple(replace(step, by=2) for step in steps)


_TO_REVIEW = (START, CLAIM, GO_ON, WORK, HANDOFF, STOP, WAITER)
_TO_CLOSE = (MERGE, IDLE, YES, DONE, STOP)

STORIES: Mapping[str, tuple[int, tuple[Step, ...]]] = {
    "red, green, merged, closed": (
        5, (*_TO_REVIEW, RED, IDLE, WORK, GREEN, WAITER, *_TO_CLOSE)),
    "written by hand": (4, (HAND_WRITTEN, WORK, STOP, IDLE, GREEN, IDLE, *_TO_CLOSE)),
    "closed by command": (2, (*_TO_REVIEW, MERGE, WAITER, CLOSE, STOP)),
    "done by the agent": (2, (*_TO_REVIEW, MERGE, DONE, STOP)),
    "done without an answer": (3, (*_TO_REVIEW, MERGE, IDLE, DONE, STOP, YES, DONE, STOP)),
    "given back and taken again": (2, (START, CLAIM, GO_ON, WORK, RELEASE, STOP, CLAIM, STOP)),
    "given back in review": (1, (*_TO_REVIEW, RELEASE, STOP, CLAIM, HANDOFF, STOP)),
    "closed and reopened": (
        2, (*_TO_REVIEW, _step("close_pull"), IDLE, _step("reopen_pull"), IDLE, *_TO_CLOSE)),
    "closed and handed off again": (
        2, (*_TO_REVIEW, _step("close_pull"), IDLE, WORK, HANDOFF, STOP, IDLE, *_TO_CLOSE)),
    "the issue comes back": (
        2, (*_TO_REVIEW, *_TO_CLOSE, *AGAIN, CLAIM, WORK, HANDOFF, STOP, *_TO_CLOSE)),
    "taken over by another": (
        2, (*_TO_REVIEW, *_by_second(CLAIM, STOP, FORCED, WORK, HANDOFF, STOP), STOP, IDLE)),
    "two tasks at once": (
        2, (*_TO_REVIEW, *_by_second(OTHER, WORK, HANDOFF, STOP), *_TO_CLOSE, *_by_second(STOP))),
    "a sweep": (1, (*_TO_REVIEW, HOUR, _step("cli", arguments=("reconcile",)), *_TO_CLOSE)),
    "overridden": (1, (*_TO_REVIEW, OVERRIDE, STOP)),
    "none but a claim": (2, (START, CLAIM, GO_ON)),
}  # fmt: skip
"""What a sequence follows: how often, and the milestones."""

PHASES = (
    "coding",
    "ready_for_pr",
    "pr_created",
    "checks_running",
    "merged_detected",
    "pr_closed",
    "done",
    "reddy_for_pr",
    "",
    None,
    7,
)
STATUSES = ("Todo", "In Progress", "In Review", "Done", "in review", "Nowhere")
BROKEN = ("{", "", "[]", "null", '{"schema_version": 99}', '"done"', "\x00\xff", "{}")
PATHS = (
    None,
    None,
    None,
    r"^/graphql$",
    r"/pulls$",
    r"/comments$",
    r"/issues/42$",
    r"git-receive-pack|service=git-rec",
    r"info/refs",
)
QUICK = (
    "bad-gateway",
    "bad-gateway-after",
    "bad-gateway-json",
    "unavailable",
    "gateway-timeout",
    "primary-limit",
    "secondary-limit",
    "secondary-limit-without-a-wait",
    "submitted-too-quickly",
    "graphql-rate-limited",
    "partial-not-found",
    "partial-forbidden",
    "resource-limits",
    "card-exists",
    "bad-credentials",
    "no-permission",
    "connection-cut",
    "connection-cut-after",
    "connection-reset",
    "connection-reset-after",
    "empty-body",
    "truncated-body",
)
"""Faults of the catalogue that cost no time; `network-off` and `lag` are steps of their own."""
SLOW = ("never-answers", "never-ends")
SIGNALS = ("SIGKILL", "SIGKILL", "SIGTERM", "SIGINT")

COMMANDS: Mapping[tuple[str, ...], int] = {
    ("claim", "42"): 3,
    ("claim", "race"): 1,
    ("claim", "45", "--json"): 1,
    ("takeover", "42"): 1,
    ("handoff", "--summary", "Fix the race"): 3,
    ("handoff", "--summary", "Fix it", "--json"): 1,
    ("status",): 2,
    ("status", "--json"): 1,
    ("tick",): 4,
    ("tick", "--json"): 1,
    ("tick", "--dry-run"): 1,
    ("release", "--reason", "enough"): 2,
    ("release", "--dry-run"): 1,
    ("close",): 2,
    ("close", "--override", "no need"): 1,
    ("nudge", "coding", "--reason", "again"): 1,
    ("nudge", "ready_for_pr", "--reason", "now"): 1,
    ("nudge", "done", "--reason", "finished"): 1,
    ("nudge", "checks_running", "--force", "--reason", "look"): 1,
    ("tracker", "ready"): 1,
    ("tracker", "list", "--json"): 1,
    ("tracker", "claim", "42"): 1,
    ("tracker", "release", "42"): 1,
    ("tracker", "close", "42"): 1,
    ("reconcile",): 1,
    ("reconcile", "--dry-run"): 1,
    ("reconcile", "--dry-run", "--json"): 1,
    ("doctor",): 1,
    ("doctor", "--json"): 1,
}


def _edit(chance: Chance) -> Step:
    """The agent edits its claim, well or badly."""
    how = chance.one(("in place", "rename", "from an old copy"))
    weights = {"phase": 8, "status": 3, "summary": 2}
    once = ("branch", "issue_number", "pr_number", "agent_id", "extra", "schema_version")
    field_name = chance.weighed(weights | dict.fromkeys(once, 1))
    values: Mapping[str, Sequence[Any]] = {
        "phase": PHASES,
        "status": STATUSES,
        "summary": ("Fix race", "", "Fix \ud83d it", "Fix sandbox-token", "x" * 400),
        "branch": ("claude/other", "main", ""),
        "issue_number": (42, 45, "42", None, 4711),
        "pr_number": (None, 46, 999, "46"),
        "agent_id": ("octocat-1", "sam-1700000000", ""),
        "extra": ({"mine": True},),
        "schema_version": (1, 2),
    }
    given: dict[str, Any] = {field_name: chance.one(values[field_name])}
    return Step("edit", {**given, "how": how} if how != "in place" else given)


def _person(chance: Chance) -> Step:
    """Somebody acts on GitHub, or in the clone."""
    conclusion = chance.one(("success", "failure", "cancelled", "skipped", None))
    name = chance.weighed(
        {
            "merge": 3, "close_pull": 2, "reopen_pull": 2, "review": 2, "set_check": 6, "move_card": 3,
            "name_agent": 1, "delete_branch": 1, "edit_title": 1, "edit_body": 1, "assign": 1,
            "unassign": 1, "close_issue": 1, "reopen_issue": 1, "force_push": 1, "push_commit": 1,
            "comment": 1, "archive_card": 1, "remove_card": 1, "put_card": 1, "open_pull": 1,
        }
    )  # fmt: skip
    given: Mapping[str, Callable[[], dict[str, Any]]] = {
        "merge": lambda: {
            "method": chance.one(("merge", "squash", "rebase")),
            "delete_branch": chance.often(0.5),
        },
        "review": lambda: {
            "state": chance.one(("APPROVED", "CHANGES_REQUESTED", "COMMENTED")),
        },
        "set_check": lambda: {
            "name": chance.one(("test", "lint", "build")),
            "conclusion": conclusion,
        },
        "move_card": lambda: {"status": chance.one((*STATUSES[:4], None))},
        "name_agent": lambda: {"agent": chance.one(("sam-1700000000", None))},
        "unassign": lambda: {"login": "octocat"},
        "assign": lambda: {"login": chance.one(("sam", "octocat"))},
    }
    return Step(name, given[name]() if name in given else {})


def _wake(chance: Chance) -> Step:
    name = chance.weighed(
        {"on_stop": 8, "on_idle": 4, "ci_waiter": 3, "session_start": 3, "prompt": 4, "session_end": 1,
         "other_session": 1, "on_clear": 1}
    )  # fmt: skip
    if name == "session_start":
        return _step(
            name, source=chance.one(("startup", "resume", "clear", "compact", "fork", "odd"))
        )
    if name == "prompt":
        texts = ("go on", "yes, close it", "<task-notification>\nCI passed!\n</task-notification>")
        return _step(name, text=chance.one(texts))
    return Step(name)


def _fault(chance: Chance) -> Step:
    kind = chance.weighed({"fault": 6, "network_off": 1, "lag": 2, "calm": 3, "few_scopes": 1})
    if kind == "fault":
        given: dict[str, Any] = {"fault": chance.one(QUICK), "count": 1 + chance.below(3)}
        path = chance.one(PATHS)
        skip = chance.below(3)
        given |= {"path": path} if path and not given["fault"].startswith(_FIXED) else {}
        return Step(kind, {**given, "skip": skip} if skip else given)
    if kind == "lag":
        return _step(kind, what=chance.one(("pulls", "issues", "comments", "items", "reads")))
    return Step(kind)


_FIXED = ("graphql", "partial", "resource", "card", "bad-gateway-json")
"""Faults whose path is GraphQL's, and stays."""


def _disturbance(chance: Chance) -> Step:
    family = chance.weighed(
        {"wake": 26, "edit": 12, "person": 22, "command": 14, "fault": 12, "rest": 14}
    )
    if family == "wake":
        return _wake(chance)
    if family == "edit":
        if chance.often(0.1):
            return _step("break_claim", text=chance.one(BROKEN))
        return Step("delete_claim") if chance.often(0.03) else _edit(chance)
    if family == "person":
        return _person(chance)
    if family == "command":
        return _step("cli", arguments=chance.weighed(COMMANDS), is_person=chance.often(0.3))
    if family == "fault":
        return _fault(chance)
    if chance.often(0.5):
        return _step("time", seconds=chance.one((65, 130, 700, 4000)))
    return _step("work", push=chance.often(0.7)) if chance.often(0.8) else Step("git_add_all")


PROCESSES = frozenset(
    {"on_stop", "on_idle", "ci_waiter", "session_start", "prompt", "session_end", "on_clear", "cli"}
)
"""Steps that start a process of ours, which may be killed or meet a fault."""
HOOKS = PROCESSES - {"cli"}


def _troubled(step: Step, chance: Chance, *, killed_in: float = 0.1) -> Step:
    """The step, with a kill or a slow fault now and then, and sometimes at once."""
    killed, slow, at_once = chance.often(killed_in), chance.often(0.02), chance.often(0.2)
    signal, moment, fault = chance.one(SIGNALS), 1 + chance.below(24), chance.one(SLOW)
    if at_once:
        step = replace(step, after=0)
    if killed and step.name in PROCESSES:
        return replace(step, kill=(signal, moment))
    if slow and step.name in HOOKS:
        return replace(step, under=fault)
    return step


def sequence(seed: int) -> tuple[Step, ...]:
    """The steps of a seed: always the same."""
    return tuple(_steps(Chance(seed)))


def _steps(chance: Chance) -> Iterator[Step]:
    _, story = STORIES[chance.weighed({name: weight for name, (weight, _) in STORIES.items()})]
    has_second = any(step.by == 2 for step in story) or chance.often(0.1)
    is_calm = chance.often(0.2)
    for milestone in story:
        if not is_calm and chance.often(0.15):
            yield _fault(chance)
        if not chance.often(0.04):
            yield _troubled(milestone, chance, killed_in=0.05 if is_calm else 0.25)
        for _ in range(0 if is_calm and chance.often(0.8) else chance.below(3)):
            yield from _disturbed(chance, has_second)
    if len(story) == 3:
        for _ in range(12 + chance.below(14)):
            yield from _disturbed(chance, has_second)


MENDS: Mapping[str, object] = {"schema_version": 1, "phase": "coding", "agent_id": "octocat-1"}
"""What the agent writes once it is told that its edit was none that anybody can follow."""


def _disturbed(chance: Chance, has_second: bool) -> Iterator[Step]:
    """Something comes in between; what ends all work with the claim is mostly mended soon."""
    step = _disturbance(chance)
    yield _troubled(_elsewhere(step, chance, has_second), chance)
    broken = [name for name in MENDS if name in step.given and step.given[name] in _UNUSABLE[name]]
    if step.name == "edit" and broken and chance.often(0.7):
        yield STOP
        yield Step("edit", {name: MENDS[name] for name in broken})


_UNUSABLE: Mapping[str, tuple[object, ...]] = {
    "schema_version": (2,),
    "phase": ("reddy_for_pr", "", None, 7),
    "agent_id": ("",),
}


def _elsewhere(step: Step, chance: Chance, has_second: bool) -> Step:
    is_there = chance.often(0.3)
    return replace(step, by=2) if has_second and is_there and step.name in PROCESSES else step
