"""`lifecycle run review-context`: the diff of a story in a file, new files with it, and no secret."""

from __future__ import annotations

from msgspec.structs import replace

from lifecycle.run.state import Story
from tests.cli.outcome import refused
from tests.run.run_ground import RunGround

DIFF = ".lifecycle/review-S1.diff"


def begun(ground: RunGround, *, base: str = "") -> None:
    """A run with one story that began on this commit."""
    run = ground.begun()
    ground.kept(replace(run, stories=(Story("S1", "Greet", base=base),)))


def test_the_diff_has_what_changed_since_the_story_began(ground: RunGround) -> None:
    """Committed, staged, changed and new; what is named like a secret, and what is ours, is left out."""
    (ground.root / "kept.py").write_text("one\n")
    ground.git("add", ".")
    ground.git("commit", "--quiet", "-m", "One")
    begun(ground, base=ground.git("rev-parse", "HEAD"))
    (ground.root / "done.py").write_text("committed\n")
    ground.git("add", "done.py")
    ground.git("commit", "--quiet", "-m", "Two")
    (ground.root / "kept.py").write_text("changed\n")
    (ground.root / "new.py").write_text("new\n")
    (ground.root / ".env").write_text("KEY=secret\n")
    said = ground.said("review-context", "s1")
    assert f"**Diff:** {DIFF} (3 files changed, 3 insertions(+), 1 deletion(-))" in said
    diff = (ground.root / DIFF).read_text()
    for line in ("+committed", "-one", "+changed", "+new"):
        assert f"\n{line}\n" in diff
    assert "secret" not in diff
    assert "workflow-state" not in diff
    assert ground.git("status", "--porcelain", "--", "new.py") == "?? new.py"


def test_without_a_commit_everything_is_new(ground: RunGround) -> None:
    """A repository's first story has no commit to begin on."""
    begun(ground)
    (ground.root / "new.py").write_text("new\n")
    assert ground.data("review-context", "S1")["stat"] == "1 file changed, 1 insertion(+)"
    assert "+new\n" in (ground.root / DIFF).read_text()


def test_an_unknown_story_is_refused(ground: RunGround) -> None:
    """The stories that there are, are named; no file is written."""
    begun(ground)
    assert "there is S1" in refused(ground.run("review-context", "S9"))
    assert not (ground.root / ".lifecycle/review-S9.diff").exists()
