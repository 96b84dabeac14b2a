"""What a command in a transcript does at any of the trackers: close, show, claim, reopen.

Takes the words of one simple command. Imported at stops that are looked at, so it imports only `re`.
Sources: `lifecycle --help`; `gh issue close --help`, https://cli.github.com/manual/gh_issue_close;
`bd --help`, https://github.com/steveyegge/beads.
"""

from __future__ import annotations

import re

CLOSE = "close"
SHOW = "show"
CLAIM = "claim"
REOPEN = "reopen"

SIGNS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("lifecycle", "tracker", "close"), CLOSE),
    (("lifecycle", "tracker", "show"), SHOW),
    (("lifecycle", "tracker", "claim"), CLAIM),
    (("lifecycle", "tracker", "takeover"), CLAIM),
    (("lifecycle", "tracker", "next"), CLAIM),
    (("lifecycle", "tracker", "reopen"), REOPEN),
    (("lifecycle", "close"), CLOSE),
    (("lifecycle", "claim"), CLAIM),
    (("lifecycle", "takeover"), CLAIM),
    (("gh", "issue", "close"), CLOSE),
    (("gh", "issue", "view"), SHOW),
    (("gh", "issue", "reopen"), REOPEN),
    (("bd", CLOSE), CLOSE),
    (("bd", "done"), CLOSE),
    (("bd", "update", "--status=closed"), CLOSE),
    (("bd", SHOW), SHOW),
    (("bd", REOPEN), REOPEN),
    (("bd", "update", "--claim"), CLAIM),
    (("bd", "update", "--status=in_progress"), CLAIM),
)
"""The beginning of the words (an option may be anywhere), and the verb that they mean."""

FILES = (".beads/",)
"""Paths that trackers write in a worktree when a task changes; folders end with a slash."""

_IDLE = {"--help", "-h", "--dry-run", "--version"}
_VALUED = {
    *("--reason", "-r", "--comment", "-c", "--message", "-m", "--repo", "-R", "--actor", "--db"),
    *("--status", "-s", "--assignee", "-a", "--title", "--description", "-d", "--add-label"),
    *("--notes", "--folder", "--label", "--priority", "-p", "--override", "--duplicate-of"),
    *("--json-fields", "-q"),
}
_DENIED = re.compile(
    r'^[ \t]*(?:\S+:[ \t]*)?(?:error\b|cannot |failed\b|could not |✗|X |\{?\s*"error")',
    re.IGNORECASE | re.MULTILINE,
)
"""A failure in words: trackers exist that fail with exit status 0."""


class Sign:
    """What a command does at a tracker.

    Attributes:
        verb: CLOSE, SHOW, CLAIM or REOPEN.
        ids: the tasks that it names, in its own words.
        name: the command's short name, as `gh issue close`.
    """

    __slots__ = ("ids", "name", "verb")

    def __init__(self, verb: str, ids: tuple[str, ...], name: str) -> None:
        self.verb = verb
        self.ids = ids
        self.name = name


def read(words: tuple[str, ...]) -> Sign | None:
    """The effect of the simple command at a tracker; None if it is not one of the verbs."""
    if not words or not _IDLE.isdisjoint(words):
        return None
    plain, options = _sorted(words)
    for begin, verb in SIGNS:
        head = tuple(word for word in begin if not word.startswith("-"))
        flags = {word for word in begin if word.startswith("-")}
        if plain[: len(head)] == head and flags <= options:
            return Sign(verb, plain[len(head) :], " ".join(head))
    return None


def is_denied(output: str) -> bool:
    """True if the output says that nothing was done, whatever the exit status was."""
    return _DENIED.search(output) is not None


def names(verb: str) -> tuple[str, ...]:
    """The names of a verb's commands in prose, as `gh issue close`; without those that need an option."""
    return tuple(" ".join(begin) for begin, its in SIGNS if its == verb and "-" not in begin[-1])


def _sorted(words: tuple[str, ...]) -> tuple[tuple[str, ...], set[str]]:
    """The words that are not options, and the options, those with a value as `--name=value`."""
    plain: list[str] = []
    options: set[str] = set()
    remaining = list(words)
    while remaining:
        word = remaining.pop(0)
        if not word.startswith("-") or word == "-":
            plain.append(word)
            continue
        name, mark, value = word.partition("=")
        if word in _VALUED and remaining:
            mark, value = "=", remaining.pop(0)
        options.add(f"{'--status' if name == '-s' else name}{mark}{value}")
    return tuple(plain), options
