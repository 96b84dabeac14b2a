"""Readers, each for one configured value: a value that cannot be used is refused by name.

Each takes the words that name the value in the sentence, and the value; each raises BadConfig.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from lifecycle.core.errors import BadConfig
from lifecycle.core.stage_names import LINE, Stage
from lifecycle.settings.resources import sentence

if TYPE_CHECKING:
    from lifecycle.core.values.model import Repository

CHILDREN = ("git", "validate", "check", "tracker")
NAME = r"[A-Za-z0-9._-]+"


def _need(is_fit: object, where: str, must: str, value: object) -> None:
    if not is_fit:
        raise BadConfig(f"{where} must be {must}, not {value!r}.")


def _spelled(pattern: str, must: str, where: str, value: object) -> str:
    """A text on one line that fits a pattern; spaces around it are removed."""
    text = value.strip() if isinstance(value, str) else ""
    _need(text.isprintable() and re.fullmatch(pattern, text), where, must, value)
    return text


text = partial(_spelled, "[^-].*", "a non-empty text on one line")
"""A text that cannot be taken for an option of a command."""

login = partial(_spelled, "[A-Za-z0-9][A-Za-z0-9_-]*", "the login of an account")

tracker = partial(_spelled, "[a-z][a-z0-9_-]*", '"auto" or the name of a tracker')
"""The registry decides whether there is such a tracker."""

label = partial(_spelled, "[^,]+", "the name of a label, without a comma")
"""A label that can be searched for, and that can be followed by a colon and more."""


remote = partial(_spelled, r"\w[\w.+@-]*(/\w[\w.+@-]*)*", "the name of a git remote")
"""A path or a URL is refused, although git would accept it."""


def branch(where: str, value: object) -> str:
    """The name of a branch that git accepts."""
    from lifecycle.core.values.branch_names import is_branch

    name = text(where, value)
    if not is_branch(name):
        raise BadConfig(sentence("no-branch", where=where, value=value))
    return name


def repository(where: str, value: object) -> Repository:
    """`owner/name`."""
    is_one = isinstance(value, str) and re.fullmatch(rf"{NAME}/{NAME}", value)
    _need(is_one, where, '"owner/name"', value)
    from lifecycle.core.values.model import Repository

    return Repository(*str(value).split("/"))


def choice(words: Sequence[str], where: str, value: object) -> str:
    """One of these words."""
    *others, last = [f'"{word}"' for word in words]
    _need(value in words, where, f"{', '.join(others)} or {last}", value)
    return str(value)


link = partial(choice, ("Refs", "Closes"))
"""The word with which a pull request names its issue."""


def prefix(where: str, value: object) -> str:
    """The beginning of a label's name; a label has 50 characters, and the longest Status has 11."""
    is_text = isinstance(value, str) and value.isprintable() and value == value.lstrip()
    is_fit = is_text and 1 <= len(str(value)) <= 30 and "," not in str(value)
    _need(is_fit, where, '1 to 30 characters, without a comma, as in "status: "', value)
    return str(value)


def app_id(where: str, value: object) -> str:
    """A GitHub App's client ID, or its number."""
    id_ = str(value) if type(value) is int else value
    return _spelled("[A-Za-z0-9.]+", "the App's client ID or its number", where, id_)


def own_file(where: str, value: object, environment: Mapping[str, str]) -> Path:
    """An absolute path; `~` is the user's home."""
    text = str(value).strip()
    if text.startswith("~/"):
        text = f"{environment.get('HOME', '')}/{text[2:]}"
    path = Path(text)
    is_fit = isinstance(value, str) and path.is_absolute() and "\0" not in text
    _need(is_fit, where, "the absolute path of a file", value)
    return path


def words(where: str, value: object) -> tuple[str, ...]:
    """A program and its arguments."""
    words = value if isinstance(value, list) else []
    if not words or not all(isinstance(w, str) and w and "\0" not in w for w in words):
        raise BadConfig(sentence("no-words", where=where))
    return tuple(words)


def _several(
    is_fit: Callable[[str], object], must: str, where: str, value: object
) -> tuple[str, ...]:
    """One text, or a list of texts, each of which `is_fit` accepts."""
    texts = [value] if isinstance(value, str) else value
    is_list = isinstance(texts, list) and all(isinstance(t, str) and is_fit(t) for t in texts)
    _need(is_list, where, must, value)
    return tuple(cast("list[str]", texts))


commands = partial(_several, bool, "a command or a list of commands")
"""For a shell."""

_CHILDREN = f"a list of these: {', '.join(map(repr, CHILDREN))}"
children = partial(_several, CHILDREN.__contains__, _CHILDREN)
"""Programs that we start and that may see the user's tokens."""

