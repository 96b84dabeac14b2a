"""One set of rules: the same world to the hooks and to a run, and both leave the same.

The hooks get a worktree whose claim is the record that GitHub shows (`claim.inferred`), a run gets a
copy of the world. Where the two differ on purpose stands in `BY_DESIGN`, with the reason; nothing else
is left out.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api import Phase, Worktree
from lifecycle.claim.decisions.decide import foresee, imagine
from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.engine import look as engine
from lifecycle.claim.record.state import Record
from lifecycle.core import plan
from lifecycle.core.plan import Action, Wake
from lifecycle.core.values.configured import Settings
from lifecycle.reconcile.inferred import Allowed, InferredTask, record_of
from lifecycle.reconcile.judge import Judge
from lifecycle.reconcile.scope import Policy
from lifecycle.reconcile.sweep import Sweep
from lifecycle.sandbox.seed import SeedToken
from lifecycle.storage.store import CLAIM_FILE, FOLDER
from tests.claim.steps import go
from tests.clones import clone
from tests.conftest import environment_of
from tests.reconcile.conftest import Make
from tests.reconcile.dying import Died, die_at
from tests.reconcile.ground import (
    AGENT,
    ALL,
    Given,
    Ground,
    Shows,
    in_short,
    kinds,
    numbered,
    scope_of,
    states,
)
from tests.repeated import DEATHS, soaked
from tests.worlds import TOKEN

BY_DESIGN: dict[str, str] = {
    "left work": "a hook is a sign of life, so only a run shows work that nobody goes on with as a draft",
    "mended first": "what a run mends is a sign of life, so it gives back a silent period later; the hooks "
    "give back when they are told to",
    "two holders": "where a card that was moved by hand names another agent than the lease, each of the "
    "two gives back in a run of its own",
}


def is_different(task: InferredTask, judge: Judge) -> str:
    """Why the hooks and a run differ about a task, as a key of BY_DESIGN; "" if they must not."""
    if not (task.issue.is_open and judge.is_silent(task)):
        return ""
    if task.tip is not None and task.pull is None:
        return "left work"
    first, *others = judge.looks(task)
    return "mended first" if others and actions(first) else ""


def actions(snapshot: Snapshot) -> list[Action]:
    """What the decisions from here on do, all of it imagined; the claim file's end left out."""
    steps = (step.action for _, step in foresee(snapshot, imagine))
    return [one for one in steps if one is not None and not isinstance(one, plan.ForgetClaim)]


def some(seed: int, count: int = 20) -> list[Given]:
    """So many tasks by chance."""
    chance = random.Random(seed)
    return numbered(_one(chance) for _ in range(count))


def _one(chance: random.Random) -> Given:
    """Any task: what was done to it, in which order, and where its card stands."""
    pull = chance.choice(["", "open", "draft", "merged", "merged", "closed"])
    is_old = chance.random() < 0.3
    made = Given(
        is_open=chance.random() < 0.7,
        closed=4.0,
        status=chance.choice(
            [None, "Todo", "In Progress", "Blocked", "In Review", "In Review", "Done"]
        ),
        has_card=chance.random() < 0.9,
        is_archived=chance.random() < 0.1,
        agent=chance.choice([AGENT, AGENT, AGENT, "", "bob-1738000001"]),
        set_at=chance.choice([9.9, 7.0, 5.0, 0.5]),
        leased_by=chance.choice([AGENT, AGENT, ""]),
        names_branch=chance.random() < 0.7,
        pull=pull,
        body=chance.choice(["Refs #N", "Closes #N", "Nothing to refer to."]),
        pushed=chance.choice([None, 9.0]),
        assignees=chance.choice([("octocat",), ("octocat",), ("maria",), ()]),
        labels=chance.choice(
            [(), ("bug",), ("status: in progress",), ("status: in review", "bug")]
        ),
    )
    if not is_old:
        return made
    times = {
        name: getattr(made, name) * 10 for name in ("closed", "set_at", "taken", "opened", "ended")
    }
    return replace(made, pushed=made.pushed and made.pushed * 10, **times)


