"""What one call of a hook tells the other systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle.hooks.answers.call import HookCall
from lifecycle.storage.store import CLAIM_FILE

if TYPE_CHECKING:
    from lifecycle.core.tracker import ClaimFacts
    from tests.conftest import Place


def claim_of(place: Place) -> ClaimFacts | None:
    """The claim as the staged workflow is told it at a stop."""
    tree = place.tree()
    return HookCall("on-stop", {}, "", tree.world, tree.claim_store).claim


def test_the_claim_that_is_told_is_the_files_or_one_that_is_over(place: Place) -> None:
    """One that is remembered, and whose file is gone or half written, is told once it is over."""
    place.ready()
    place.hook("on-stop")
    file = place.root / CLAIM_FILE
    content, told = file.read_bytes(), claim_of(place)
    assert told is not None
    assert (told.task_in("github"), told.outcome) == ("42", "")
    file.write_bytes(content[:9])
    assert claim_of(place) is None
    file.unlink()
    assert claim_of(place) is None
    file.write_bytes(content)
    assert place.cli("release").returncode == 0
    over = claim_of(place)
    assert over is not None
    assert (file.exists(), over.task_in("github"), over.outcome) == (False, "42", "released")
