"""The numbers of `lifecycle stats`, from visits: times, success, attempts, bottlenecks. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median

from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.messages.figures import part
from lifecycle.core.stage_names import LINE, Stage
from lifecycle.storage import journal
from lifecycle.storage.journal import JournalEntry
from lifecycle.views.stats.visits import ORDER, Visit, visits

SEVERAL = 1.25
"""Attempts for each success from which on a stage counts as a bottleneck."""

SHARE = 0.3
"""The share of all time from which on a stage counts as a bottleneck, too."""


class StatsRow:
    """One stage or phase.

    Attributes:
        system, name: the stage's system and name.
        times: the visits with known beginning and end, without the time away.
        away: seconds of long silence, in total.
        visits: the number of stays that have ended.
        attempts, passed: how often it was tried, and how often that led onward.
        success: the share of the attempts that led onward, or None without one.
        tasks, tried: how many tasks were in it, and how many of them tried it.
        per_task: attempts for each task that tried it, or None without one.
        most: the most attempts that one task needed.
        hardest: that task, if it needed more than one.
        share: its share of its system's time, from 0 to 1.
        why: why it is a bottleneck: it took several attempts, or much of the time; empty if it is none.
        weight: how much it delays work, to rank bottlenecks.
    """

    def __init__(self, name: str, here: Sequence[Visit], whole: float, *, is_only: bool) -> None:
        self.system, self.name = here[0].system, name
        self.times = _times(here)
        self.away = sum(visit.away for visit in here)
        self.visits = sum(visit.ended is not None for visit in here)
        self.attempts = sum(visit.attempts for visit in here)
        self.passed = sum(visit.is_passed for visit in here)
        self.success = rate(self.passed, self.attempts)
        # Visits without a task count by session.
        tries = _tries(replace(visit, task=visit.task or visit.session) for visit in here)
        self.tasks, self.tried = len(tries), sum(tried > 0 for tried in tries.values())
        self.per_task = rate(self.attempts, self.tried)
        self.most = most = max(tries.values(), default=0)
        self.hardest = next((task for task, tried in tries.items() if tried == most > 1), "")
        self.share = self.times.total / whole if whole else 0.0
        self.why, failed = list[str](), self.attempts - self.passed
        self.weight = self.share + (failed / self.attempts if failed else 0.0)
        if self.attempts / max(self.passed, 1) >= SEVERAL:
            self.why.append(f"{failed} of {self.attempts} attempts failed")
            self.why += [f"{self.hardest} took {most}"] if self.hardest and self.tasks > 1 else []
        if self.share >= SHARE and not is_only:
            self.why.append(f"{part(self.share)} of all time")


@dataclass(frozen=True, slots=True)
class Group:
    """The tasks that share a label or an agent.

    Attributes:
        name: the label or agent.
        tasks, done: how many there are, and how many were completed; for an agent: completed by it.
        times: times of whole tasks: all stages with a known time; for a claim without stages its phases.
        attempts, passed: of the same stages or phases.
        success: the share of the attempts that led onward, or None without one.
    """

    name: str
    tasks: int
    done: int
    times: Times
    attempts: int
    passed: int
    success: float | None


@dataclass(frozen=True, slots=True)
class Flake:
    """A check of CI that failed and passed at one commit: its failures, how often, and when last."""

    check: str
    failed: str
    times: int
    last: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """The entries and visits to count; all by default.

    Attributes:
        since: only visits and events that ended or happened from this moment on.
        label: only tasks with this label, or with one that begins with it and a colon.
        task: only this task, by its id or its whole title.
    """

    since: float = float("-inf")
    label: str = ""
    task: str = ""


_ALL = Wanted()

Labels = dict[str, tuple[str, ...]]
"""The labels of each task."""


class Summary:
    """All numbers of `lifecycle stats`, computed from a journal's selected entries.

    Attributes:
        since, until: the first and the last moment that it covers, 0.0 if there is nothing.
        entries: how many entries of the journal were used.
        stages, phases: a row for each that a task was in, in their order.
        bottlenecks: the worst first.
        labels, agents: the groups of tasks, the largest first, then the newest.
        tasks: the titles of the tasks by id, in the order of their first work; "" if no title was noted.
        spent: seconds of each task: all its stages with a known time; for a claim without stages its
            phases; for a run or a workflow the time from beginning to end. Tasks without a known time
            are left out.
        tries, failed: the attempts of each task in the same stages or phases, and the failed ones. A
            run or workflow that is over counts what failed in it, and its end unless it was given up.
        done: the completed tasks, and when; tasks that were given up are left out.
        lasting: visits that have not ended.
        flakes: checks that failed and passed at one commit, the most frequent first.
        told: all visits, the oldest first, including phases of workflows and stories of runs.
    """

    def __init__(self, journal_entries: Iterable[JournalEntry], wanted: Wanted = _ALL) -> None:
        every = [_spelled(entry) for entry in journal_entries]
        labels = _labels(every)
        titles = {e.task: str(e.detail["title"]) for e in every if e.task and e.detail.get("title")}
        names = {task for task in ("", *labels) if _is_wanted(task, titles, labels, wanted)}
        chosen = [entry for entry in every if entry.at >= wanted.since and entry.task in names]
        # From all entries: a visit that ended in the period may have begun before it.
        theirs = [visit for visit in visits(every) if visit.task in names]
        within = [v for v in theirs if v.ended is None or v.ended >= wanted.since]
        stays = [visit for visit in within if visit.system in ORDER]
        moments = [entry.at for entry in chosen]
        self.since, self.until = min(moments, default=0.0), max(moments, default=0.0)
        self.entries = len(chosen)
        self.stages, self.phases = _rows(journal.STAGES, stays), _rows(journal.CLAIM, stays)
        slow = [row for row in self.stages if row.why] or [row for row in self.phases if row.why]
        self.bottlenecks = sorted(slow, key=lambda row: -row.weight)
        ends = _done(chosen)
        # Only the end of a workflow or a run that was given up has a reason.
        self.done = {task: end.at for task, end in ends.items() if not end.detail.get("reason")}
        labelled = ((label, visit) for visit in stays for label in labels.get(visit.task, ()))
        self.labels = _groups(labelled, ends)
        acted = ((visit.actor, visit) for visit in stays if visit.actor)
        self.agents = _groups(acted, ends, of_agents=True)
        self.tasks = {task: titles.get(task, "") for task in _tasks(stays, chosen)}
        leading = _leading(stays)
        self.spent, self.tries = _spent(leading), _tries(leading)
        self.failed = _tries(leading, of_failed=True)
        for task, entry in ends.items():
            if "seconds" in entry.detail:  # of a run or a workflow
                self.spent[task] = float(entry.detail["seconds"])
                self.failed[task] = int(entry.detail["failed"])
                self.tries[task] = self.failed[task] + (task in self.done)
        self.lasting = [visit for visit in stays if visit.ended is None]
        self.flakes = _flakes(chosen)
        self.told = sorted(within, key=_moment)


def _tasks(task_visits: Iterable[Visit], entries: Iterable[JournalEntry]) -> list[str]:
    """The tasks that were worked on, in the order of their first work.

    Entries that an earlier release's reconcile wrote do not make a task one of this clone's.
    """
    own = [(entry.at, entry.task) for entry in entries if not entry.detail.get("by")]
    moments = [*((_moment(visit), visit.task) for visit in task_visits), *own]
    return list(dict.fromkeys(task for _, task in sorted(moments) if task))


def _flakes(entries: Iterable[JournalEntry]) -> tuple[Flake, ...]:
    moments: dict[tuple[str, str], list[float]] = {}
    for entry in entries:
        if entry.kind == journal.FLAKE:
            moments.setdefault((entry.source, entry.target), []).append(entry.at)
    flakes = [Flake(*name, len(at), max(at)) for name, at in moments.items()]
    return tuple(sorted(flakes, key=lambda flake: (-flake.times, flake.check, flake.failed)))


def _moment(visit: Visit) -> float:
    return visit.began or visit.ended or -math.inf


def _is_wanted(task: str, titles: Mapping[str, str], labels: Labels, wanted: Wanted) -> bool:
    """True if the task is wanted: by its id, its title (in any case), or its labels; "" if all are."""
    name, begin = wanted.task.casefold(), f"{wanted.label}:"
    is_named = name.removeprefix("#") == task.removeprefix("#").casefold()
    is_titled = name == titles.get(task, "").casefold()
    is_labelled = any(f"{label}:".startswith(begin) for label in labels.get(task, ()))
    return (not name or is_named or is_titled) and (not wanted.label or is_labelled)


def _labels(entries: Iterable[JournalEntry]) -> Labels:
    """The labels of each task, from the newest entry that names some."""
    labels: Labels = {}
    for entry in entries:
        names = entry.detail.get("labels")
        if entry.task and isinstance(names, list):
            labels[entry.task] = tuple(str(name) for name in names)
        elif entry.task:
            labels.setdefault(entry.task, ())
    return labels


def _spelled(entry: JournalEntry) -> JournalEntry:
    """The entry with GitHub's issues spelled in one way, whoever wrote it.

    The id of a run or workflow is never an issue's number, even if all of its characters are digits.
    """
    is_issue = entry.task.isdecimal() and entry.system not in (journal.RUN, journal.WORKFLOW)
    return replace(entry, task=f"#{entry.task}") if is_issue else entry


def _done(entries: Iterable[JournalEntry]) -> dict[str, JournalEntry]:
    """The tasks that ended, each with the first entry that says so: closed, or past the last stage."""
    first: dict[str, JournalEntry] = {}
    for entry in entries:
        if entry.kind != journal.TRANSITION or not entry.task:
            continue
        is_past = entry.source == Stage.COMMIT_CLOSE and entry.target == Stage.NEXT_TASK
        is_last = entry.source in LINE and not entry.target
        if entry.target == journal.CLOSED or is_past or is_last:
            first.setdefault(entry.task, entry)
    return first


def _rows(system: str, task_visits: Iterable[Visit]) -> tuple[StatsRow, ...]:
    of_system = [visit for visit in task_visits if visit.system == system]
    whole = _times(of_system).total
    names = [name for name in ORDER[system] if any(v.stage == name for v in of_system)]
    is_only = len(names) == 1
    by_name = {name: [v for v in of_system if v.stage == name] for name in names}
    return tuple(StatsRow(name, here, whole, is_only=is_only) for name, here in by_name.items())


def _times(task_visits: Iterable[Visit]) -> Times:
    return Times.of(seconds for visit in task_visits if (seconds := visit.seconds) is not None)


def _groups(
    named: Iterable[tuple[str, Visit]], ends: Mapping[str, JournalEntry], *, of_agents: bool = False
) -> tuple[Group, ...]:
    """The groups of tasks, each with those that ended; an agent's are those that the agent ended."""
    members: dict[str, list[Visit]] = {}
    for name, visit in named:
        members[name] = members.pop(name, [])  # after those that were met before
        members[name].append(visit)
    groups = []
    for name, stays in members.items():
        tasks = {visit.task for visit in stays if visit.task}
        ended, leading = tasks & ends.keys(), _leading(stays)
        if of_agents:  # an end that names no agent counts for each of them
            ended = {task for task in ended if not ends[task].actor}
            ended |= {task for task, end in ends.items() if end.actor == name}
        times = Times.of(_spent(leading).values())
        attempts = sum(visit.attempts for visit in leading)
        passed = sum(visit.is_passed for visit in leading)
        counts = (len(tasks | ended), len(ended), times, attempts, passed)
        groups.append(Group(name, *counts, rate(passed, attempts)))
    # An agent mostly has one task. Of equal groups the newest come first, since not all have a row.
    groups.reverse()
    return tuple(sorted(groups, key=lambda group: -group.tasks))


