"""Rows that a project adds to the table of runners: what one may have, and what is refused and how."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.core.errors import BadConfig
from lifecycle.evidence.outcomes import Outcome
from lifecycle.evidence.runners import runner_table
from lifecycle.evidence.suite_runs import run_in
from tests.batches import each_row
from tests.evidence.commands_read import read_check

OWN: dict[str, Any] = {
    "name": "verify",
    "commands": ["./verify all"],
    "adds": "last",
    "picks": "--only",
    "lists": "--list",
    "keeps": "-x",
    "hides": "--soft",
    "valued": "--seed",
    "summary": [r"(?P<passed>\d+) fine, (?P<failed>\d+) bad"],
    "nothing": ["nothing there"],
    "failed": ["went wrong"],
    "partial": ["some only"],
    "stopped": ["broke off"],
    "failures": [r"^bad: (?P<name>.+)$"],
}
"""Every key that such a row may have."""


def test_a_projects_row_comes_first_and_is_its_own() -> None:
    """It says what it says; the rows that are shipped stand behind it and are not bounded."""
    own, *shipped = runner_table.rows((OWN,))
    assert (own.name, own.commands, own.adds, own.is_own) == (
        "verify",
        ("./verify all",),
        "last",
        True,
    )
    assert own.picks == {"--only"}
    assert own.valued == {"--seed"}
    assert own.failures == (r"^bad: (?P<name>.+)$",)
    assert (own.url, own.names, own.wraps, own.proves, own.one_line, own.anywhere) == (
        "", "", False, False, False, False,
    )  # fmt: skip
    assert shipped == list(runner_table.rows())
    assert not any(row.is_own for row in shipped)
    least = runner_table.rows(({"name": "v", "commands": ["./v"]},))[0]
    assert (least.adds, least.summary, least.lists) == ("", (), frozenset())


@each_row(
    ("change", "words"),
    [
        ({"sumary": ["x"]}, 'row 1: there is no key "sumary". Did you mean "summary"?'),
        ({"proves": True}, 'row 1: there is no key "proves".'),
        ({"url": "u"}, 'row 1: there is no key "url".'),
        ({"name": ""}, "row 1: name must be a text, not ''."),
        ({"name": 7}, "row 1: name must be a text, not 7."),
        ({"picks": ["-x"]}, "row 1: picks must be a text, not ['-x']."),
        ({"commands": "./v"}, "row 1: commands must be a list of texts, not './v'."),
        ({"commands": 7}, "row 1: commands must be a list of texts, not 7."),
        ({"commands": [" "]}, "row 1: commands must be a list of texts, not [' ']."),
        ({"commands": []}, 'row 1: it needs a name, and commands, as ["./verify all"].'),
        ({"failed": "x"}, "row 1: failed must be a list of texts, not 'x'."),
        ({"failed": ["("]}, "row 1: failed: '(' is no regular expression:"),
        ({"stopped": ["(a|b)*"]}, "row 1: stopped: '(a|b)*' could take too long:"),
        ({"stopped": ["(a+)+"]}, "could take too long:"),
        ({"stopped": ["(?(1)a|b)"]}, "is no regular expression:"),
        ({"stopped": [".*.*.*.*"]}, "could take too long:"),
        ({"stopped": ["x" * 301]}, "could take too long: at most 300 characters and 3 of"),
        (
            {"summary": ["all fine"]},
            "needs a group (?P<passed>\\d+), or of passed, failed, errors,",
        ),
        ({"summary": ["(?P<name>x)"]}, "needs a group (?P<passed>\\d+)"),
        ({"failures": ["(?P<passed>x)"]}, "needs a group (?P<name>…)."),
        ({"adds": "most"}, 'row 1: adds must be "sum" or "last", not \'most\'.'),
    ],
)
def test_a_row_that_cannot_be_used_is_refused_with_its_place(
    change: dict[str, Any], words: str
) -> None:
    """Which row, which key, and what would do: nothing is guessed from half a row."""
    with pytest.raises(BadConfig) as refused:
        runner_table.rows(({**OWN, **change},))
    assert words in refused.value.sentence


@pytest.mark.parametrize("lacks", ["name", "commands"])
def test_a_row_needs_a_name_and_commands(lacks: str) -> None:
    """In the row that lacks it, not in the one before."""
    row = {key: value for key, value in OWN.items() if key != lacks}
    with pytest.raises(BadConfig, match="row 2: it needs a name, and commands"):
        runner_table.rows((OWN, row))


@pytest.mark.parametrize(
    "pattern", [".*a.*b.*", r"[^)]+ (a)\.", r"(a|b) x{3}", r"\(a\)* ", "x" * 300, r"\d{1,9} \w+"]
)
def test_what_takes_no_long_time_may_be_a_pattern(pattern: str) -> None:
    """Three wide parts, choices and groups beside repetitions, signs that are themselves."""
    assert runner_table.rows(({**OWN, "stopped": [pattern]},))[0].stopped == (pattern,)


def test_a_projects_patterns_see_a_bounded_text() -> None:
    """The last 4,000 lines, and 400 characters of each; those that are shipped see all of it."""
    text = "\n".join(["first", *["x"] * 3_998, "y" * 401])
    assert runner_table.bounded(text) == text[:-1]
    assert runner_table.bounded(f"one more\n{text}") == text[:-1]
    assert runner_table.bounded(f"{text}\nlast").split("\n")[0] == "x"


@pytest.mark.parametrize(
    ("line", "is_run"),
    [
        ("./verify all", True),
        ("verify all", True),
        ("cd x && bin/verify -v all 2>&1 | tail", True),
        ("./verify", False),
        ("./verify some", False),
        ("./all verify", False),
    ],
)
def test_a_runner_with_a_folder_is_known_however_it_is_called(line: str, *, is_run: bool) -> None:
    """A command line may call it from anywhere; its further words have to be there."""
    run = run_in(line, rows=runner_table.rows((OWN,)))
    assert (run is not None) is is_run
    if run is not None:
        assert [row.name for row in run.rows] == ["verify"]


@pytest.mark.parametrize(
    ("line", "status", "output", "outcome"),
    [
        ("./verify all", 0, "3 fine, 0 bad", Outcome.PASSED),
        ("./verify all", 0, "1 fine, 2 bad\n3 fine, 0 bad", Outcome.PASSED),
        ("./verify all", 1, "3 fine, 1 bad", Outcome.FAILED),
        ("./verify all", 0, "3 fine, 0 bad\nsome only", Outcome.PARTIAL),
        ("./verify all", 0, "3 fine, 0 bad\nbroke off", Outcome.PARTIAL),
        ("./verify all --only a", 0, "3 fine, 0 bad", Outcome.PARTIAL),
        ("./verify all --seed a", 0, "3 fine, 0 bad", Outcome.PASSED),
        ("./verify all", 0, "nothing there", Outcome.NOTHING_RAN),
        ("./verify all", 0, "went wrong", Outcome.FAILED),
        ("./verify all", 0, "no word of it", Outcome.UNKNOWN),
    ],
)
def test_a_projects_row_reads_what_its_runner_prints(
    line: str, status: int, output: str, outcome: Outcome
) -> None:
    """Each key means in it what it means in a row that is shipped."""
    rows = runner_table.rows((OWN,))
    reading = read_check("test", tuple(line.split()), status, output, rows=rows)
    assert reading.outcome is outcome
