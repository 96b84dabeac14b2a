"""The agent's own prose in a text, and what it says there: claims, verdicts, and what takes them back."""

from __future__ import annotations

import pytest

from lifecycle.core.stage_names import MARKERS
from lifecycle.evidence.words import own_words
from lifecycle.evidence.words.prose_blocks import HIDDEN, blocks, plain
from tests.batches import batched, each_row, wrong
from tests.evidence.test_claim_words import ABOUT, OF, PLAIN
from tests.stages.detection_cases import STAYS, Case, all_cases, named

TEXTS = [case for case in all_cases() if len(case.steps) == 1 and isinstance(case.steps[0], str)]
"""Cases of one text."""

LINES = {case.number for case in PLAIN}
WORDS = [
    case
    for case in TEXTS
    if case.tier == "words"
    and case.number not in LINES
    and "verdict" not in str(case.steps[0]).lower()
]
VERDICTS = [case for case in TEXTS if case.tier == "verdict" and str(case.asked) in ABOUT]


def claimed(case: Case) -> tuple[bool, list[str]]:
    """Whether a text claims what its stage waits for, and what it tells if it is asked for that alone."""
    text, about = str(case.steps[0]), ABOUT.get(str(case.asked), ())
    wanted = OF[str(MARKERS[case.asked])]
    return wanted in own_words.said(text, about)[0], own_words.said(text, about, wanted)[0]


def due(case: Case) -> tuple[bool, list[str]]:
    """The same, as the case says it."""
    is_due = case.found != STAYS
    return is_due, [OF[str(MARKERS[case.asked])]] * is_due


@batched(WORDS)
def test_a_text_claims_what_its_case_says(batch: list[Case]) -> None:
    """Whatever stands around its prose; a text that is asked for one claim tells that one alone."""
    failed = wrong(batch, named, claimed, due)
    assert not failed, "\n".join(failed)


def is_approved(case: Case) -> bool:
    """Whether a review's end approves: by its form where it has one, else by its words."""
    text = str(case.steps[0])
    verdict = own_words.verdict(text)
    by_words = OF[str(MARKERS[case.asked])] in own_words.said(text)[0]
    return verdict == "approved" or (not verdict and by_words)


@batched(VERDICTS)
def test_a_reviews_end_says_what_its_case_says(batch: list[Case]) -> None:
    """By its form where it has one; a text with a form has no other verdict."""
    failed = wrong(batch, named, is_approved, lambda case: case.expected != STAYS)
    assert not failed, "\n".join(failed)


@pytest.mark.parametrize("between", ["```\nx\n```", "    x", "> x", "| a |\n|---|\n| b |"])
def test_what_is_no_prose_stands_between_a_line_and_what_it_would_lead(between: str) -> None:
    """A line leads the block right behind it, and none behind code, a quote or a table."""
    found = blocks(f"It says:\n\n{between}\n\nNext")
    seen = [(block.text, block.lead, block.is_headed) for block in found]
    assert seen == [("It says:", "", False), ("Next", "", False)]
    assert [block.lead for block in blocks("It says:\n\nNext")] == ["", "It says:"]


def test_an_entry_below_another_is_led_by_what_leads_the_whole_list() -> None:
    """And by nothing that stands in the list."""
    found = blocks("Plan:\n\n- a\n  - b\n\nNext")
    assert [(block.text, block.lead) for block in found[:3]] == [
        ("Plan:", ""),
        ("a", "Plan:"),
        ("b", "Plan:"),
    ]


def test_characters_that_take_room_stay() -> None:
    """Blanks of all kinds are spaces, what takes no room goes, and everything else is as it was."""
    assert plain("a~b\u00a0c\u200bd\te") == "a~b cd e"


def test_a_verdict_that_a_sentence_goes_on_behind_is_none() -> None:
    """It is what the block right behind it says, and not one elsewhere."""
    assert own_words.verdict("VERDICT: APPROVED\n\nwhich steers reviewers.\n\nThe end.") == ""
    assert own_words.verdict("which I read.\n\nVERDICT: APPROVED\n\nThe end.") == "approved"


