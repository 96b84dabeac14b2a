"""A run that ends anywhere is continued by the next one: the same end, and nothing twice."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import pytest

from lifecycle.reconcile.finding import SweepReport
from lifecycle.reconcile.repair import FREE
from lifecycle.reconcile.scope import Policy
from lifecycle.sandbox.seed import SeedToken
from tests.e2e.forked import STAGE, Forked
from tests.reconcile.conftest import Make
from tests.reconcile.dying import DIE_AT, DIE_NOTE, Died, die_at
from tests.reconcile.ground import (
    ALL,
    Given,
    Ground,
    Shows,
    ground,
    in_short,
    kinds,
    numbered,
    process_environment,
    states,
)
from tests.repeated import DEATHS, crossed, soaked
from tests.worlds import TOKEN

REVIEWED = Given(pull="open", status="In Review", set_at=7.9)
MERGED = replace(REVIEWED, pull="merged")
OLD = Given(taken=72.0, set_at=71.9)
CLOSES = Policy(closes=True)

WORLDS: dict[str, tuple[Given, Policy, list[str]]] = {
    "closing": (MERGED, CLOSES, ["comment", "close_issue", "set_fields", "release"]),
    "giving back": (OLD, ALL, ["release", "comment", "unassign", "set_fields"]),
    "giving back what only the card tells": (
        replace(OLD, leased_by=""),
        ALL,
        ["comment", "unassign", "set_fields"],
    ),
    "a draft": (replace(OLD, pushed=48.0), CLOSES, ["create_pull_request", "set_fields"]),
    "onto the board": (Given(has_card=False), CLOSES, ["add", "set_fields"]),
    "a link": (
        replace(REVIEWED, body="hm", status="In Progress", set_at=9.9),
        CLOSES,
        ["set_pull_request_texts", "set_fields"],
    ),
    "a card": (replace(MERGED, is_open=False, closed=5.0), CLOSES, ["set_fields", "release"]),
}


def told(shows: Shows) -> Shows:
    """Without what differs between any two runs: shas, and what comments say besides being there."""
    comments = tuple(in_short(one) for one in shows.comments)
    return replace(shows, comments=comments, lease="held" if shows.lease else "")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Given, Policy], Shows]:
    """What a run that nobody interrupts leaves."""

    @cache
    def run(given: Given, policy: Policy) -> Shows:
        with ground(tmp_path_factory.mktemp("whole"), given) as one:
            one.run(policy)
            return told(one.shows())

    return run


@DEATHS
@pytest.mark.parametrize(
    ("given", "policy", "writes"),
    [
        (pytest.param if name in ("closing", "giving back") else soaked)(*world, id=name)
        for name, world in WORLDS.items()
    ],
)
def test_a_run_that_dies_at_any_write_is_continued(
    given: Given,
    policy: Policy,
    writes: list[str],
    *,
    after: bool,
    make: Make,
    whole: Callable[[Given, Policy], Shows],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Dead before or after each write in turn: the next run ends where a whole one would have."""
    expected = whole(given, policy)
    for moment in range(1, len(writes) + 1):
        one = make(given)
        with monkeypatch.context() as patch:
            seen = die_at(patch.setattr, moment, after=after)
            with pytest.raises(Died):
                one.run(policy)
        assert seen == writes[:moment]
        again = one.run(policy)
        assert told(one.shows()) == expected, (moment, again)
        assert again.failed == 0
        one.clear()
        one.run(policy)
        assert one.written() == [], moment


