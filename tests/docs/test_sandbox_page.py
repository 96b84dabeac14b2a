"""docs/sandbox.md says what is so: its seed runs, its program runs, its table is the catalogue."""

from __future__ import annotations

import re
import shlex

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.control.catalogue import CATALOGUE
from lifecycle.sandbox.seed import parse_seed
from lifecycle.sandbox.server import Sandbox
from tests.cli.outcome import ok
from tests.conftest import Place
from tests.docs.pages import ROOT, Page

PAGE = Page(ROOT / "docs" / "sandbox.md")


def test_the_seed_makes_the_world_that_it_says() -> None:
    """The example builds: a fork, a protected branch, a draft on the board, a fault."""
    (text,) = PAGE.blocks_in("yaml")
    with Sandbox(parse_seed(text)) as sandbox:
        control = Control(sandbox.info.control_url)
        world = control.world()
        assert world["pulls"]["3"]["head"] == "oil"
        assert world["board"]["1"]["values"]["Status"] == "Todo"
        assert sandbox.site is not None
        assert len(sandbox.site.faults.active) == 1
        assert sandbox.site.world.repositories["bob/engine"].parent is sandbox.site.world.home
        assert parse_seed(control.dump()).repositories[0].protections[0].contexts == ["test"]


def test_the_program_runs() -> None:
    """The Python example does what its asserts say."""
    (code,) = PAGE.blocks_in("python")
    assert re.search(r"(?m)^ *assert ", code)
    exec(compile(code, str(PAGE.path), "exec"), {})  # noqa: S102  our own page


def test_the_table_of_faults_is_the_catalogue() -> None:
    """Every fault stands in the table, and nothing else does."""
    assert sorted(PAGE.table("Faults").codes()) == sorted(CATALOGUE)


def test_the_commands_do_what_people_and_ci_do(place: Place) -> None:
    """Each line of the page works as typed on the pull request of a claimed issue, which ends merged."""
    (block,) = [code for code in PAGE.blocks_in("sh") if code.startswith("lifecycle sandbox check")]
    ok(place.cli("claim", "42"))
    place.work(place.claim()["branch"])
    ok(place.cli("handoff", "--summary", "Fix it"))
    ok(place.cli("tick"))
    for line in block.splitlines():
        assert ok(place.cli(*shlex.split(line)[1:]))
    world = place.control.world()
    assert (world["pulls"]["46"]["state"], world["pulls"]["46"]["merged_by"]) == ("merged", "maria")
    assert "success" in str(world["checks"])
