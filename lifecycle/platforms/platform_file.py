"""The form of a `platform.json`: what may stand in it, read and checked.

A project's file comes with the repository, so nothing of it counts before all of it was read and checked.
A mistake in it is reported as half a sentence that names its place.
"""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from lifecycle.core.errors import did_you_mean
from lifecycle.platforms import slow_patterns
from lifecycle.platforms.command_argv import Argv, commands_in

LARGEST = 256_000
"""Bytes of a file at most."""

_MARKERS = 50
_DEEPEST = 20
"""How deep lists and objects may nest."""

Size = Literal["S", "M", "L", "XL"]
Percent = Annotated[float, Meta(ge=0, le=100)]
Marker = Annotated[str, Meta(min_length=1, max_length=200)]
Text = Annotated[str, Meta(max_length=500)]
Action = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9_.:-]{0,63}$(?!\n)")]
Words = Annotated[
    Any,
    Meta(
        description="One command: a list of words, or a text that is split without a shell. Several: "
        "a list of such lists. null, an empty text or an empty list: there is none.",
        extra_json_schema={
            "type": ["array", "string", "null"],
            "anyOf": [
                {"items": {"type": "string"}},
                {"items": {"type": "array", "items": {"type": "string"}, "minItems": 1}},
            ],
        },
    ),
]


class _Form(msgspec.Struct, frozen=True, rename="camel"):
    """A part of the file, as it is spelled there."""


