"""The simple commands that an agent's command line runs, as words.

Not a shell, but enough of one to see that `echo "close 1"`, a search for the words, a comment or the body
of a here-document is not the command itself. Parts that it cannot read give no commands.

Source: POSIX, Shell Command Language, https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import takewhile

from lifecycle.evidence.words import word_tables

Words = tuple[str, ...]
"""Words of a command line."""


def each(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


@cache
def listed(kind: str) -> frozenset[str]:
    """The words of a kind, from the table of the roles of programs and options in a command line."""
    return each(word_tables.table("words/commands")[kind]["words"])


LENGTH = 8_000
"""Characters of a command line that are read."""

_TOKEN = re.compile(word_tables.table("words/commands")["token"], re.VERBOSE | re.DOTALL)
_CORES = re.compile(r"\$\((?:nproc[^()$]*|getconf _NPROCESSORS_ONLN|sysctl -n hw\.\w+)\)")
"""Expressions for the number of processors: they stand for a number."""

TOP = "$THE_TOP_FOLDER_OF_GIT"
"""Stands in the words for the worktree's top folder, which a line asks of git."""

_TOP = re.compile(r"\$\(\s*git\s+rev-parse\s+--show-toplevel\s*\)")

_UNQUOTE = re.compile(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_NUMBER = re.compile(r"[\d.]+[smhd]?$")
_KEYWORDS, _WRAPPERS, _CONTAINERS = listed("keywords"), listed("wrappers"), listed("containers")
_VALUED, _SHELLS, _UNCLEAR = listed("valued"), listed("shells"), listed("unclear")
_STARTERS = frozenset(word_tables.table("words/commands")["starters"]["names"])

_RUN_BY_NAME = frozenset(name for name in _STARTERS if name.startswith(("yarn ", "bun ")))
"""Programs that these run also as `yarn run jest`; with others, that is a script of the project's."""

_OPTIONS: dict[str, tuple[frozenset[str], list[str]]] = {
    "pnpm": (each("-r --recursive"), ["recursive"]),
    "bun": (each("-b --bun"), []),
}
"""An option that is also a command (https://pnpm.io/cli/recursive), and one that changes only by what a
script is run (https://bun.com/docs/cli/run); and the words for it."""


class Command:
    """One simple command.

    Attributes:
        words: the program's name, without its folder, and its arguments.
        is_last: it certainly ran if the line's exit status is 0, and that status is its own.
        raw: all of its words, including those before the program.
        before: the words before the program.
        sets: the assignments before the program, as `NAME=value`.
        kept: assignments by earlier commands that the program sees: by `export`, after `set -a`, or of a
            name that the environment has.
        files: the files to which its output is redirected.
        after: the operator after it; "" at the end of the line.
        is_inner: it is inside a substitution.
        shells: the inner shells of the line that it runs in, outermost first.
        is_clear: nothing around it changes its meaning: no substitution, no function, no trap.
        line, folder: the command line that it is in, and the folder that it runs in; "" if nobody asked.
    """

    line = folder = ""

    def __init__(self, raw: list[str], after: str, files: list[str], *, is_inner: bool) -> None:
        self.raw, self.after, self.files, self.is_inner = tuple(raw), after, tuple(files), is_inner
        self.shells: tuple[int, ...] = ()
        self.words = tuple(unwrapped(raw))
        self.before = self.raw[: len(self.raw) - len(self.words)]
        self.sets = tuple(word for word in self.before if _ASSIGNMENT.match(word))
        self.kept: tuple[str, ...] = ()
        self.is_last = self.is_clear = False

    @property
    def names(self) -> Words:
        """Its names in tables: the program, and the program with its first word, as `git|add`."""
        return self.words[0], "|".join(self.words[:2])

    def is_of(self, kind: str) -> bool:
        """True if the table lists it under a kind."""
        return not listed(kind).isdisjoint(self.names)


def commands(line: str) -> list[Command]:
    """The simple commands of a command line, in order; `sh -c "…"` is replaced by its commands."""
    return _commands(_TOP.sub(TOP, _CORES.sub("8", line[:LENGTH])), depth=0)


def _commands(line: str, depth: int) -> list[Command]:
    result: list[Command] = []
    splitter = _Splitter(line)
    groups = splitter.groups
    kept: tuple[str, ...] = ()
    for index, command in enumerate(groups):
        command.is_last = not command.is_inner and _is_own(groups, index, splitter)
        command.is_clear = not command.is_inner and not splitter.is_unclear
        bare, command.kept = command.words, kept
        kept += command.sets if not bare else bare[1:] if bare[0] in ("export", "declare") else ()
        is_shell = depth < 2 and not _SHELLS.isdisjoint(bare[:1])
        flags = (i for i, word in enumerate(bare) if is_shell and re.fullmatch(r"-\w*c", word))
        place = next(flags, 0)
        if 0 < place < len(bare) - 1:
            command.shells += (~index,)
            result += [_inside(part, command) for part in _commands(bare[place + 1], depth + 1)]
        elif bare:
            result.append(command)
    return result


def _inside(command: Command, outer: Command) -> Command:
    """A command of an inner shell, as the outer line sees it."""
    command.is_last = command.is_last and outer.is_last
    command.is_clear = command.is_clear and outer.is_clear
    command.sets += outer.sets
    command.kept += outer.kept
    command.files += outer.files
    command.after = command.after or outer.after
    command.shells = outer.shells + command.shells
    return command


def _is_own(groups: list[Command], index: int, splitter: _Splitter) -> bool:
    """True if status 0 of the line means that this command ran and ended with 0."""
    good = ("&&", "|", "|&") if _has_pipefail(groups[:index]) else ("&&",)
    after = [group.after for group in groups[index:-1]]
    if any(end not in good for end in after) or groups[-1].after == "&" or splitter.is_unclear:
        return False
    if "!" in groups[index].raw[:2] or any(map(_may_end, groups[:index])):
        return False
    before: Iterable[str] = [group.after for group in reversed(groups[:index])]
    if not splitter.has_groups:
        before = takewhile(lambda end: end not in (";", "\n", "&"), before)
    return "||" not in before


def _has_pipefail(groups: list[Command]) -> bool:
    """True if, by the last setting in the line, the first failure in a pipe counts."""
    settings = (group.raw for group in groups if group.raw[0] == "set" and "pipefail" in group.raw)
    switches = [words[words.index("pipefail") - 1] for words in settings]
    return bool(switches) and re.fullmatch(r"-\w*o", switches[-1]) is not None


def _may_end(group: Command) -> bool:
    """True for a command that may end the line with success before the next one runs."""
    words = group.raw
    if words[0] == "exec":
        return len(words) > 1
    return words[0] in ("exit", "return") and not re.fullmatch("[1-9][0-9]*", " ".join(words[1:]))


class _Splitter:
    """The words of each simple command, with the operator that ends it ("" at the line's end).

    Attributes:
        groups: the commands.
        has_groups: some of them are in parentheses or braces.
        is_unclear: there is a function, an alias, a trap, or the output of several commands goes to a file.
    """

    def __init__(self, line: str) -> None:
        self.groups: list[Command] = []
        self.has_groups = self.is_unclear = False
        self.words: list[str] = []
        self.files: list[str] = []
        self.into = self.words  # receives the next word, which may be the file of a redirection
        self.bodies: list[str] = []
        # Is it a substitution, and how many commands came before.
        self.opened: list[tuple[bool, int]] = []
        place = 0
        while match := _TOKEN.match(line, place):
            place = self._take(match, line)
        self._end("")
        if self.groups and self.groups[-1].after != "&":
            self.groups[-1].after = ""  # the end of the line ends it

    def _take(self, match: re.Match[str], line: str) -> int:
        """Read one token; returns the position in the line after it."""
        place = match.end()
        if match["part"] is not None:
            self.into.append(_plain(match[0]))
            self.into = self.words
        elif match["heredoc"] is not None:
            self.bodies.append(match["word"])
        elif match["redirect"] is not None:
            self.into = self.files if ">" in match[0] else []
            if match[0].rstrip("-")[-1:].isdigit():
                self.into = self.words  # it names no file
            self.is_unclear |= self.into is self.files and not self.words and self.has_groups
        elif match["end"] is not None:
            self._end(match[0])
            if match[0] == "\n":
                place = _after(line, place, self.bodies)
                self.bodies = []
        return place

    def _end(self, operator: str) -> None:
        is_begun = bool(self.words)
        if is_begun:
            self.is_unclear |= self.words[0] in _UNCLEAR
            is_inner = any(inner for inner, _ in self.opened)
            files = [file for file in self.files if not file.startswith("/dev/std")]
            self.groups.append(Command(self.words, operator, files, is_inner=is_inner))
            self.groups[-1].shells = tuple(before for _, before in self.opened)
            self.words, self.files = [], []
        elif self.groups and operator in ("&&", "||", "|", "|&", "&"):
            self.groups[-1].after = operator  # after a closing parenthesis or brace
        self.into = self.words
        self.has_groups |= operator in ("(", "{")
        if operator == "(":
            self.opened.append((is_begun, len(self.groups)))
        elif operator == ")" and self.opened:
            is_substitution, count = self.opened.pop()
            self.is_unclear |= is_substitution and count == len(self.groups)  # `name()`


def _after(line: str, place: int, bodies: list[str]) -> int:
    """The position in the line after the bodies of here-documents."""
    for word in bodies:
        end = re.compile(rf"^\t*{re.escape(word)}[ \t]*(?:\n|$)", re.MULTILINE).search(line, place)
        place = end.end() if end else len(line)
    return place


def _plain(part: str) -> str:
    return _UNQUOTE.sub(lambda m: next(g for g in m.groups() if g is not None), part)


def unwrapped(words: list[str]) -> list[str]:
    """The command itself: without assignments, keywords, `env`, `timeout 60`, `uv run` and the like."""
    rest = list(words)
    while rest:
        name = rest[0].rpartition("/")[2]
        rest = _plainer(name, rest)
        if _ASSIGNMENT.match(rest[0]) or name in _KEYWORDS:
            rest = rest[1:]
        elif name in _WRAPPERS or name in _STARTERS:
            rest = _started(name, rest[1:])
        elif rest[1:2] == ["run"] and " ".join((name, *rest[2:3])) in _RUN_BY_NAME:
            rest = [name, *rest[2:]]
        elif len(rest) > 1 and f"{name} {rest[1]}" in _STARTERS:
            is_program = name in ("yarn", "pnpm", "bun") and rest[1] not in ("dlx", "x")
            rest = rest[1:] if is_program else _started(name, rest[2:])
            if name == "hatch" and rest:  # `ENV:pytest`
                rest = [rest[0].rpartition(":")[2], *rest[1:]]
        elif wrapped := _of_python(name, rest) or _of_container(name, rest):
            rest = wrapped
        else:
            return [name, *rest[1:]]
    return rest


def _plainer(name: str, words: list[str]) -> list[str]:
    """The words, with such an option of this program in its plain form, if it is before what runs."""
    options, form = _OPTIONS.get(name, (frozenset(), []))
    at = next((at for at, word in enumerate(words) if word in options), 0)
    is_before = all(word[:1] == "-" or word in ("run", "exec") for word in words[1:at])
    return [words[0], *form, *words[1:at], *words[at + 1 :]] if at and is_before else words


def _started(name: str, words: list[str]) -> list[str]:
    """What a program like `timeout` (`-s KILL 60 jest`) or `npx` (`jest@29`) starts, by its words.

    The version of a package is not the name of its program.
    """
    rest = _without_options(words)
    rest = rest[1:] if name == "timeout" and rest and _NUMBER.match(rest[0]) else rest
    return [re.sub(r"(?<=.)@[\w.^~-]+$", "", rest[0]), *rest[1:]] if rest else rest


def _of_python(name: str, words: list[str]) -> list[str]:
    """The command that `python -m`, or `python manage.py`, runs; nothing for another command."""
    if not re.fullmatch(r"python[\d.]*|pypy[\d.]*|py", name):
        return []
    rest = words[1:]
    while rest and re.fullmatch("-(?:[XW]|[bBdEiIOPqsSuvx]+)", rest[0]):
        rest = rest[2:] if rest[0] in ("-X", "-W") else rest[1:]
    is_script = bool(rest) and rest[0].endswith("manage.py")
    return rest if is_script else rest[1:] if rest[:1] == ["-m"] else []


def _of_container(name: str, words: list[str]) -> list[str]:
    """The command of `docker compose run SERVICE`, or `docker exec CONTAINER`; nothing for others.

    `docker run IMAGE` is like another machine: its files are the image's, and which parts of the worktree
    are in it, and where, is unknown.
    """
    if name not in _CONTAINERS:
        return []
    rest = _without_options(words[1:])
    verbs = ["exec", "run"] if name.endswith("compose") else ["exec"]
    if rest[:1] == ["compose"]:
        rest, verbs = _without_options(rest[1:]), ["exec", "run"]
    return _without_options(rest[1:])[1:] if rest and rest[0] in verbs else []


def _without_options(words: list[str]) -> list[str]:
    rest = words
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in _VALUED else rest[1:]
    return rest
