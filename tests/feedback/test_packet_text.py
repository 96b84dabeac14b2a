"""A packet as text, line for line: what stands where, how much of it, and what is said of the rest."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.core.redact import block
from lifecycle.core.values.failed_checks import CheckRemark
from lifecycle.feedback.checks.packet import (
    DATA,
    WAKE_CHARACTERS,
    CheckFailure,
    FailurePacket,
    cut,
)

URL = "https://github.com/octo-org/hello-service/pull/46"


def failure(name: str = "test", **more: Any) -> CheckFailure:
    """A check that failed."""
    return CheckFailure(name, "FAILURE", **more)


def packet(*failures: CheckFailure, **more: Any) -> FailurePacket:
    """What failed on a head."""
    return FailurePacket(46, URL, "0123456789", failures, path="P", **more)


def told(*failures: CheckFailure, **more: Any) -> list[str]:
    """The packet without its title and the line on data."""
    lines = packet(*failures, **more).as_lines()
    assert lines[1] == DATA
    return lines[2:]


def test_all_of_a_failure_stands_in_its_order() -> None:
    """Head, others, first error, the log's lines, remarks, what an app says, where the log lies."""
    whole = failure(
        workflow="CI",
        url=f"{URL}/job/1",
        is_required=True,
        step="Run tests",
        same=("test (3.12)", "lint"),
        first_error="E  assert 1",
        excerpt=("a", "\tE  assert 1"),
        lines=1_234,
        log=".lifecycle/feedback/1.log",
        remarks=(
            CheckRemark("a.py", 7, "FAILURE", "wrong", "test_a"),
            CheckRemark("b.py", 0, "NOTICE", "odd"),
        ),
        title="71 %",
        summary="one\ntwo",
    )
    assert packet(whole).as_lines() == [
        f"3 failed checks of PR #46 at 0123456: {URL}",
        DATA,
        "",
        f'1. test (required) of CI: failure in the step "Run tests". {URL}/job/1',
        'The same in 2 more: "test (3.12)", lint.',
        'First error: "E assert 1"',
        "  | a",
        "  |     E  assert 1",
        "On lines of files:",
        '- a.py:7 failure: "test_a: wrong"',
        '- b.py notice: "odd"',
        'It says: "71 %"',
        "  | one",
        "  | two",
        "Its log is in .lifecycle/feedback/1.log; the failed step printed 1,234 lines.",
    ]


def test_what_is_not_known_of_a_failure_is_not_told() -> None:
    """Its name and how it ended are left; a word of two is written as people write it."""
    assert told(CheckFailure("ci", "TIMED_OUT"), failure("lint", problem="It is \x1bgone.")) == [
        *("", "1. ci: timed out."),
        *("", "2. lint: failure.", "Without its log: It is \\x1bgone."),
    ]
    assert packet(failure()).as_lines()[0] == f"1 failed check of PR #46 at 0123456: {URL}"


@pytest.mark.parametrize(
    ("title", "summary", "lines"),
    [
        ("", "", []),
        ("71 %", "", ['It says: "71 %"']),
        ("", "one", ["It says:", "  | one"]),
        ("", "\n".join("x" * 12), ["It says:", *["  | x"] * 12]),
        ("", "\n".join("x" * 13), ["It says:", *["  | x"] * 12, "  … 1 more lines"]),
        ("", "y" * 600, ["It says:", f"  | {'y' * 495}…"]),
    ],
)
def test_what_an_app_says_is_told_as_far_as_twelve_lines_go(
    title: str, summary: str, lines: list[str]
) -> None:
    """Title and text, each if there is one; a long line is cut."""
    assert told(failure(title=title, summary=summary))[2:] == lines


@pytest.mark.parametrize(
    ("count", "left", "last"),
    [(5, 0, '- f5:5 failure: "w"'), (5, 1, "- 1 more"), (7, 0, "- 2 more")],
)
def test_five_remarks_are_told_and_the_others_counted(count: int, left: int, last: str) -> None:
    """With those that GitHub has beside them."""
    remarks = tuple(CheckRemark(f"f{n}", n, "FAILURE", "w") for n in range(1, count + 1))
    lines = told(failure(remarks=remarks, remarks_left=left))
    assert lines[2:5] == ["On lines of files:", '- f1:1 failure: "w"', '- f2:2 failure: "w"']
    assert lines[-1] == last
    assert len(lines) == 3 + 5 + last.endswith("more")


def test_eight_names_are_told_and_the_others_counted() -> None:
    """Each as far as 80 characters go."""
    names = tuple(f"j{n}" for n in range(9))
    assert told(failure(same=names[:8]))[2] == f"The same in 8 more: {', '.join(names[:8])}."
    assert told(failure(same=names))[2] == f"The same in 9 more: {', '.join(names[:8])} and 1 more."
    assert told(failure("n" * 81, workflow="w" * 81, step="s" * 81))[1] == (
        f'1. "{"n" * 79}…" of "{"w" * 79}…": failure in the step "{"s" * 79}…".'
    )