class CoverageSource(_Form, frozen=True, forbid_unknown_fields=True):
    """Where the coverage command leaves its number: in what it prints, or in a file that it writes.

    Attributes:
        pattern: A regular expression (Python's), each line by itself; its last match counts. One group:
            the percentage; or groups named covered and missed, or covered and total, or fraction (0 to 1).
        files: Files or glob patterns, as in `markers`. The counts of several files are added up; of other
            numbers the file that was written last is read. Without files, the command's output is read.
    """

    pattern: Annotated[str, Meta(min_length=3, max_length=1000)]
    files: Annotated[list[Marker], Meta(max_length=_MARKERS)] = []

    def __post_init__(self) -> None:
        check_markers(self.files)
        try:
            groups = re.compile(self.pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise ValueError(f"it is no regular expression ({error})") from None
        names = {*groups.groupindex}
        if names not in _GROUPS or (not names and groups.groups != 1):
            raise ValueError(
                "it needs one group, or groups named covered and missed, covered and total, or fraction"
            )


_GROUPS = (set[str](), {"covered", "missed"}, {"covered", "total"}, {"fraction"})


class Condition(_Form, frozen=True, forbid_unknown_fields=True):
    r"""Files of which one has to be there, and what a line of it has to match.

    Attributes:
        files: Any of these, as markers are written.
        pattern: A regular expression that a line of it matches (of each its first 400 characters). One that
            could take for ever is refused: at most 300 characters, two of .*, \s+ and the like, and no
            repetition or choice within a repetition.
    """

    files: Annotated[list[Marker], Meta(min_length=1, max_length=_MARKERS)]
    pattern: Annotated[str, Meta(max_length=1000)] = ""

    def __post_init__(self) -> None:
        check_markers(self.files)
        if wrong := slow_patterns.problem(self.pattern, widest=2):
            raise ValueError(f"its pattern {wrong}")


class QualityGates(_Form, frozen=True):
    """What a change has to reach.

    Attributes:
        coverage: Percent of coverage, by the size of the story.
        required: The commands that have to pass, if they exist.
    """

    coverage: dict[Size, Percent] = {}
    required: list[Action] = []


class PlatformFile(_Form, frozen=True, kw_only=True):
    """A kind of project: how it is known, and its commands, conventions, gates and skills.

    Attributes:
        name: What it is called in commands.
        display_name: What people call it.
        description: What it is, for people.
        version: The version of this file.
        markers: Files, or glob patterns without **, below the worktree's root.
        match_mode: Whether any marker is enough, or all are needed.
        priority: Of several platforms that match, the highest is selected; shipped ones are below 0.
        commands: build, test, lint, lintFix, coverage, and any other.
        needs: Commands that exist only if one of these conditions is met.
        coverage: How the coverage command's number is read.
        conventions: Conventions of the project, each by a name, in any form.
        structure: Where things are, in any form.
        skills: The skills that an agent loads.
    """

    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$(?!\n)")]
    display_name: Text = ""
    description: Text = ""
    version: Annotated[str, Meta(max_length=64)] = ""
    markers: Annotated[list[Marker], Meta(min_length=1, max_length=_MARKERS)]
    match_mode: Literal["any", "all"] = "any"
    priority: Annotated[int, Meta(ge=-1_000_000, le=1_000_000)] = 0
    commands: dict[Action, Words] = {}
    needs: dict[Action, Annotated[list[Condition], Meta(min_length=1)]] = {}
    coverage: CoverageSource | None = None
    conventions: dict[str, Any] = {}
    quality_gates: QualityGates = QualityGates()
    structure: Any = None
    skills: list[Text] = []

    def __post_init__(self) -> None:
        check_markers(self.markers)
        for name, value in self.commands.items():
            try:
                commands_in(value)
            except ValueError as error:
                raise ValueError(f"the command {name} cannot be used: {error}") from None
        pairs = ("needs", self.needs), ("qualityGates.required", self.quality_gates.required)
        for field, names in pairs:
            unknown = next((name for name in names if name not in self.commands), None)
            if unknown is not None:
                near = did_you_mean(unknown, self.commands)
                raise ValueError(f"{field} names {unknown}, which is not one of its commands{near}")

    def argvs(self) -> dict[str, tuple[Argv, ...]]:
        """The commands by name, without those that are declared as none."""
        words_by_name = {name: commands_in(value) for name, value in self.commands.items()}
        return {name: words for name, words in words_by_name.items() if words}

    def data(self) -> dict[str, Any]:
        """The file's fields as plain values under the names of the file, defaults for those left out."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data


def read(content: bytes) -> tuple[PlatformFile, tuple[str, ...]]:
    """Read the bytes of a `platform.json`, and note in one sentence each key that is not known or used.

    Raises:
        ValueError: it cannot be used; the text says what is wrong, and where.
    """
    if len(content) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST // 1000} kB")
    try:
        data = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"))
        _demand_shallow(data, _DEEPEST)
        file = msgspec.convert(data, PlatformFile)
    except msgspec.ValidationError as error:
        words, _, where = str(error).partition(" - at `")
        place = where.rstrip("`").removeprefix("$").removeprefix(".")
        raise ValueError(f"{place}: {words}" if place else words) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"it is not valid JSON ({error})") from None
    except RecursionError:
        raise ValueError(f"it nests more than {_DEEPEST} deep") from None
    fields = {*PlatformFile.__struct_encode_fields__}
    unknown = [key for key in data if key not in fields and not key.startswith("$")]
    return file, tuple(f'"{key}" is not used.{did_you_mean(key, fields)}' for key in unknown)


def _demand_shallow(value: Any, most: int) -> None:
    """Raise RecursionError if lists and objects nest deeper than this."""
    if isinstance(value, dict | list):
        if most == 0:
            raise RecursionError
        for within in value.values() if isinstance(value, dict) else value:
            _demand_shallow(within, most - 1)


def check_markers(markers: list[str]) -> None:
    """Raise ValueError for a marker that is neither a path nor a pattern below a root."""
    for text in markers:
        parts = text.removesuffix("/").split("/")
        if text.startswith("/") or "\\" in text or {"", ".", ".."} & set(parts):
            raise ValueError(f"{json.dumps(text)} is not below the worktree's root")
        if any("**" in part for part in parts):
            raise ValueError(f"{json.dumps(text)} has **; name the folders, as in src/*/*.csproj")
        if not text.isprintable():
            raise ValueError(f"{json.dumps(text)} has invisible characters")
