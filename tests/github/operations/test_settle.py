"""What a lost answer comes to, and which texts and names are the same."""

from __future__ import annotations

from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core import hidden_marker
from lifecycle.core.errors import AlreadyExists, NotFound, Refused, Rejected, Transient
from lifecycle.core.values.shapes import Ensured
from lifecycle.github.operations import inputs, unclear_writes
from lifecycle.github.operations.unclear_writes import settled


def raising(error: Exception) -> NoReturn:
    raise error


def test_an_answer_needs_no_look() -> None:
    """Where the write answered, nothing is read."""
    assert settled(lambda: 1, lambda: raising(AssertionError())) == Ensured(1, changed=True)


def test_a_lost_answer_is_looked_for() -> None:
    """A write that may have landed is what the look shows."""
    lost = Transient("lost", is_ambiguous=True)
    assert settled(lambda: raising(lost), lambda: 2) == Ensured(2, changed=True)


def test_nothing_found_is_unknown() -> None:
    """If the look finds nothing, the write's own error says that nobody knows."""
    lost = Transient("lost", is_ambiguous=True)
    with pytest.raises(Transient) as caught:
        settled(lambda: raising(lost), lambda: None)
    assert caught.value is lost


def test_a_failed_look_is_unknown_too() -> None:
    """A look that fails is no news: the first error stays, with its doubt."""
    lost = Transient("lost", is_ambiguous=True)
    with pytest.raises(Transient) as caught:
        settled(lambda: raising(lost), lambda: raising(Transient("down")))
    assert caught.value is lost


def test_what_did_not_land_is_not_looked_for() -> None:
    """A write that certainly did not land costs no look."""
    with pytest.raises(Transient, match="not sent"):
        settled(lambda: raising(Transient("not sent")), lambda: raising(AssertionError()))


def test_what_exists_is_found_or_lags() -> None:
    """GitHub says that it is there: the look shows it, or it is a matter of seconds."""
    there = AlreadyExists("there")
    found = settled(lambda: raising(there), lambda: 3, already=(AlreadyExists,))
    assert found == Ensured(3, changed=False)
    with pytest.raises(Transient, match="there") as caught:
        settled(lambda: raising(there), lambda: None, already=(AlreadyExists,))
    assert caught.value.retry_after == unclear_writes.LAGGING_SECONDS
    assert not caught.value.is_ambiguous


def test_an_error_stands_unless_it_is_so_all_the_same() -> None:
    """A no to a removal is none if the thing is gone; otherwise it is the answer."""
    gone = NotFound("gone")
    assert settled(lambda: raising(gone), lambda: True, unless=(NotFound,)).changed
    with pytest.raises(NotFound) as caught:
        settled(lambda: raising(gone), lambda: None, unless=(NotFound,))
    assert caught.value is gone


def test_every_other_no_is_the_answer() -> None:
    """An error that was not foreseen is raised without a look."""
    with pytest.raises(Rejected, match="no"):
        settled(
            lambda: raising(Rejected("no")),
            lambda: raising(AssertionError()),
            already=(AlreadyExists,),
        )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a\r\nb", "a\nb", True),
        (" a \n", "a", True),
        ("a  \nb", "a\nb", True),
        ("a\n\nb", "a\nb", False),
        ("A", "a", False),
        ("", "", True),
    ],
)
def test_texts_that_are_the_same(one: str, other: str, *, same: bool) -> None:
    """Line ends and outer spaces do not count; everything else does."""
    assert inputs.same(one, other) is same


@given(st.lists(st.sampled_from("abAB")), st.lists(st.sampled_from("abAB")))
def test_missing_and_present_divide_what_is_wanted(wanted: list[str], there: list[str]) -> None:
    """Each wanted name is missing or present in some case, and none is named twice as missing."""
    missing = inputs.missing(tuple(wanted), tuple(there))
    present = inputs.present(tuple(wanted), tuple(there))
    folded = [name.casefold() for name in missing]
    assert len(folded) == len(set(folded))
    assert inputs.folded(missing) | inputs.folded(present) == inputs.folded(tuple(wanted))
    assert not inputs.folded(missing) & inputs.folded(tuple(there))


@pytest.mark.parametrize("key", ["report", "ci/lint:3.11", "a-b_c=d#4", "x" * 200])
def test_a_key_is_hidden(key: str) -> None:
    """A key of the allowed signs becomes one HTML comment that holds it."""
    mark = hidden_marker.keyed(key)
    assert mark == f"<!-- lifecycle:{key} -->"
    assert mark.count("-->") == 1


@pytest.mark.parametrize("key", ["", "a b", "a--b", "a-", "-a", "a>b", "a\nb", "é--"])
def test_a_key_that_would_break_out_is_refused(key: str) -> None:
    """What could end the comment, or does not belong there, is refused before anything is done."""
    with pytest.raises(Refused, match="nothing was done"):
        hidden_marker.keyed(key)


def test_no_key_is_in_another() -> None:
    """A marker is not found in the marker of a longer key."""
    assert hidden_marker.keyed("report") not in hidden_marker.keyed("report-2")
    assert hidden_marker.keyed("2") not in hidden_marker.keyed("report-2")


MARK = "<!-- lifecycle:report -->"


@given(st.text(), st.sampled_from(["", " ", "\n", "\r\n\r\n"]))
def test_what_is_signed_is_known(body: str, end: str) -> None:
    """Every text with its marker below it is known, whatever GitHub does to line ends."""
    assert hidden_marker.is_signed(hidden_marker.signed(body, MARK) + end, MARK)
    assert hidden_marker.is_signed(hidden_marker.signed(body, MARK).replace("\n", "\r\n"), MARK)


@pytest.mark.parametrize(
    "body", ["", "x", f"`{MARK}`", f"see {MARK}", f"> {MARK}", f"{MARK}\nx", f"    {MARK} x"]
)
def test_what_only_quotes_a_marker_is_not_signed(body: str) -> None:
    """A marker within a line, in a quotation or above other words says nothing."""
    assert not hidden_marker.is_signed(body, MARK)