def test_the_end_says_what_else_there_is() -> None:
    """Further names, what GitHub has beside them, and two sentences of what could not be shown."""
    unseen = ("first", "x" * 301, "third")
    assert told(failure(), others=("a", "b"), left=3, unseen=unseen)[2:] == [
        "",
        "Failed as well: a, b.",
        "GitHub has 3 more failed checks, which were not read.",
        "first",
        f"{'x' * 299}…",
    ]
    assert packet(unseen=("why",)).as_lines() == [
        f"No check of PR #46 at 0123456 has failed, as far as GitHub shows: {URL}",
        "",
        "why",
    ]


def test_a_long_first_error_is_cut() -> None:
    """After 300 characters."""
    assert told(failure(first_error="e" * 301))[2] == f'First error: "{"e" * 299}…"'


def test_each_failure_has_its_share_of_the_lines() -> None:
    """Of 150, six are for the end; the first gets a half, the second what it left."""
    long = tuple(f"line {n}" for n in range(200))
    lines = told(failure("a", excerpt=long), failure("b", excerpt=long))
    second = lines.index("2. b: failure.")
    assert lines[:3] == ["", "1. a: failure.", "  | … 134 lines left out …"]
    assert lines[3:second] == [*(f"  | line {n}" for n in range(134, 200)), ""]
    assert lines[second + 1 :] == [
        "  | … 132 lines left out …",
        *(f"  | line {n}" for n in range(132, 200)),
    ]


def test_each_failure_has_its_share_of_the_characters() -> None:
    """Of 12,000, with 900 for the end."""
    wide = tuple(f"{n:03} " + "x" * 300 for n in range(40))
    lines = told(failure("a", excerpt=wide), failure("b", excerpt=wide))
    shown = [line for line in lines if "xxx" in line]
    assert len(shown) == 34
    assert sum(map(len, lines)) + len(lines) <= 12_000 - 900


def test_a_long_end_has_its_room_before_the_failures() -> None:
    """Eight long names of what failed as well, and two long sentences: still 12,000 characters in all."""
    wide = tuple(f"{n:03} " + "x" * 90 for n in range(140))
    names = tuple(f"{n} " + "n" * 90 for n in range(9))
    end = packet(failure(excerpt=wide), others=names, unseen=("u" * 400,) * 2, left=3)
    lines = end.as_lines()
    assert [line[:14] for line in lines[-4:]] == [
        "Failed as well",
        "GitHub has 3 m",
        *["u" * 14] * 2,
    ]
    assert 11_500 < size(*lines) <= 12_000


def test_what_has_no_room_is_named_with_all_that_failed_alike() -> None:
    """And nothing behind it is told: the gravest stand first."""
    wide = failure("wide", summary="\n".join("y" * 490 for _ in range(12)), same=("alike",))
    lines = told(*(failure(f"j{n}") for n in range(3)), wide, wide, failure("last"))
    assert lines[:6] == ["", "1. j0: failure.", "", "2. j1: failure.", "", "3. j2: failure."]
    assert lines[6:] == ["", "Not shown here: wide, alike, wide, alike, last; --json has them all."]
    tall = [failure(f"j{n}", summary="\n".join("y" * 12)) for n in range(10)]  # 14 lines each
    assert told(*tall)[-1] == "Not shown here: j3, j4, j5, j6, j7, j8, j9; --json has them all."


def size(*lines: str) -> int:
    """Their characters, with the end of each line."""
    return sum(map(len, lines)) + len(lines)


def test_a_failure_may_take_all_of_its_room() -> None:
    """One character more has none: of two each has half of what title and end leave."""

    def pair(more: int) -> list[str]:
        two = packet(*(failure(n, problem="p" * more) for n in "ab"))
        return two.as_lines()

    room = (12_000 - 900 - size(*packet(failure("a"), failure("b")).as_lines()[:2])) // 2
    most = room - size("1. a: failure.", "Without its log: ")
    assert pair(most)[3:5] == ["1. a: failure.", f"Without its log: {'p' * most}"]
    assert pair(most + 1)[3:] == ["Not shown here: a, b; --json has them all."]


def test_an_excerpt_takes_what_its_failures_other_lines_leave() -> None:
    """What stands before it and behind it is told whole, and the room is used up."""
    told_too = "\n".join("y" * 12)
    tall = told(failure(first_error="e", excerpt=tuple("x" * 200), summary=told_too))
    assert len(tall) == 1 + 141 - 2  # of three lines for gaps one was needed
    assert tall[1:3] == ["1. test: failure.", 'First error: "e"']
    wide = told(
        failure(
            problem="p" * 900, excerpt=("x" * 290,) * 50, summary=told_too.replace("y", "y" * 99)
        )
    )
    assert wide[1:3] == ["1. test: failure.", f"Without its log: {'p' * 900}"]
    assert sum("x" in line for line in wide) == 29