@each_row(
    ("text", "verdict"),
    [
        ("VERDICT: APPROVED", "approved"),
        ("VERDICT: CHANGES_REQUESTED", "changes"),
        ("VERDICT: APPROVED\n\nVERDICT: CHANGES_REQUESTED", "changes"),
        ("VERDICT: CHANGES_REQUESTED\n\nVERDICT: APPROVED", "approved"),
        ("`VERDICT: APPROVED`", "approved"),
        ("- VERDICT: APPROVED", "approved"),
        ("- [x] VERDICT: APPROVED", "approved"),
        ("- [ ] VERDICT: APPROVED", ""),
        ("> VERDICT: APPROVED", ""),
        ("```\nVERDICT: APPROVED\n```", ""),
        ("End your report with this line:\n\nVERDICT: APPROVED", ""),
        ("End your report with\nVERDICT: APPROVED", ""),
        ("I read all of it.\nVERDICT: APPROVED", "approved"),
        ("- [ ] VERDICT: APPROVED\n\nVERDICT: CHANGES_REQUESTED", "changes"),
        ("End your report with\n\n- VERDICT: APPROVED", ""),
        ("End your report with\n\nVERDICT: APPROVED", "approved"),
        ("VER**DICT**: APPROVED", ""),
        ("The verdict is not in.", ""),
        ("", ""),
    ],
)
def test_a_verdict_has_a_form(text: str, verdict: str) -> None:
    """The last line in it counts, where the agent itself says it."""
    assert own_words.verdict(text) == verdict


@pytest.mark.parametrize(
    ("text", "approves"),
    [
        ("Approved.", True),
        ("Approved, but mend the parser first.", False),
        ("I read it.", False),
        ("VERDICT: APPROVED", False),
        ("Approved.\n\nVERDICT: CHANGES_REQUESTED", False),
    ],
)
def test_words_approve_where_there_is_no_form(text: str, approves: bool) -> None:
    """A line in the form is read by `verdict`, whatever stands beside it."""
    assert own_words.approves(text) is approves


def test_what_takes_back_is_looked_for_in_all_of_the_prose() -> None:
    """Also in a line that only announces, and in none of code."""
    assert own_words.takes_back("Two tests failed.")
    assert own_words.takes_back("The ticket says:\n\nTwo tests failed.")
    assert not own_words.takes_back("No tests failed.")
    assert not own_words.takes_back("```\nTwo tests failed.\n```")


def test_a_long_text_is_read_from_its_end() -> None:
    """A claim far before it is not about now."""
    filler = "\n" * 20_000
    assert own_words.said(f"All tests pass.{filler}")[0] == []
    assert own_words.said(f"{filler}All tests pass.")[0] == [own_words.TESTED]
    assert not own_words.approves(f"Approved.{filler}")
    assert own_words.approves(f"{filler}Approved.")
    cut = "\n" * (20_000 - len("All tests pass."))
    assert own_words.said(f"All tests pass.{cut}")[0] == [own_words.TESTED]
    assert own_words.said(f"All tests pass.{cut}\n")[0] == []
    for length, claims in ((3_999, [own_words.TESTED]), (4_000, [])):
        line = "I read it. " * (length // 11) + "x" * (length % 11)
        assert own_words.said(f"All tests pass.\n\n{line}")[0] == claims
        block = f"{('I read it. ' * 180).strip()}\n{line[1_980:]}"
        assert len(block) == length
        assert own_words.said(f"All tests pass.\n\n{block}")[0] == claims


def test_what_is_open_is_told_beside_what_is_claimed() -> None:
    """By the names that the table of claims has."""
    assert own_words.said("Two tests failed.") == ([], [own_words.TESTED])
    assert own_words.said("All tests pass.") == ([own_words.TESTED], [])
    assert own_words.said("All tests pass.", wanted=own_words.CODED) == ([], [])


def test_an_approval_beside_the_form_is_no_claim() -> None:
    """The form says it all, whatever the words around it are."""
    assert own_words.said("Code review approved.")[0] == [own_words.APPROVED]
    assert own_words.said("Code review approved.\n\nVERDICT: APPROVED")[0] == []


def seen(text: str) -> list[tuple[str, str, str]]:
    """The words, the line before and the box of each block."""
    return [(block.text, block.lead, block.box) for block in blocks(text)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a **b** _c_", "a b c"),
        ("a `b c` d", "a \ue000b c\ue001 d"),
        ("a ~~b~~ c", "a \ufffc c"),
        ("a <q>b</q> c", f"a {HIDDEN} c"),
        ("a <q>b</q></q> c", f"a {HIDDEN} c"),
        ("a <b>b</b> c", "a b c"),
        ("a ![b](c.png) d", f"a {HIDDEN} d"),
        ("a [b](c.md) d", "a b d"),
        ("a\nb", "a\nb"),
        ("a  \nb", "a\nb"),
        ("a\u00a0b\u2009c\ufeff", "a b c"),
        ("<del>a\nb</del> c", f"{HIDDEN}\n{HIDDEN} c"),
        ("<del>a  \nb</del> c", f"{HIDDEN}\n{HIDDEN} c"),
        ("a <q>b <q>c</q> d</q> e", f"a {HIDDEN}{HIDDEN}{HIDDEN} e"),
    ],
)
def test_words_are_read_as_a_person_reads_them(text: str, words: str) -> None:
    """Without emphasis; what is struck out, quoted by a tag or a picture is none; code stays marked."""
    assert [block.text for block in blocks(text)] == [words]


