"""What repeats itself for certainty: the suite shows a rule once, `make soak` the same many times over.

A test, or a case of one, that is marked `soak` is left out by `make test` and run by `make soak`, which
also gives each property more examples (the profile `soak` of Hypothesis). What is left out is shown by what
stays, and this plug-in holds it to that when tests are collected:

- Of a test with several cases one stays at least: `soaked(...)` marks the others one by one, and
  `@pytest.mark.once("why")` all but the first of these. The reason says what shows the rule for the others.
- A test that is left out whole, or a module of such tests, names what stays of its subject, a story and the
  pure tests of its rule: `@pytest.mark.soak("claim/test_decide.py::test_…")`, by convention as `SOAKED` at
  the top of its file. `test_repeated.py` looks whether that is there.

The end of a run says how many cases `make soak` has beside those that were run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

MARK = "soak"
ONCE = "once"

NAMELESS = (
    "every case is left to `make soak`: let one stay, or name the test that shows the same in "
    '`make test`: @pytest.mark.soak("claim/test_decide.py::test_…")'
)
WITHOUT_REASON = (
    'the mark once says what shows the rule for the other cases: @pytest.mark.once("what")'
)
NOT_SEVERAL = "the mark once is wrong: the test has one case"


def soaked(*values: Any, id: str | None = None) -> Any:  # noqa: A002 - pytest's own word
    """A case that only `make soak` runs."""
    return pytest.param(*values, id=id, marks=pytest.mark.soak)


def crossed(rows: Mapping[str, Any], columns: Mapping[str, Any]) -> list[Any]:
    """Cases of two arguments: each row with the first column, and each column with the first row.

    The other pairs, whose two halves these show, are soaked.
    """
    first_row, first_column = next(iter(rows)), next(iter(columns))
    return [
        (pytest.param if row == first_row or column == first_column else soaked)(
            rows[row], columns[column], id=f"{row}-{column}"
        )
        for row in rows
        for column in columns
    ]


DEATHS = pytest.mark.parametrize(
    "after", [soaked(False, id="before"), pytest.param(True, id="after")]
)
"""Dead before or after a write. What is left before one is what is left after the one before it, unless
something but the writes changes it in between."""


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks."""
    config.addinivalue_line(
        "markers", f"{MARK}(*shown_by): only `make soak` runs it; tests that show the same stay"
    )
    config.addinivalue_line(
        "markers", f"{ONCE}(why): `make test` runs the first case, `make soak` the others"
    )


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem() -> Generator[None, Any, Any]:
    """Mark the cases of a function, and refuse one of which nothing stays without a word."""
    made = yield
    found = made if isinstance(made, list) else []
    cases = [item for item in found if isinstance(item, pytest.Function)]
    if not cases:
        return made
    name = cases[0].nodeid.partition("[")[0]
    if once := cases[0].get_closest_marker(ONCE):
        if not any(isinstance(reason, str) and reason.strip() for reason in once.args):
            raise pytest.Collector.CollectError(f"{name}: {WITHOUT_REASON}")
        if len(cases) == 1:
            raise pytest.Collector.CollectError(f"{name}: {NOT_SEVERAL}")
        staying = [case for case in cases if not case.get_closest_marker(MARK)]
        for case in staying[1:]:
            case.add_marker(pytest.mark.soak)
    if all(case.get_closest_marker(MARK) for case in cases) and not any(
        mark.args for mark in cases[0].iter_markers(MARK)
    ):
        raise pytest.Collector.CollectError(f"{name}: {NAMELESS}")
    return made


_LEFT_OUT = pytest.StashKey[int]()
"""How many cases this process, or its workers, left to `make soak`."""


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Count what is left to `make soak`."""
    for item in items[:1]:
        count = sum(one.get_closest_marker(MARK) is not None for one in items)
        item.config.stash[_LEFT_OUT] = item.config.stash.get(_LEFT_OUT, 0) + count


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the process whose worker this is."""
    told = getattr(session.config, "workeroutput", None)
    if told is not None:
        told["left_out"] = session.config.stash.get(_LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Each worker has collected everything: what one left out is what all did."""
    told = getattr(node, "workeroutput", {}).get("left_out", 0)
    stash = node.config.stash
    stash[_LEFT_OUT] = max(stash.get(_LEFT_OUT, 0), told)


def beside(count: int) -> str:
    """What the end of a run says of so many cases."""
    cases = "1 case" if count == 1 else f"{count:,} cases"
    return f"`make soak` has {cases} beside these, which repeat for certainty what these show"


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say what is elsewhere, where only that was left out."""
    count = config.stash.get(_LEFT_OUT, 0)
    if count and config.getoption("markexpr") == f"not {MARK}":
        terminalreporter.write_line(beside(count))
