"""SessionStart, where there is a run: where it stands, and whose it is; what git shows there."""

from __future__ import annotations

import contextlib
from typing import Self

from lifecycle.core.errors import LifecycleError
from lifecycle.core.timing import Deadline, DeadlineReached
from lifecycle.evidence.records import EvidenceRoom
from lifecycle.git.process import GitRepository
from lifecycle.hooks.answers.call import HookCall
from lifecycle.run.gates import work_facts
from lifecycle.run.gates.work_facts import UNSEEN, WorkFacts
from lifecycle.run.run_store import RunStore, StrangeRun
from lifecycle.run.state import Run
from lifecycle.run.stop import leading
from lifecycle.run.texts import standing
from lifecycle.run.texts.standing import WorktreeSeen
from lifecycle.storage import log
from lifecycle.storage.regular_files import StrangeFileError

GIT_SECONDS = 3.0
"""How long git may take to say what the files are; without that the run's own record tells what changed."""


class RunHook:
    """What a run says to one event of a session, and whether it leads that session."""

    def __init__(self, call: HookCall) -> None:
        self.call = call
        self.leads = False
        world = call.world
        self.store = RunStore(world.root, world.environment, world.deadline)

    @property
    def now(self) -> float:
        """The present, in seconds since the epoch."""
        return self.call.world.clock.now()

    def look(self) -> Self:
        """Look at the run, and keep what becomes of it before that is said; returns itself."""
        why = ""
        try:
            self._look()
        except (StrangeRun, StrangeFileError) as error:
            self._strange(error.sentence)
        except LifecycleError as error:
            why = error.sentence
        except DeadlineReached:  # what others have to say is said all the same
            why = "the time for this look was up"
        except Exception as error:  # noqa: BLE001 -- whatever it is, the agent's work goes on
            why = f"{type(error).__name__}: {error}"
        if why:
            log.write(self.call.world.root, f"{self.call.hook}: run: {why}")
        return self

    def _look(self) -> None:
        raise NotImplementedError

    def _strange(self, sentence: str) -> None:
        raise NotImplementedError

    def _adopted(self, run: Run) -> Run:
        """The run as this session's; as it was for a session whose id nobody knows."""
        return leading.adopted(run, self.call.session, self.call.process, self.now)


class RunStart(RunHook):
    """What a run says at the start of a session, which adopts it if nobody else who lives leads it.

    Attributes:
        context: lines for the agent; what strangers wrote in them is quoted.
        person: lines for the user.
        leads: the run leads this session; the staged workflow says nothing then.
    """

    def __init__(self, call: HookCall) -> None:
        super().__init__(call)
        self.context: list[str] = []
        self.person: list[str] = []

    def _look(self) -> None:
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
        run = self._taken()
        self.leads = leading.is_led_by(run, self.call.session)
        self.context = standing.start_lines(run, worktree_seen(self.call, run), self.now)
        self.person = [*standing.brake_lines(run)]

    def _strange(self, sentence: str) -> None:
        self.context = self.person = [sentence]

    def _is_held(self, run: Run) -> bool:
        call = self.call
        return leading.is_held(run, call.session, call.process, call.claim_store.folder, self.now)

    def _taken(self) -> Run:
        """The run as this session's; what another process made of it meanwhile is looked at anew."""
        with self.store.locked():
            run = self.store.demanded()
            if self._is_held(run) or run.is_over:
                return run
            mine = self._adopted(run)
            if mine == run:
                self.store.mark(run)
            else:
                self.store.write(mine)
        return mine


def worktree_seen(call: HookCall, run: Run) -> WorktreeSeen:
    """What git and the records of checks say of the files here."""
    return WorktreeSeen(facts_of(call, run), EvidenceRoom(call.world.root).records())


def facts_of(call: HookCall, run: Run) -> WorkFacts:
    """What git shows of the worktree; UNSEEN if it does not say so in time."""
    world, story = call.world, run.current
    with contextlib.suppress(LifecycleError):
        # Whoever asks has the run's lock and file before it still.
        deadline = Deadline.after(world.clock, min(GIT_SECONDS, world.deadline.remaining() * 2 / 3))
        base = story.base if story is not None else ""
        git = GitRepository(world.root, deadline, world.environment)
        return work_facts.facts_of(git, base)
    return UNSEEN
