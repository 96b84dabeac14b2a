"""The effects of a line's other commands on a test run in it: on files, and on how its end is known."""

from __future__ import annotations

import re

from lifecycle.evidence.command_lines import Command, commands, listed
from lifecycle.evidence.words import word_tables

KEEPING, QUIET = map(listed, ("keeping", "quiet"))
IDLE = listed("filters") | KEEPING | QUIET | listed("idle")
"""Commands that change no file after a run; `sed` and `git` only if they just print."""


def tells(command: Command, *, is_fed: bool) -> bool:
    """True if a command may print lines that look like a run's output, or hide a failure of one."""
    name, rest = command.words[0], command.words[1:]
    plain = [word for word in rest if not (word.startswith("-") or word.isdigit())]
    has_pattern = name.endswith("grep") or name in ("rg", "sed", "awk")
    hides = name.endswith("grep") and any(re.match("-[a-z]*[vcoLqm]|--", word) for word in rest)
    is_filled = any("$(" in word or "`" in word for word in rest)
    is_free = not is_fed or hides or len(plain) > has_pattern
    return is_filled or (command.is_of("telling") and is_free)


def is_beside(command: Command) -> bool:
    """True if a command is known to leave a run in the same line, and its evidence, unchanged."""
    name, rest = command.words[0], command.words[1:]
    if name == "rm":
        return {word.rstrip("/") for word in rest if word[:1] != "-"} <= listed("caches")
    writes = word_tables.table("words/commands")["own"]["writes"]
    if name in listed("builds") and re.search(writes, " ".join(rest[:2])):
        return False
    is_staying = name == "git" and not listed("staying").isdisjoint(rest[1:])
    return is_staying or command.is_of("beside")


def is_idle(command: Command) -> bool:
    """True for a command that changes no file after a run."""
    name, words = command.words[0], command.words
    if IDLE.isdisjoint(command.names) or {*command.files} - {"/dev/null"}:
        return False
    if writes := {"sed": ("-i", "--in-place"), "sort": ("-o", "--output")}.get(name):
        return not any(word.startswith(writes) for word in words)
    return name != "git" or not listed("looking").isdisjoint(words[:2])


def changes_files(command: Command) -> bool:
    """True for a command that is known to change files of the worktree."""
    name, rest = command.words[0], command.words[1:]
    if name == "git":
        moves = "--hard" in rest or not listed("moving").isdisjoint(rest[:1])
        return moves and listed("staying").isdisjoint(rest)
    if name in ("sed", "perl"):
        return any(re.match(r"--in-place|-[a-z]*i", word) for word in rest)
    is_mending = command.is_of("formatting") and listed("looking only").isdisjoint(rest)
    if is_mending or (command.is_of("linters") and not listed("fixing").isdisjoint(rest)):
        return True
    elsewhere = tuple(listed("elsewhere"))
    if name in listed("changing"):
        plain = [word.rstrip("/") for word in rest if not word.startswith("-")]
        return not plain or not all(w.startswith(elsewhere) or w in listed("caches") for w in plain)
    return name in listed("writing") and any(not f.startswith(elsewhere) for f in command.files)


def may_change_files(line: str) -> bool:
    """True unless every command of the line is known to leave the files unchanged."""
    return any(not is_beside(c) or c.words[0] == "tee" or may_lock(c) for c in commands(line))


def may_lock(command: Command) -> bool:
    """True for a command that may write files that git tracks: a lock file on installing, generated files.

    Source: https://docs.npmjs.com/cli/commands/npm-install, which updates the lock file; `npm ci` does not.
    """
    is_locking = "|".join(command.words[:2]) in listed("locking")
    return is_locking and listed("locked").isdisjoint(command.words)
