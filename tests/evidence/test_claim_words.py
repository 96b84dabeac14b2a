"""Claims in words, against the project's table of cases: their readers alone, without transcripts."""

from __future__ import annotations

import re

import pytest

from lifecycle.core.stage_names import MARKERS
from lifecycle.evidence.words import own_words
from lifecycle.evidence.words.prose_blocks import blocks
from tests.batches import batched, each_row, wrong
from tests.stages.detection_cases import STAYS, Case, all_cases, named

OF = {
    "CODING_COMPLETE": own_words.CODED,
    "REQUIREMENTS_REVIEWED": own_words.SATISFIED,
    "TESTS_PASSING": own_words.TESTED,
    "ORACLE_APPROVED": own_words.APPROVED,
    "ISSUE_CLOSED": "closed",
    "SESSION_CLEARED": "cleared",
}
ABOUT = {"ORACLE_REVIEW": ("review",), "REQUIREMENTS_REVIEW": ("every requirement",)}
"""What a turn in these stages is about besides."""

PLAIN = [
    case
    for case in all_cases()
    if case.tier == "words"
    and len(case.steps) == 1
    and isinstance(case.steps[0], str)
    and not re.search(r"^\s|[`>#|\n\[<]|verdict", case.steps[0], re.IGNORECASE)
]
"""Cases of one line without markup: there the whole text is the agent's own prose."""


def said_in(text: str, about: tuple[str, ...] = ()) -> tuple[list[str], list[str]]:
    """What a line claims whose every word is the agent's own, and what it says is open."""
    return own_words.said(text.replace("\ue000", "`").replace("\ue001", "`"), about)


def claims(text: str, about: tuple[str, ...] = ()) -> list[str]:
    """What a line claims whose every word is the agent's own."""
    return said_in(text, about)[0]


def is_claimed(case: Case) -> bool:
    """Whether a line claims what its stage waits for."""
    return OF[str(MARKERS[case.asked])] in claims(
        str(case.steps[0]), ABOUT.get(str(case.asked), ())
    )


@batched(PLAIN)
def test_a_line_claims_what_its_case_says(batch: list[Case]) -> None:
    """A line that completes its stage claims that, and one that does not claims it nowhere."""
    failed = wrong(batch, named, is_claimed, lambda case: case.found != STAYS)
    assert not failed, "\n".join(failed)


def test_a_claim_needs_words_of_what_it_is_about() -> None:
    """The word "approved" alone is of nothing; beside a review it is of that."""
    assert claims("Approved.") == []
    assert claims("Approved.", ("review",)) == [own_words.APPROVED]
    assert claims("Approved.\n\n```\nreview\n```") == []


def test_an_open_box_takes_every_claim_away() -> None:
    """What is not ticked is to be done."""
    assert claims("All tests pass.\n\n- [x] the parser") == [own_words.TESTED]
    assert claims("All tests pass.\n\n- [ ] the parser") == []


def test_what_only_code_says_is_no_claim_and_nothing_open() -> None:
    """A line that is in none of the agent's prose is no word of its own, good or bad."""
    for line in ("All tests pass.", "3 failed"):
        assert said_in(f"```\n{line}\n```") == ([], [])
    assert said_in("3 failed") == ([], [own_words.TESTED])
    assert said_in("The ticket says:\n\n- 3 failed") == ([], [own_words.TESTED])


def test_changes_that_are_asked_for_are_of_a_review() -> None:
    """Where nothing speaks of one, they are of anything."""
    line = "Changes were requested."
    for about, still in (((), []), (("review",), [own_words.APPROVED])):
        assert said_in(line, about) == ([], still)


def test_prose_is_asked_for_only_where_something_is_there() -> None:
    """To tell prose a parser is needed: a line without a claim never asks."""
    before = blocks.cache_info()
    assert own_words.said("The parser reads quotes.") == ([], [])
    assert not own_words.approves("I read it.")
    assert blocks.cache_info() == before
    for line in ("The suite may pass || true.", "All tests pass, don't they?"):
        assert claims(f"All tests pass. {line}") == []


@each_row(
    ("text", "is_taken"),
    [
        ("Two tests failed.", True),
        ("No tests failed.", False),
        ("Next I will run the suite.", True),
        ("Next I'll run the tests.", False),
        ("Let me see the suite.", True),
        ("Next I will write the parser.", True),
        ("Did it fail?", True),
        ("I added the parser and its tests.", False),
        ("I added the parser, which is slow.", True),
        ("I added a parser that reads XML.", False),
        ("I added the parser and it hangs.", True),
        ("The parser is documented and tested.", False),
        ("The parser now reads quotes.", False),
        ("The tests cover both cases.", False),
        ("The parser likes quotes.", False),
        ("If the refresh fails, the user is sent to the login page.", False),
        ("The refresh fails on an empty token.", True),
        ("The old key works and logs a warning.", False),
        ("The new key is missing.", True),
        ("I reverted my first attempt.", False),
        ("I reverted everything.", True),
        ("Or so.", True),
        ("Three of the five forms are read.", True),
        ("It returns an empty list.", True),
        ("Der Parser ist fertig.", True),
        ("I didn't change the public API.", False),
        ("I commented the check out.", True),
        ("I tested it with one row.", True),
        ("Files changed:", False),
        ("- new module for pages", False),
        ("- pages: open", True),
        ("- pages \u274c", True),
        ("- if held: exit 3", False),
        ("- pages: tomorrow", True),
        ("It falls back to `maybe`.", False),
    ],
)
def test_what_takes_a_claim_back(text: str, is_taken: bool) -> None:
    """Each doubt of the work does; of the code, what is not over, or bad; and what is no sentence."""
    line = text.replace("`", "\ue000", 1).replace("`", "\ue001")
    assert own_words.are_doubts(["Implementation complete.", line]) is is_taken


