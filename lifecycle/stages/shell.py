"""What a command line of the agent's runs: the simple commands in it, as words.

Not a shell: enough of one that `echo "close 1"`, a search for the words, a comment or the body of
a here-document is not taken for the command itself. What it cannot read gives fewer commands.

Source: POSIX, Shell Command Language, https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html.
"""

from __future__ import annotations

import re

LENGTH = 8_000
"""Characters of a command line that are read."""

_TOKEN = re.compile(
    r"""(?P<space>(?:[ \t]|\\\n)+)
    | (?P<comment>(?<![^\s;&|()])\#[^\n]*)
    | (?P<heredoc><<-?[ \t]*(?P<quote>["'\\]?)(?P<word>[A-Za-z_]\w*)["']?)
    | (?P<redirect>(?:\d*|&)(?:>>|>\||>&|<&|<<<|<>|>|<)(?:&?\d+|-)?)
    | (?P<end>\|\|?&?|&&|;;?|&|\n|[()]|[{}](?=\s|$|;))
    | (?P<part>(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s;&|<>"'\\()])+)
    | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_UNQUOTE = re.compile(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_NUMBER = re.compile(r"[\d.]+[smhd]?$")
_KEYWORDS = {"if", "then", "else", "elif", "do", "while", "until", "!", "{", "time"}
_WRAPPERS = {"command", "exec", "env", "nohup", "sudo", "nice", "timeout", "xvfb-run", "stdbuf"}
_RUNNERS = {
    ("uv", "run"),
    ("uvx",),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("rye", "run"),
    ("npx",),
    ("bunx",),
    ("pnpm", "exec"),
    ("pnpm", "dlx"),
    ("yarn", "exec"),
    ("npm", "exec"),
    ("bundle", "exec"),
    ("mise", "exec"),
}
_VALUED = {
    "--with",
    "--extra",
    "--group",
    "--python",
    "-p",
    "--package",
    "--project",
    "--directory",
    "-u",
    "-s",
    "-k",
    "-n",
}
_SHELLS = {"sh", "bash", "zsh", "dash"}


class Command:
    """One simple command.

    Attributes:
        words: the program's name, without its folder, and its arguments.
        is_last: the line's exit status is this command's own.
    """

    __slots__ = ("is_last", "words")

    def __init__(self, words: tuple[str, ...], *, is_last: bool) -> None:
        self.words = words
        self.is_last = is_last


def commands(line: str) -> list[Command]:
    """The simple commands of a command line, in order; those of `sh -c "…"` in its place."""
    return _commands(line[:LENGTH], depth=0)


def _commands(line: str, depth: int) -> list[Command]:
    found: list[Command] = []
    groups = _split(line)
    has_pipefail = any(words[:1] == ["set"] and "pipefail" in words for words, _ in groups)
    for index, (words, end) in enumerate(groups):
        rest = [after for _, after in groups[index:-1]]
        good = ("&&", "|", "|&") if has_pipefail else ("&&",)
        is_last = all(after in good for after in rest) and end != "&"
        bare = unwrapped(words)
        if len(bare) > 2 and bare[0] in _SHELLS and depth < 2:
            inner = next((i for i, word in enumerate(bare) if re.fullmatch(r"-\w*c", word)), 0)
            if 0 < inner < len(bare) - 1:
                inside = _commands(bare[inner + 1], depth + 1)
                found += [Command(c.words, is_last=c.is_last and is_last) for c in inside]
                continue
        if bare:
            found.append(Command(tuple(bare), is_last=is_last))
    return found


def _split(line: str) -> list[tuple[list[str], str]]:
    """The words of each simple command, with the operator that ends it ("" at the line's end)."""
    splitter = _Splitter()
    place = 0
    while match := _TOKEN.match(line, place):
        place = splitter.take(match, line)
    return splitter.ended()


class _Splitter:
    """Collects the words of the command that is being read."""

    def __init__(self) -> None:
        self.groups: list[tuple[list[str], str]] = []
        self.words: list[str] = []
        self.bodies: list[str] = []
        self.is_glued = False
        self.skips = False  # the next word is the file of a redirection

    def take(self, match: re.Match[str], line: str) -> int:
        """One token; where the line goes on after it."""
        place = match.end()
        if match["part"] is not None:
            self._add(_plain(match[0]))
            return place
        self.is_glued = False
        if match["heredoc"] is not None:
            self.bodies.append(match["word"])
        elif match["redirect"] is not None:
            self.skips = not match[0].rstrip("-")[-1:].isdigit()
        elif match["end"] is not None:
            self._end(match[0])
            if match[0] == "\n":
                place = _after(line, place, self.bodies)
                self.bodies = []
        return place

    def ended(self) -> list[tuple[list[str], str]]:
        """Every command; what ends the last one is the line itself, unless it goes to the background."""
        self._end("")
        if self.groups and self.groups[-1][1] != "&":
            self.groups[-1] = (self.groups[-1][0], "")
        return self.groups

    def _add(self, word: str) -> None:
        if self.skips:
            self.skips = False
        elif self.is_glued and self.words:
            self.words[-1] += word
        else:
            self.words.append(word)
        self.is_glued = True

    def _end(self, operator: str) -> None:
        if self.words:
            self.groups.append((self.words, operator))
            self.words = []
        self.skips = False


def _after(line: str, place: int, bodies: list[str]) -> int:
    """Where the line goes on after the bodies of here-documents."""
    for word in bodies:
        end = re.compile(rf"^\t*{re.escape(word)}[ \t]*(?:\n|$)", re.MULTILINE).search(line, place)
        place = end.end() if end else len(line)
    return place


def _plain(part: str) -> str:
    return _UNQUOTE.sub(lambda m: next(g for g in (*m.groups(), "") if g is not None), part)


def unwrapped(words: list[str]) -> list[str]:
    """The command itself: without assignments, keywords, `env`, `timeout 60`, `uv run` and the like."""
    rest = list(words)
    while rest:
        name = rest[0].rsplit("/", 1)[-1]
        if _ASSIGNMENT.match(rest[0]) or name in _KEYWORDS:
            rest = rest[1:]
        elif name in _WRAPPERS:
            rest = _without_options(rest[1:])
            if name == "timeout" and rest and _NUMBER.match(rest[0]):
                rest = rest[1:]
        elif (name,) in _RUNNERS:
            rest = _without_options(rest[1:])
        elif len(rest) > 1 and (name, rest[1]) in _RUNNERS:
            rest = _without_options(rest[2:])
        elif re.fullmatch(r"python[\d.]*|py", name) and rest[1:2] == ["-m"]:
            rest = rest[2:]
        else:
            return [name, *rest[1:]]
    return rest


def _without_options(words: list[str]) -> list[str]:
    rest = words
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in _VALUED else rest[1:]
    return rest