def test_a_block_without_its_code() -> None:
    """What stands in it instead is no word."""
    (block,) = blocks("a `b` c `d`")
    assert block.bare == f"a {HIDDEN} c {HIDDEN}"


def test_headings_lists_and_boxes_are_told_apart() -> None:
    """A box is of a list's entry alone; a heading leads what stands below it, and is none itself."""
    text = "# Done\n\n- [x] a\n- [X] b\n- [ ] c\n- d\n\n[ ] e"
    assert seen(text) == [
        ("Done", "", ""),
        ("a", "Done", "x"),
        ("b", "Done", "x"),
        ("c", "Done", " "),
        ("d", "Done", ""),
        ("[ ] e", "d", ""),
    ]
    found = blocks(text)
    assert [block.is_heading for block in found] == [True, *[False] * 5]
    assert [block.is_item for block in found] == [False, True, True, True, True, False]
    assert [block.is_headed for block in found] == [False, True, True, True, True, False]


def test_the_last_line_of_a_block_leads_the_next() -> None:
    """A line that goes on over several is led by what stood before the block."""
    assert seen("a\nb:\n\nc") == [("a\nb:", "", ""), ("c", "b:", "")]


def test_quotes_and_tables_within_a_list_are_no_prose() -> None:
    """And what comes behind the list is prose again."""
    text = "- a\n\n  > b\n\n- c\n\nd\n\n| e |\n|---|\n| f |\n\ng"
    assert [block.text for block in blocks(text)] == ["a", "c", "d", "g"]


@each_row(
    ("text", "is_claimed"),
    [
        ("All tests pass.", True),
        ("Result:\n\nAll tests pass.", True),
        ("The ticket says:\n\nAll tests pass.", False),
        ("- All tests pass.", False),
        ("I ran them.\n\n- All tests pass.", False),
        ("Results:\n\n- All tests pass.", True),
        ("Results:\n\n- `All tests pass.`", False),
        ("When the fixture is in,\n\nAll tests pass.", False),
        ("# All tests pass", True),
        ("Results of next week:\n\nAll tests pass.", False),
        ("# Notes\n\n- All tests pass.", True),
        ("Steps\n\n- All tests pass.", False),
        ("I ran them\n\nAll tests pass.", True),
        ("All tests pass.\n\npages and forms", False),
        ("All tests pass.\n\n- pages and forms", True),
        ("All tests pass.\n\n# pages and forms", True),
        ("I wrote it\nAll tests pass.", True),
        ("I wrote it.\nall tests pass.", True),
        ("All tests pass.\n\n```\nraise NotImplementedError\n```", False),
        ("All tests pass.\n\n```\npass\n```", True),
        ("`All tests pass.`", False),
        ("All tests\npass.", False),
        ("- [ ] All tests pass.", False),
        ("All tests pass.\n\n- [ ] more", False),
        ("All tests pass.\n\n| suite | result |\n|---|---|\n| unit | 2 failed |", False),
        ("All tests pass.\n\n| suite | result |\n|---|---|\n| unit | 2 passed |", True),
    ],
)
def test_a_line_of_the_agents_own_claims(text: str, is_claimed: bool) -> None:
    """What is announced, code, in a list of its own or beside an open box is none; cells may take back."""
    assert (own_words.TESTED in own_words.said(text)[0]) is is_claimed
