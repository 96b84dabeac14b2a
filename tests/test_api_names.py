"""Names that `lifecycle.api` had before: they go on, and say what they are called now."""

from __future__ import annotations

import math
import pickle
import re
import warnings
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from lifecycle import api
from lifecycle.claim.record.sections import EndingRecord
from lifecycle.core import errors


@pytest.mark.parametrize(("old", "new"), [("Say", api.Notice), ("Tone", api.Audience)])
def test_an_old_name_warns_and_gives_the_new_class(old: str, new: type) -> None:
    """A program that was written for the old name runs, and its author is told the new one."""
    with pytest.warns(DeprecationWarning, match=f"{old} is called {new.__name__} now") as caught:
        assert getattr(api, old) is new
    assert [warning.filename for warning in caught] == [__file__]


def test_a_notice_gives_its_audience_by_the_old_name() -> None:
    """A program that reads `tone` goes on, and is told the new name."""
    notice = api.Notice("key", "text", api.Audience.NEWS)
    with pytest.warns(DeprecationWarning, match="tone is called audience now"):
        assert notice.tone is api.Audience.NEWS


@pytest.mark.parametrize(
    ("old", "new"), [("outcome", "ending.outcome"), ("given_back", "ownership.is_leaseless")]
)
def test_a_record_gives_its_fields_by_the_old_names(old: str, new: str) -> None:
    """A program that reads `record.outcome` goes on, and is told in which section it is now."""
    record = api.Record({}, ending=EndingRecord(outcome="closed"))
    with pytest.warns(DeprecationWarning, match=f"Record.{old} is {new} now") as caught:
        assert getattr(record, old) == attrgetter(new)(record)
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.raises(AttributeError, match="'Record' object has no attribute 'outcomes'"):
        _ = record.outcomes  # type: ignore[attr-defined]  # that is the point


@pytest.mark.parametrize("old", ["Say", "Tone"])
def test_an_old_name_is_not_exported(old: str) -> None:
    """`from lifecycle.api import *` and the page of the API have the new names alone."""
    assert old not in api.__all__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in api.__all__:
            getattr(api, name)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda tree: tree.hand_off(None), "summary=None is not a text, so nothing was done"),
        (lambda tree: tree.move(None), "phase=None is not a text, so nothing was done"),
        (lambda tree: tree.release(5), "reason=5 is not a text, so nothing was done"),
        (lambda tree: tree.close(override=5), "override=5 is not a text, so nothing was done"),
        (lambda tree: type(tree)(tree.root, seconds="9"), "seconds='9' is not a number"),
        (lambda tree: type(tree)(tree.root, seconds=math.nan), "seconds=nan is not a number"),
        (lambda tree: type(tree)(f"{tree.root}\0"), r"root='.*\\x00' is not a path"),
        (lambda tree: tree.tick("tick"), "wake='tick' is not a wake, so nothing was done"),
        (lambda _: api.GitHub("a/b", seconds=[]), r"seconds=\[\] is not a number"),  # type: ignore[arg-type]
        (lambda _: api.GitHub("a/b", token=5), "token=5 is not a text"),  # type: ignore[arg-type]
    ],
)
def test_an_argument_of_another_kind_is_refused(
    tmp_path: Path, call: Callable[[Any], object], sentence: str
) -> None:
    """In a sentence before anything is read: Python's own error came out of the middle."""
    with pytest.raises(api.Refused, match=f"^{sentence}"):
        call(api.Worktree(tmp_path, environment={}))


def test_a_folder_outside_of_git_has_nothing_to_look_at(tmp_path: Path) -> None:
    """A tick there is no error: there is no claim."""
    assert api.Worktree(tmp_path, environment={}).tick() == api.Report(None)


def test_a_worktree_shows_its_folder() -> None:
    """Its repr is what made it, as that of a `GitHub`."""
    assert repr(api.Worktree("/somewhere")) == "Worktree('/somewhere')"


def test_an_unknown_name_is_an_error() -> None:
    """A misspelt name is what it is in any module: an AttributeError that names it, and no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(AttributeError, match=r"module 'lifecycle\.api' has no attribute 'Sai'"):
            _ = api.Sai


@pytest.mark.parametrize(
    "name", ["CLAIM", "Ensured", "GitHub", "HandedOff", "Report", "Taken", "Worktree"]
)
def test_a_name_has_what_the_page_says_of_it(name: str) -> None:
    """The page named `CLAIM.mermaid`, which is nowhere."""
    page = Path(__file__).parents[1].joinpath("docs/api.md").read_text()
    (row,) = re.findall(
        rf"^\| `{name}` \| .*;(.*) \||^\| `{name}` \| .*:(.*) \|", page, re.MULTILINE
    )
    parts = re.findall(r"`(\w+)`", "".join(row))
    assert parts
    assert [part for part in parts if not hasattr(getattr(api, name), part)] == []


def test_every_error_reaches_another_process_as_it_is() -> None:
    """A pool of processes pickles what a worker raises: one that cannot be read breaks the whole pool."""
    named = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    kinds = [kind for kind in named if issubclass(kind, api.LifecycleError)]
    assert api.Transient in kinds
    for kind in kinds:
        error = kind("What happened.")
        error.evidence = "its words"
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 -- our own
        assert (type(again), str(again), vars(again)) == (kind, "What happened.", vars(error))
