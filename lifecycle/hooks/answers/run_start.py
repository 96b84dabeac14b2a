"""SessionStart, where there is a run: where it stands, and whose it is; what git shows there."""

from __future__ import annotations

import contextlib

from lifecycle.core.errors import LifecycleError
from lifecycle.core.timing import Deadline, DeadlineReached
from lifecycle.evidence.records import EvidenceRoom
from lifecycle.hooks.answers.call import HookCall
from lifecycle.run.gates import work_facts
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.run_store import RunStore, StrangeRun
from lifecycle.run.state import Run
from lifecycle.run.stop import decide, leading
from lifecycle.run.table import RunStatus
from lifecycle.run.texts import standing
from lifecycle.run.texts.standing import WorktreeSeen
from lifecycle.storage import log
from lifecycle.storage.regular_files import StrangeFileError

GIT_SECONDS = 3.0
"""How long git may take to say what the files are; without that the run's own record tells what changed."""


class RunStart:
    """What a run says at the start of a session.

    Attributes:
        context: lines for the agent; what strangers wrote in them is quoted.
        person: lines for the user.
        leads: the run leads this session; the staged workflow says nothing then.
    """

    def __init__(self, call: HookCall) -> None:
        self.call = call
        self.context: list[str] = []
        self.person: list[str] = []
        self.leads = False
        world = call.world
        self.store = RunStore(world.root, world.environment, world.deadline)

    def look(self) -> RunStart:
        """Adopt the run if nobody else who lives leads it; this."""
        try:
            if self.store.is_there:
                self._say()
        except (StrangeRun, StrangeFileError) as error:
            self.context, self.person = [error.sentence], [error.sentence]
        except LifecycleError as error:
            self._log(error.sentence)
        except DeadlineReached:  # the claim and the board are said all the same
            self._log("the time for this look was up")
        return self

    def _log(self, why: str) -> None:
        log.write(self.call.world.root, f"{self.call.hook}: run: {why}")

    def _say(self) -> None:
        run = self.store.load()
        if run is None:
            return
        if run.is_over:
            if run.session != self.call.session and not self._is_held(run):
                self.store.mark(None)  # its session ended without another stop
            return
        if self._is_held(run):
            self.context = self.person = [standing.held_line(run)]
            return
        run = self._adopted(run)
        self.leads = leading.is_led_by(run, self.call.session)
        self.context = standing.start_lines(
            run, worktree_seen(self.call, run), self.call.world.clock.now()
        )
        if run.status is RunStatus.AWAITING_USER:
            self.person = [*decide.waits_for(run)]
        elif run.status is RunStatus.STOPPED:
            self.person = [*decide.stopped(run)]

    def _is_held(self, run: Run) -> bool:
        call = self.call
        folder, now = call.claim_store.folder, call.world.clock.now()
        return leading.is_held(run, call.session, call.process, folder, now)

    def _adopted(self, run: Run) -> Run:
        """The run as this session's; what another process made of it meanwhile is looked at anew."""
        call = self.call
        with self.store.locked():
            run = self.store.demanded()
            if self._is_held(run) or run.is_over:
                return run
            mine = leading.adopted(run, call.session, call.process, call.world.clock.now())
            if mine == run:
                self.store.mark(run)
            else:
                self.store.write(mine)
        return mine


def worktree_seen(call: HookCall, run: Run) -> WorktreeSeen:
    """What git and the records of checks say of the files here."""
    return WorktreeSeen(facts_of(call, run), EvidenceRoom(call.world.root).records())


def facts_of(call: HookCall, run: Run) -> WorkFacts | None:
    """What git shows of the worktree; None if it does not say so in time."""
    world, story = call.world, run.current
    with contextlib.suppress(LifecycleError):
        # Whoever asks has the run's lock and file before it still.
        deadline = Deadline.after(world.clock, min(GIT_SECONDS, world.deadline.remaining() * 2 / 3))
        base = story.base if story is not None else ""
        return work_facts.facts_of(world.root, deadline, world.environment, base)
    return None