folders = partial(
    _several,
    lambda path: path.startswith(("/", "~/")) and path.isprintable(),
    "a list of folders, each an absolute path or one that begins with ~/",
)
"""Folders, each by a path that does not depend on the current folder."""


def check_commands(where: str, value: object) -> dict[str, object]:
    """A table from a check's name to its command, whose form is checked when the check is run."""
    _need(isinstance(value, dict), where, "a table from names to commands", value)
    table = cast("dict[str, object]", value)
    for name, command in table.items():
        if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", name) is None:
            raise BadConfig(sentence("no-check-name", where=where, name=name))
        _need(command, f"{name} of {where}", "a command", command)
    return table


def _whole(least: int, most: int, where: str, value: object) -> int:
    """A whole number from `least`, and up to `most` unless that is 0; it may be a text."""
    text = str(value).strip()
    is_number = text.isascii() and text.isdigit() and not isinstance(value, bool)
    is_fit = is_number and least <= int(text) and (not most or int(text) <= most)
    _need(is_fit, where, f"a whole number from {least} {f'to {most}' if most else 'on'}", value)
    return int(text)


number = partial(_whole, 1, 0)
number_or_none = partial(_whole, 0, 0)
project_number = partial(_whole, 1, 2**31 - 1)  # an Int of GraphQL's


def _amount(unit: str, most: float, where: str, value: object) -> float:
    """A number of such units of time, up to `most` of them, as a number or as text."""
    try:
        number = float(value)  # type: ignore[arg-type]  # a wrong type raises TypeError below
    except (TypeError, ValueError):
        number = -1.0
    is_fit = 0 < number <= most and not isinstance(value, bool)
    _need(is_fit, where, f"a number of {unit} above 0", value)
    return number


positive = partial(_amount, "seconds", 999_999_999)
hours = partial(_amount, "hours", 87_600)  # ten years


def duration(where: str, value: object) -> float:
    """Seconds, from "20m" and the like; at most a day, since the client ends a hook then."""
    match = re.fullmatch(r"([1-9][0-9]{0,4})([smh])", value) if isinstance(value, str) else None
    seconds = int(match[1]) * {"s": 1.0, "m": 60.0, "h": 3600.0}[match[2]] if match else 0.0
    _need(0 < seconds <= 86_400, where, 'a time like "90s", "20m" or "2h", a day at most', value)
    return seconds


def flag(where: str, value: object) -> bool:
    """Yes or no, as TOML writes them."""
    _need(isinstance(value, bool), where, "true or false", value)
    return value is True


def url(where: str, value: object) -> str:
    """An address that a token may be sent to: https, or http on this machine."""
    pattern = r"https?://[^\s/@]+(/[^\s@]*)?"
    try:
        parts = urlsplit(str(value))
        is_url = isinstance(value, str) and bool(re.fullmatch(pattern, value)) and parts.port != 0
    except ValueError:  # an invalid bracket or port
        is_url = False
    if not is_url:
        raise BadConfig(sentence("no-url", where=where))
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise BadConfig(sentence("plain-http", where=where))
    return str(value).rstrip("/")


def is_loopback(host: str) -> bool:
    """True for `localhost`, 127.0.0.0/8 and ::1, as they are written: no name is looked up."""
    from ipaddress import ip_address  # only a GitHub on this machine is asked without TLS

    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def token(where: str, value: str, way: str) -> str:
    """The value, if it can be a token; it is not shown. `way` is what to do."""
    if not value.isascii() or not value.isprintable() or " " in value:
        raise BadConfig(sentence("no-token", where=where, way=way))
    return value


def workflows(where: str, value: object) -> dict[str, tuple[Stage, ...]]:
    """A table from a label to its stages."""
    _need(isinstance(value, dict), where, "a table from labels to lists of stages", value)
    table = cast("dict[str, object]", value)
    return {name: _line(f'{where}."{name}"', stages) for name, stages in table.items()}


def _line(where: str, value: object) -> tuple[Stage, ...]:
    names = list(LINE)
    is_list = isinstance(value, list) and value and all(name in names for name in value)
    _need(is_list, where, f"a list of stages ({', '.join(names)})", value)
    line = tuple(map(Stage, cast("list[str]", value)))
    if len(set(line)) != len(line):
        raise BadConfig(f"{where} names a stage twice; name each stage once.")
    if Stage.NEXT_TASK in line[:-1]:
        raise BadConfig(f"{where} has stages after NEXT_TASK, which can only be the last one.")
    return line


def tables(where: str, value: object) -> tuple[Mapping[str, object], ...]:
    """A list of tables, such as `[[evidence.runners]]`; the code that uses them checks their keys."""
    is_list = isinstance(value, list) and all(isinstance(table, dict) for table in value)
    _need(is_list, where, "a list of tables, each starting with a line [[...]]", value)
    return tuple(cast("list[Mapping[str, object]]", value))
