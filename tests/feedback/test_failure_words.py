"""Each sentence about whose failed checks are, word by word."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.feedback.checks.packet import CheckFailure, FailurePacket
from lifecycle.feedback.failures import failure_words as words
from lifecycle.feedback.failures.tampering import TamperFinding

HEAD, BASE = "0123456789abcdef", "fedcba9876543210"
PACKET = FailurePacket(46, "", HEAD, path="x.txt")


LOST = ("##[error]npm error code ECONNRESET",)
"""What a log says whose job lost the network."""


def fact(*names: str, **more: Any) -> CheckFailure:
    """A failure of checks of CI."""
    return CheckFailure(names[0], "FAILURE", workflow="CI", run=7, job=8, same=names[1:], **more)


def test_a_rerun_is_told_with_what_broke_once() -> None:
    """To the person alone."""
    failures = [fact("lint", excerpt=LOST), fact("test", "docs", excerpt=LOST)]
    assert words.of_head("run-again", PACKET, failures) == (
        "CI of PR #46 at 0123456: lint, test, docs failed because of the machine or service that it ran on "
        "(the network); the failed jobs are run again, and the agent was not woken."
    )


def test_names_and_identities_are_counted_where_there_are_many() -> None:
    """Five are shown, whoever they belong to; one that is there twice is shown once."""
    five = [fact(*"abcde", excerpt=LOST)]
    assert "a, b, c, d, e failed" in words.of_head("run-again", PACKET, five)
    assert "a, b, c, d, e (+1 more) failed" in words.of_head(
        "run-again", PACKET, [*five, fact("f")]
    )
    many = [fact("a", tests=tuple(f"t{n}" for n in (0, 0, 1, 2, 3, 4)))]
    assert '"t0", "t1", "t2", "t3", "t4". This' in words.of_head("inherited", PACKET, many, BASE)
    more = [*many, fact("b", first_error="t5")]
    assert '"t4" (+1 more). This' in words.of_head("inherited", PACKET, more, BASE)


def test_inherited_and_mended_name_the_commit_of_the_base() -> None:
    """The one is not to be fixed, the other to be merged."""
    failures = [fact("test", tests=("a.py::test_a",))]
    assert words.of_head("inherited", PACKET, failures, BASE) == (
        "CI: test failed on PR #46 at 0123456, and fails the same way on its base at fedcba9: "
        '"a.py::test_a". This PR did not cause it, so do not fix it here; tell the user. It is checked '
        "again when the base moves. Excerpts of the logs are in x.txt."
    )
    assert words.of_head("mended", PACKET, failures, BASE) == (
        "CI: test failed on PR #46 as it did on its base, but the base no longer fails at fedcba9. Merge "
        "the base branch, run the tests and push; the new head is watched."
    )


@pytest.mark.parametrize(
    ("why", "reason"),
    [
        ("attempts", "it failed at 3 heads"),
        ("no change", "the last fix did not change what fails"),
        ("heads", "the agent was already woken for it at many heads"),
    ],
)
def test_a_question_says_why_and_where_the_packets_lie(why: str, reason: str) -> None:
    """The newest five of them."""
    packets = [f"{n}.txt" for n in range(6)]
    assert words.stopped(46, why, ["test t"], packets, 3) == (
        f'CI of PR #46 is red again with "t": {reason}, so the agent is no longer woken for it. Ask the '
        "user what to do; if the answer is to continue, run: lifecycle feedback go-on. Excerpts of the "
        "logs are in 1.txt, 2.txt, 3.txt, 4.txt, 5.txt."
    )
    assert "failed at 1 head," in words.stopped(46, "attempts", ["test t"], packets, 1)
    assert words.of_head("still-stopped", PACKET, [fact("test")]) == (
        "CI of PR #46 at 0123456: test still fails, as you were told, and the agent was not woken; "
        "excerpts of the logs are in x.txt."
    )


def test_what_weakens_checks_is_named_with_its_line() -> None:
    """A line is data of somebody's, in quotation marks; of many the first five are named."""
    said = words.weakened(
        [
            TamperFinding("skips a test", "a.py", "@skip"),
            TamperFinding("deletes a workflow", "b.yml"),
        ]
    )
    assert said == ('skips a test in a.py: "@skip"', "deletes a workflow in b.yml")
    start = "Commits pushed to PR #46 after fedcba9 failed weaken its checks (at 0123456): "
    assert words.weakens(46, BASE, HEAD, said, is_agents=True) == (
        f"{start}{said[0]}; {said[1]}. If that is not part of the task, revert it and push. The user was "
        "told, and the PR's text says so; the issue is closed only after the user's yes."
    )
    for count, shown in ((5, "0; 1; 2; 3; 4. The"), (6, "0; 1; 2; 3; 4 (+1 more). The")):
        text = words.weakens(46, BASE, HEAD, [str(n) for n in range(count)], is_agents=False)
        assert text == (
            f"{start}{shown} PR's text says so, and the issue is closed only after your yes."
        )


@pytest.mark.parametrize("length", [80, 81])
def test_names_of_strangers_are_cut(length: int) -> None:
    """Names at 80 characters, files and lines at 120, what failed at 160; a cut is marked."""
    name = "n" * length
    text = words.of_head("run-again", PACKET, [fact(name, excerpt=LOST)])
    assert (name in text) is (length == 80)
    line = "l" * (length + 40)
    (said,) = words.weakened([TamperFinding("x", line.replace("l", "p"), line)])
    assert (line in said) is (line.replace("l", "p") in said) is (length == 80)
    identity = "i" * (length + 80)
    told = words.stopped(46, "heads", [f"test {identity}"], [], 3)
    assert (identity in told) is (length == 80)


def test_whoever_says_to_go_on_is_told_of_what() -> None:
    """Of what they were asked about; where that is nothing, the agent was not stopped."""
    assert words.opened(46, ["test a.py::test_a"]) == (
        'The agent is woken again for "a.py::test_a" on PR #46; its failures are counted from zero. '
        "The next push is watched."
    )
    assert words.opened(46, []) == (
        "The agent is already woken for everything that fails on PR #46; nothing was changed."
    )