def test_the_writes_are_all_that_there_are(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tests here die at is what the server sees written, in number."""
    for given, policy, writes in WORLDS.values():
        one = make(given)
        with monkeypatch.context() as patch:
            seen = die_at(patch.setattr, 0)
            one.run(policy)
        assert seen == writes
        assert len(one.written()) == len(writes)


@pytest.mark.soak("reconcile/test_interrupted.py::test_a_run_that_dies_at_any_write_is_continued")
def test_a_process_that_is_killed_at_any_write_is_continued(
    make: Make, forked: Forked, tmp_path: Path
) -> None:
    """SIGKILL right before each write of `lifecycle reconcile`: the next process finishes all of it."""
    names = ("closing", "giving back", "a draft")
    tasks = numbered(WORLDS[name][0] for name in names)
    policy = ("--close", "--release")
    run = partial(_process, forked.command, tmp_path)
    one = make(*tasks)
    assert run(one, 0, *policy).returncode == 0
    expected = [told(one.shows(task.number)) for task in tasks]
    count = len(_note(tmp_path))
    assert count == sum(len(WORLDS[name][2]) for name in names) <= FREE
    for moment in range(1, count + 1):
        one = make(*tasks)
        killed = run(one, moment, *policy)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        assert len(_note(tmp_path)) == moment
        again = run(one, 0, *policy)
        assert again.returncode == 0, (moment, again.stdout, again.stderr)
        assert [told(one.shows(task.number)) for task in tasks] == expected, moment
        assert not {path.name for path in one.folder.iterdir()} - {".lifecycle.toml"}


def _process(
    lifecycle: Path, folder: Path, one: Ground, moment: int, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """`lifecycle reconcile`, killed before its N-th write; 0 for never."""
    note = folder / "note"
    note.write_text("")
    staged = {DIE_AT: str(moment), DIE_NOTE: str(note), STAGE: "tests.reconcile.dying"}
    return subprocess.run(
        [str(lifecycle), "reconcile", *arguments],
        cwd=one.folder,
        env=process_environment(one, **staged),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _note(folder: Path) -> list[str]:
    return (folder / "note").read_text().split()


LOST = [
    ("closing", {"path": "/comments$", "method": "POST"}),
    ("closing", {"path": "/issues/42$", "method": "PATCH"}),
    ("closing", {"operation": "SetBoardFields"}),
    ("closing", {"path": "/git-receive-pack$", "method": "POST"}),
    ("giving back", {"path": "/comments$", "method": "POST"}),
    ("giving back", {"path": "/assignees$", "method": "DELETE"}),
    ("giving back", {"operation": "SetBoardFields"}),
    ("giving back", {"path": "/git-receive-pack$", "method": "POST"}),
    ("a draft", {"path": "/pulls$", "method": "POST"}),
    ("onto the board", {"operation": "AddBoardItem"}),
    ("onto the board", {"operation": "SetBoardFields"}),
    ("a link", {"path": "/pulls/1042$", "method": "PATCH"}),
]


@pytest.mark.parametrize(
    ("lost", "fault"),
    crossed(
        {f"{name}-{next(iter(where.values()))}": (name, where) for name, where in LOST},
        {
            "done": ("connection-cut-after", 1),
            "not done": ("bad-gateway", 1),
            "done, and said to be not": ("bad-gateway-after", 1),
            "never heard of": ("bad-gateway-after", 9),
            "no connection": ("connection-reset", 9),
        },
    ),
)
def test_a_lost_answer_doubles_nothing(
    lost: tuple[str, dict[str, str]],
    fault: tuple[str, int],
    make: Make,
    whole: Callable[[Given, Policy], Shows],
) -> None:
    """Done or not, whoever hears nothing of a write looks for it: the next run ends as a whole one."""
    name, where = lost
    given, policy, _ = WORLDS[name]
    expected = whole(given, policy)
    one = make(given)
    one.control.add_fault(fault[0], count=fault[1], **where)
    first = one.run(policy)
    one.control.clear_faults()
    second = one.run(policy)
    assert told(one.shows()) == expected, (first, second)
    assert second.failed == 0
    one.clear()
    one.run(policy)
    assert one.written() == []


@pytest.mark.once("the worlds are those of test_a_run_that_dies_at_any_write_is_continued")
@pytest.mark.parametrize(("given", "policy", "writes"), WORLDS.values(), ids=WORLDS)
def test_reads_that_lag_double_nothing(
    given: Given,
    policy: Policy,
    writes: list[str],
    make: Make,
    whole: Callable[[Given, Policy], Shows],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """New pull requests and cards that lists miss for a while are not made again."""
    expected = whole(given, policy)
    for moment in range(1, len(writes) + 1):
        one = make(given)
        one.control.set_lag(pulls=2, items=2)
        with monkeypatch.context() as patch:
            die_at(patch.setattr, moment, after=True)
            with pytest.raises(Died):
                one.run(policy)
        for _ in range(3):
            report = one.run(policy)
        assert report.failed == 0
        assert told(one.shows()) == expected, moment
        assert kinds(one.run(policy)) == []


@pytest.mark.parametrize("moments", [(2, 5), soaked((1, 3, 4, 6))])
def test_labels_are_continued(
    make: Make, monkeypatch: pytest.MonkeyPatch, moments: tuple[int, ...]
) -> None:
    """Where labels stand for the board, a run that dies between two of them is continued as well."""
    tasks = numbered([REVIEWED, MERGED, Given()])
    blind = {"tokens": [SeedToken(TOKEN, "octocat", ["repo"])]}
    one = make(*tasks, **blind)
    one.run(CLOSES)
    expected = [told(one.shows(task.number)) for task in tasks]
    for moment in moments:
        one = make(*tasks, **blind)
        with monkeypatch.context() as patch:
            die_at(patch.setattr, moment)
            with pytest.raises(Died):
                one.run(CLOSES)
        report: SweepReport = one.run(CLOSES)
        assert [told(one.shows(task.number)) for task in tasks] == expected, (
            moment,
            states(report),
        )