def told(shows: Shows) -> Shows:
    """Without what tells one run from another, and who it was that said so."""
    comments = tuple(in_short(one) for one in shows.comments)
    return replace(shows, comments=comments, lease="held" if shows.lease else "")


def judge_of(one: Ground, policy: Policy) -> Judge:
    """As a run has it."""
    return Judge(Settings(project_number=1), True, policy, one.clock.now())


def swept(one: Ground) -> list[InferredTask]:
    """What a run sees, before it does anything."""
    with one.world() as world:
        sweep = Sweep(world, scope_of("octo-org/hello-service"), lambda *_: None)
        sweep.read_holdings()
        return list(sweep.read_tasks())


class Hooks:
    """A worktree for one claim after the other."""

    def __init__(self, one: Ground, root: Path) -> None:
        self.one, self.root = one, root
        self.environment = environment_of(one.info, root)
        clone(one.info.git_url, root, self.environment)

    def tree(self) -> Worktree:
        """The public API here."""
        return Worktree(self.root, environment=self.environment, clock=self.one.clock, seconds=None)

    def live(self, record: Record, *, close: str = "ask") -> None:
        """Have the hooks look at a claim until they have nothing to do."""
        self.clean()
        (self.root / ".lifecycle.toml").write_text(f'close = "{close}"\n')
        with self.tree() as tree:
            tree.claim_store.folder.make()
            tree.claim_store.create(record)
            for _ in range(4):
                done = tree.tick(Wake.TICK)
                if not done.actions:
                    return
                self.one.clock.sleep(130)
            raise AssertionError(f"the hooks do not come to rest: {done.actions}")

    def planned(self, record: Record) -> list[Action]:
        """What they would do."""
        self.clean()
        with self.tree() as tree:
            tree.claim_store.folder.make()
            tree.claim_store.create(record)
            return list(engine.rehearse(tree.world, tree.claim_store).actions)

    def clean(self) -> None:
        """No claim, no memory."""
        for path in self.root.glob(f"{CLAIM_FILE}*"):
            path.unlink()
        shutil.rmtree(self.root / FOLDER, ignore_errors=True)


@pytest.fixture
def hooks(tmp_path: Path) -> Callable[[Ground], Hooks]:
    """Hooks on a ground."""
    return lambda one: Hooks(one, tmp_path / f"clone-{id(one)}")


def records(task: InferredTask, judge: Judge) -> Iterator[tuple[Record, str]]:
    """The claims that the hooks are given for one task, and how `close` is configured for each."""
    for seen in judge.looks(task):
        is_closing = seen.record.claim.phase == Phase.DONE and task.issue.is_open
        if is_closing:
            # Their own way to the end of a merged claim, not the one that a run's policy opens.
            yield record_of(task, Allowed(), judge.now), "auto"
        else:
            yield seen.record, "ask"


BLIND = {"tokens": [SeedToken(TOKEN, "octocat", ["repo"])]}


@pytest.mark.once("other seeds, and all allowed, repeat it; test_judge has each decision")
@pytest.mark.parametrize("policy", [Policy(), ALL], ids=["nothing-allowed", "everything-allowed"])
@pytest.mark.parametrize(
    ("seed", "changes"),
    [
        pytest.param(0, {}, id="0"),
        soaked(1, {}, id="1"),
        soaked(2, {}, id="2"),
        pytest.param(6, {}, id="6"),
        soaked(8, {}, id="8"),
        soaked(9, {}, id="9"),
        pytest.param(3, BLIND, id="labels"),
    ],
)
def test_the_same_world_ends_the_same(
    seed: int,
    changes: dict[str, Any],
    policy: Policy,
    make: Make,
    hooks: Callable[[Ground], Hooks],
) -> None:
    """Random tasks, once to the hooks one by one and once to a run: GitHub shows the same afterwards."""
    tasks = some(seed)
    now = time.time()
    ours, theirs = make(*tasks, now=now, **changes), make(*tasks, now=now, **changes)
    judge, worktree = judge_of(theirs, policy), hooks(theirs)
    different = {}
    for task in swept(theirs):
        reason = is_different(task, judge)
        if reason:
            different[task.issue.number] = reason
            continue
        for record, close in records(task, judge):
            worktree.live(record, close=close)
    report = ours.run(policy)
    assert report.failed == 0
    assert set(different.values()) <= set(BY_DESIGN)
    for given in tasks:
        if given.number not in different:
            assert told(ours.shows(given.number)) == told(theirs.shows(given.number)), given
    if policy.releases and any(
        one.leased_by and one.agent not in ("", one.leased_by) for one in tasks
    ):
        again = ours.run(policy)
        assert {one.kind for one in again.findings if one.state.value == "applied"} <= {"silent"}
    ours.clear()
    ours.run(policy)
    assert ours.written() == []


