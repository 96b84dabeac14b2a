"""The public Python API, with which other programs do what the CLI and the hooks do.

    from lifecycle.api import Worktree

    with Worktree(Path(".")) as tree:
        tree.claim(42)
        tree.hand_off("Fix race condition in the task queue")
        report = tree.tick()

    from lifecycle.api import GitHub

    with GitHub("octo-org/hello-service") as hub:
        hub.comments.ensure_comment(42, "report", "All is well.")

    from lifecycle.api import create_workflow_state, update_phase_status

    id = create_workflow_state("Create calculator.py", [("Create", "builder"), ("Test", "tester")])
    update_phase_status(id, "phase_0", "completed", ["calculator.py"], "it has four functions")

A `Worktree` follows one claim; a `GitHub` reads and sets issues, pull requests, checks and board items of
one repository; four functions keep the workflows of a worktree.

Everything raises one of three errors: `Refused` (a rule of ours; nothing was written), `Transient`
(unknown or not now; look again after `retry_after` seconds), `Rejected` (GitHub or git said no; see
`evidence`). Times are seconds since the epoch, UTC. Every operation may be repeated: what is already
so is not written again. What is exported here is kept stable; everything else may move.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Self

from lifecycle.app.wiring import WorktreeWorld
from lifecycle.claim.commands import moves, taking
from lifecycle.claim.commands.moves import HandedOff
from lifecycle.claim.commands.release import release_claim
from lifecycle.claim.commands.taking import Taken
from lifecycle.claim.decisions.table import CLAIM, PHASES, Phase
from lifecycle.claim.engine import look
from lifecycle.claim.engine.look import Report
from lifecycle.claim.record.claim_file import Claim
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import (
    BadConfig,
    BadCredentials,
    HeadMissing,
    HeadMoved,
    HeldByAnother,
    IllegalMove,
    ItemArchived,
    ItemMissing,
    LifecycleError,
    LockBusy,
    MissingScope,
    Moved,
    NoPermission,
    NotFound,
    NothingToMerge,
    NotMergeable,
    NoToken,
    Refused,
    Rejected,
    Transient,
    UnknownOption,
)
from lifecycle.core.plan import Audience, Notice, Wake
from lifecycle.core.ports import Board, Clock, Forge
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.core.values.priorities import Status
from lifecycle.core.values.shapes import (
    Annotation,
    CheckRunFacts,
    CommentFacts,
    Ensured,
    IssueFacts,
    ItemFacts,
    LabelFacts,
    MilestoneFacts,
    PullFacts,
    RefFacts,
    StatusFacts,
)
from lifecycle.github.operations.inputs import demands
from lifecycle.github.operations.repository import GitHub
from lifecycle.storage.store import worktree_root

if TYPE_CHECKING:
    from lifecycle.app.workflow_functions import (
        create_workflow_state,
        generate_markdown,
        get_workflow_state,
        update_phase_status,
    )

# The claim.
__all__ = ["CLAIM", "Audience", "Claim", "HandedOff", "Notice", "Phase", "Record", "Report"]
__all__ += ["Status", "Taken", "Wake", "Worktree"]
# A repository.
__all__ += ["Annotation", "CheckRunFacts", "CommentFacts", "Ensured", "GitHub", "IssueFacts"]
__all__ += ["ItemFacts", "LabelFacts", "MilestoneFacts", "PullFacts", "RefFacts", "StatusFacts"]
# Errors.
__all__ += ["BadConfig", "BadCredentials", "HeadMissing", "HeadMoved", "HeldByAnother"]
__all__ += ["IllegalMove", "ItemArchived", "ItemMissing", "LifecycleError", "LockBusy"]
__all__ += ["MissingScope", "Moved", "NoPermission", "NoToken", "NotFound", "NotMergeable"]
__all__ += ["NothingToMerge", "Refused", "Rejected", "Transient", "UnknownOption"]
# Workflows.
__all__ += ["create_workflow_state", "generate_markdown", "get_workflow_state"]
__all__ += ["update_phase_status"]

_RENAMED = {"Say": "Notice", "Tone": "Audience"}
"""Names that this module had, and what they are called now."""


def __getattr__(name: str) -> object:
    """The value of a name that is imported late, or of a former name, with a DeprecationWarning."""
    if name in __all__:  # of workflows: a program that only follows a claim needs none
        from lifecycle.app import workflow_functions

        return getattr(workflow_functions, name)
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(
        f"lifecycle.api.{name} is called {_RENAMED[name]} now", DeprecationWarning, stacklevel=2
    )
    return globals()[_RENAMED[name]]


class Worktree:
    """One git worktree and the claim in it.

    Args:
        root: the worktree's root folder, where `.agent-claim.json` lies, or a folder in it; a text or
            a `Path`.
        environment: settings and token are read from here; the process environment unless given.
        clock: time; the system's unless given.
        seconds: how long all calls on this object may take together; None for no limit.

    Neither git nor GitHub is asked before the first call. One object serves one thread; it is
    a context manager that closes its connections.
    """

    @demands
    def __init__(
        self,
        root: str | Path,
        *,
        environment: Mapping[str, str] | None = None,
        clock: Clock | None = None,
        seconds: float | None = 60.0,
    ) -> None:
        clock = clock or SystemClock()
        folder = Path(root).absolute()
        # A link is in its target's worktree; a folder that is gone stands for no worktree around it.
        is_inside = folder.is_dir() and not (folder / ".git").exists()
        self.root = (worktree_root(folder.resolve()) if is_inside else None) or folder
        self.claim_store = ClaimStore(self.root, clock)
        variables = os.environ if environment is None else environment
        deadline = Deadline.of_object(clock, seconds)
        cache, libraries = self.claim_store.file, ("GqlLine", "PyGithubLine")
        self.world = WorktreeWorld(
            self.root, variables, clock, deadline, cache, by_library=libraries
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    def __repr__(self) -> str:
        return f"Worktree({str(self.root)!r})"

    def disconnect(self) -> None:
        """Close the connections to GitHub; the object stays usable."""
        self.world.close()

    @property
    def forge(self) -> Forge:
        """Issues, pull requests and checks of the repository; Refused without a token."""
        return self.world.forge

    @property
    def board(self) -> Board | None:
        """The project board, or None if none is configured."""
        return self.world.board

    def claim(self, task: int | str, *, force: bool = False) -> Taken:
        """Take a task: lease, branch, assignee, board and `.agent-claim.json`.

        Args:
            task: an issue number, or a part of an issue's title.
            force: take the task even if another agent holds it, its Status is not Todo, or a dependency
                is open.

        Returns:
            The claim, the issue's title, remarks for the person, and whether the claim is new: taking
            a task that this worktree holds already changes nothing.

        Raises:
            HeldByAnother: somebody else holds the task.
            Refused: the task is not in Todo, depends on open issues, or this worktree holds another.
            Transient, Rejected: GitHub or git did not answer, or said no.
        """
        return taking.take(self.world, self.claim_store, str(task), force=force)

    @demands
    def hand_off(self, summary: str) -> HandedOff:
        """Validate, push, and set the phase to ready_for_pr; the next tick opens the pull request.

        Args:
            summary: one line that says what was done; it becomes the pull request's title.

        Returns:
            The claim afterwards, and remarks for the person.

        Raises:
            HeldByAnother: the task was taken over; nothing was pushed.
            IllegalMove: the phase does not lead to ready_for_pr.
            Refused: nothing to hand off, the wrong branch, or a validation failed.
            Transient, Rejected: the push failed.
        """
        return moves.hand_off(self.world, self.claim_store, summary)

    def status(self) -> Record | None:
        """Return the claim as last known. No network, no lock, no write.

        Returns:
            The claim, or None if there is none.

        Raises:
            Refused: the claim file cannot be read as one.
        """
        return self.claim_store.load(repair=False).record

    @demands
    def tick(self, wake: Wake = Wake.TICK) -> Report:
        """Look once and do what the claim needs next.

        Args:
            wake: who asks. `Wake.TICK` reads everything; the wakes of hooks trust the last synced state.

        Returns:
            The claim afterwards, the notices, and what was done. A failure of GitHub is not raised: it is
            in the report's `problem`, and everything else is still done.

        Raises:
            LockBusy: another process is at work on this claim.
            Refused: `.lifecycle.toml` or the claim file cannot be used.
        """
        return look.tick(self.world, self.claim_store, wake)

    def rehearse(self) -> Report:
        """Plan the next tick; writes nothing anywhere.

        Returns:
            The claim as it is, and in `actions` what the next tick would do.

        Raises:
            Refused: `.lifecycle.toml` or the claim file cannot be used.
        """
        return look.rehearse(self.world, self.claim_store)

    @demands
    def release(self, reason: str = "") -> Report:
        """Release the task: board Todo, assignee and Agent cleared, lease released, work kept.

        Args:
            reason: why, for the comment on the issue; may be empty.

        Returns:
            The report of the look. The record's `ending.outcome` is "released" if all is done; otherwise
            later ticks continue the release.

        Raises:
            Refused: there is no claim, another live session holds it, or its pull request is merged, so
                that the claim should be closed instead.
            LockBusy: another process is at work on this claim.
        """
        outcome = release_claim(self.world, self.claim_store, reason)
        return Report(outcome.record) if outcome.said else self.tick()

    @demands
    def move(
        self, phase: Phase, *, force: bool = False, override: str = "", reason: str = ""
    ) -> Record:
        """Set the phase by hand.

        Args:
            phase: the phase to go to.
            force: skip the table of phases; GitHub still judges `done`.
            override: with `done`: why the issue may close without a merge, recorded in its comment.
            reason: why the phase is set by hand, recorded in the claim; with `done` it is the user's yes.

        Returns:
            The claim afterwards.

        Raises:
            IllegalMove: the table has no such move, and `force` is not given.
            Refused: there is no claim, or it cannot be read as one.
            LockBusy: another process is at work on this claim.
        """
        return moves.move(
            self.world,
            self.claim_store,
            PHASES.get(phase, phase),
            force=force,
            override=override,
            reason=reason,
        )

    @demands
    def close(self, *, override: str = "") -> Report:
        """Give the user's yes: set `done`, and tick.

        Args:
            override: why the issue may close without a merge, recorded in its comment; empty if a merge
                is required.

        Returns:
            The report of the look. The record's `ending.outcome` is "closed" if the issue closed; otherwise
            `problem` says why not.

        Raises:
            Refused: there is no claim, or it cannot be read as one.
            LockBusy: another process is at work on this claim.
        """
        moves.move(
            self.world, self.claim_store, Phase.DONE, force=True, override=override, consent="close"
        )
        return self.tick()
