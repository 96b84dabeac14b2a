"""Commands as lists of words, each checked to run without a shell.

A text is split as a shell splits words and quotes, and refused if a shell would do anything else with it.
So the command that runs is exactly the text.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

from lifecycle.core.redact import visible

Argv = tuple[str, ...]
"""A program and its arguments."""

LONGEST = 8_000
"""The most characters of a command as text."""

_QUOTED = re.compile(r"""'[^']*'|\\.|"(?P<inner>(?:[^"\\]|\\.)*)\"""", re.DOTALL)
_SHELL_WORDS = frozenset(
    {
        *("cd", "pushd", "popd", "export", "unset", "source", ".", "exit", "set", ":"),
        *("alias", "trap", "ulimit", "umask", "wait", "read", "shift", "return", "local"),
        *("if", "then", "else", "fi", "for", "while", "until", "do", "done", "case", "esac"),
        *("eval", "exec", "function", "!", "{", "}", "[["),
    }
)
"""Words that only a shell understands: as a program each does nothing, or does not exist."""

_NEEDS: tuple[tuple[str, str], ...] = (
    (r"&&|;|\n", "several commands in one text"),
    (r"\|", "a pipe"),
    (r"[<>]", "a redirection"),
    (r"&", "the background"),
    (r"[()]", "a subshell"),
    (r"[$`]", "a variable or a substitution"),
    (r"[*?\[\]]|\{[^{}]*(?:,|\.\.)[^{}]*\}", "a glob pattern"),
    (r"(?:^|\s)~", "the home folder as ~"),
    (r"(?:^|\s)#", "a comment"),
    (r"^\s*\w+=", "an assignment"),
)
"""Patterns of text that only a shell understands outside of quotes, each with its name in a sentence."""


def commands_in(value: object) -> tuple[Argv, ...]:
    """The commands in a value, in order; () for None, "" and [].

    Args:
        value: a text; a list of words, which is one command; or a list of lists of words.

    Raises:
        ValueError: it is none of these, or needs a shell; the text says how to write it instead.
    """
    if value is None or value in ("", []):
        return ()
    if isinstance(value, str):
        commands: tuple[Argv, ...] = (split(value),)
    else:
        several = value if isinstance(value, list) and isinstance(value[0], list) else [value]
        if not all(map(_is_words, several)):
            raise ValueError(
                'it is not a text, a list of words, or a list of such lists: [["a", "b"], ["c"]]'
            )
        commands = tuple(map(tuple, several))
    for words in commands:
        _check(words, as_line(commands))
    return commands


def split(text: str) -> Argv:
    """The words of a command line; ValueError, with the fix, if it needs a shell."""
    if len(text) > LONGEST:
        raise ValueError(f"it has more than {LONGEST:,} characters")
    try:
        words = tuple(shlex.split(text))
    except ValueError:
        raise ValueError(f"it has a quotation mark that is never closed: {_shown(text)}") from None
    need = _need(text)
    if need:
        fix = _fix(text, words, need)
        raise ValueError(f"it needs a shell ({need}), but runs without one; {fix}")
    return words


def as_line(commands: tuple[Argv, ...]) -> str:
    """Join the commands to one POSIX shell line, in which each runs only if the one before succeeded."""
    return " && ".join(shlex.join(words) for words in commands)


def _need(text: str) -> str:
    """Name the first shell feature that a text needs, as "a pipe"; "" if it needs none."""
    for match in _QUOTED.finditer(text):
        if re.search(r"[$`]", match["inner"] or ""):  # in double quotes shlex interprets neither
            return "a variable or a substitution"
    # A quoted word is a word: the text after it is not at a word's beginning.
    bare = _QUOTED.sub("_", text)
    return next((name for pattern, name in _NEEDS if re.search(pattern, bare)), "")


def _fix(text: str, words: Argv, need: str) -> str:
    if need == "an assignment":
        return f"write {json.dumps(['env', *words])}"
    if need == "several commands in one text" and ";" not in text:
        parts = re.split(r"&&|\n", text)
        if not any(map(_need, parts)) and "'" not in text and '"' not in text:
            several = [shlex.split(part) for part in parts if part.strip()]
            if not any(_is_shells(command[0]) for command in several):
                return f"write {json.dumps(several)}"
    return f"put it into a script of the project, or name the shell: {_json(['sh', '-c', text])}"


def _json(words: list[str]) -> str:
    return json.dumps(words, ensure_ascii=False)


def _is_words(value: Any) -> bool:
    """True for a list of texts that is not empty."""
    return bool(value) and isinstance(value, list) and all(isinstance(w, str) for w in value)


def _check(words: Argv, line: str) -> None:
    """Check one command for starting and showing; ValueError says what is wrong.

    Args:
        words: the words of the command.
        line: all commands in order: a shell would run them together.
    """
    program = words[0] if words else ""
    if not program.strip():
        raise ValueError("it does not name a program")
    if sum(map(len, words)) > LONGEST:
        raise ValueError(f"it has more than {LONGEST:,} characters")
    for word in words:
        plain = re.sub(r"[\n\t]", " ", word)
        if visible(plain) != plain:
            raise ValueError(f"one of its words has invisible characters: {_shown(word)}")
    if _is_shells(program):
        fix = _json(["env", *words]) if "=" in program else _json(["sh", "-c", line])
        raise ValueError(f"{_shown(program)} needs a shell, but it runs without one; write {fix}")
    if re.search(r"\s", program) and "/" not in program:
        raise ValueError(
            f"{_shown(program)} is not the name of a program; write each word separately, and several "
            f"commands as lists of their own: {json.dumps([word.split() for word in words])}"
        )


def _is_shells(program: str) -> bool:
    """True for a word that only a shell understands as a program."""
    return program in _SHELL_WORDS or bool(re.match(r"\w+=", program))


def _shown(text: str) -> str:
    return json.dumps(text if len(text) <= 80 else f"{text[:79]}…")
