"""`lifecycle run mark-working-state`, `rollback-to-checkpoint`, `commit`, as processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from lifecycle.run.state import Story, new_run
from lifecycle.run.table import RunStatus, StoryStatus
from tests.cli.outcome import refused
from tests.run.conftest import ground  # noqa: F401 -- the fixture
from tests.run.run_ground import RunGround

IDENTITY = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


@pytest.fixture
def begun(ground: RunGround) -> RunGround:  # noqa: F811
    """A run with a story at work."""
    story = Story("S1", "Pay by card", status=StoryStatus.IN_PROGRESS, started=1.0)
    ground.kept(replace(new_run("Pay", ground.clock.now()), stories=(story,)))
    return ground


def write(root: Path, path: str, text: str) -> None:
    """Write a file."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def test_a_story_is_committed_marked_and_gone_back_to(begun: RunGround) -> None:
    """Each command says what it did and the next one to run."""
    write(begun.root, "pay.py", "1\n")
    told = begun.said("commit", "S1", **IDENTITY)
    assert "feat: Pay by card (S1) (1 file)" in told
    run = begun.store.demanded()
    assert run.story("S1").commit == begun.git("rev-parse", "HEAD")
    assert "Nothing is uncommitted" in begun.said("commit", "S1", **IDENTITY)

    begun.git("config", "filter.none.clean", "false")
    begun.git("config", "filter.none.required", "true")
    write(begun.root, ".git/info/attributes", "*.bin filter=none\n")
    write(begun.root, "pay.bin", "1\n")
    for words in (["commit", "S1"], ["mark-working-state"]):
        kept = refused(begun.run(*words, **IDENTITY))
        assert "so nothing was done; files, index and branch are unchanged" in kept, words
    (begun.root / "pay.bin").unlink()

    marked = begun.said("mark-working-state")
    assert marked.startswith("Marked working state: mark-1 (")
    write(begun.root, "later.py", "2\n")
    back = begun.data("rollback-to-checkpoint")
    assert (back["checkpoint"], back["saved"]) == ("mark-1", "saved-1")
    assert not (begun.root / "later.py").exists()
    again = begun.said(*back["undo"].split()[2:])
    assert "Rolled back to checkpoint: saved-1" in again
    assert (begun.root / "later.py").exists()
    assert begun.state.exists()
    assert [one.ref for one in begun.store.demanded().checkpoints] == ["mark-1"]
    assert "Went back to mark-1" in "\n".join(begun.store.progress(9))


def test_a_message_of_ones_own_and_a_platforms_format(begun: RunGround) -> None:
    """`-m` beats the platform's convention."""
    write(begun.root, "pay.demo", "1\n")
    about = {
        "name": "demo",
        "markers": ["pay.demo"],
        "commands": {},
        "conventions": {"commitFormat": "{id}: {title}"},
    }
    write(begun.root, "Workflows/platforms/demo/platform.json", json.dumps(about))
    assert "S1: Pay by card (2 files)" in begun.said("commit", "S1", **IDENTITY)
    write(begun.root, "pay.demo", "2\n")
    assert "fix: mine (1 file)" in begun.said("commit", "S1", "-m", "fix: mine", **IDENTITY)


def test_what_cannot_be_is_refused_in_a_sentence(begun: RunGround) -> None:
    """No story, one that nobody began, no checkpoint, a completed run."""
    refused(begun.run("commit", "S9"))
    begun.said("add-story", "Pay back")
    write(begun.root, "pay.py", "1\n")
    assert "update-story S2 in_progress" in refused(begun.run("commit", "S2", **IDENTITY))
    assert begun.git("status", "--porcelain", "pay.py") == "?? pay.py"
    refused(begun.run("rollback-to-checkpoint"))
    run = replace(begun.store.demanded(), status=RunStatus.COMPLETED)
    begun.kept(run)
    assert run.id in refused(begun.run("rollback-to-checkpoint"))
