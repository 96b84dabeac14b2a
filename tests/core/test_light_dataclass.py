"""lifecycle.core.light_dataclass: what it makes is what Python's own dataclasses make of the same lines."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import pickle
import pkgutil
import subprocess
import sys
from dataclasses import FrozenInstanceError
from typing import Any, Generic, TypeVar

import pytest

import lifecycle
from lifecycle.core import light_dataclass
from lifecycle.core.light_dataclass import (
    asdict,
    dataclass,
    field,
    fields,
    fields_of,
    is_dataclass,
    replace,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Point:
    """A value with every kind of default."""

    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list)
    secret: str = field(default="s", repr=False)
    seen: int = field(default=0, compare=False)

    @property
    def total(self) -> int:
        """A method of its own."""
        return self.x + self.y


@dataclass(frozen=True, slots=True)
class Far(Point):
    """A kind of it."""

    z: int = 3


@dataclass(slots=True)
class Open:
    """One that may be changed."""

    at: int = 1


@dataclass(slots=True, eq=False)
class Itself:
    """One that equals nothing else."""

    at: int = 1


@dataclass(slots=True)
class Doubled:
    """One that ends its own making."""

    at: int
    twice: int = 0

    def __post_init__(self) -> None:
        """What follows from the fields."""
        self.twice = 2 * self.at


@dataclasses.dataclass(frozen=True)
class Pythons:
    """One that Python made."""

    at: int = 1


@dataclass(frozen=True)
class Holds(Generic[T]):
    """One without slots, of any kind."""

    held: T
    others: tuple[Any, ...] = ()


def test_values_are_made_and_compared_by_their_fields() -> None:
    """In order, by name, with defaults of their own; a field that is not compared makes no difference."""
    one = Point(1, tags=["a"])
    assert (one.x, one.y, one.tags, one.secret, one.total) == (1, 2, ["a"], "s", 3)
    assert Point(1).tags is not Point(1).tags
    assert Point(1, seen=5) == Point(1, seen=6) != Point(2)
    assert Far(1, z=4) == Far(1, z=4) != Point(1)
    assert Holds(1) == Holds(1)
    assert hash(Holds("a")) == hash(Holds("a"))
    assert repr(Far(1)) == "Far(x=1, y=2, tags=[], seen=0, z=3)"
    assert Doubled(3) == Doubled(3, 9)
    assert Doubled(3).twice == 6
    assert Itself() != Itself()
    assert len({Itself(), Itself()}) == 2
    wrongs: tuple[tuple[Any, ...], ...] = ((), (1, 2, [], "s", 0, 9))
    for wrong in wrongs:
        with pytest.raises(TypeError):
            Point(*wrong)
    with pytest.raises(TypeError):
        hash(Open())


def test_a_frozen_value_stays_as_it_is() -> None:
    """The error is Python's own; slots take nothing else, and copies are equal."""
    for value in (Point(1), Far(1), Holds(1)):
        for name in ("x", "held", "other"):
            with pytest.raises(FrozenInstanceError):
                setattr(value, name, 1)
        with pytest.raises(FrozenInstanceError):
            delattr(value, "x")
        assert copy.deepcopy(value) == value
        assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 -- it is ours
    point, opened = Point(1, tags=["a"]), Open()
    assert (
        replace(point, x=1, tags=point.tags) is point
    )  # nothing in it is new, and it cannot change
    assert replace(point, tags=["a"]) is not point
    assert replace(opened) is not opened
    assert replace(point) is not point
    opened.at = 5
    assert opened == Open(5)
    with pytest.raises(AttributeError):
        opened.other = 1  # type: ignore[attr-defined]  # that is the point


def test_our_functions_and_pythons_say_the_same() -> None:
    """Of a value, and of one in another; also in a class that nobody has made a value of."""
    assert asdict(Holds(Pythons(2))) == {"held": {"at": 2}, "others": ()}
    assert replace(Pythons(2), at=3) == Pythons(3)
    assert [one.name for one in fields(Pythons)] == ["at"]
    assert is_dataclass(Pythons)
    assert not is_dataclass(1)
    value: Holds[Any] = Holds(Far(1, tags=["a"]), ({"k": Open()},))
    assert asdict(value) == dataclasses.asdict(value)
    assert asdict(value) == {
        "held": {"x": 1, "y": 2, "tags": ["a"], "secret": "s", "seen": 0, "z": 3},
        "others": ({"k": {"at": 1}},),
    }
    assert replace(value, held=2) == dataclasses.replace(value, held=2) == Holds(2, value.others)
    shown = [(one.name, one.type) for one in fields(Far)]
    assert shown == [(one.name, one.type) for one in dataclasses.fields(Far)]
    assert shown[::5] == [("x", "int"), ("z", "int")]
    assert dataclasses.is_dataclass(Open)
    with pytest.raises(TypeError):
        replace(value, other=1)  # type: ignore[call-arg]  # that is the point
    match Far(7):
        case Point(x, y):
            assert (x, y) == (7, 2)


def light_classes() -> list[type]:
    """Every class of the product that is made here."""
    found: dict[str, type] = {}
    for module in pkgutil.walk_packages(lifecycle.__path__, "lifecycle."):
        if not module.name.startswith(("lifecycle.sandbox", "lifecycle.__main__")):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, type) and "__light_fields__" in vars(value):
                    found[f"{value.__module__}.{value.__qualname__}"] = value
    return list(found.values())


def test_the_products_classes_are_what_python_would_make_of_them() -> None:
    """Parameters with their defaults, fields by name, and whether they are frozen."""
    classes = light_classes()
    assert len(classes) > 100
    for made in classes:
        every = made.__light_fields__  # type: ignore[attr-defined]  # what they are known by
        is_frozen = made.__light_frozen__  # type: ignore[attr-defined]  # likewise
        shown = inspect.signature(made)
        assert [*shown.parameters] == [*every] == [one.name for one in dataclasses.fields(made)]
        begun = light_dataclass._init(made)
        parameters = list(inspect.signature(begun).parameters.values())[1:]
        wanted = [one.default is inspect.Parameter.empty for one in shown.parameters.values()]
        assert [one.default is inspect.Parameter.empty for one in parameters] == wanted, made
        assert ("__setattr__" in vars(made)) is is_frozen
        assert getattr(made, "__hash__", None) is not None or not is_frozen


def test_nothing_is_compiled_before_it_is_used() -> None:
    """A module full of values costs neither Python's dataclasses nor an `exec`."""
    code = (
        "import builtins, sys\n"
        "real, ran = builtins.exec, []\n"
        "import lifecycle.core.light_dataclass as light\n"
        "light.exec = lambda code, known: ran.append(code) or real(code, known)\n"
        "from lifecycle.core.values.model import Repository\n"
        "print(len(ran), 'dataclasses' in sys.modules, 'inspect' in sys.modules)\n"
        "Repository('o', 'r'), Repository('o', 's')\n"
        "print(len(ran))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "0 False False\n1\n"


def test_some_fields_are_shown_under_the_names_that_were_asked_for() -> None:
    """Renamed ones first, properties as well; what is empty is None only where that was asked."""
    point = Point(0, tags=[])
    shown = fields_of(point, "x", "tags?", sum="total", hidden="secret?", nothing="seen?")
    assert shown == {"sum": 2, "hidden": "s", "nothing": None, "x": 0, "tags": None}
    assert [*shown] == ["sum", "hidden", "nothing", "x", "tags"]
