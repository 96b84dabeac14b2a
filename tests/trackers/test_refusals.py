"""What trackers refuse is said in a sentence."""

from __future__ import annotations

from lifecycle.trackers.refusals import sentence


def test_a_sentence_is_one_line_however_the_file_breaks_it() -> None:
    """And what is filled in is said as it is, its own line breaks included."""
    assert sentence("circle", task="a", blocker="b") == (
        "a cannot wait for b, which waits for a itself; nothing was done."
    )
    assert sentence("bd-long-text", longest=9, most=8) == (
        "The text is of 9 bytes, and bd takes 8 at most, so nothing was done; put the rest into a file, "
        "and its name into the text."
    )
    assert sentence("label-form", label="a\nb").startswith(r"'a\nb' can be no label")
    assert sentence("held", task="1", by="a\nb", since="").startswith("1 is held by a\nb;")
