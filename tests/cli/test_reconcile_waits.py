"""Whom pull requests wait for: a table in the step's summary and on a terminal, lines in a pipe."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from lifecycle.cli.reconcile import reconcile_words as forms
from lifecycle.cli.reconcile.reconcile_words import lines as report_lines
from lifecycle.cli.reconcile.reconcile_words import waiting_head, waiting_lines
from lifecycle.reconcile.finding import SweepReport
from tests.cli.reconcile_reports import MERGED_NEXT, QUIET, REPORT, REVIEWED, waiting
from tests.cli.terminal import plain
from tests.cli.test_reconcile_actions import EVIL, rows_of
from tests.cli.test_reconcile_screen import shown

WAITING = replace(QUIET, waiting=(waiting(), REVIEWED, MERGED_NEXT))
MANY = replace(REPORT, waiting=tuple(waiting(n) for n in range(1, 34)))


def test_the_summary_has_a_table_of_them() -> None:
    """Number with its link, title, whom, and how it stands; before it how many wait for whom."""
    text = forms.summary(WAITING)
    rows = rows_of(text)
    assert [row[1] for row in rows] == [
        "author: octocat-1738000000",
        "reviewers: maria, octo-org/core",
        "somebody who merges",
    ]
    assert [row[2] for row in rows][::2] == ["has checks that failed", "is ready to merge"]
    name = "octo-org/hello-service#46"
    link = f'<a href="https://github.com/octo-org/hello-service/pull/46">{name}</a>'
    assert rows[0][0] == f"{link} Fix race condition in task queue"
    words = MarkdownIt().render(text)
    told = "3 open pull requests wait: 1 for author, 1 for reviewers, 1 for somebody who merges."
    assert told in words
    ready = [replace(MERGED_NEXT, number=n) for n in (1, 2)]
    assert waiting_head(replace(QUIET, waiting=tuple(ready))).endswith(
        ": 2 for somebody who merges."
    )
    assert "<details>" not in text


def test_many_are_folded() -> None:
    """The line that is seen says how many wait for whom; findings and problems stand outside of it."""
    text = forms.summary(MANY)
    opened = text.index("<details><summary>33 open pull requests wait: 33 for author.</summary>")
    inner = text[opened : text.index("</details>", opened)]
    assert inner.count("\n| [") == 33
    assert text.index("merged-open") < opened < text.index("octo-org/secret")


def test_what_has_no_room_is_counted() -> None:
    """A summary that is too long is not shown at all: rows are left out, and how many is said."""
    room = len(forms.summary(replace(MANY, waiting=())).encode()) + 5_000
    text = forms.summary(MANY, room)
    assert len(text.encode()) <= room
    left = int(re.findall(r"(\d+) more do not fit here", text)[0])
    assert 0 < left == 33 - text.count("/pull/")


def test_what_strangers_wrote_is_only_text() -> None:
    """A title, a login, an address and a branch make no link, tag, mention or cell."""
    evil = waiting(title=EVIL, names=(EVIL,), why=EVIL, url="https://x/) [y](z", repository=EVIL)
    text = forms.summary(replace(QUIET, waiting=(evil,)))
    ((name, who, why),) = rows_of(text)
    for cell in (name, who, why):
        assert "<" not in cell.replace("&lt;", "")
        assert not re.search(r"@octocat|[^\u200b]#7|GH-7|https://e", cell)
    html = MarkdownIt("gfm-like", {"linkify": False}).render(text)
    assert not {"a", "img", "code", "b"} & set(re.findall(r"<(\w+)", html))


def test_lines_for_a_pipe_and_a_log() -> None:
    """One for each, before the totals; of many the first ten."""
    text = report_lines(WAITING)
    at = text.index(waiting_head(WAITING))
    assert text[at + 1] == (
        "  octo-org/hello-service#46 waits for author: octocat-1738000000: it has checks that failed"
    )
    assert at + 4 == next(n for n, line in enumerate(text) if line.startswith("Nothing drifted"))
    assert [line.strip() for line in waiting_lines(MANY)][10:] == [
        "octo-org/hello-service#10 waits for author: octocat-1738000000: it has checks that failed",
        "and 23 more; --json has them all.",
    ]
    assert waiting_lines(QUIET) == []
    evil = report_lines(SweepReport(waiting=(waiting(title="x", why="a\x1b[2Jb\nc"),)))
    assert not any("\x1b" in line or "\n" in line for line in evil)


@pytest.mark.parametrize("width", [30, 60, 119, 120, 200])
def test_a_terminal_shows_a_table(width: int) -> None:
    """Nothing is wider than the terminal, and no word is lost, in columns or below one another."""
    text = plain(shown(WAITING, width))
    assert max(len(line.rstrip()) for line in text.splitlines()) <= min(width, 160)
    words = " ".join(text.split())
    assert "3 open pull requests wait" in words
    for part in ("#47", "reviewers: maria,", "waits for", "how it stands", "approving"):
        assert part in words
    assert "23 more" in plain(shown(MANY, width))
    assert "[bold]x" in plain(shown(replace(QUIET, waiting=(waiting(title="[bold]x"),)), 200))


def test_json_has_them_all() -> None:
    """Each with its words as values."""
    assert len(MANY.as_json()["waiting"]) == 33
    assert WAITING.as_json()["waiting"][1] == {
        "repository": "octo-org/hello-service",
        "number": 47,
        "title": "Fix race condition in task queue",
        "url": "https://github.com/octo-org/hello-service/pull/47",
        "whom": "reviewers",
        "names": ("maria", "octo-org/core"),
        "why": "waits for an approving review",
    }
