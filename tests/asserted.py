"""A test in which no assertion ran fails: a loop over an empty table proves nothing.

What counts is an `assert` that held in a test module, `pytest.raises` and `pytest.warns` that met what they
wait for, and the end of a helper that is registered as a check with `@check`. An `assert` of any other
module does not count: that git could be run says nothing about what is tested. What a fixture asserts while
it is set up or torn down does not count either.

A test that has nothing to assert, since it proves that something ends or does not raise, says so:
`@pytest.mark.without_assertion("why")`. Where an assertion runs nevertheless, the mark is wrong, and the
test fails as well.

Its cost, measured: 2 microseconds for the first assertion of a test, 0.04 for each other one, about 0.1 ms
a test with the hook around it. The suite's tests take 50 ms of CPU each: it is 0.2 %.
"""

from __future__ import annotations

import functools
import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import pytest
from _pytest.assertion import rewrite, util

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

MARK = "without_assertion"

NOTHING = "no assertion ran in this test: it would pass with whatever it tests broken"
WITHOUT_REASON = f'the mark {MARK} says why nothing is asserted: @pytest.mark.{MARK}("why")'
STALE = f"the mark {MARK} is wrong: an assertion ran in this test"


class _Ran:
    """How many checks the test that runs has come through.

    It stands where pytest keeps whom to tell of an assertion that held, and is asked only whether there is
    anybody: so it counts, and no assertion is described, which would cost milliseconds a test.
    """

    checks = 0

    def __bool__(self) -> bool:
        # Above are pytest's question and who asserts.
        if PurePath(sys._getframe(2).f_code.co_filename).name.startswith("test_"):
            _Ran.checks += 1
            util._assertion_pass = None  # one is enough
        return False


def check(helper: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Register a helper that asserts in each of its calls: that it returned is a check."""

    @functools.wraps(helper)
    def checked(*arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        result = helper(*arguments, **named)
        _Ran.checks += 1
        return result

    return checked


def asserts(part: Callable[[], object]) -> bool:
    """Run a part of a test, one row of its table; true if a check ran in it."""
    _Ran.checks = 0
    util._assertion_pass = cast("Any", _Ran())
    part()
    return _Ran.checks > 0


def _counting(kind: type[Any], patch: pytest.MonkeyPatch) -> None:
    """Have each `with` of this kind count when it met what it waits for."""
    leave = kind.__exit__

    @functools.wraps(leave)
    def left(self: Any, *raised: Any) -> Any:
        __tracebackhide__ = True
        result = leave(self, *raised)
        _Ran.checks += raised[0] is None or bool(result)
        return result

    patch.setattr(kind, "__exit__", left)


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark, and count what `raises` and `warns` meet."""
    if not config.getini("enable_assertion_pass_hook"):
        raise pytest.UsageError("tests/asserted.py needs: enable_assertion_pass_hook = true")
    config.addinivalue_line("markers", f"{MARK}(reason): the test asserts nothing, on purpose")
    patch = pytest.MonkeyPatch()
    config.add_cleanup(patch.undo)
    for kind in (pytest.RaisesExc, pytest.RaisesGroup, type(pytest.warns(match=""))):
        _counting(kind, patch)


def pytest_pycollect_makemodule(module_path: Path) -> None:
    """Forget a module that pytest compiled and kept without this plug-in: its assertions count nothing."""
    kept = rewrite.get_cache_dir(module_path) / f"{module_path.stem}{rewrite.PYC_TAIL}"
    try:
        compiled = kept.read_bytes()
    except FileNotFoundError:
        return
    if b"_format_explanation" in compiled and b"_call_assertion_pass" not in compiled:
        kept.unlink(missing_ok=True)


def _verdict(item: pytest.Item) -> str:
    """What is wrong with a test that passed; empty if nothing is."""
    mark = item.get_closest_marker(MARK)
    if mark is None:
        return "" if _Ran.checks else NOTHING
    if not any(isinstance(reason, str) and reason.strip() for reason in mark.args):
        return WITHOUT_REASON
    return STALE if _Ran.checks else ""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Fail a test that passed without a check; one that fails, is skipped or is to fail is let be."""
    _Ran.checks = 0
    util._assertion_pass = cast("Any", _Ran())
    try:
        yield
    finally:
        util._assertion_pass = None
    if item.get_closest_marker("xfail") is None and (told := _verdict(item)):
        pytest.fail(told, pytrace=False)
