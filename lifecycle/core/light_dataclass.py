"""A lighter `dataclasses`: a class gets its methods with its first value, so an unused class costs nothing.

Python's own `dataclass` compiles half a dozen functions for each class when its module is imported, and
is slow to import itself. A hook imports a hundred classes and makes values of only a few; half of its start
went into the rest. So here a class is made at once, but its `__init__` only with its first value; the other
methods are the same functions for all classes. The result is what `dataclasses` makes of the same lines,
also for type checkers and for the functions of `dataclasses`; a test compares the product's classes. It
supports what they use: `frozen`, `slots`, `eq`, defaults, `__post_init__`, and of a field `default`,
`default_factory`, `repr`, `compare`. A module with such classes begins with
`from __future__ import annotations`.

It also reads such values from JSON, by their annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from operator import attrgetter
from types import UnionType

TYPE_CHECKING = False
"""Type checkers take this for true; importing `typing` only for it would cost more than the rest."""

if TYPE_CHECKING:
    from typing import Any

_MISSING: Any = object()
_NO_FIELDS = ("ClassVar", "Final")


class LightField:
    """One field: its name, its annotation, and its default."""

    __slots__ = ("compare", "default", "default_factory", "name", "repr", "type")

    def __init__(
        self,
        *,
        default: Any = _MISSING,
        default_factory: Any = _MISSING,
        repr: bool = True,  # noqa: A002 -- as Python's own
        compare: bool = True,
    ) -> None:
        self.name = self.type = ""
        self.default = default
        self.default_factory = default_factory
        self.repr = repr
        self.compare = compare


def _dataclass(
    of: type | None = None, /, *, frozen: bool = False, slots: bool = False, eq: bool = True
) -> Any:
    """Make a class a dataclass, as the decorator `dataclasses.dataclass` does."""

    def decorated(cls: type) -> type:
        own = {name: _field(cls, name) for name in _own(cls)}
        all_fields: dict[str, LightField] = {}
        for base in reversed(cls.__mro__[1:]):
            all_fields |= getattr(base, "__light_fields__", {})
        all_fields |= own
        result = _slotted(cls, all_fields, own) if slots else _plain(cls, own)
        methods: dict[str, Any] = {"__init__": _begun, "__repr__": _shown, "__reduce__": _reduced}
        methods |= {"__eq__": _same, "__hash__": _hashed if frozen else None} if eq else {}
        methods |= {"__setattr__": _refused, "__delattr__": _refused} if frozen else {}
        for name, method in methods.items():
            if name not in cls.__dict__ or (name == "__hash__" and cls.__dict__[name] is None):
                setattr(result, name, method)
        about: dict[str, Any] = {"match_args": tuple(all_fields), "light_fields": all_fields}
        about |= {"light_frozen": frozen, "light_values": _getter([*all_fields])}
        compared = [name for name, light in all_fields.items() if light.compare]
        about["light_compared"] = _getter(compared)
        for name, value in about.items():
            setattr(result, f"__{name}__", value)
        for name in ("__dataclass_fields__", "__dataclass_params__", "__signature__"):
            setattr(result, name, _AsPythons(name))
        return result

    return decorated if of is None else decorated(of)


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that takes a value and returns these fields of it as a tuple."""
    several: Any = attrgetter(*names) if len(names) > 1 else None
    return several or (lambda value: tuple([getattr(value, name) for name in names]))


def _own(cls: type) -> list[str]:
    """The names of a class's own fields, whose annotations are texts."""
    texts: Mapping[str, str] = cls.__annotations__  # its own, {} if it has none; PEP 749
    return [name for name, text in texts.items() if not text.startswith(_NO_FIELDS)]


def _field(cls: type, name: str) -> LightField:
    value = cls.__dict__.get(name, _MISSING)
    light = value if isinstance(value, LightField) else LightField(default=value)
    light.name, light.type = name, cls.__annotations__[name]
    return light


def _slotted(cls: type, all_fields: Iterable[str], own: Iterable[str]) -> type:
    """The same class with its fields as slots: a new class, since an existing one cannot get slots."""
    inherited = {name for base in cls.__mro__[1:] for name in getattr(base, "__slots__", ())}
    dropped = {*all_fields, "__dict__", "__weakref__"}
    namespace = {name: value for name, value in cls.__dict__.items() if name not in dropped}
    namespace["__slots__"] = tuple(name for name in own if name not in inherited)
    slotted = type(cls)(cls.__name__, cls.__bases__, namespace)
    slotted.__qualname__ = cls.__qualname__
    return slotted


