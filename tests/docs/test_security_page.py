"""docs/security.md says what is so: every test that it names is there, and every writer has a table."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

from lifecycle.setup.doctor import examined
from tests.docs.pages import README, ROOT, Page, codes_in

PATH = ROOT / "docs/security.md"
POLICY = ROOT / "SECURITY.md"
PAGE = Page(PATH)
TOKENS = "Who sees a token"
COLUMNS = ("what they could try", "what happens", "the test that shows it")
SHOWN = re.compile(r"(tests/[\w/]+\.py)::(\w+)")
RULE = (
    "a project's files choose among what the user has set up; they never add a host, a path, a remote, "
    "a program or a file from outside the tree."
)


def writers() -> list[str]:
    """Whoever can write something, as the table of them has it."""
    return [row[0] for row in PAGE.table("Who writes what").rows]


def names_of(path: Path) -> set[str]:
    """The names of a module's tests."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return {one.name for one in body if isinstance(one, ast.FunctionDef)}


def spoken(path: Path) -> str:
    """A page's text as one line, in small letters."""
    return " ".join(path.read_text(encoding="utf-8").split()).casefold()


def test_every_test_that_is_named_is_there() -> None:
    """Each `path::test_name` is a test of the suite, and each path is a file of it."""
    named = SHOWN.findall(PAGE.text)
    assert named
    missing = [
        f"{path}::{name}"
        for path, name in named
        if not (ROOT / path).is_file()
        or not name.startswith("test_")
        or name not in names_of(ROOT / path)
    ]
    assert missing == []
    for path in re.findall(r"\btests/[\w/.-]+", PAGE.text):
        assert (ROOT / path).exists(), path
    assert len(named) == PAGE.text.count("::"), "a test that is named in another form"


def test_the_writers_are_the_five() -> None:
    """The threat model leaves nobody out."""
    assert writers() == [
        "the repository",
        "a stranger on GitHub",
        "whoever pushes a lease",
        "the agent",
        "another user of the machine",
    ]


@pytest.mark.parametrize("writer", writers())
def test_every_writer_has_a_table(writer: str) -> None:
    """Under a heading of its own, with what could be tried, what is so, and a test for each line."""
    table = PAGE.table(writer[0].upper() + writer[1:])
    assert table.header == COLUMNS
    assert table.rows
    for attempt, _, shown in table.rows:
        assert any(SHOWN.fullmatch(code) for code in codes_in(shown)), attempt


def test_whoever_sees_a_token_is_shown_by_a_test() -> None:
    """No line about a token is a mere promise."""
    for who, _, shown in PAGE.table(TOKENS).rows:
        assert any(SHOWN.fullmatch(code) for code in codes_in(shown)), who


@pytest.mark.parametrize("path", [PATH, POLICY], ids=lambda path: path.name)
def test_both_pages_have_the_rule_in_the_same_words(path: Path) -> None:
    """What is promised is one sentence, wherever it stands."""
    assert RULE in spoken(path)


def test_the_findings_that_it_names_are_the_doctors() -> None:
    """Whoever looks for a finding of that name gets one."""
    named = re.findall(r"`([a-z]+\.[a-z]+)`", PAGE.section("How to check"))
    assert len(named) == 8
    for name in named:
        group, thing = name.split(".")
        assert thing in examined.table()[group], name


@pytest.mark.parametrize("path", [README, POLICY], ids=lambda path: path.name)
def test_the_threat_model_is_linked(path: Path) -> None:
    """From where people begin, and from where they report."""
    assert "docs/security.md" in Page(path).links


def test_where_to_report_is_said_and_no_address_is_made_up() -> None:
    """The README leads to the policy, which names GitHub's private way and no mail."""
    assert "SECURITY.md" in Page(README).links
    assert "../SECURITY.md" in PAGE.links
    text = POLICY.read_text(encoding="utf-8")
    assert "**Report a vulnerability**" in text
    assert "@" not in text


def test_every_page_at_the_top_is_in_the_source_archive() -> None:
    """Who unpacks it can read how to report, too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {f"/{path.name}" for path in ROOT.glob("*.md")} <= set(included)