@pytest.mark.parametrize(
    ("most", "characters", "kept"),
    [
        (100, 10_000, {*range(20)}),
        (20, 20 * 8, {*range(20)}),
        (20, 20 * 8 - 1, {*range(8, 16)}),
        (19, 10_000, {*range(4, 20)}),
        (9, 10_000, {10, 11, *range(16, 20)}),
        (8, 10_000, {10, *range(16, 20)}),
        (4, 10_000, {10}),
        (3, 10_000, set()),
        (19, 90 + 3 * 8, {9, 10, 11}),
        (19, 90 + 2 * 8, {10, 11}),
        (19, 90 + 2 * 8 - 1, {10}),
        (19, 90 + 7, set()),
    ],
)
def test_a_cut_keeps_the_error_then_its_end_then_what_is_near(
    most: int, characters: int, kept: set[int]
) -> None:
    """Three lines are kept free for gaps; what follows the error is nearer than what led to it."""
    lines = [f"l{n:02}" for n in range(20)]
    shown = cut(lines, "l10", most, characters)
    assert {int(line[1:]) for line in shown if line.startswith("l")} == kept


@pytest.mark.parametrize(("error", "kept"), [("", 4), ("x" * 60 + "y", 1), ("unknown", 4)])
def test_a_cut_finds_its_error_by_its_first_words(error: str, kept: int) -> None:
    """Where it is not there, the end is what tells most."""
    lines = ["x" * 59, "x" * 60 + "z", "b", "c", "d"]
    (shown,) = [n for n, line in enumerate(lines) if line in cut(lines, error, 4, 10_000)]
    assert shown == kept


def test_each_gap_of_a_cut_is_counted() -> None:
    """Before, between, and behind what is kept."""
    lines = [f"l{n:02}" for n in range(2_020)]
    assert cut(lines, "l10", 8, 10_000) == [
        "… 10 lines left out …",
        "l10",
        "… 2,005 lines left out …",
        *(f"l{n}" for n in range(2_016, 2_020)),
    ]


def test_what_a_cut_keeps_of_the_near_is_not_skipped() -> None:
    """Where the next line is too wide nothing behind it is shown: small ones far off tell less."""
    lines = ["a", "b" * 90, "E", "c" * 90, "d"]
    gap = "… 2 lines left out …"
    assert cut(lines, "E", 100, 90 + 50) == [gap, "E", gap]


def test_a_wake_says_where_the_packet_lies_and_what_fits() -> None:
    """Each failure without its number, with its lines; last what could not be shown."""
    one = failure("a", first_error="E", excerpt=("E",))
    assert packet(one, failure("b"), unseen=("why",)).wake_lines() == [
        f"Why, as far as CI's logs say; all of it is in P. {DATA}",
        *("a: failure.", 'First error: "E"', *block("E")),
        "b: failure.",
        '"why"',
    ]


def test_a_wake_has_two_thousand_characters() -> None:
    """All else lies in the file that it names."""
    assert WAKE_CHARACTERS == 2_000


def test_a_wake_keeps_some_room_for_those_that_follow() -> None:
    """A third of what is left, and 400 characters at most; the last one may fill it."""
    long = tuple(f"{n:03} {'x' * 40}" for n in range(200))
    lines = packet(failure("a", excerpt=long), failure("b", excerpt=long)).wake_lines()
    second = lines.index("b: failure.")
    shown = [sum("xxx" in line for line in part) for part in (lines[:second], lines[second:])]
    assert shown == [27, 8]
    alone = packet(failure("a", excerpt=long)).wake_lines()
    assert sum("xxx" in line for line in alone) == 35
    short = tuple(f"l{n}" for n in range(90))
    lines = packet(failure("a", excerpt=short)).wake_lines()
    assert sum(line.startswith("  | l") for line in lines) == 37


def test_a_wake_counts_what_has_no_room() -> None:
    """And tells nothing behind it; what could not be shown comes last, if it fits."""
    heads = [failure(f"j{n}", first_error="e" * 290) for n in range(9)]
    lines = packet(*heads, unseen=("why",)).wake_lines()
    assert lines[-3:] == [f'First error: "{"e" * 290}"', "4 more in the file.", '"why"']
    assert sum(map(len, lines)) + len(lines) <= 2_000
    full = packet(failure(), unseen=(*["y" * 299] * 9, "why")).wake_lines()
    assert len(full) == 2 + 6


def test_a_wakes_room_is_used_to_its_last_character() -> None:
    """The last failure may fill it; one before leaves 400 characters to those that follow."""

    def wake(more: int, *others: CheckFailure) -> list[str]:
        return packet(failure("a", problem="p" * more), *others).wake_lines()[1:]

    left = WAKE_CHARACTERS - size(packet().wake_lines()[0])
    alone = left - size("a: failure.", "Without its log: ")
    assert wake(alone) == ["a: failure.", f"Without its log: {'p' * alone}"]
    assert wake(alone + 1) == ["1 more in the file."]
    shared = alone - 400
    assert wake(shared, failure("b"))[-1] == "b: failure."
    assert wake(shared + 1, failure("b")) == ["2 more in the file."]