@pytest.mark.parametrize(
    "policy", [soaked(Policy()), ALL], ids=["nothing-allowed", "everything-allowed"]
)
def test_the_same_record_is_decided_upon_the_same(
    policy: Policy, make: Make, hooks: Callable[[Ground], Hooks]
) -> None:
    """What a run plans from its sweep is what the hooks rehearse from a look of their own."""
    one = make(*some(99, 24))
    judge, worktree = judge_of(one, policy), hooks(one)
    compared = 0
    for task in swept(one):
        if is_different(task, judge) == "left work":
            continue
        for seen in judge.looks(task):
            mine = actions(seen)
            theirs = worktree.planned(seen.record)
            # A run that gives back lets the lease go first: it alone is given up only if it is its own.
            assert sorted(map(repr, mine)) == sorted(
                repr(one) for one in theirs if not isinstance(one, plan.ForgetClaim)
            ), task
            compared += bool(mine)
    assert compared >= 6


FREE = Given(leased_by="", assignees=(), agent="", status="Todo", set_at=20.0)


class Working(Hooks):
    """An agent and its hooks on one task, from the claim to its end."""

    def take(self) -> None:
        """The agent claims the task."""
        self.branch = self.tree().claim(42).record.claim.branch

    def work(self) -> None:
        """A commit, and the hand-off with its push."""
        with (self.root / "work.txt").open("a") as file:
            file.write("done\n")
        for command in (["add", "work.txt"], ["commit", "--quiet", "-m", "Work"]):
            subprocess.run(["git", *command], cwd=self.root, env=self.environment, check=True)
        self.tree().hand_off("Do the task")

    def look(self, wake: Wake = Wake.TICK) -> None:
        """The hooks look until they are quiet."""
        for _ in range(2):
            self.tree().tick(wake)

    def rest(self) -> None:
        """An hour passes."""
        self.one.later(1)

    def pull(self) -> int:
        """The number of the task's pull request."""
        return max(int(number) for number in self.one.state()["pulls"])

    def merge(self) -> None:
        """A person merges it."""
        self.one.control.merge_pull(self.pull())

    def close_pull(self) -> None:
        """A person closes it."""
        self.one.control.close_pull(self.pull())

    def reopen_pull(self) -> None:
        """A person opens it again."""
        self.one.control.reopen_pull(self.pull())

    def close(self) -> None:
        """The user's yes."""
        self.tree().close()

    def release(self) -> None:
        """The agent gives the task back."""
        self.tree().release("enough")

    def shows(self) -> Shows:
        """What GitHub shows in the end, without what is new with every claim."""
        shows = told(self.one.shows())
        comments = tuple(re.sub(r"octocat-\d+", "octocat-N", one) for one in shows.comments)
        agent = shows.card[1] if shows.card else None
        card = (shows.card[0], agent and "octocat-N") if shows.card else None
        return replace(shows, comments=comments, card=card)


@pytest.fixture
def working(make: Make, tmp_path: Path) -> Callable[..., Working]:
    """An agent on a ground with one free task."""
    numbers = iter(range(1000))
    return lambda **changes: Working(make(FREE, **changes), tmp_path / f"working-{next(numbers)}")


