"""What git shows when a gate or a move is judged: the tree, what is not committed, what changed since."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.evidence.outcomes import Outcome
from lifecycle.evidence.records import EvidenceRoom, RunRecord
from lifecycle.git.process import GitRepository
from lifecycle.hooks.answers import run_events
from lifecycle.run.gates.work_facts import WorkFacts, facts_of
from tests.run.run_ground import RunGround


def facts(ground: RunGround, base: str = "") -> WorkFacts:
    """The facts of the worktree as it is."""
    return facts_of(
        GitRepository(ground.root, Deadline.after(SystemClock(), 30), ground.environment), base
    )


def committed(ground: RunGround, name: str, text: str = "one\n") -> str:
    """Write a file and commit all; the commit."""
    (ground.root / name).write_text(text)
    ground.git("add", ".")
    ground.git("commit", "--quiet", "-m", "Change")
    return ground.git("rev-parse", "HEAD")


def test_what_is_not_committed_and_what_changed_since_a_commit(ground: RunGround) -> None:
    """An edit, a new file and a deletion; after a commit only the second of these remains, on one tree."""
    base = committed(ground, "code.py")
    assert facts(ground, base) == WorkFacts(ground.git("rev-parse", "HEAD^{tree}"), base)
    (ground.root / "code.py").write_text("two\n")
    (ground.root / "new.py").write_text("three\n")
    before = facts(ground, base)
    assert before.uncommitted == before.changed == ("code.py", "new.py")
    head = committed(ground, "new.py", "three\n")
    after = facts(ground, base)
    assert after == WorkFacts(before.tree, head, (), ("code.py", "new.py"))
    (ground.root / "code.py").unlink()
    assert facts(ground, head).uncommitted == ("code.py",)


def test_what_is_ours_is_no_part_of_it(ground: RunGround) -> None:
    """The run's own files change with every command."""
    base = committed(ground, "code.py")
    ground.begun()
    assert facts(ground, base) == WorkFacts(ground.git("rev-parse", "HEAD^{tree}"), base)


def test_without_a_commit_or_a_base_everything_changed(ground: RunGround) -> None:
    """A new repository, and a commit that is gone."""
    (ground.root / "code.py").write_text("one\n")
    new = facts(ground)
    assert (new.head, new.uncommitted, new.changed) == ("", ("code.py",), ("code.py",))
    committed(ground, "code.py")
    assert facts(ground, "f" * 40).changed == ("code.py",)


def test_a_hook_without_time_for_git_knows_the_runs_of_checks(tmp_path: Path) -> None:
    """They are in a file: what a compaction keeps of them needs no git."""
    EvidenceRoom(tmp_path).add(RunRecord(1.0, "pytest", Outcome.PASSED, "t"))
    clock = SystemClock()
    about = {"root": tmp_path, "clock": clock, "environment": {}}
    world = SimpleNamespace(deadline=Deadline.after(clock, 0), **about)
    call: Any = SimpleNamespace(world=world)
    run: Any = SimpleNamespace(current=None)
    known = run_events.facts_of(call, run)
    assert (known.tree, [one.tree for one in known.records]) == ("", ["t"])