def _plain(cls: type, own: Mapping[str, LightField]) -> type:
    for name, light in own.items():
        if isinstance(cls.__dict__.get(name), LightField):
            if light.default is _MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, light.default)
    return cls


def _begun(self: Any, *values: Any, **named: Any) -> None:
    """The `__init__` of a class without a value so far: replace it by a compiled one, and call that."""
    owner: Any = next(base for base in type(self).__mro__ if "__light_fields__" in base.__dict__)
    init = owner.__init__ = _init(owner)
    init(self, *values, **named)


class _Opened(dict[type, type]):
    """For each class, a class with the same layout whose fields can be set.

    A frozen value has that class while it is made: Python sets a field so ten times as fast as by its slot.
    """

    def __missing__(self, cls: type) -> type:
        setting = {"__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
        self[cls] = type(cls)(cls.__name__, (cls,), {"__slots__": (), **setting})
        return self[cls]


_opened = _Opened()
_become = object.__dict__["__class__"].__set__


def _init(cls: Any) -> Callable[..., None]:
    """Compile the `__init__` of a class; its parameters are the fields."""
    namespace: dict[str, Any] = {"_missing": _MISSING, "_opened": _opened, "_become": _become}
    parameters, lines = ["self"], []
    for name, light in cls.__light_fields__.items():
        value = name
        if light.default_factory is not _MISSING:
            namespace[f"_of_{name}"] = light.default_factory
            parameters.append(f"{name}=_missing")
            value = f"_of_{name}() if {name} is _missing else {name}"
        elif light.default is not _MISSING:
            namespace[f"_of_{name}"] = light.default
            parameters.append(f"{name}=_of_{name}")
        else:
            parameters.append(name)
        lines.append(f"self.{name} = {value}")
    if cls.__light_frozen__:
        lines = ["_kind = self.__class__", "_become(self, _opened[_kind])", *lines]
        lines.append("self.__class__ = _kind")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    code = f"def __init__({', '.join(parameters)}):\n " + "\n ".join(lines or ["pass"])
    exec(code, namespace)  # noqa: S102 -- made of our own classes' field names, as Python's own does
    init = namespace["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init  # type: ignore[no-any-return]  # the function that was just made


def _same(self: Any, other: object) -> Any:
    compared: Any = type(self).__light_compared__
    if type(other) is not type(self):
        return NotImplemented
    return self is other or compared(self) == compared(other)


def _hashed(self: Any) -> int:
    return hash(self.__class__.__light_compared__(self))


def _shown(self: Any) -> str:
    names = [name for name, light in self.__light_fields__.items() if light.repr]
    shown = (f"{name}={getattr(self, name)!r}" for name in names)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _reduced(self: Any) -> tuple[type, tuple[Any, ...]]:
    return type(self), type(self).__light_values__(self)


def _refused(_self: object, name: str, *_: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot change field {name!r}")


class _AsPythons:
    """The attributes that Python's own functions read, as `__dataclass_fields__`; made when first read."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, _value: object, owner: Any) -> Any:
        import dataclasses
        import inspect

        all_fields: dict[str, LightField] = owner.__light_fields__
        specified: list[Any] = []
        for name, light in all_fields.items():
            parameters = {"default": light.default, "default_factory": light.default_factory}
            kept = {key: value for key, value in parameters.items() if value is not _MISSING}
            own = dataclasses.field(repr=light.repr, compare=light.compare, **kept)
            specified.append((name, light.type, own))
        frozen = owner.__light_frozen__
        pythons: Any = dataclasses.make_dataclass("Pythons", specified, frozen=frozen)
        pythons.__signature__ = inspect.signature(pythons)
        light = getattr(pythons, self._name)
        setattr(owner, self._name, light)
        return light


def _replace(value: Any, /, **changes: Any) -> Any:
    """The value with other fields, as `dataclasses.replace`; the value itself if frozen and nothing is new.

    Without changes, it is a copy of only the fields, without anything else that the value has cached.
    """
    cls = value.__class__
    if changes and getattr(cls, "__light_frozen__", False):
        for name, new in changes.items():
            if getattr(value, name, _MISSING) is not new:
                break
        else:
            return value
    now = dict(zip(cls.__match_args__, _getter([*cls.__match_args__])(value), strict=True))
    return cls(**(now | changes))


def _asdict(value: Any) -> Any:
    """The fields as a dictionary, with every such value in them as one, too; as `dataclasses.asdict`."""
    if _is_dataclass(value) and not isinstance(value, type):
        return {light.name: _asdict(getattr(value, light.name)) for light in _fields(value)}
    if isinstance(value, Mapping):
        return {_asdict(key): _asdict(element) for key, element in value.items()}
    return type(value)(map(_asdict, value)) if type(value) in (list, tuple) else value


def _fields(of: Any) -> tuple[LightField, ...]:
    """The fields of a class or of a value; as `dataclasses.fields`."""
    if hasattr(of, "__light_fields__"):
        return tuple(of.__light_fields__.values())
    import dataclasses  # needed for a class that Python's own decorator made

    return dataclasses.fields(of)  # type: ignore[return-value]  # it has a name, too


def _is_dataclass(value: object) -> bool:
    """True for a dataclass and for a value of one; as `dataclasses.is_dataclass`."""
    return hasattr(value, "__light_fields__") or hasattr(value, "__dataclass_fields__")


def fields_of(value: object, *same: str, **named: str) -> dict[str, Any]:
    """Some fields of any value, for a command that prints them; `field?` gives None for an empty field.

    Args:
        value: the value that has the fields.
        same: fields that are shown under their own names, after the others.
        named: fields that are shown under other names: `shown_name="field"`.
    """
    asked = {**named, **{name.removesuffix("?"): name for name in same}}
    shown = {name: getattr(value, field.removesuffix("?")) for name, field in asked.items()}
    nullable = [name for name, field in asked.items() if field.endswith("?")]
    return {name: (part or None) if name in nullable else part for name, part in shown.items()}


def object_in(text: str | bytes, *versions: int) -> dict[str, Any]:
    """The object in a JSON text; {} if it is not an object, or has a version that is not in `versions`."""
    import json  # imported only if something is read

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    is_known = isinstance(value, dict) and (not versions or value.get("version") in versions)
    return value if is_known else {}


def text_in(values: object, *names: str) -> str:
    """The text under these names, each within the one before; "" if there is no text."""
    for name in names:
        values = values.get(name) if isinstance(values, dict) else None
    return values if isinstance(values, str) else ""


def from_json(kind: Any, value: Any, *, is_whole: bool = True) -> Any:
    """The value of this type that JSON contains; None if it contains something else.

    A dataclass is an object there, perhaps with further names, or the list of its values.

    Args:
        kind: str, int, float, bool, an Enum or a dataclass; that or None; a tuple or Mapping of such.
        value: what was read.
        is_whole: all fields of a dataclass have to be there; else a missing field gets its default.
    """
    try:
        return _from_json(kind, value, is_whole=is_whole)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return None


def _from_json(kind: Any, value: Any, *, is_whole: bool) -> Any:
    of, parts, types = _shape(kind)
    if of is object or kind is type(value) or (of is UnionType and value is None):
        return value
    if of is UnionType:
        return _from_json(parts[0], value, is_whole=is_whole)
    is_list = isinstance(value, (list, tuple))
    if types:
        values = dict(zip(types, value, strict=True)) if is_list else {**value}
        names = [name for name in types if is_whole or name in values]
        read = {name: _from_json(types[name], values[name], is_whole=is_whole) for name in names}
        return kind(**read)
    if of in (Mapping, dict):
        return {name: _from_json(parts[1], part, is_whole=is_whole) for name, part in value.items()}
    if is_list is not (of is tuple) or value is None or isinstance(value, Mapping):
        raise TypeError("a list, and no list is wanted, or the other way round; or nothing")
    if kind in (str, bool) or (isinstance(value, str) and kind in (int, float)):
        raise TypeError("no text, number, true or false: nothing else is taken for one")
    if of is not tuple:
        return kind(value)
    kinds = parts if parts[-1] is not ... else parts[:1] * len(value)
    pairs = zip(kinds, value, strict=True)
    return tuple(_from_json(part, element, is_whole=is_whole) for part, element in pairs)


@cache
def _shape(kind: Any) -> tuple[Any, tuple[Any, ...], Mapping[str, Any]]:
    """A type's origin (object for Any), its parts, and the types of its fields if it is a dataclass."""
    import typing  # imported only if something is read

    types = typing.get_type_hints(kind) if _is_dataclass(kind) else {}
    origin = object if kind is typing.Any else typing.get_origin(kind)
    return origin, typing.get_args(kind), types


if TYPE_CHECKING:
    from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
else:
    asdict, dataclass, field, fields = _asdict, _dataclass, LightField, _fields
    is_dataclass, replace = _is_dataclass, _replace

__all__ = [
    "asdict", "dataclass", "field", "fields", "fields_of", "from_json", "is_dataclass",
    "object_in", "replace", "text_in",
]  # fmt: skip
