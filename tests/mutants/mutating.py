"""The mutants of a module: its source with one small change that a test of the module should notice.

Sentences for people are left alone (a string with a blank in it, and the fixed parts of f-strings): what
they say has tests of its own. So are docstrings, decorators, base classes and imports, and what only mypy
reads: annotations, aliases of types, protocols, and the case that never is.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
CALLED = {"any": "all", "all": "any", "min": "max", "max": "min"}

_TYPES = {
    "Callable",
    "Iterator",
    "Literal",
    "Mapping",
    "Sequence",
    "dict",
    "frozenset",
    "list",
    "tuple",
}
_LEFT_ALONE = {"annotation", "returns", "decorator_list", "bases", "format_spec"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change, as the ledger knows it: by where it is and what it says, not by its line.

    Attributes:
        module: as in `claim.decisions.derive`.
        function: the qualified name of what it is in; empty for the module's own statements.
        before, after: the statement; the head of one that holds others.
        nth: of those that read the same in one function, from 1.
        line: where it is now.
        number: of all mutants of the module, in the order of the text.
        in_body: it is in the body of a function, so that importing the module is not changed by it.
    """

    module: str
    function: str
    before: str
    after: str
    nth: int
    line: int
    number: int
    in_body: bool

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """What an entry of the ledger has to say to mean this mutant."""
        return self.module, self.function, self.before, self.after, self.nth


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where a walk is: in which function and statement."""

    function: str
    statement: ast.AST
    in_body: bool


@dataclass(frozen=True, slots=True)
class _Change:
    """One node of a list of nodes, or of a field, that becomes another one."""

    spot: _Spot
    owner: ast.AST
    field: str
    place: int | None
    before: ast.AST
    after: ast.AST

    def put(self, node: ast.AST) -> None:
        """Put the node where the change is."""
        if self.place is None:
            setattr(self.owner, self.field, node)
        else:
            getattr(self.owner, self.field)[self.place] = node

    @property
    def texts(self) -> tuple[str, str]:
        """The statement as it is and as it becomes."""
        before = _head(self.spot.statement)
        if self.before is self.spot.statement:
            return before, _head(self.after)
        self.put(self.after)
        after = _head(self.spot.statement)
        self.put(self.before)
        return before, after


def mutants(module: str, path: Path) -> list[Mutant]:
    """All mutants of a module, in the order of its text."""
    made: list[Mutant] = []
    alike: Counter[tuple[str, str, str]] = Counter()
    for number, change in enumerate(_module_changes(path)[1]):
        read = (change.spot.function, *change.texts)
        alike[read] += 1
        line = getattr(change.before, "lineno", getattr(change.spot.statement, "lineno", 1))
        made.append(Mutant(module, *read, alike[read], line, number, change.spot.in_body))
    return made


def mutated(path: Path, number: int) -> ast.Module:
    """The module with the mutant of this number."""
    tree, changes = _module_changes(path)
    change = next(change for index, change in enumerate(changes) if index == number)
    change.put(change.after)
    return ast.fix_missing_locations(tree)


def _module_changes(path: Path) -> tuple[ast.Module, Iterator[_Change]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return tree, _within(tree, _Spot("", tree, in_body=False))


def _within(node: ast.AST, spot: _Spot) -> Iterator[_Change]:
    for field, value in ast.iter_fields(node):
        if field in _LEFT_ALONE or (field == "keywords" and isinstance(node, ast.ClassDef)):
            continue
        inside = (
            _Spot(spot.function, spot.statement, in_body=True) if _is_body(node, field) else spot
        )
        for place, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and not _is_left_alone(child, node):
                here = _entered(child, inside)
                for after in _instead(child):
                    if ast.dump(after) != ast.dump(child):
                        yield _Change(
                            here, node, field, place, child, ast.copy_location(after, child)
                        )
                yield from _within(child, here)


def _is_body(node: ast.AST, field: str) -> bool:
    return isinstance(node, _Function) and field == "body"


def _entered(node: ast.AST, spot: _Spot) -> _Spot:
    name = spot.function
    if isinstance(node, _Function | ast.ClassDef):
        name = f"{name}.{node.name}".removeprefix(".")
    is_statement = isinstance(node, ast.stmt | ast.match_case)
    return _Spot(name, node if is_statement else spot.statement, spot.in_body)


def _is_left_alone(node: ast.AST, owner: ast.AST) -> bool:
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case (
            ast.If(test=ast.Name(id="TYPE_CHECKING"))
            | ast.Assign(targets=[ast.Name(id="__all__" | "TYPE_CHECKING")])
        ):
            return True
        case (
            ast.Assign(value=ast.Call(func=ast.Name(id="TypeVar")))
            | ast.ClassDef(bases=[ast.Name(id="Protocol"), *_])
        ):
            return True
        case ast.match_case():
            return _is_never(node)
        case ast.Assign(value=ast.Subscript(value=ast.Name(id=name))):
            return name in _TYPES
        case ast.Constant():
            return isinstance(owner, ast.JoinedStr)
    return False


def _head(node: ast.AST) -> str:
    """The text of a statement without the statements in it."""
    if isinstance(node, ast.match_case):
        guard = f" if {ast.unparse(node.guard)}" if node.guard else ""
        return f"case {ast.unparse(node.pattern)}{guard}"
    if not hasattr(node, "body") and not isinstance(node, ast.Match):
        return ast.unparse(node)
    if isinstance(node, ast.Match):
        return f"match {ast.unparse(node.subject)}: {len(node.cases)} cases"
    if isinstance(node, ast.Module):
        return ""
    kept = {
        name: getattr(node, name)
        for name in ("body", "orelse", "handlers", "finalbody", "decorator_list")
        if hasattr(node, name)
    }
    for name in kept:
        setattr(node, name, [ast.Pass()] if name in ("body", "handlers") else [])
    if isinstance(node, ast.Try):
        node.handlers, node.finalbody = [], [ast.Pass()]
    text = ast.unparse(node)
    for name, value in kept.items():
        setattr(node, name, value)
    return text.removesuffix("pass").rstrip().removesuffix(":")


def _instead(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand where this node stands."""
    for kinds, others in _OTHERS:
        if isinstance(node, kinds):
            yield from others(node)


