"""Which commands speak to a tracker."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.evidence.command_lines import commands
from lifecycle.trackers import command_signs
from tests.batches import each_row


@each_row(
    ("line", "verb", "ids"),
    [
        ("bd close bd-1", "close", ("bd-1",)),
        ("bd close bd-1 bd-2 --reason 'all done'", "close", ("bd-1", "bd-2")),
        ("bd --json close bd-1", "close", ("bd-1",)),
        ("bd --db x.db close bd-1", "close", ("bd-1",)),
        ("bd update bd-1 --status=closed", "close", ("bd-1",)),
        ("bd update bd-1 -s closed", "close", ("bd-1",)),
        ("bd update bd-1 --claim --json", "claim", ("bd-1",)),
        ("bd update bd-1 --status in_progress", "claim", ("bd-1",)),
        ("bd show bd-1 --json", "show", ("bd-1",)),
        ("gh issue close 42 -R o/r --comment 'in #7'", "close", ("42",)),
        ("gh -R o/r issue view https://x/o/r/issues/42", "show", ("https://x/o/r/issues/42",)),
        ('lifecycle tracker close 42 --reason "…"', "close", ("42",)),
        ("lifecycle tracker show 42", "show", ("42",)),
        ("lifecycle tracker claim 42", "claim", ("42",)),
        ("lifecycle claim 42", "claim", ("42",)),
        ("lifecycle close", "close", ()),
        ("uv run lifecycle close", "close", ()),
    ],
)
def test_the_verbs_of_every_tracker_are_read(line: str, verb: str, ids: tuple[str, ...]) -> None:
    """The verb and the tasks it names, wherever the options stand."""
    (command,) = commands(line)
    sign = command_signs.read(command.words)
    assert sign is not None
    assert (sign.verb, sign.ids) == (verb, ids)


@pytest.mark.parametrize(
    "line",
    [
        "bd",
        "bd list --status closed",
        "bd update bd-1 --status open",
        "bd update bd-1 --title close",
        "bd close --help",
        "bd comments add bd-1 close",
        "gh pr close 42",
        "gh issue list",
        "lifecycle tracker ready",
        "lifecycle handoff --summary close",
        "lifecycle close --help",
        "git close",
        "echo bd close bd-1",
    ],
)
def test_other_commands_are_none_of_the_verbs(line: str) -> None:
    """Lists, other updates, help texts and mere words do nothing to a task."""
    assert [command_signs.read(command.words) for command in commands(line)] == [None]


def test_the_signs_of_every_tracker_are_read_here() -> None:
    """Those of our own command, of gh and of bd, in words and in files."""
    verbs = command_signs.CLOSE, command_signs.SHOW, command_signs.CLAIM, command_signs.REOPEN
    assert {verb for _, verb in command_signs.SIGNS} == set(verbs)
    assert [command_signs.names(verb) for verb in verbs] == [
        ("lifecycle tracker close", "lifecycle close", "gh issue close", "bd close", "bd done"),
        ("lifecycle tracker show", "gh issue view", "bd show"),
        (
            *("lifecycle tracker claim", "lifecycle tracker takeover", "lifecycle tracker next"),
            *("lifecycle claim", "lifecycle takeover"),
        ),
        ("lifecycle tracker reopen", "gh issue reopen", "bd reopen"),
    ]
    assert command_signs.FILES == (".beads/",)


@pytest.mark.parametrize(
    ("output", "is_denied"),
    [
        ("Closed bd-1: done", False),
        ('[\n  {"id": "bd-1", "title": "Show an error", "status": "closed"}\n]', False),
        ("", False),
        ("Error closing bd-1: operation failed", True),
        ("cannot close bd-1: blocked by open issues [bd-2]", True),
        ('{\n  "error": "no issue found"\n}', True),
        ("bd: error: x", True),
        ("failed to resolve bd-1", True),
    ],
)
def test_a_denial_is_seen_in_words(output: str, is_denied: bool) -> None:
    """Exit status 0 is no proof: what the program says counts, and a title with "error" in it does not."""
    assert command_signs.is_denied(output) is is_denied


@given(st.lists(st.one_of(st.text(), st.sampled_from(["--help", "-m", "--"])), max_size=8))
def test_any_words_can_be_read(words: list[str]) -> None:
    """No words break the reading; a sign's own stay one whatever follows, unless that asks for help."""
    for begin, _ in command_signs.SIGNS:
        sign = command_signs.read((*begin, *words))
        assert (sign is None) == ("--help" in words)
        assert sign is None or set(sign.ids) <= set(words)
    command_signs.read(tuple(words))
