"""An autonomous run at a session's start and stop: its state, what it says, and what is kept of that.

At a stop, this is used only if the mark in `.lifecycle/` says that there is a run. Any error lets the agent
stop.

The session's tokens are counted from the client's transcript: it has a line for each part of an answer, all
with the same counts under the same id. Tokens from the model's cache are left out, and so are those of
subagents, whose transcripts are elsewhere.

Source: https://docs.anthropic.com/en/api/messages (`usage`).
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import Self

from lifecycle.core.errors import BadConfig, LifecycleError, LockBusy
from lifecycle.core.plan import StopVerdict, StopWord
from lifecycle.core.timing import ANYTHING, Deadline, parse_time
from lifecycle.core.values.configured import RunSettings
from lifecycle.evidence.records import EvidenceRoom
from lifecycle.git.process import GitRepository
from lifecycle.hooks.answers.call import HookCall
from lifecycle.run.gates import work_facts
from lifecycle.run.run_store import RunStore, StrangeRun, adopted, entry, is_led_by
from lifecycle.run.state import Run
from lifecycle.run.stop import decide
from lifecycle.run.table import RunStatus
from lifecycle.run.texts import standing
from lifecycle.run.texts.told import sentence
from lifecycle.storage import journal, log, regular_files

GIT_SECONDS = 3.0
"""How long git may take to describe the files; without it, the run's own record tells what changed."""


_OVER = "over"
"""The value of `Run.told` once the session of a completed run was allowed to stop."""


class RunHook:
    """What a run says to one event of a session, and whether it leads that session.

    Attributes:
        leads: the run leads this session; then the staged workflow says nothing.
        context, person: lines at a start, for the agent (what strangers wrote is quoted) and for the user.
        word: what the run says at a stop.
        is_over: the run led this session, is completed, and lets it stop for the first time.
    """

    def __init__(self, call: HookCall) -> None:
        self.call = call
        world, asker = call.world, (call.session, call.process)
        self.store = RunStore(world.root, world.environment, world.deadline, asker)
        self.leads = self.is_over = False
        self.context: list[str] = []
        self.person: list[str] = []
        self.word = StopWord()
        self._surviving = log.Surviving(world.root, f"{call.hook}: run", *ANYTHING)

    @property
    def now(self) -> float:
        """The present, in seconds since the epoch."""
        return self.call.world.clock.now()

    def started(self) -> Self:
        """Look at the start of a session, which adopts the run if no other live session leads it."""
        with self._surviving:
            try:
                self._start()
            except (StrangeRun, regular_files.StrangeFileError) as error:
                self.context = self.person = [error.sentence]
        return self

    def _start(self) -> None:
        run = self.store.load()
        if run is None:
            return
        if run.is_over:
            if run.session != self.call.session and not self.store.is_led_by_another(run):
                self.store.mark(None)  # its session ended without another stop
            return
        if self.store.is_led_by_another(run):
            self.context = self.person = [standing.held_line(run)]
            return
        run = self.store.adopt()
        self.leads = is_led_by(run, self.call.session)
        self.context = standing.start_lines(run, facts_of(self.call, run), self.now)
        self.person = [*decide.brake_lines(run)]

    def compacted(self) -> list[str]:
        """The lines that a summary of the session keeps; [] if it leads no unfinished run."""
        with self._surviving:
            run = self.store.load()
            if run is not None and not run.is_over and is_led_by(run, self.call.session):
                return standing.kept_lines(run, facts_of(self.call, run))
        return []

    def stopped(self) -> Self:
        """Look at one stop, and save the run's new state before anything is said."""
        with self._surviving:
            try:
                self._stop()
            except (StrangeRun, regular_files.StrangeFileError) as error:
                # The run cannot be used any more; the next session's start says so again.
                self.word = StopWord(person=(error.sentence,))
                self.store.mark(None)
            except (OSError, LockBusy) as error:
                why = getattr(error, "strerror", "another lifecycle process is at work on it")
                self.word = StopWord(person=(sentence("not-held", why=why),))
        return self

    def _stop(self) -> None:
        run = self.store.load()
        if run is None:
            self.word = StopWord(person=(sentence("run-gone"),))
            self.store.mark(None)
            return
        self.leads = self._is_ours(run)
        if not self.leads:
            return
        from lifecycle.stages.transcript.stop_input import running

        facts = facts_of(self.call, run) if run.status is RunStatus.ACTIVE else work_facts.UNSEEN
        message, position = _last_words(self.call, run)
        with self.store.locked():
            run = self.store.demanded()
            self.leads = self._is_ours(run)
            if not self.leads:
                return
            mine = self._counted(adopted(run, *self.store.asker, self.now))
            kinds = [str(task.get("type") or "shell") for task in running(self.call.event)]
            # Shells and monitors in the background may never end; an agent will.
            waits = any("shell" not in kind and "monitor" not in kind for kind in kinds)
            limits = RunSettings()
            with contextlib.suppress(BadConfig):  # others report it
                limits = self.call.world.settings.run
            situation = decide.RunSeen(mine, self.now, limits, message, position, facts, waits)
            verdict = decide.decide(situation)
            self._keep(run, verdict)
        self.word = verdict.word
        self._note(run, verdict)

    def _is_ours(self, run: Run) -> bool:
        return is_led_by(run, self.call.session) and not self.call.event.get("agent_id")

    def _counted(self, run: Run) -> Run:
        """The run with the tokens that its session took since the last count."""
        if not run.led:
            return run
        led, path = run.led[-1], self.call.text("transcript_path")
        tokens, read = tokens_taken(path, led.read, led.since)
        led = led.but(tokens=led.tokens + tokens, read=led.read + read)
        return run.but(led=(*run.led[:-1], led))

    def _keep(self, before: Run, verdict: decide.RunVerdict) -> None:
        run = verdict.run
        is_done = run.status is RunStatus.COMPLETED and verdict.word.verdict is StopVerdict.PASS
        if is_done:
            self.leads = False
            self.is_over = run.told != _OVER
            run = run.but(told=_OVER)
        if run != before:
            self.store.write(run)
        if is_done:
            self.store.mark(None)

    def _note(self, before: Run, verdict: decide.RunVerdict) -> None:
        """Write to the journal: each turn that continues, or why it does not."""
        kinds = {StopVerdict.BLOCK: journal.BLOCK, StopVerdict.LET_GO: journal.LET_GO}
        run, kind = verdict.run, kinds.get(verdict.word.verdict, "")
        if kind == journal.BLOCK or (kind and run.told != before.told):
            detail = {"iteration": run.iterations, "why": run.why, "title": run.goal}
            where = {"source": before.phase.value, "target": run.status.value}
            journal.note(self.call.world.root, entry(run, self.now, kind, **where, detail=detail))