def _other_comparisons(node: ast.Compare) -> Iterator[ast.AST]:
    if len(node.ops) == 1:
        for other in COMPARED[type(node.ops[0])]:
            yield ast.Compare(node.left, [other()], node.comparators)


def _other_conditions(node: ast.BoolOp | ast.UnaryOp | ast.IfExp) -> Iterator[ast.AST]:
    match node:
        case ast.BoolOp():
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
            for values in _with_one_less(node.values):
                yield ast.BoolOp(node.op, values) if len(values) > 1 else values[0]
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.IfExp():
            yield ast.IfExp(node.test, node.orelse, node.body)


def _other_sums(node: ast.BinOp) -> Iterator[ast.AST]:
    if type(node.op) in COMPUTED:
        yield ast.BinOp(node.left, COMPUTED[type(node.op)](), node.right)


def _other_collections(node: ast.Tuple | ast.List | ast.Set | ast.Dict) -> Iterator[ast.AST]:
    if isinstance(node, ast.Dict):
        for keys, values in zip(
            _with_one_less(node.keys), _with_one_less(node.values), strict=True
        ):
            yield ast.Dict(keys, values)
    elif not isinstance(getattr(node, "ctx", None), ast.Store):
        for elements in _with_one_less(node.elts):
            rest = {name: value for name, value in ast.iter_fields(node) if name != "elts"}
            if elements or not isinstance(node, ast.Set):
                yield type(node)(elts=elements, **rest)


def _other_calls(node: ast.Call) -> Iterator[ast.AST]:
    for keyword, keywords in zip(node.keywords, _with_one_less(node.keywords), strict=True):
        if ast.unparse(keyword) != "strict=False":  # what zip does without it
            yield ast.Call(node.func, node.args, keywords)
    if isinstance(node.func, ast.Name) and node.func.id in CALLED:
        yield ast.Call(ast.Name(CALLED[node.func.id], ast.Load()), node.args, node.keywords)


def _other_loops(node: ast.comprehension) -> Iterator[ast.AST]:
    for conditions in _with_one_less(node.ifs):
        yield ast.comprehension(node.target, node.iter, conditions, node.is_async)


def _other_constants(node: ast.Constant) -> Iterator[ast.AST]:
    match node.value:
        case bool():
            yield ast.Constant(not node.value)
        case int() | float():
            yield ast.Constant(node.value + 1)
            yield ast.Constant(node.value - 1)
        case str() if not any(sign.isspace() for sign in node.value):
            yield ast.Constant(f"{node.value}~")


def _other_branches(node: ast.If | ast.While | ast.Match) -> Iterator[ast.AST]:
    match node:
        case ast.If():
            if not isinstance(node.test, ast.Compare | ast.BoolOp | ast.UnaryOp):
                yield ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
            is_elif = len(node.orelse) == 1
            yield node.orelse[0] if is_elif else ast.If(ast.Constant(False), node.body, node.orelse)
        case ast.While():
            yield ast.While(ast.Constant(False), node.body, node.orelse)
        case ast.Match():
            for case, cases in zip(node.cases, _with_one_less(node.cases), strict=True):
                if cases and not _is_never(case):
                    yield ast.Match(node.subject, cases)


def _other_statements(node: ast.stmt) -> Iterator[ast.AST]:
    match node:
        case ast.Return() if node.value is not None:
            if not _is_falsy(node.value):
                yield ast.Return(ast.Constant(None))
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
        case ast.Assign() if not isinstance(node.targets[0], ast.Attribute | ast.Subscript):
            return  # a name that nothing is assigned to fails by itself
        case _:
            yield ast.Pass()


def _is_never(node: ast.match_case) -> bool:
    """True for `case _: assert_never(...)`, by which mypy sees that the others are all there are."""
    match node.body:
        case [ast.Expr(value=ast.Call(func=ast.Name(id="assert_never")))]:
            return True
    return False


def _is_falsy(node: ast.expr) -> bool:
    """True for a constant that None could stand for wherever a truth is asked for."""
    return isinstance(node, ast.Constant) and not node.value


def _with_one_less(nodes: list[Any]) -> Iterator[list[Any]]:
    for place in range(len(nodes)):
        yield nodes[:place] + nodes[place + 1 :]


_OTHERS: tuple[tuple[Any, Callable[[Any], Iterator[ast.AST]]], ...] = (
    (ast.Compare, _other_comparisons),
    (ast.BoolOp | ast.UnaryOp | ast.IfExp, _other_conditions),
    (ast.BinOp, _other_sums),
    (ast.Tuple | ast.List | ast.Set | ast.Dict, _other_collections),
    (ast.Call, _other_calls),
    (ast.comprehension, _other_loops),
    (ast.Constant, _other_constants),
    (ast.If | ast.While | ast.Match, _other_branches),
    (ast.Expr | ast.Raise | ast.AugAssign | ast.Delete | ast.Return, _other_statements),
    (ast.Break | ast.Continue | ast.Assign, _other_statements),
)
"""What may stand where a node of these kinds stands."""
