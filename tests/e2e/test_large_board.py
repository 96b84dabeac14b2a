"""Boards are longer than a page."""

from __future__ import annotations

from pathlib import Path

from lifecycle.api import Worktree
from lifecycle.claim.commands.next_task import free
from lifecycle.core.values.model import Repository
from lifecycle.sandbox.seed import SeedIssue, SeedItem, default_seed
from lifecycle.sandbox.server import Sandbox
from tests.clones import clone
from tests.conftest import environment_of

LAST = 1250


def test_fault_10_a_board_is_read_to_its_end(tmp_path: Path) -> None:
    """The most urgent task is the last of 250 cards, three pages on: it is found and named."""
    seed = default_seed()
    numbers = range(1001, LAST + 1)
    priority = {LAST: "P0: Critical"}
    issues = [SeedIssue(number, f"Task {number}") for number in numbers]
    items = [
        SeedItem(n, {"Status": "Todo", "Priority": priority.get(n, "P3: Low")}) for n in numbers
    ]
    # Only these: the default world has urgent tasks of its own.
    seed = seed.with_home(issues=issues).with_board(items=items)
    with Sandbox(seed) as sandbox:
        root = tmp_path / "clone"
        environment = environment_of(sandbox.info, root)
        clone(sandbox.info.git_url, root, environment)
        with Worktree(root, environment=environment) as tree:
            assert tree.board is not None
            cards = tree.board.cards()
    assert [card.number for card in cards] == list(numbers)
    first = next(free(cards, Repository(*sandbox.info.repository.split("/"))), None)
    assert first is not None
    assert first.number == LAST