def facts_of(call: HookCall, run: Run) -> work_facts.WorkFacts:
    """What git shows of the worktree; only the runs of checks if it does not say so in time."""
    world, story = call.world, run.current
    with contextlib.suppress(LifecycleError):
        # The caller still has to take the run's lock and write its file.
        deadline = Deadline.after(world.clock, min(GIT_SECONDS, world.deadline.remaining() * 2 / 3))
        base = story.base if story is not None else ""
        return work_facts.facts_of(GitRepository(world.root, deadline, world.environment), base)
    return work_facts.WorkFacts(records=EvidenceRoom(world.root).records())


MOST = 32_000_000
"""How many bytes are read at one stop; the rest is read at the next one."""

_COUNTED = ("input_tokens", "output_tokens", "cache_creation_input_tokens")


def _last_words(call: HookCall, run: Run) -> tuple[str, str]:
    """What the agent said last, and this stop's name; for a completed run, everything said in this turn.

    If the turn ended with a tool call, the closing words are before it in the transcript.
    """
    from lifecycle.stages.transcript import stop_input
    from lifecycle.stages.transcript.turn import Prompt

    turn = stop_input.turn_of(call.event)
    last = call.text("last_assistant_message")
    words = "\n".join((*turn.texts, last)) if run.is_over else last
    # Without its first line, a long turn would have the name of any other that ends in the same words.
    is_nameless = turn.is_cut and turn.kind is Prompt.NONE
    return words, turn.position if turn.is_there and not is_nameless else ""


def tokens_taken(path: str, start: int, since: float) -> tuple[int, int]:
    """Count the tokens after a place in a transcript, in complete lines of at most MOST bytes.

    Args:
        path: the transcript; if it cannot be read, nothing is counted.
        start: how many of its bytes were read before.
        since: seconds since the epoch; earlier answers do not count.

    Returns:
        The tokens, and how many bytes were read now.
    """
    try:
        with os.fdopen(regular_files.opened(path, follow=True), "rb", 0) as file:
            content = os.pread(file.fileno(), MOST, start)
    except (OSError, ValueError):
        return 0, 0
    whole_lines = content[: content.rfind(b"\n") + 1]
    new = whole_lines or (content if len(content) == MOST else b"")
    return _tokens(new, since), len(new)


def _tokens(content: bytes, since: float) -> int:
    """The tokens of the answers in these lines that came since then."""
    counted: dict[str, int] = {}
    for line in content.splitlines():
        if b'"usage"' not in line:
            continue
        try:
            entry = json.loads(line)
            message = entry["message"]
            usage, name = message["usage"], str(message["id"])
            counts = [usage.get(key, 0) for key in _COUNTED]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        at = parse_time(entry.get("timestamp"))
        if entry.get("type") == "assistant" and (at is None or at >= since):
            counted[name] = sum(count for count in counts if isinstance(count, int) and count > 0)
    return sum(counted.values())
