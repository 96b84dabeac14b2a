"""A text of the greatest length, of one short phrase again and again, is read to its end."""

from __future__ import annotations

import pytest

from lifecycle.evidence.words import own_words, word_tables
from tests.batches import batched

PHRASES = [
    *("most of the ", "all the ", "the ", "is ", "and ", "tests ", "passed ", "all tests ", "not "),
    *("if the ", "only ", "it is ", "done, ", "done: ", "a.b ", "a/b ", "I added ", "I have "),
    *("- a\n", "* ", "| a |\n", "`a` ", "\ue000 ", "(a) ", "( ", "_ ", "** ", "1. ", "1/2 ", "> "),
    *(
        "review ",
        "added and ",
        "closed with ",
        "in full ",
        "verdict: ",
        "\n\n",
        ". ",
        ", ",
        "? ",
        "; ",
    ),
    *sorted(
        f"{word} "
        for rows in (word_tables.table(own_words.TABLE)[kind] for kind in ("claims", "open"))
        for row in rows.values()
        for word in row["has"].split()
    ),
]
CLAIM = "The implementation is complete. "


@pytest.mark.once(
    "each kind of repetition is among the first forty; the others are words of tables"
)
@batched(PHRASES, 40)
def test_a_phrase_that_is_said_again_and_again_is_read_to_its_end(batch: list[str]) -> None:
    """No pattern tries a long text in more ways than the suite's time-out allows."""
    for phrase in batch:
        text = (CLAIM + phrase * own_words.LENGTH)[: own_words.LENGTH]
        assert own_words.verdict(text) == ""
        own_words.said(text)
        own_words.takes_back(text)


@pytest.mark.parametrize(
    ("length", "claims"),
    [(own_words.LONGEST - 100, [own_words.CODED]), (own_words.LONGEST, [])],
)
def test_a_sentence_that_is_too_long_to_be_read_takes_a_claim_back(
    length: int, claims: list[str]
) -> None:
    """What it says nobody knows; it claims nothing itself."""
    sentence = f"I added {'x' * length} to the parser."
    assert own_words.said(f"{CLAIM}{sentence}")[0] == claims


def test_a_line_that_is_too_long_to_be_read_takes_a_claim_back() -> None:
    """It may have several sentences, or none; so may a paragraph of many lines."""
    sentence = "I added a parser. "
    some, many = (sentence * (own_words.LINE // len(sentence) + more) for more in (-9, 9))
    assert own_words.said(f"{CLAIM}\n\n{some}")[0] == [own_words.CODED]
    assert own_words.said(f"{CLAIM}\n\n{many}")[0] == []
    assert own_words.said("{}\n\n{}".format(CLAIM, many.replace(". ", ".\n")))[0] == []
