"""Stop, in a session that leads a run: what the run says, and what is kept of that.

Only where the mark in `.lifecycle/` says that there is a run. Whatever goes wrong lets the agent stop.
"""

from __future__ import annotations

from typing import Any

from lifecycle.core.errors import BadConfig
from lifecycle.core.plan import StopVerdict, StopWord
from lifecycle.core.values.configured import RunSettings
from lifecycle.hooks import transcript_tokens
from lifecycle.hooks.answers import run_start
from lifecycle.hooks.answers.call import HookCall
from lifecycle.hooks.answers.run_start import RunHook
from lifecycle.run.gates.work_facts import UNSEEN
from lifecycle.run.state import Run
from lifecycle.run.stop import decide, leading
from lifecycle.run.stop.decide import RunSeen, RunVerdict
from lifecycle.run.table import RunStatus
from lifecycle.storage import journal

_OVER = "over"
"""What `Run.told` holds once the session of a completed run was let go."""


class RunStop(RunHook):
    """The run's part of one stop.

    Attributes:
        word: what it says.
        leads: the run leads this session on; the staged workflow says nothing then.
        is_over: it led this session, is completed, and lets it go for the first time.
    """

    def __init__(self, call: HookCall) -> None:
        super().__init__(call)
        self.word = StopWord()
        self.is_over = False

    def _look(self) -> None:
        run = self.store.load()
        if run is None:
            self.store.mark(None)
        elif self._is_ours(run):
            self._decide(run)

    def _strange(self, sentence: str) -> None:
        # Nothing of it counts any more; the next session's start says so again.
        self.store.mark(None)
        self.word = StopWord(person=(sentence,))

    def _is_ours(self, run: Run) -> bool:
        is_agents = bool(self.call.event.get("agent_id"))
        return leading.is_led_by(run, self.call.session) and not is_agents

    def _decide(self, run: Run) -> None:
        self.leads = True
        facts = run_start.facts_of(self.call, run) if run.status is RunStatus.ACTIVE else UNSEEN
        message, position = _last_words(self.call, run)
        with self.store.locked():
            run = self.store.demanded()
            if not self._is_ours(run):
                self.leads = False
                return
            adopted = self._counted(self._adopted(run))
            limits, waits = _limits(self.call), _is_waiting(self.call.event)
            situation = RunSeen(adopted, self.now, limits, message, position, facts, waits)
            verdict = decide.decide(situation)
            self._keep(run, verdict)
        self.word = verdict.word
        self._note(run, verdict)

    def _counted(self, run: Run) -> Run:
        """The run with the tokens that its session took since the last count."""
        if not run.led:
            return run
        led, path = run.led[-1], self.call.text("transcript_path")
        tokens, read = transcript_tokens.taken(path, led.read, led.since)
        led = led.but(tokens=led.tokens + tokens, read=led.read + read)
        return run.but(led=(*run.led[:-1], led))

    def _keep(self, before: Run, verdict: RunVerdict) -> None:
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

    def _note(self, before: Run, verdict: RunVerdict) -> None:
        """Write the journal: each turn that goes on, and what the run came to."""
        kinds = {StopVerdict.BLOCK: journal.BLOCK, StopVerdict.LET_GO: journal.LET_GO}
        kind = journal.TRANSITION if self.is_over else kinds.get(verdict.word.verdict, "")
        run = verdict.run
        is_news = kind == journal.BLOCK or self.is_over or run.told != before.told
        if not (kind and is_news):
            return
        entry = journal.JournalEntry(
            self.now,
            journal.RUN,
            kind,
            task=run.id,
            session=self.call.session,
            source=before.phase.value,
            target=journal.CLOSED if self.is_over else run.status.value,
            detail={"iteration": run.iterations, "why": run.why, "title": run.goal},
        )
        journal.note(self.call.world.root, entry)


def _limits(call: HookCall) -> RunSettings:
    """The caps of a run; the defaults where the settings cannot be read, which others say."""
    try:
        return call.world.settings.run
    except BadConfig:
        return RunSettings()


def _last_words(call: HookCall, run: Run) -> tuple[str, str]:
    """What the agent said last, and the name of this stop; of a completed run all that it said this turn.

    Where the last thing was a tool call, the closing word stands before it, in the transcript.
    """
    from lifecycle.stages.transcript import stop_input
    from lifecycle.stages.transcript.turn import Prompt

    turn = stop_input.turn_of(call.event)
    last = call.text("last_assistant_message")
    words = "\n".join((*turn.texts, last)) if run.is_over else last
    # Without the line that began it, a long turn has the name of any other that ends in the same words.
    is_nameless = turn.is_cut and turn.kind is Prompt.NONE
    return words, turn.position if turn.is_there and not is_nameless else ""


def _is_waiting(event: Any) -> bool:
    """True if an agent works in the background; a shell or a monitor there may be one that never ends."""
    tasks = event.get("background_tasks")
    return any(_is_agent(task) for task in tasks) if isinstance(tasks, list) else False


def _is_agent(task: Any) -> bool:
    if not (isinstance(task, dict) and task.get("status") in ("running", "pending")):
        return False
    kind = str(task.get("type") or "shell")
    return not any(word in kind for word in ("shell", "monitor"))
