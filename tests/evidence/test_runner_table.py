"""The table of runners: its rows, and those that a project adds."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from lifecycle.core.errors import BadConfig
from lifecycle.evidence import suite_runs
from lifecycle.evidence.outcomes import CallEnd, Outcome
from lifecycle.evidence.reading import read_run
from lifecycle.evidence.runners import runner_table
from lifecycle.evidence.runners.runner_table import COUNTED, OWN_KEYS
from tests.batches import each_row
from tests.docs.pages import ROOT, Page
from tests.evidence.commands_read import read_check

ASKED = (
    *(
        "pytest",
        "unittest",
        "tox",
        "nox",
        "manage.py",
        "jest",
        "vitest",
        "mocha",
        "ava",
        "node --test",
    ),
    *("playwright", "cypress", "script", "bun test", "deno", "go test", "gotestsum", "cargo test"),
    *(
        "nextest",
        "maven",
        "gradle",
        "sbt",
        "dotnet",
        "rspec",
        "minitest",
        "phpunit",
        "pest",
        "ctest",
    ),
    *(
        "bazel",
        "swift",
        "mix",
        "flutter",
        "behave",
        "robot",
        "hatch",
        "meson",
        "ninja",
        "tap",
        "task",
    ),
    *("make", "just"),
)
OWN: dict[str, Any] = {"name": "checker", "commands": ["checker all"]}


def test_the_rows_are_whole() -> None:
    """Each has a name of its own, the page that it is from, patterns that compile and groups that count."""
    rows = runner_table.rows()
    names = [row.name for row in rows]
    assert len(names) == len(set(names))
    assert set(ASKED) <= set(names)
    begins = [name for row in rows for name in row.commands]
    assert len(begins) == len(set(begins))
    for row in rows:
        assert row.url.startswith(("https://", "docs/")) or not row.commands
        for pattern in (*row.nothing, *row.failed, *row.partial, *row.stopped):
            assert not re.compile(pattern, re.MULTILINE).groupindex
        for pattern in (*row.failures, *row.asserted):
            assert "name" in re.compile(pattern, re.MULTILINE).groupindex
        for summary in row.summary:
            counting = summary if isinstance(summary, str) else summary[1]
            groups = {name.rstrip("0123456789") for name in re.compile(counting).groupindex}
            assert groups
            assert groups <= set(COUNTED)


def shown() -> dict[str, Any]:
    """The row of docs/runners.md."""
    (block,) = [b for b in Page(ROOT / "docs/runners.md").blocks if b.language == "toml"]
    (row,) = tomllib.loads(block.code)["evidence"]["runners"]
    return dict(row)


@pytest.mark.parametrize(
    ("line", "status", "output", "outcome"),
    [
        ("checker all", 0, "checked 3, bad 0, left 1\n", Outcome.PASSED),
        (
            "checker all --fast",
            0,
            "checked 3, bad 0, left 1\nchecked 4, bad 0, left 0",
            Outcome.PASSED,
        ),
        ("checker all", 0, "checked 3, bad 0, left 3\n", Outcome.NOTHING_RAN),
        ("checker all", 0, "nothing to check\n", Outcome.NOTHING_RAN),
        ("checker all", 0, "bad: one\nchecked 3, bad 1, left 0\n", Outcome.FAILED),
        ("checker all --only one", 0, "checked 1, bad 0, left 0\n", Outcome.PARTIAL),
        ("checker all --show", 0, "one\n", Outcome.NOTHING_RAN),
        ("checker all", 0, "fine\n", Outcome.UNKNOWN),
        ("checker all; true", 0, "checked 3, bad 0, left 1\n", Outcome.PASSED),
        ("checker all; true", 0, "fine\n", Outcome.UNKNOWN),
    ],
)
def test_the_row_that_the_docs_show(line: str, status: int, output: str, outcome: Outcome) -> None:
    """It is read as the page says, for a check and for an agent's own run."""
    rows = runner_table.rows((shown(),))
    seen = read_check("test", ("sh", "-c", line), status, output, rows=rows)
    assert seen.outcome is outcome
    if outcome is Outcome.FAILED:
        assert seen.failures == ("one",)
    run = suite_runs.run_in(line, (), rows)
    if run is None:
        assert outcome is Outcome.NOTHING_RAN
    else:
        assert read_run(run, CallEnd.OK, output).outcome is outcome


