"""A platform.json is read whole, or refused with the place of its mistake; the schema says the same."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from lifecycle.platforms.platform_file import LARGEST, read
from tests.batches import each_row
from tests.docs.platform_parts import schema

LEAST: dict[str, Any] = {"name": "p", "markers": ["m"]}

WHOLE: dict[str, Any] = {
    "$schema": "platform.schema.json",
    "name": "p-1.x_Y",
    "displayName": "P",
    "description": "A project of P",
    "version": "1.2",
    "markers": ["a.toml", "src/*/*.p", "folder/", ".hidden"],
    "matchMode": "all",
    "priority": -3,
    "commands": {"build": [["a", "b"], ["c"]], "test": "t -q", "lintFix": ["l"], "x:y": None},
    "needs": {"lintFix": [{"files": ["l.toml"]}, {"files": ["a.toml"], "pattern": "^l"}]},
    "coverage": {"pattern": "total (\\d+)%", "files": ["out/*.xml"]},
    "conventions": {"naming": "snake_case", "commits": {"form": ["feat", "fix"]}},
    "qualityGates": {"coverage": {"S": 70, "M": 75.5, "L": 80, "XL": 100}, "required": ["test"]},
    "structure": {"source": "src/"},
    "skills": ["testing"],
}

GOOD: tuple[dict[str, Any], ...] = (
    LEAST,
    WHOLE,
    {**LEAST, "coverage": None, "structure": ["src/"]},
    {**LEAST, "coverage": {"pattern": "(?P<covered>\\d+) of (?P<total>\\d+)"}},
    {**LEAST, "coverage": {"pattern": "(?P<covered>\\d+) - (?P<missed>\\d+)"}},
    {**LEAST, "coverage": {"pattern": "(?P<fraction>\\d+)"}},
    {**LEAST, "commands": {"test": "", "lint": []}},
    {**LEAST, "agents": ["unknown keys are told, and do no harm"]},
)

BAD: tuple[tuple[dict[str, Any], str], ...] = (
    ({}, "name"),
    ({"name": "p"}, "markers"),
    ({**LEAST, "name": 1}, "name: Expected `str`, got `int`"),
    ({**LEAST, "name": ""}, "name"),
    ({**LEAST, "name": "a b"}, "name"),
    ({**LEAST, "name": "p\n"}, "name"),
    ({**LEAST, "name": "\x1b[2J"}, "name"),
    ({**LEAST, "name": "-p"}, "name"),
    ({**LEAST, "name": "p" * 65}, "name"),
    ({**LEAST, "markers": "m"}, "markers"),
    ({**LEAST, "markers": []}, "markers"),
    ({**LEAST, "markers": ["m"] * 51}, "markers"),
    ({**LEAST, "markers": [""]}, "markers[0]"),
    ({**LEAST, "matchMode": "some"}, "matchMode"),
    ({**LEAST, "priority": "high"}, "priority"),
    ({**LEAST, "priority": 10**9}, "priority"),
    ({**LEAST, "commands": ["test"]}, "commands"),
    ({**LEAST, "commands": {"a b": "x"}}, "commands"),
    ({**LEAST, "commands": {"test": 1}}, "the command test cannot be used"),
    ({**LEAST, "commands": {"test": [[]]}}, "the command test cannot be used"),
    ({**LEAST, "commands": {"test": [["a", 1]]}}, "the command test cannot be used"),
    ({**LEAST, "needs": {"test": []}}, "needs"),
    ({**LEAST, "commands": {"test": "t"}, "needs": {"test": [{}]}}, "needs"),
    ({**LEAST, "coverage": "x"}, "coverage"),
    ({**LEAST, "coverage": {"regex": "(x)"}}, "coverage"),
    ({**LEAST, "conventions": []}, "conventions"),
    ({**LEAST, "qualityGates": {"coverage": {"S": 101}}}, "qualityGates.coverage"),
    ({**LEAST, "qualityGates": {"coverage": {"S": "70"}}}, "qualityGates.coverage"),
    ({**LEAST, "qualityGates": {"coverage": 80}}, "qualityGates.coverage"),
    ({**LEAST, "skills": [1]}, "skills"),
)
"""What the schema refuses as well."""

BEYOND: tuple[tuple[dict[str, Any], str], ...] = (
    ({**LEAST, "markers": ["/etc/passwd"]}, "below the worktree's root"),
    ({**LEAST, "markers": ["../x"]}, "below the worktree's root"),
    ({**LEAST, "markers": ["a/../../x"]}, "below the worktree's root"),
    ({**LEAST, "markers": ["a//x"]}, "below the worktree's root"),
    ({**LEAST, "markers": ["."]}, "below the worktree's root"),
    ({**LEAST, "markers": ["a\\b"]}, "below the worktree's root"),
    ({**LEAST, "markers": ["**/x"]}, "**"),
    ({**LEAST, "markers": ["a\u202e"]}, "invisible characters"),
    ({**LEAST, "commands": {"test": "a && b"}}, '[["a"], ["b"]]'),
    ({**LEAST, "commands": {"tests": "t"}, "needs": {"test": [{"files": ["a"]}]}}, '"tests"'),
    ({**LEAST, "commands": {"test": "t"}, "needs": {"test": [{"files": ["/a"]}]}}, "root"),
    (
        {**LEAST, "commands": {"t": "t"}, "needs": {"t": [{"files": ["a"], "pattern": "("}]}},
        "no regular expression",
    ),
    *(
        (
            {**LEAST, "commands": {"t": "t"}, "needs": {"t": [{"files": ["a"], "pattern": slow}]}},
            "could take too long",
        )
        for slow in ("(a+)+$", "(a|b)*c", ".*.*.*x", "a" * 301)
    ),
    ({**LEAST, "qualityGates": {"required": ["lint"]}}, "not one of its commands"),
    ({**LEAST, "coverage": {"pattern": "no group"}}, "one group"),
    ({**LEAST, "coverage": {"pattern": "(two) (groups)"}}, "one group"),
    ({**LEAST, "coverage": {"pattern": "(?P<covered>x)"}}, "one group"),
    ({**LEAST, "coverage": {"pattern": "(unclosed"}}, "no regular expression"),
    ({**LEAST, "coverage": {"pattern": "(x)", "files": ["../x"]}}, "root"),
)
"""What no schema can say."""


@pytest.mark.parametrize("data", GOOD)
def test_what_is_right_is_read_and_fits_the_schema(data: dict[str, Any]) -> None:
    """The reader and the schema agree on what is right."""
    file, _ = read(json.dumps(data).encode())
    assert file.name == data["name"]
    assert jsonschema_rs.is_valid(json.loads(schema()), data)


@each_row(("data", "says"), BAD)
def test_what_is_wrong_is_named_with_its_place(data: dict[str, Any], says: str) -> None:
    """The reader and the schema agree on what is wrong, and the sentence names the place."""
    with pytest.raises(ValueError, match=r".") as refusal:
        read(json.dumps(data).encode())
    assert says in str(refusal.value)
    assert str(refusal.value).isprintable()
    assert not jsonschema_rs.is_valid(json.loads(schema()), data)


@each_row(("data", "says"), BEYOND)
def test_what_makes_no_sense_is_refused(data: dict[str, Any], says: str) -> None:
    """Paths that lead out, commands that need a shell, names of nothing, patterns that are none."""
    with pytest.raises(ValueError, match=r".") as refusal:
        read(json.dumps(data).encode())
    assert says in str(refusal.value)
    assert str(refusal.value).isprintable()


def test_everything_that_a_file_says_is_kept() -> None:
    """Each key comes back as it was written; commands are words."""
    file, notes = read(json.dumps(WHOLE).encode())
    data = file.data()
    assert {key: data[key] for key in WHOLE if key not in ("$schema", "needs")} == {
        key: value for key, value in WHOLE.items() if key not in ("$schema", "needs")
    }
    assert data["needs"]["lintFix"][1] == WHOLE["needs"]["lintFix"][1]
    assert notes == ()
    assert file.argvs() == {
        "build": (("a", "b"), ("c",)),
        "test": (("t", "-q"),),
        "lintFix": (("l",),),
    }


def test_a_misspelt_key_is_told() -> None:
    """What is not known is not used, does no harm, and the likely meaning is named."""
    _, notes = read(json.dumps({**LEAST, "comands": {"test": "x"}}).encode())
    assert notes == ('"comands" is not used. Did you mean "commands"?',)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        (b'{"name": "p", "markers": ["m"],}', "not valid JSON"),
        (b'{"name": "\xff"}', "not valid JSON"),
        (b'{"name": "\\ud800", "markers": ["m"]}', "not valid JSON"),
        (b"[]", "Expected `object`"),
        (b"null", "Expected `object`"),
        (b"NaN", "not valid JSON"),
        (b"[" * 100_000, "nests"),
        (b'{"structure":' * 1000 + b"1" + b"}" * 1000, "nests"),
        (b'{"structure":' * 21 + b"1" + b"}" * 21, "nests"),
        (b" " * (LARGEST + 1), "larger than 256 kB"),
    ],
)
def test_what_is_no_json_of_a_sane_size_is_refused(content: bytes, says: str) -> None:
    """Broken, deep and huge files end in a sentence, whatever they would have said."""
    with pytest.raises(ValueError, match=r".") as refusal:
        read(content)
    assert says in str(refusal.value)
    assert str(refusal.value).isprintable()


def test_the_mark_that_windows_editors_write_is_no_mistake() -> None:
    """A byte order mark at the beginning counts as nothing."""
    file, _ = read(b"\xef\xbb\xbf" + json.dumps(LEAST).encode())
    assert file.name == "p"
