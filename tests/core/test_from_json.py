"""lifecycle.core.light_dataclass reads what was written; what has another shape is nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from lifecycle.core.light_dataclass import asdict, dataclass, from_json, object_in
from lifecycle.core.stage_names import Stage


@dataclass(frozen=True)
class Leaf:
    """A value in another."""

    name: str
    pair: tuple[str, int] = ("", 0)


@dataclass(frozen=True)
class Tree:
    """One of each kind."""

    at: float
    leaves: tuple[Leaf, ...] = ()
    by_name: Mapping[str, Leaf] | None = None
    stage: Stage | None = None
    is_old: bool = False


@dataclass(frozen=True)
class Lenient:
    """Of which nothing has to be there."""

    name: str = ""


TREE = Tree(1.5, (Leaf("a", ("b", 2)),), {"c": Leaf("c")}, Stage.CODING, is_old=True)
WHOLE: dict[str, Any] = json.loads(json.dumps(asdict(TREE)))


def test_what_is_read_is_what_was_written() -> None:
    """Whatever else stands beside it; and a dataclass may be the list of its values."""
    assert from_json(Tree, {**WHOLE, "more": 1}) == TREE
    assert from_json(Tree, [*WHOLE.values()]) == TREE
    assert from_json(tuple[Tree, ...], [WHOLE, WHOLE]) == (TREE, TREE)
    assert from_json(Tree, WHOLE | {"by_name": None, "stage": None}).stage is None
    anything = {"a": [1, {"b": None}], "c": "d"}
    assert from_json(Mapping[str, Any], anything) == anything


@pytest.mark.parametrize("name", [*WHOLE])
def test_what_is_missing_is_a_default_only_where_that_is_wanted(name: str) -> None:
    """A value without a default has to be there in any case."""
    part = {key: value for key, value in WHOLE.items() if key != name}
    assert from_json(Tree, part) is None
    lenient = from_json(Tree, part, is_whole=False)
    assert lenient == (Tree(**{**vars(TREE), name: getattr(Tree, name)}) if name != "at" else None)


@pytest.mark.parametrize(
    "other",
    [
        *({"at": "soon"}, {"leaves": 7}, {"leaves": [["a"]]}, {"by_name": []}, {"stage": "NONE"}),
        *({"leaves": [{"name": "a", "pair": ["b"]}]}, {"at": None}, {"leaves": "ab"}),
        *({"leaves": {"a": 1}}, {"is_old": None}, {"is_old": []}, {"leaves": [[None, ["b", 2]]]}),
        *({"leaves": [[["a"], ["b", 2]]]}, {"leaves": [{"name": {}, "pair": ["b", 2]}]}),
        *({"at": "1.5"}, {"is_old": 1}, {"leaves": [{"name": 5, "pair": ["b", 2]}]}),
        *({"at": 10**400}, {"leaves": [{"name": "a", "pair": ["b", float("inf")]}]}),
    ],
)
def test_what_has_another_shape_is_nothing(other: dict[str, object]) -> None:
    """As are other values in place of an object."""
    assert from_json(Tree, WHOLE | other) is None
    values: tuple[object, ...] = (None, 7, "x", [])
    assert [from_json(Tree, value) for value in values] == [None] * 4
    assert [from_json(Lenient, value, is_whole=False) for value in values] == [None] * 4
    assert from_json(Lenient, {}, is_whole=False) == Lenient()


@pytest.mark.parametrize("value", ["", "none", 7, 1.5, True])
def test_a_text_is_no_object_of_which_all_is_missing(value: object) -> None:
    """Where defaults stand for what is missing, something else than an object is nothing all the same."""
    assert from_json(Lenient, value, is_whole=False) is None
    assert from_json(tuple[Lenient, ...], [value], is_whole=False) is None


@pytest.mark.parametrize(
    ("text", "versions", "expected"),
    [
        ('{"version": 2}', (1, 2), {"version": 2}),
        (b'{"a": 1}', (), {"a": 1}),
        *(('{"version": 3}', (1, 2), {}), ("{}", (1,), {}), ('{"a": ', (), {}), ("", (), {})),
        *(("[1]", (), {}), (b"\xff", (), {}), ("[" * 100_000, (), {})),
    ],
)
def test_an_object_of_a_known_version_is_read(
    text: str | bytes, versions: tuple[int, ...], expected: dict[str, object]
) -> None:
    """What is none, or has another version, is as good as empty."""
    assert object_in(text, *versions) == expected
