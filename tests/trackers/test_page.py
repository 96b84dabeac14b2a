"""The page about trackers says what is so, and its example runs."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lifecycle.core import errors
from lifecycle.core.errors import LifecycleError, Refused, Rejected, Transient
from lifecycle.core.tracker import Capability, Tracker
from lifecycle.trackers.memory import MemoryTasks, MemoryTracker
from lifecycle.trackers.registry import TRACKERS
from tests.docs.pages import ROOT, Page, codes_in
from tests.trackers.beads import grounds as beads
from tests.trackers.beads import simulated
from tests.trackers.grounds import github_advisory, github_alone

PAGE = Page(ROOT / "docs/trackers.md")
KINDS = {kind.__name__: kind for kind in (Refused, Rejected, Transient)}
ASIDE = {"name", "actor", "abilities", "wording"}
"""Of the Protocol, what is no verb."""


def column(heading: str, name: str) -> dict[str, str]:
    """A column of a table by its rows' first cells."""
    table = PAGE.table(heading)
    at = table.header.index(name)
    return {row[0].strip("`"): row[at] for row in table.rows}


def test_every_verb_has_a_row() -> None:
    """Those of the Protocol, in its order."""
    wanted = [name for name in vars(Tracker) if name[0] != "_" and name not in ASIDE]
    assert PAGE.table("Verbs").codes(0) == wanted


def test_the_errors_of_a_verb_are_those_of_its_contract() -> None:
    """What the docstring of a verb names stands in its row."""
    known = {name for name, found in vars(errors).items() if inspect.isclass(found)}
    for name, cell in column("Verbs", "errors of its own").items():
        contract = inspect.getdoc(getattr(Tracker, name)) or ""
        named = {word.strip(".,:;()") for word in contract.split()} & known
        assert named <= set(codes_in(cell)), name
        assert set(codes_in(cell)) <= known


def test_the_trackers_are_those_of_the_registry() -> None:
    """The table has a column for each."""
    (_, *names) = PAGE.table("What each can do").header
    assert set(names) == set(TRACKERS)


def test_the_capabilities_are_all_there() -> None:
    """A row for each, beside that of the claim."""
    rows = [name for name in column("What each can do", "memory") if name in set(Capability)]
    assert rows == [capability.value for capability in Capability]


def test_what_memory_can_is_what_it_says() -> None:
    """Its column is the code's."""
    found = MemoryTracker(MemoryTasks(lambda: 0.0), "a").abilities()
    cells = column("What each can do", "memory")
    assert codes_in(cells.pop("a claim of two at once")) == [found.claim_atomicity]
    assert cells == {one.value: "yes" if found.has(one) else "no" for one in Capability}


def test_what_github_can_is_what_it_says() -> None:
    """With leases and without."""
    cells = column("What each can do", "github")
    told = []
    for factory in (github_alone, github_advisory):
        with factory() as ground:
            found = ground.tracker("agent-1").abilities()
        told.append(found.claim_atomicity.value)
        wanted = {one.value: "yes" if found.has(one) else "no" for one in Capability}
        assert {name: cells[name] for name in wanted} == wanted
    assert codes_in(cells["a claim of two at once"]) == told


@pytest.mark.parametrize("profile", [*simulated.PROFILES, "1.3.0"])
def test_what_each_build_of_bd_can_is_what_it_says(profile: str) -> None:
    """A cell says yes, no, or from which version on; claims are compared and set from 0.49.4 on."""
    version = _version(profile)
    with beads.build(profile) as ground:
        found = ground.tracker("agent-1").abilities()
    cells = column("What each can do", "beads")
    claims = cells.pop("a claim of two at once")
    ((kind, older, since),) = re.findall(r"^`(\w+)`; `(\w+)` before ([\d.]+)$", claims)
    assert found.claim_atomicity == (kind if version >= _version(since) else older)
    cells.pop(Capability.PUBLISH)  # a matter of the remote as well
    for name, cell in cells.items():
        first = _version(cell.removeprefix("from ")) if cell.startswith("from ") else (0,)
        assert found.has(Capability(name)) == (cell != "no" and version >= first), name


def test_every_error_is_of_the_kind_that_the_page_says() -> None:
    """And those of the trackers are all there."""
    cells = column("Errors", "kind")
    for name, cell in cells.items():
        (kind,) = codes_in(cell)
        assert issubclass(getattr(errors, name), KINDS[kind]), name
    own = vars(errors)
    first = list(own).index("NotInstalled")
    mine = {name for name in list(own)[first:] if _is_error(own[name])}
    assert mine <= set(cells)


def test_the_example_passes_the_suite(tmp_path: Path) -> None:
    """What somebody copies runs as it stands, and ends as the page says."""
    (program,) = [block.code for block in PAGE.blocks if block.language == "python"]
    (shown,) = [block.code for block in PAGE.blocks if block.language == "text"]
    (command,) = [block.code for block in PAGE.blocks if block.language == "sh"]
    (tmp_path / "plain.py").write_text(program, encoding="utf-8")
    _, *words = command.split()
    done = subprocess.run(
        [sys.executable, "-W", "error", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == shown.strip()


@pytest.mark.parametrize("name", sorted(TRACKERS))
def test_every_name_is_on_the_page(name: str) -> None:
    """As it is written in the settings."""
    assert f"`{name}`" in PAGE.text


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text)[:3])


def _is_error(found: object) -> bool:
    return inspect.isclass(found) and issubclass(found, LifecycleError)
