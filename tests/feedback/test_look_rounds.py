"""Who is asked for next, who looks whole, who waits: the shared looks of a machine's waiters, as values."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lifecycle.core.light_dataclass import asdict, from_json
from lifecycle.core.timing import render_time
from lifecycle.feedback.waiting import look_rounds, shared_looks
from lifecycle.feedback.waiting.look_rounds import (
    KEPT,
    LONGEST_HOLD,
    LONGEST_RETRY,
    MOST,
    OFF,
    REFRESH,
    RETRY,
    SETTLES,
    LookBoard,
    SharedAnswer,
    WatchedPull,
)
from lifecycle.github.client.graph import GraphReply
from lifecycle.github.failures import AnswerProblem
from tests.batches import each_row

NOW = 1_000_000.0
EVERY = 120.0


def board(**pulls: WatchedPull) -> LookBoard:
    """A board of these pull requests."""
    return LookBoard(pulls)


def pull(name: str = "a", **changes: object) -> WatchedPull:
    """A quiet one: shown a moment ago, settled, looked at whole not long before."""
    quiet = WatchedPull(
        (name, f"{name}-card"),
        asked=NOW - 10,
        looked=NOW - 200,
        digest="d",
        since=NOW - 900,
        at=NOW - 10,
    )
    return replace(quiet, **changes)  # type: ignore[arg-type]  # its fields


@pytest.mark.parametrize(
    ("one", "looked", "is_whole"),
    [
        (pull(), NOW - 200, False),
        (pull(digest=""), NOW, True),
        (pull(since=NOW), NOW + SETTLES - 1, True),
        (pull(since=NOW), NOW + SETTLES, False),
        (pull(refresh=NOW), NOW - 1, True),
        (pull(refresh=NOW), NOW, False),
    ],
)
def test_a_look_is_whole_until_what_changed_has_settled(
    one: WatchedPull, looked: float, is_whole: bool
) -> None:
    """After another digest, and where the last whole look is too old; always where nothing is shown."""
    answer = board(a=one).answer("a", looked, NOW, EVERY)
    assert answer is not None
    assert (answer.is_whole, answer.is_same) == (is_whole, not is_whole)


@pytest.mark.parametrize(
    ("one", "looked", "is_known"),
    [
        (pull(at=NOW), NOW, True),
        (pull(at=NOW - EVERY + 1), NOW, True),
        (pull(at=NOW - EVERY), NOW, False),
        (pull(at=NOW + 1), NOW, False),
        (pull(at=0.0), NOW, False),
        (pull(at=NOW - 900, since=NOW - 10), NOW, True),
        (pull(at=NOW - OFF, digest=""), NOW, False),
        (pull(at=NOW - OFF + 1, digest=""), NOW, True),
    ],
)
def test_a_round_is_made_only_where_it_may_tell_something(
    one: WatchedPull, looked: float, is_known: bool
) -> None:
    """Not within one poll, and not while a whole look is needed anyway; a time to come is no time."""
    assert (board(a=one).answer("a", looked, NOW, EVERY) is not None) is is_known


def test_who_asks_is_noted_and_seldom_written() -> None:
    """A new one, another card, a newer look, or after a quarter of a poll: else nothing changes."""
    empty = LookBoard()
    first = look_rounds.enlisted(empty, ("a", "c"), NOW, looked=NOW - 5, every=EVERY)
    assert first.pulls == {"a": WatchedPull(("a", "c"), asked=NOW, looked=NOW - 5)}

    def again(
        after: float, ids: tuple[str, ...] = ("a", "c"), looked: float = NOW - 5
    ) -> LookBoard:
        return look_rounds.enlisted(first, ids, NOW + after, looked=looked, every=EVERY)

    assert again(29) is first
    assert again(30).pulls["a"].asked == NOW + 30
    assert again(-1).pulls["a"].asked == NOW - 1
    assert again(1, ids=("a", "x")).pulls["a"].ids == ("a", "x")
    assert again(1, looked=NOW).pulls["a"].looked == NOW
    # Another worktree of the same pull request looked earlier: the newest look counts.
    assert again(40, looked=NOW - 90).pulls["a"].looked == NOW - 5
    fast = [
        look_rounds.enlisted(first, ("a", "c"), NOW + after, looked=NOW - 5, every=0.1)
        for after in (0.9, 1.0)
    ]
    assert [one is first for one in fast] == [True, False]
    beside = look_rounds.enlisted(first, ("b",), NOW, looked=0.0, every=EVERY)
    assert set(beside.pulls) == {"a", "b"}


def test_a_round_asks_for_the_longest_not_shown_first_and_no_more_than_fit() -> None:
    """What nobody asked about for hours is left out."""
    whole = board(
        z=pull("z", at=0.0), b=pull("b", at=NOW - 99), gone=pull("gone", asked=NOW - KEPT)
    )
    assert look_rounds.next_round(whole, NOW) == [whole.pulls["z"], whole.pulls["b"]]
    assert look_rounds.next_round(replace(whole, size=1), NOW) == [whole.pulls["z"]]
    assert look_rounds.next_round(LookBoard(), NOW) == []


def test_an_answer_tells_since_when_a_digest_is_what_it_is() -> None:
    """The same one keeps its date, another one begins anew; what was not asked for stays."""
    before = board(
        same=pull("same"), other=pull("other"), left=pull("left"), first=pull("first", at=0.0)
    )
    found = {"same": "d", "other": "e", "first": "d", "strange": "x"}
    after = look_rounds.answered(
        replace(before, size=7, failed=3, why="It failed."), found, NOW, None
    )
    assert (after.size, after.failed, after.why) == (8, 0, "")
    dates = {key: (one.digest, one.since, one.at) for key, one in after.pulls.items()}
    assert dates == {
        "same": ("d", NOW - 900, NOW),
        "other": ("e", NOW, NOW),
        "left": ("d", NOW - 900, NOW - 10),
        "first": ("d", NOW, NOW),
    }
    assert look_rounds.answered(LookBoard(), {}, NOW, None).size == MOST


def test_one_whole_look_a_round_goes_to_the_oldest() -> None:
    """Only once it is too old; what nobody waits for any more is forgotten."""
    before = board(
        older=pull("older", looked=NOW - REFRESH - 2),
        old=pull("old", looked=NOW - REFRESH - 1),
        gone=pull("gone", asked=NOW - KEPT, looked=0.0),
    )
    after = look_rounds.answered(before, {}, NOW, None)
    assert {key: one.refresh for key, one in after.pulls.items()} == {"older": NOW, "old": 0.0}
    young = board(a=pull(looked=NOW - REFRESH))
    assert look_rounds.answered(young, {}, NOW, None).pulls["a"].refresh == 0.0


@pytest.mark.parametrize(
    ("limit", "left", "after", "hold"),
    [
        (5000, 500, 900, 0.0),
        (5000, 499, 900, NOW + 900),
        (5000, 499, 0, 0.0),
        (1000, 99, 1, NOW + 1),
        (None, 99, 1, 0.0),
        (1000, None, 1, 0.0),
        (1000, 99, None, 0.0),
    ],
)
def test_a_tenth_of_the_hour_is_left_to_people(
    limit: int | None, left: int | None, after: int | None, hold: float
) -> None:
    """With less, waiters wait for the next hour; numbers that are not there hold nobody."""
    resets = render_time(NOW + after) if after is not None else "soon"
    rate = {"limit": limit, "remaining": left, "resetAt": resets}
    answered = look_rounds.answered(board(a=pull()), {"a": "d"}, NOW, rate)
    assert answered.hold == hold
    assert look_rounds.answered(replace(answered, hold=5.0), {}, NOW, None).hold == 5.0


def test_a_failed_round_is_made_smaller_and_later() -> None:
    """Half as many, after a pause that doubles to a bound; a pause that GitHub names is its own."""
    once = look_rounds.failed(LookBoard(), 50, NOW, named=None, why="No.")
    assert (once.size, once.failed, once.hold, once.why) == (25, 1, NOW + RETRY, "No.")
    twice = look_rounds.failed(once, 25, NOW, named=None, why="")
    assert (twice.size, twice.failed, twice.hold, twice.why) == (12, 2, NOW + 2 * RETRY, "")
    assert look_rounds.failed(LookBoard(), 3, NOW, named=None, why="").size == 1
    assert look_rounds.failed(LookBoard(), 1, NOW, named=None, why="").size == 1
    assert look_rounds.failed(LookBoard(size=4), 9, NOW, named=None, why="").size == 2
    assert LONGEST_RETRY == 16 * RETRY
    late = look_rounds.failed(LookBoard(failed=8), 1, NOW, named=None, why="")
    assert (late.failed, late.hold) == (8, NOW + LONGEST_RETRY)
    limited = look_rounds.failed(LookBoard(), 50, NOW, named=300.0, why="Wait.")
    assert (limited.size, limited.failed, limited.hold, limited.why) == (
        MOST,
        0,
        NOW + 300,
        "Wait.",
    )
    # A shorter pause takes nothing from a longer one.
    held = LookBoard(hold=NOW + 1000)
    assert look_rounds.failed(held, 1, NOW, named=3.0, why="").hold == NOW + 1000
    assert look_rounds.failed(held, 1, NOW, named=None, why="").hold == NOW + 1000


def test_a_hold_ends_and_one_that_no_limit_of_githubs_lasts_is_none() -> None:
    """Clocks are corrected, and files are damaged: nobody waits for a date of next year."""

    def held(until: float) -> SharedAnswer | None:
        return LookBoard(hold=until, why="Wait.").answer("a", NOW, NOW, EVERY)

    def waits(until: float) -> SharedAnswer:
        return SharedAnswer(is_whole=False, again=until, problem="Wait.")

    assert (held(0.0), held(NOW), held(NOW + 1)) == (None, None, waits(NOW + 1))
    last = NOW + LONGEST_HOLD
    assert (held(last), held(last + 1)) == (waits(last), None)


def test_a_server_without_digests_is_left_alone_for_a_while() -> None:
    """Each looks for itself, and a date that is too far away is none."""
    off = LookBoard(off=NOW + OFF)
    moments = [NOW + s for s in (-1, 0, OFF - 1, OFF)]
    assert [off.answer("a", NOW, now, EVERY) for now in moments] == [
        None,
        SharedAnswer(is_whole=True, again=NOW),
        SharedAnswer(is_whole=True, again=NOW + OFF - 1),
        None,
    ]


def test_a_board_is_kept_as_it_is() -> None:
    """And read as it was."""
    kept = LookBoard({"a": pull()}, hold=1.0, off=2.0, size=3, failed=4, why="No.")
    for board in (kept, LookBoard(), replace(LookBoard(), size=1)):
        assert from_json(LookBoard, json.loads(json.dumps(asdict(board)))) == board
    assert (LookBoard().hold, LookBoard().off) == (0.0, 0.0)
    begun = WatchedPull(("a",))
    assert {begun.asked, begun.looked, begun.since, begun.at, begun.refresh} == {0.0}


def test_the_figures_are_those_of_the_page() -> None:
    """What docs/feedback.md promises: 50 in one request, 90 seconds, half an hour, a tenth.

    A quarter of a minute until a failed round is repeated; hours for what sleeps, and for what cannot be.
    """
    assert (MOST, SETTLES, REFRESH, look_rounds.RESERVE) == (50, 90.0, 1800.0, 0.1)
    assert (RETRY, OFF, LONGEST_HOLD, KEPT) == (15.0, 3600.0, 7200.0, 21_600.0)


@each_row(
    "change",
    [
        {"pulls": None},
        {"pulls": {"a": None}},
        {"pulls": {"a": {"ids": ["a"], "more": 1}}},
        {"pulls": {"a": {"ids": 7}}},
        {"pulls": {"a": {"ids": ["a"], "asked": "now"}}},
        {"pulls": {"a": {"ids": ["a"], "at": "now"}}},
        {"pulls": {"a": {"ids": ["a"], "digest": 7}}},
        {"hold": "soon"},
        {"off": None},
        {"size": "all"},
        {"failed": "often"},
        {"why": 7},
    ],
)
def test_what_is_no_board_is_refused(change: dict[str, object]) -> None:
    """So that it is begun anew, and nobody waits for what somebody wrote there."""
    assert from_json(LookBoard, {**asdict(LookBoard()), **change}) is None


@pytest.mark.parametrize("data", [None, 7, [], "text", {}])
def test_what_is_no_object_is_refused(data: object) -> None:
    """Whatever else JSON can hold."""
    assert from_json(LookBoard, data) is None


def test_what_is_not_shown_has_no_digest() -> None:
    """A pull request that is hidden, or lacks a part, is looked at by itself; its card may be hidden."""
    pulls = [pull(name) for name in "abcd"]
    ids = [node_id for one in pulls for node_id in one.ids]
    nodes = [{"x": 1}, {"y": 1}, {"x": 1}, None, None, {"y": 1}, {"x": 1}, {"y": None}]
    hole = AnswerProblem("FORBIDDEN", ("nodes", 7, "y"), "")
    digests = shared_looks._digests(GraphReply({"nodes": nodes}, (hole,)), ids, pulls)
    assert digests["a"]
    assert digests["b"] not in ("", digests["a"])
    assert (digests["c"], digests["d"]) == ("", "")
    short = shared_looks._digests(GraphReply({"nodes": nodes[:1]}), ids, pulls)
    assert set(short.values()) == {""}
