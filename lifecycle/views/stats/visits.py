"""The journal as visits: the periods that a task was in a stage or phase. Pure.

A visit begins with the transition into its stage and ends with the next transition of the task. A
silence of more than AWAY_SECONDS within it, in which the journal has no entry of the task nor of the
session, is time away (a closed laptop, a person who went home) and does not count as work. In phases
that wait for GitHub and for people no time is subtracted: waiting is their purpose.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from lifecycle.claim.decisions.table import Phase
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.stage_names import LINE, Stage
from lifecycle.storage import journal
from lifecycle.storage.journal import JournalEntry

AWAY_SECONDS = 7_200.0
"""Seconds of silence; a longer one is time away."""

ORDER = {journal.STAGES: tuple(map(str, LINE)), journal.CLAIM: tuple(map(str, Phase))}
"""The stages of each system, in their order."""

_PROGRESS = {
    journal.STAGES: ORDER[journal.STAGES],
    # Closing the pull request sent the task back to where it was before there was one. If a phase
    # occurs twice, its first place counts.
    journal.CLAIM: (str(Phase.CODING), str(Phase.PR_CLOSED), *ORDER[journal.CLAIM]),
}
"""The stages in the order of progress: a step to the right is onward, every other one is back."""

_WAITING = {*ORDER[journal.CLAIM]} - {Phase.CODING, Phase.READY_FOR_PR}
_CHECKED = {str(Stage.TESTING), str(Stage.ORACLE_REVIEW)}
"""Stages that consist of a check: a red check in them is a failed attempt."""

AT_WORK = ("active", "in_progress", "testing", "review")
"""The statuses in which somebody works on a phase of a workflow, or a story of a run."""


@dataclass(slots=True)
class Visit:
    """One stay of a task in a stage or phase.

    Attributes:
        system: as in the journal.
        stage: the stage or phase; the number and title of a workflow's phase; the id of a run's story.
        task, actor, session: as in the journal; the task may be "" if unknown.
        began: when it was entered, or None if the journal does not say.
        ended: when it was left, or None if it was not.
        away: seconds of it that were a long silence.
        failed: failed attempts within it: reports that were not accepted, and red checks.
        target: the next stage or phase; "" if it did not end, or if the task was left.
        is_passed: it led onward.
    """

    system: str
    stage: str
    task: str = ""
    actor: str = ""
    session: str = ""
    began: float | None = None
    ended: float | None = None
    away: float = 0.0
    failed: int = 0
    target: str = ""
    is_passed: bool = False

    @property
    def seconds(self) -> float | None:
        """Its duration without time away; None if unknown, or if all of it is silence."""
        if self.began is None or self.ended is None:
            return None
        spent = self.ended - self.began - self.away
        return None if self.away and spent < 1 else spent

    @property
    def attempts(self) -> int:
        """How often the stage was tried in it: passed, failed, or set back.

        A step back after a failure is the result of that failure, not another try.
        """
        is_set_back = self.target and not self.is_passed
        return max(self.failed, 1) if is_set_back else self.failed + self.is_passed


class _JournalReader:
    """Reads entries one after another: `visits` have ended, `stays` have not.

    From the beginning it knows the times of all signs of life, by task and by session.
    """

    def __init__(self, entries: Sequence[JournalEntry]) -> None:
        self.stays: list[Visit] = []
        self.visits: list[Visit] = []
        self._signs: dict[tuple[str, str], list[float]] = {}
        for entry in entries:
            for name in ("task", "session"):
                if value := getattr(entry, name):
                    self._signs.setdefault((name, value), []).append(entry.at)

    def take(self, entry: JournalEntry) -> None:
        """Read the next entry."""
        stages = ORDER.get(entry.system, ())
        if stages and entry.kind == journal.TRANSITION:
            self._move(entry)
        elif entry.system in (journal.RUN, journal.WORKFLOW) and entry.kind == journal.TRANSITION:
            self._step(entry)
        elif entry.kind == journal.REFUSED and (entry.target or entry.source) in stages:
            self._at(entry, entry.target or entry.source).failed += 1
        elif entry.kind == journal.CHECK and entry.detail.get("outcome") == journal.RED:
            # A red run while the code is being written is not a failure.
            here = self._stay(entry, entry.source) if entry.source in _CHECKED else None
            if here is not None:
                here.failed += 1

    def _move(self, entry: JournalEntry) -> None:
        is_onward = _is_onward(entry.system, entry.source, entry.target)
        is_step = entry.system == journal.STAGES and entry.source != Stage.NEXT_TASK and is_onward
        is_there = any(stay.stage == entry.target and _is_same(stay, entry) for stay in self.stays)
        if self._stay(entry, entry.source) is None and is_step and is_there:
            return  # a repeated entry, with no step back in between
        task = entry.task
        if entry.source in ORDER[entry.system]:
            before = self._at(entry, entry.source)
            before.task = before.task or entry.task
            before.actor = before.actor or entry.actor
            self._leave(before, entry, target=entry.target or journal.CLOSED)
            is_next = entry.source == Stage.NEXT_TASK and before.task == entry.task
            task = "" if is_next else entry.task
        else:
            self._leave_others(None, entry, target=entry.source)
        if entry.target in ORDER[entry.system]:
            self._begin(entry, entry.target, task, entry.at)

    def _step(self, entry: JournalEntry) -> None:
        """Move a phase of a workflow or a story of a run: from a status of work to another one.

        The target of such an entry is the phase's number or the story's id, and its new status.
        """
        name, _, status = entry.target.partition(" ")
        theirs = [stay for stay in self.stays if _is_same(stay, entry)]
        # The end of the whole ends each open step.
        here = [stay for stay in theirs if not status or stay.stage.partition(" ")[0] == name]
        if status not in AT_WORK:
            for stay in here:
                self._leave(stay, entry, target=status or name)
        elif not here:
            title = f"{name} {entry.detail.get('phase', '')}".strip()
            self._begin(entry, title, entry.task, entry.at)

    def _at(self, entry: JournalEntry, stage: str) -> Visit:
        """The stay of the entry's work in a stage, entered if there is none; its other stays are over."""
        stay = self._stay(entry, stage)
        self._leave_others(stay, entry, target=stage)
        return stay or self._enter(entry, stage)

    def _leave_others(self, stay: Visit | None, entry: JournalEntry, *, target: str) -> None:
        """End other open stays: work on the same task went on to `target` without an entry."""
        for other in [*self.stays]:
            if other is not stay and _is_left(other, entry):
                self._leave(other, entry, target=target if _is_same(other, entry) else "")

    def _stay(self, entry: JournalEntry, stage: str) -> Visit | None:
        """The newest stay of the entry's work in a stage, or None."""
        here = [stay for stay in reversed(self.stays) if stay.stage == stage]
        # Entries after NEXT_TASK are another task's: the session shows whose stage it was.
        is_its = _is_left if stage == Stage.NEXT_TASK else _is_same
        return next((stay for stay in here if is_its(stay, entry)), None)

    def _enter(self, entry: JournalEntry, stage: str) -> Visit:
        """A stay without a noted beginning: it began no later than its task's or session's first sign."""
        key = ("task", entry.task) if entry.task else ("session", entry.session)
        first = self._signs.get(key, [entry.at])[0]
        began = max([first, *(v.ended or first for v in self.visits if _is_same(v, entry))])
        return self._begin(entry, stage, entry.task, began if began < entry.at else None)

    def _begin(self, entry: JournalEntry, stage: str, task: str, began: float | None) -> Visit:
        stay = Visit(entry.system, stage, task, entry.actor, entry.session, began)
        self.stays.append(stay)
        return stay

    def _leave(self, stay: Visit, entry: JournalEntry, *, target: str) -> None:
        self.stays = [other for other in self.stays if other is not stay]
        self.visits.append(self.visit(stay, entry.at, target))

    def visit(self, stay: Visit, ended: float | None, target: str) -> Visit:
        """The stay as a visit that ended at this moment (None: not ended) with its time away."""
        away = 0.0
        if stay.began is not None and ended is not None and stay.stage not in _WAITING:
            away = self._away(stay.task, stay.session, stay.began, ended)
        is_passed = _is_onward(stay.system, stay.stage, target)
        return replace(stay, ended=ended, away=away, target=target, is_passed=is_passed)

    def _away(self, task: str, session: str, began: float, ended: float) -> float:
        """Seconds of long silence between two moments."""
        signs = [began]  # the end is itself a sign of its task or session
        for key in (("task", task), ("session", session)):
            moments = self._signs.get(key, [])
            signs += moments[bisect_left(moments, began) : bisect_right(moments, ended)]
        gaps = (after - before for before, after in itertools.pairwise(sorted(signs)))
        return sum(gap for gap in gaps if gap > AWAY_SECONDS)