STORIES: dict[str, list[str]] = {
    "claim to close": ["take", "work", "look", "merge", "look", "close", "look"],
    "closed and opened again": [
        "take",
        "work",
        "look",
        "close_pull",
        "look",
        "reopen_pull",
        "look",
    ],
    "handed off twice": [
        "take",
        "work",
        "look",
        "close_pull",
        "look",
        "work",
        "look",
        "merge",
        "look",
    ],
    "given back": ["take", "release", "look"],
    "given back in review": ["take", "work", "look", "release", "look"],
}


@pytest.mark.once("other stories repeat it; test_judge has what is no finding")
@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_run_after_every_step_of_the_hooks_finds_nothing(
    story: list[str], working: Callable[..., Working]
) -> None:
    """While the hooks do their work, a run beside them has nothing to find and writes nothing."""
    agent = working()
    merged = False
    for step in story:
        getattr(agent, step)()
        merged = (merged or step == "merge") and step != "close"
        if step.endswith("_pull"):
            continue  # what people did on GitHub, and no hook has looked at yet
        agent.one.clear()
        report = agent.one.run(Policy(releases=True))
        assert kinds(report) == (["merged-open"] if merged else []), (step, report.findings)
        assert set(states(report).values()) <= {"off"}
        assert agent.one.written() == [], step


@pytest.mark.once("test_interrupted.py has each world of a run that dies")
@pytest.mark.parametrize(
    ("story", "dies", "writes", "goes_on", "changes"),
    [
        (["take", "work", "look", "merge", "look"], "close", ["send", "move_ref"], 0.0, {}),
        (
            ["take", "work", "look", "merge", "look"],
            "close",
            ["comment", "close_issue", "set_fields", "move_ref"],
            0.0,
            {},
        ),
        (["take", "rest"], "release", ["comment", "unassign", "move_ref", "set_fields"], 30.0, {}),
        (
            ["take", "rest"],
            "release",
            ["comment", "unassign", "put_on", "move_ref"],
            30.0,
            BLIND,
        ),
        (["take", "work", "look", "close_pull"], "look", ["set_fields"], 0.0, {}),
        (["take", "work"], "look", ["create_pull_request", "set_fields"], 0.0, {}),
        (["take", "work"], "look", ["send"], 0.0, {}),
    ],
    ids=[
        "closing",
        "closing one by one",
        "giving back",
        "giving back with labels",
        "a closed pull request",
        "opening one by one",
        "opening",
    ],
)
@DEATHS
def test_a_run_goes_on_where_the_hooks_died(
    story: list[str],
    dies: str,
    writes: list[str],
    goes_on: float,
    changes: dict[str, Any],
    *,
    after: bool,
    working: Callable[..., Working],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Hooks that die at any write to GitHub and never come back: a run ends where they would have.

    Two things only the dead agent's own files knew: that a pull request was wanted before it was asked
    for, and that a task was being given back whose pull request waits for people. A run leaves both.
    """
    go(monkeypatch, is_joined="send" in writes)
    agent = working(**changes)
    for step in [*story, dies]:
        getattr(agent, step)()
    expected, moment = agent.shows(), 0
    while True:
        moment += 1
        agent = working(**changes)
        for step in story:
            getattr(agent, step)()
        with monkeypatch.context() as patch:
            seen = die_at(patch.setattr, moment, after=after)
            try:
                getattr(agent, dies)()
            except Died:
                pass
            else:
                break
        is_begun = after or len(seen) > 1
        if not is_begun and dies != "close" and story[-1] != "close_pull":
            continue  # nobody but the dead agent's own files knows what it wanted
        agent.one.later(goes_on)
        report = agent.one.run(ALL)
        assert report.failed == 0
        assert agent.shows() == expected, (moment, seen, report.findings)
        agent.one.clear()
        agent.one.run(ALL)
        assert agent.one.written() == []
    assert moment == len(writes) + 1
    assert seen == writes