@pytest.mark.parametrize(
    ("text", "is_taken"),
    [
        ("My first attempt failed, since the lock was held.", False),
        ("The export was empty at first.", False),
        ("The export is empty.", True),
        ("I skipped the export.", True),
    ],
)
def test_what_was_is_left_behind_by_a_claim_that_follows(text: str, is_taken: bool) -> None:
    """Before a claim, what went wrong on the way takes nothing back; behind it, it does."""
    assert own_words.are_doubts([text, "The implementation is complete."]) is is_taken
    assert own_words.are_doubts([text]) is True
    assert own_words.are_doubts([text, "I added the parser."]) is True


def test_an_approval_is_taken_back_by_any_doubt() -> None:
    """A reviewer describes what it read; only a doubt takes its approval back."""
    assert own_words.are_doubts(["The parser likes quotes."], is_strict=True) is False
    assert own_words.are_doubts(["The parser is slow."], is_strict=True) is True
    assert own_words.are_doubts(["The lock is kept if the worker dies."], is_strict=True) is True
    assert (
        own_words.are_doubts(["The tests pass.", "The lock is kept if the worker dies."]) is False
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("VERDICT: APPROVED", "approved"),
        ("VERDICT: CHANGES_REQUESTED", "changes"),
        ("VERDICT: APPROVED\n\nVERDICT: CHANGES_REQUESTED", "changes"),
        ("VERDICT: CHANGES_REQUESTED\n\nVERDICT: APPROVED", "approved"),
        ("VERDICT: APPROVED | CHANGES_REQUESTED", ""),
        ("VERDICT: APPROVED or CHANGES_REQUESTED", ""),
        ("End with:\n\nVERDICT: APPROVED", ""),
        ("VERDICT: APPROVED if it builds", "changes"),
        ("VERDICT: APPROVED (no findings)", "approved"),
        ("VERDICT: APPROVED?", "changes"),
        ("It was a verdict.", ""),
    ],
)
def test_the_last_line_in_the_form_of_a_verdict_counts(text: str, wanted: str) -> None:
    """Whole, of its own, and not announced as a form; approved with anything behind it asks for changes."""
    assert own_words.verdict(text) == wanted


@pytest.mark.parametrize(
    ("text", "may"),
    [("VERDICT: APPROVED", True), ("Verdict: changes", True), ("The verdict is open.", False)],
)
def test_where_a_verdict_may_be(text: str, may: bool) -> None:
    """A quick look tells whether the prose is worth reading."""
    assert own_words.may_have_verdict(text) is may


def test_a_reviews_own_words_approve_without_a_condition_anywhere() -> None:
    """A condition in any line of its prose asks for changes."""
    good, bad = "Approved.", "Please rename the helper."
    assert own_words.approves(good)
    assert not own_words.approves(f"{good}\n\n{bad}")
    assert not own_words.approves(bad)


LONG = "Implementation complete ({:a<" + str(own_words.LONGEST - 27) + "})."
"""A claim that is as long as a sentence may be."""

FOUND = [
    ("Changes were requested by the reviewer.", [], ["approved"]),
    ("3 tests failed. I will look.", [], ["tested"]),
    ("Did 3 tests fail?", [], []),
    ("Merged to main and the issue is closed.", ["closed"], []),
    ("I ran gh issue view 12: all of them are met.", ["satisfied"], []),
    ("I\u2019ve finished the implementation.", ["coded"], []),
    ("Todas las pruebas pasan in 3 s.", [], []),
    (
        "The implementation is complete, the parser reads quotes and the work is done.",
        ["coded"],
        [],
    ),
    ("Implementation complete: tests for the slow path.", ["coded"], []),
    ("Implementation complete, I did not add tests.", [], []),
    ("All tests pass (they cover missing files).", [], []),
    ("Implementation complete, the parser does not read quotes.", [], []),
    (f"Implementation complete: see \ue000{'a' * own_words.LONGEST}\ue001.", [], []),
    ("Oracle review: all tests pass.", [], []),
    (LONG.format(""), ["coded"], []),
    (LONG.format("").replace("aa", "aaa", 1), [], []),
]
"""Lines, what each claims, and what it says is open."""


def test_what_a_line_claims_and_what_it_says_is_open() -> None:
    """In whole sentences, with what they announce or have in parentheses; a question says nothing."""
    assert [(text, *said_in(text)) for text, *_ in FOUND] == FOUND


def test_an_entry_tells_of_the_code_and_a_reviewer_of_what_it_read() -> None:
    """What the tests skip is no doubt in a list; a reviewer's exception is one, and a mended failure."""
    assert (
        own_words.are_doubts(["Implementation complete.", "- the tests skip the slow path"])
        is False
    )
    for line in (
        "Everything but the pagination is implemented.",
        "I removed the check that failed.",
    ):
        assert own_words.are_doubts([line], is_strict=True) is True
