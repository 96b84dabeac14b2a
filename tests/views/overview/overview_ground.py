"""A worktree with everything in it that a view shows, in tests; each part is put there by itself."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from msgspec.structs import replace as changed

from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.claim.record.sections import MergeRecord
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.stage_names import Stage
from lifecycle.core.timing import Deadline
from lifecycle.run.run_store import RunStore
from lifecycle.run.state import Run, Story, new_run
from lifecycle.run.table import RunPhase, StoryStatus, TddPhase
from lifecycle.stages.decisions.decide import Memory
from lifecycle.stages.session import session_record
from lifecycle.stages.session.session_record import SessionRecord
from lifecycle.storage import journal
from lifecycle.storage.journal import JournalEntry
from lifecycle.storage.store import CLAIM_FILE
from lifecycle.storage.workflow_files import WorkflowFiles
from lifecycle.views.overview.overview_reading import overview
from lifecycle.views.overview.overview_values import Overview
from lifecycle.workflow.state import Workflow, WorkflowPhase
from lifecycle.workflow.store.workflow_store import WorkflowStore
from lifecycle.workflow.table import PhaseStatus
from tests import factories
from tests.conftest import ManualClock

PULL = "https://github.com/octo-org/hello/pull/107"

GREEN: dict[str, Any] = {
    "sha": factories.SHA, "passed": 3, "running": 0, "unfinished": [], "failed": [], "missing": [],
    "stale": [], "held": [], "hidden": [], "ends_at": None,
}  # fmt: skip
"""What is kept of checks that all passed."""


@dataclass
class OverviewGround:
    """A git worktree of a user whose home lies beside it."""

    root: Path
    clock: ManualClock = field(default_factory=ManualClock)

    @property
    def environment(self) -> dict[str, str]:
        """The variables of that user: no client runs anything here."""
        return {"PATH": os.environ["PATH"], "HOME": str(self.root.parent / "home")}

    @property
    def deadline(self) -> Deadline:
        """A minute from now."""
        return Deadline.after(self.clock, 60)

    def seen(self) -> Overview:
        """The overview as it is now."""
        return overview(self.root, self.environment, self.deadline)

    def claim(
        self,
        said: Mapping[str, float] | None = None,
        queue: tuple[Notice, ...] = (),
        memory: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> str:
        """Put a claim here, with what was said of it by event; returns its key in the ledger."""
        store = ClaimStore(self.root, self.clock)
        record = factories.record(memory=memory, **values)
        record = replace(record, created_at=self.clock.now() - 7200, title="Fix the race")
        store.state["said"] = {
            f"{record.claim_key}/{event}": {"at": at} for event, at in (said or {}).items()
        }
        # The journal is the test's own: taking the claim is no entry.
        store.state["noted"] = {
            "claim": record.claim_key,
            "phase": record.claim.phase,
            "moves": 1,
        }
        for notice in queue:
            store.ledger.queue(notice)
        (self.root / CLAIM_FILE).unlink(missing_ok=True)  # it takes the place of another one
        store.create(record)
        return record.claim_key

    def in_review(
        self,
        said: Mapping[str, float] | None = None,
        awaits: str = "",
        last_check_poll: str | None = None,
        **checks: Any,
    ) -> str:
        """A claim whose pull request 107 is open, waits for whom `awaits` says, and has these checks."""
        memory = {
            "ownership.repository": "octo-org/hello",
            "pull.url": PULL,
            "pull.head": factories.SHA,
            "pull.checks": {**GREEN, **checks},
            "pull.merging": MergeRecord(awaits=awaits),
            "title": "Fix the race",
        }
        polled = {"last_check_poll": last_check_poll}
        return self.claim(said, (), memory, phase="checks_running", pr_number=107, **polled)

    def run(self, **changes: Any) -> Run:
        """Put a run here: three stories, one done, one at work."""
        run = new_run("Implement payments", self.clock.now() - 3600)
        stories = (
            Story("S1", "Take a card", status=StoryStatus.COMPLETED, completed=run.started + 900),
            Story("S2", "Pay back", status=StoryStatus.IN_PROGRESS, tdd=TddPhase.RED, iteration=1),
            Story("S3", "Send a receipt", size="L", depends_on=("S2",)),
        )
        run = changed(run, **{"phase": RunPhase.DEVELOPMENT, "stories": stories, **changes})
        store = RunStore(self.root, self.environment, self.deadline)
        with store.locked():
            store.begin(run)
        return run

    def stage(self, stage: Stage = Stage.TESTING, client: int = 0, **memory: Any) -> None:
        """Put a session of the staged workflow here, which is on."""
        (self.root / ".lifecycle.toml").write_text("stages.use = true\n")
        files, now = WorkflowFiles(self.root), self.clock.now()
        blocks = Memory(blocks=2, **memory)
        record = SessionRecord("session-1", blocks, task="#42", stage=stage, client=client, at=now)
        with files.locked():
            session_record.save(files, record)

    def workflow(self, **changes: Any) -> Workflow:
        """Put a workflow here that is at the second of its three phases."""
        now = self.clock.now()
        phases = (
            WorkflowPhase("Look", status=PhaseStatus.COMPLETED, since=now - 900),
            WorkflowPhase("Mend", "coder", PhaseStatus.ACTIVE, since=now - 600),
            WorkflowPhase("Check"),
        )
        given = {"phases": phases, "current": 1, "reading": ("@README.md",), **changes}
        store = WorkflowStore(self.root, self.environment, self.deadline)
        with store.changing() as change:
            made = Workflow(change.new_id(), given.pop("name", "bug-hunt"), **given)
            return change.put(made)

    def note(self, *entries: JournalEntry) -> None:
        """Write these into the journal."""
        journal.note(self.root, *entries)

    def moved(self, target: str, at: float, source: str = "coding", **more: Any) -> None:
        """Note that the claim moved into a phase then."""
        kind = journal.TRANSITION
        self.note(
            JournalEntry(at, journal.CLAIM, kind, "#42", source=source, target=target, **more)
        )

    def everything(self) -> float:
        """Put every part here; the moment at which the checks were green."""
        green = float(int(self.clock.now()) - 1800)
        self.in_review({f"green:107:{factories.SHA}": green})
        self.run()
        self.stage()
        self.moved("checks_running", green - 600, source="pr_created")
        return green


NOTE = Notice("refused:x", "The board is not there; ask its owner.", Audience.NOTE)


def worktree(root: Path) -> OverviewGround:
    """A fresh git worktree."""
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", root], check=True)
    return OverviewGround(root)