def _leading(task_visits: Sequence[Visit]) -> list[Visit]:
    """The visits that count for a task's time: its stages; if there are none, its claim's phases."""
    systems = {visit.task: journal.CLAIM for visit in task_visits}
    systems |= {visit.task: visit.system for visit in task_visits if visit.system == journal.STAGES}
    return [visit for visit in task_visits if visit.system == systems[visit.task]]


def _spent(task_visits: Iterable[Visit]) -> dict[str, float]:
    """The seconds of each task."""
    seconds: dict[str, float] = {}
    for visit in task_visits:
        if visit.task and visit.seconds is not None:
            seconds[visit.task] = seconds.get(visit.task, 0.0) + visit.seconds
    return seconds


def _tries(task_visits: Iterable[Visit], *, of_failed: bool = False) -> dict[str, int]:
    """The attempts of each task, or only the failed ones."""
    counts = Counter[str]()
    for visit in task_visits:
        if visit.task:
            counts[visit.task] += visit.attempts - (of_failed and visit.is_passed)
    return counts


@dataclass(frozen=True, slots=True)
class Times:
    """A summary of durations in seconds; all 0.0 if there are none.

    Attributes:
        count: how many durations there are.
        total, mean, median: in seconds.
        p90: nine of ten took at most this long (nearest rank).
    """

    count: int = 0
    total: float = 0.0
    mean: float = 0.0
    median: float = 0.0
    p90: float = 0.0

    @classmethod
    def of(cls, seconds: Iterable[float]) -> Times:
        """Sum up these times, in any order."""
        ordered = sorted(seconds)
        if not ordered:
            return cls()
        nearest = ordered[math.ceil(0.9 * len(ordered)) - 1]
        return cls(len(ordered), math.fsum(ordered), fmean(ordered), median(ordered), nearest)


def rate(part: int, whole: int) -> float | None:
    """The part of the whole, from 0 to 1; None if the whole is 0."""
    return part / whole if whole else None