def test_the_docs_name_every_key() -> None:
    """A key that a row may have is in the table."""
    assert set(OWN_KEYS) == set(
        Page(ROOT / "docs/runners.md").table("A runner of your own").codes()
    )


@each_row(
    ("change", "sentence"),
    [
        ({"comands": []}, 'there is no key "comands". Did you mean "commands"?'),
        ({"name": 7}, "name must be a text, not 7."),
        ({"name": " "}, "name must be a text, not ' '."),
        ({"commands": "x"}, "commands must be a list of texts, not 'x'."),
        ({"commands": [7]}, "commands must be a list of texts, not [7]."),
        ({"commands": []}, "it needs a name, and commands"),
        ({"adds": "most"}, "adds must be \"sum\" or \"last\", not 'most'."),
        ({"picks": ["-k"]}, "picks must be a text, not ['-k']."),
        ({"summary": ["("]}, "'(' is no regular expression: "),
        ({"summary": ["passed"]}, "needs a group (?P<passed>\\d+), or of passed, failed, errors,"),
        ({"failures": ["FAILED"]}, "'FAILED' needs a group (?P<name>…)."),
        ({"asserted": ["FAILED"]}, "'FAILED' needs a group (?P<name>…)."),
        ({"nothing": ["(a+)+$"]}, "could take too long"),
        ({"nothing": ["(a+b?)+$"]}, "could take too long"),
        ({"nothing": ["((a)b)*$"]}, "could take too long"),
        ({"nothing": ["(?:a|a)*$"]}, "could take too long"),
        ({"nothing": [r"(a)\1\1\1\1"]}, "could take too long"),
        ({"nothing": [".*.*.*.*x"]}, "could take too long"),
        ({"nothing": [r"\w+\s*\w+\s*x"]}, "could take too long"),
        ({"nothing": ["x" * 301]}, "could take too long"),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_used_is_said(change: dict[str, Any], sentence: str) -> None:
    """One sentence: which row, which key, what would be right."""
    with pytest.raises(BadConfig) as raised:
        runner_table.rows((OWN, {**OWN, **change}))
    assert str(raised.value).startswith("evidence.runners, row 2: ")
    assert sentence in str(raised.value)
    assert str(raised.value)[-1] in ".?"


@pytest.mark.parametrize(
    "pattern",
    [
        r"^checked (?P<total>\d+), bad (?P<failed>\d+)(?:, left (?P<skipped>\d+))?$",
        r"^\[(?P<passed>\d+)/\d+\] .* ok$",
        r"^(?P<passed>\d+)\s+of\s+\d+",
        r"(?:ok|fine): (?P<passed>[^ ]+)",
    ],
)
def test_an_honest_pattern_is_taken(pattern: str) -> None:
    """Counts with words between them, an end that may be there, a choice."""
    (row, *_) = runner_table.rows(({**OWN, "summary": [pattern]},))
    assert row.summary == (pattern,)


def test_a_projects_row_comes_first_and_sees_a_bounded_text() -> None:
    """It may say otherwise of a known runner; a line that both read counts once."""
    own = {"name": "mine", "commands": ["pytest"], "summary": [r"^(?P<passed>\d+) passed"]}
    rows = runner_table.rows((own,))
    run = suite_runs.run_in("pytest", (), rows)
    assert run is not None
    assert [row.name for row in run.rows] == ["mine"]
    seen = read_check("test", ("make", "test"), 0, "3 passed in 0.1s\n", rows=rows)
    assert seen.counts is not None
    assert seen.counts.passed == 3
    text = runner_table.bounded("x" * 1_000 + "\n" * 9_000 + "y" * 1_000)
    assert (text.count("\n"), text[-1], len(text)) == (3_999, "y", 3_999 + 400)


def test_no_part_of_the_table_names_a_place_of_a_machine(tmp_path: Path) -> None:
    """Data is of the product: no home, no temporary folder."""
    text = (ROOT / "lifecycle/evidence/runners/runners.json").read_text(encoding="utf-8")
    assert str(tmp_path) not in text
    assert not re.search(r"/(?:home|root|Users|tmp)/", text)