def visits(entries: Iterable[JournalEntry]) -> tuple[Visit, ...]:
    """Every visit in the journal, in the order in which they ended, open visits last."""
    ordered = sorted(entries, key=lambda entry: entry.at)
    reader = _JournalReader(ordered)
    for entry in ordered:
        reader.take(entry)
    return (*reader.visits, *(reader.visit(stay, None, "") for stay in reader.stays))


def _is_same(stay: Visit, entry: JournalEntry) -> bool:
    """True if both belong to the same work: the task's, or the session's if a task is not named."""
    if stay.system != entry.system:
        return False
    if stay.task and entry.task:
        return stay.task == entry.task
    return entry.system == journal.STAGES and bool(entry.session) and stay.session == entry.session


def _is_left(stay: Visit, entry: JournalEntry) -> bool:
    """True if a step shows that this stay is over: a session is at one stage of one task."""
    is_sessions = entry.system == stay.system == journal.STAGES and bool(entry.session)
    return _is_same(stay, entry) or (is_sessions and stay.session == entry.session)


def _is_onward(system: str, stage: str, target: str) -> bool:
    """True if the step is onward: to a later stage, to the end, or from the last stage to the next task."""
    order = _PROGRESS.get(system)
    if order is None:
        return target == "completed"
    if target == journal.CLOSED:
        return True
    if target not in order or stage not in order:
        return False
    return stage == Stage.NEXT_TASK or order.index(target) > order.index(stage)
