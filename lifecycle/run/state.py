"""The record of one autonomous run, as `.claude/workflow-state.json` holds it.

Each value is frozen: a change makes a new record (`but`, `with_story`). A file is checked as a whole before
any of it is used. A new field has a default, so that an older file can still be read; a change of meaning
raises `VERSION`, and needs a conversion of older files in `run_store.decoded`.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self, TypeVar

import msgspec
from msgspec.structs import replace

from lifecycle.core.errors import did_you_mean
from lifecycle.core.redact import quoted, redact, visible
from lifecycle.run import table
from lifecycle.run.texts.told import LONG, refused, there

VERSION: Final = 1


class _Value(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of all records: frozen, without unknown fields, and a field with its default is not written."""

    def but(self, **changes: Any) -> Self:
        """The same record with these fields changed."""
        return replace(self, **changes)


class Criterion(_Value, frozen=True):
    """One acceptance criterion and what the tester found of it."""

    text: str
    state: table.CriterionState = table.CriterionState.PENDING
    note: str = ""
    tree: str = ""
    by: str = ""
    at: float = 0.0


class GatePart(_Value, frozen=True):
    """The result of one command of a gate.

    Attributes:
        check: the check's name, as `test`.
        state: pending until it was run; N/A if the platform has no such command and may lack it.
        command: what was run, for people.
        why: one clause if the state needs an explanation.
        tests: how many tests ran; -1 if not counted.
        percent: the coverage that was read; -1.0 if none was.
        log: the path of the output below the worktree.
        failures: identities of the tests that failed.
    """

    check: str
    state: table.CheckState = table.CheckState.PENDING
    command: str = ""
    why: str = ""
    tests: int = -1
    percent: float = -1.0
    log: str = ""
    failures: tuple[str, ...] = ()


class GateRecord(_Value, frozen=True):
    """One run of a gate, and its tree; if the tree is "" (not known), the record proves nothing."""

    gate: table.Gate
    at: float
    state: table.CheckState
    tree: str = ""
    parts: tuple[GatePart, ...] = ()
    by: str = ""

    def part(self, check: str) -> GatePart:
        """The part for this check; a pending part if the gate has none of that name."""
        return next((part for part in self.parts if part.check == check), GatePart(check))


class ReviewFinding(_Value, frozen=True):
    """What a reviewer found, and how much it weighs."""

    severity: table.Severity
    text: str


class ReviewRecord(_Value, frozen=True):
    """A review of a story, by whom and on which tree; an edit afterwards voids it."""

    check: table.StoryCheck
    verdict: table.ReviewVerdict
    at: float
    tree: str = ""
    by: str = ""
    findings: tuple[ReviewFinding, ...] = ()

    @property
    def blocking(self) -> list[str]:
        """The texts of its BLOCKING findings: they refuse, whatever the verdict says."""
        weighty = table.Severity.BLOCKING
        return [finding.text for finding in self.findings if finding.severity is weighty]

    @property
    def approves(self) -> bool:
        """True if its verdict approves and it has no BLOCKING finding."""
        return self.verdict in table.APPROVING and not self.blocking


RecordT = TypeVar("RecordT", GateRecord, ReviewRecord)


def newest(records: Sequence[RecordT], of: object, tree: str | None = None) -> RecordT | None:
    """The last record of a gate, or of a review's check, on this tree; None if there is none.

    Args:
        records: those of a run or a story, the newest last.
        of: the gate, or the check that a review shows.
        tree: the tree; None for any tree; "" matches no record.
    """
    own = (record for record in reversed(records) if _subject(record) is of)
    return next((record for record in own if tree is None or record.tree == tree != ""), None)


def _subject(record: GateRecord | ReviewRecord) -> object:
    return record.gate if isinstance(record, GateRecord) else record.check


class TestProof(_Value, frozen=True):
    """A run that showed a test fail by its assertion (red), or pass (green).

    Attributes:
        at: when that run ended.
        tests: identities of the tests; () if the runner gives none, so that the counts decided.
        tree: the tree that it ran on.
        command: what was run, for people.
        log: the path of its output below the worktree.
        failed, total: how many tests failed, and how many ran; -1 if not counted.
        files: the tests' files, each with the name of its content at that time.
        changed: those files that changed between red and green, for the reviewer.
        note: one clause if something is not known.
    """

    at: float
    tests: tuple[str, ...] = ()
    tree: str = ""
    command: str = ""
    log: str = ""
    failed: int = -1
    total: int = -1
    files: Mapping[str, str] = {}
    changed: tuple[str, ...] = ()
    note: str = ""


class Failure(_Value, frozen=True):
    """Something that failed while a story was worked on.

    Attributes:
        id: as `F1`, unique in the run.
        category: decides whether and when the story is tried again.
        text: the error, one line, without secrets.
        at: when it failed.
        tree: the tree at that time: the same failure twice on one tree means that the story is stuck.
        source: what failed: a gate or a review; "" if somebody reported it.
        file, line: where, if it is known; 0 for no line.
        iteration: the story's iteration.
    """

    id: str
    category: table.FailureCategory
    text: str
    at: float
    tree: str = ""
    source: str = ""
    file: str = ""
    line: int = 0
    iteration: int = 0


class Blocker(_Value, frozen=True):
    """An obstacle to a story or to the run, which needs a person or a decision.

    Attributes:
        id: as `B1`, unique in the run; its index is its place in `Run.blockers`.
        description: in a sentence.
        severity: low, medium, high or critical.
        story: the story that it blocks; "" for the run.
        at: when it was added.
        resolved_at: when it was resolved; 0.0 until then.
        notes: the notes of the person who resolved it.
        trigger: the word that was printed for it, as ESCALATION_REQUIRED.
        failure: the failure for which it was added automatically; "" after somebody described it.
        asked: what a person was asked to do about it; "" if nobody was asked.
        check_command: the words of the command that checks that it was done; () if there is none.
        timeout: seconds that this command may take.
    """

    id: str
    description: str
    severity: str
    at: float
    story: str = ""
    resolved_at: float = 0.0
    notes: str = ""
    trigger: str = ""
    failure: str = ""
    asked: str = ""
    check_command: tuple[str, ...] = ()
    timeout: int = 60


class UserFix(_Value, frozen=True):
    """What a waiting run needs from a person.

    Attributes:
        blocker: the blocker's id.
        description: everything that has to be fixed.
        check_command: the words of the command that checks all of it; () if there is none.
        timeout: seconds that this command may take.
        asked_at: when the run began to wait.
        story, phase: where the run continues.
        checked_at, verified: when the command last ran, and whether it ended with status 0.
        completed_at: when a person said that it is fixed; 0.0 until then.
        notes: that person's notes.
        others: ids of further blockers that have to be resolved, too.
    """

    blocker: str
    description: str
    asked_at: float
    check_command: tuple[str, ...] = ()
    timeout: int = 60
    story: str = ""
    phase: table.RunPhase = table.RunPhase.DEVELOPMENT
    checked_at: float = 0.0
    verified: bool = False
    completed_at: float = 0.0
    notes: str = ""
    others: tuple[str, ...] = ()

    @property
    def waited(self) -> tuple[str, ...]:
        """The ids of all blockers that the run waits for."""
        return (self.blocker, *self.others)


class PersonAct(_Value, frozen=True):
    """What a person did to a run: stopped it, resumed it, said that a blocker is fixed.

    Attributes:
        at: when it was done.
        what: the command, as `resume`.
        by: the evidence for a person: a terminal outside of the client, or a prompt after the question.
        notes: that person's notes.
    """

    at: float
    what: str
    by: str
    notes: str = ""


class Clarification(_Value, frozen=True):
    """A question and its answer; `assumed` if nobody answered."""

    question: str
    answer: str
    at: float
    phase: table.ClarificationPhase = table.ClarificationPhase.DEVELOPMENT
    category: str = ""
    assumed: bool = False


class ExternalDependency(_Value, frozen=True):
    """A service outside of the project that a story mentions.

    Attributes:
        type: its short name.
        category: what it does.
        mock: its substitute in development and tests.
        keyword: the word that mentions it.
        needs_secrets: even its substitute may need credentials.
    """

    type: str
    category: str
    mock: str
    keyword: str = ""
    needs_secrets: bool = True


class Checkpoint(_Value, frozen=True):
    """A state of the worktree that can be restored.

    Attributes:
        ref: its name below `refs/lifecycle/checkpoints/`.
        commit: the commit that it points to.
        at: when it was made.
        story: the story that was completed with it; "" for a checkpoint by hand.
        tree: the tree of the worktree at that time.
    """

    ref: str
    commit: str
    at: float
    story: str = ""
    tree: str = ""


class Story(_Value, frozen=True):
    """One story.

    Attributes:
        id: as `S1`.
        title, size, security: as given when it was added; `security` if it is security-sensitive.
        status, tdd: its status, and its phase in the cycle.
        iteration: how many iterations were begun, over the story's whole life.
        retries_from: the iterations before a person resolved its blocker: MAX_RETRIES more may follow.
        criteria, design, files, risks, depends_on: the plan of analyst and architect.
        started, completed: when it was first begun, and completed; 0.0 until then.
        base: the commit that it began on: changes since then are its own.
        red_from: the `at` of the last run that was recorded when it was begun, when another story was last
            completed since, or before its red: tests that failed up to then do not belong to this story.
        words: what earlier releases kept here of what was said of its checks; it proved nothing.
        gates, reviews: its records, the newest last.
        red, green: the proofs of its cycle.
        waived: why it has no red and green; "" if it needs them.
        waived_on: the tree, from before it changed any code, on which its tests had passed; "" if none.
        unneeded: why nothing had to be changed, or why it was removed; "" otherwise.
        failures: what failed, the newest last.
        dependencies: outside services that it mentions; None until it was scanned.
        commit: the commit that it was completed with.
        checkpoint: the ref of its checkpoint.
    """

    id: str
    title: str
    size: str = "M"
    security: bool = False
    status: table.StoryStatus = table.StoryStatus.PENDING
    tdd: table.TddPhase = table.TddPhase.NONE
    iteration: int = 0
    retries_from: int = 0
    criteria: tuple[Criterion, ...] = ()
    design: str = ""
    files: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    started: float = 0.0
    completed: float = 0.0
    base: str = ""
    red_from: float = 0.0
    words: tuple[dict[str, Any], ...] = ()
    gates: tuple[GateRecord, ...] = ()
    reviews: tuple[ReviewRecord, ...] = ()
    red: TestProof | None = None
    green: TestProof | None = None
    waived: str = ""
    waived_on: str = ""
    unneeded: str = ""
    failures: tuple[Failure, ...] = ()
    dependencies: tuple[ExternalDependency, ...] | None = None
    commit: str = ""
    checkpoint: str = ""

    @property
    def quoted_title(self) -> str:
        """The title for use in a sentence: on one line, in quotation marks, and shortened."""
        return quoted(self.title, 80)

    @property
    def is_open(self) -> bool:
        """True unless it is completed."""
        return self.status is not table.StoryStatus.COMPLETED

    @property
    def standing_reviews(self) -> tuple[ReviewRecord, ...]:
        """The reviews with BLOCKING findings that no later review of the same kind approved."""
        newest = list[ReviewRecord]()
        for review in self.reviews:
            if review.verdict in table.APPROVING:
                newest = [before for before in newest if before.check is not review.check]
            elif review.blocking:
                newest.append(review)
        return tuple(newest)


class Led(_Value, frozen=True):
    """A session that led the run.

    Attributes:
        session: the client's id of it.
        since: when it began to lead.
        client: the process id of its client; 0 if not known.
        tokens: the tokens that its transcript counts; 0 if it has no counts.
        read: how many bytes of its transcript were counted.
    """

    session: str
    since: float
    client: int = 0
    tokens: int = 0
    read: int = 0


class Spent(_Value, frozen=True):
    """What a run, or a part of it, used: continued turns, sessions, seconds, tokens."""

    iterations: int = 0
    sessions: int = 0
    seconds: float = 0.0
    tokens: int = 0


class Run(_Value, frozen=True, omit_defaults=False):
    """One autonomous run.

    Attributes:
        id: the workflow's id.
        goal: as it was given, without a leading "Goal:".
        started: when it began, in seconds since the epoch.
        version: the version of this form.
        phase, status: its phase and status.
        why: why it was stopped, one clause; "" otherwise.
        stopped_at: when it was stopped; 0.0 if it never was.
        led_on_at: when a session was last told to continue: a later prompt may have ended its turn.
        acts: what persons did to it, the newest last.
        autonomous: nobody is asked: answers are assumed, and recorded.
        led: the sessions that led it, the newest last; the last one leads it now.
        iterations: stops after which a session had to continue, over the run's whole life.
        stories, clarifications, blockers, checkpoints: in the order in which they came.
        removed: stories that were removed before they were begun; `unneeded` says why.
        fix: what a person has to do, or did last.
        gates: the records of the run's own gates (G1, G7), the newest last.
        lint_attempts: trees on which a lint fix was tried and lint still failed.
        lint_waived: why failed lint is accepted; "" otherwise.
        reported_at, reported_stories: the last progress report: when, and after how many stories.
        last_reason: the digest of the run and its tree at the last continuation.
        idle: how many continuations in a row had the same digest, the first one not counted.
        last_stop: the name of the last answered stop: a second copy of its event is not a second stop.
        told: the last reason told to the person why the session may stop; it is not said twice.
        forgiven: use that no longer counts toward a cap, since a person resumed the run after it.
        asked_marker: the completed run's session was asked once for its closing word.
        pull_request: the URL of its pull request.
        unpublished: why it was finished without a pull request, as a clause; "" otherwise.
        published: the commit that was pushed for the pull request.
        completed: when it was completed; 0.0 until then.
        branch, base: the branch and the commit that it began on; "" for none.
    """

    id: str
    goal: str
    started: float
    version: int = VERSION
    phase: table.RunPhase = table.RunPhase.SETUP
    status: table.RunStatus = table.RunStatus.ACTIVE
    why: str = ""
    stopped_at: float = 0.0
    led_on_at: float = 0.0
    acts: tuple[PersonAct, ...] = ()
    autonomous: bool = False
    led: tuple[Led, ...] = ()
    iterations: int = 0
    stories: tuple[Story, ...] = ()
    removed: tuple[Story, ...] = ()
    clarifications: tuple[Clarification, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    fix: UserFix | None = None
    gates: tuple[GateRecord, ...] = ()
    lint_attempts: tuple[str, ...] = ()
    lint_waived: str = ""
    reported_at: float = 0.0
    reported_stories: int = 0
    last_reason: str = ""
    idle: int = 0
    last_stop: str = ""
    told: str = ""
    forgiven: Spent = Spent()
    asked_marker: bool = False
    pull_request: str = ""
    unpublished: str = ""
    published: str = ""
    completed: float = 0.0
    branch: str = ""
    base: str = ""

    @property
    def session(self) -> str:
        """The session that leads it; "" if none does."""
        return self.led[-1].session if self.led else ""

    @property
    def is_over(self) -> bool:
        """True once it is completed."""
        return self.status is table.RunStatus.COMPLETED

    @property
    def open_stories(self) -> tuple[Story, ...]:
        """The stories that are not completed."""
        return tuple(story for story in self.stories if story.is_open)

    @property
    def completed_stories(self) -> tuple[Story, ...]:
        """The stories that are completed."""
        return tuple(story for story in self.stories if not story.is_open)

    @property
    def tally(self) -> str:
        """How many of its stories are completed, as `3/5`."""
        return f"{len(self.completed_stories)}/{len(self.stories)}"

    @property
    def counted(self) -> str:
        """The same in words, as `3 of 5 stories`."""
        return f"{len(self.completed_stories)} of {len(self.stories)} stories"

    @property
    def current(self) -> Story | None:
        """The story at work; else the next one: pending, with all its dependencies completed."""
        done = {story.id for story in self.completed_stories}
        pending = (story for story in self.stories if story.status is table.StoryStatus.PENDING)
        following = (story for story in pending if done.issuperset(story.depends_on))
        return self.at_work or next(following, None)

    @property
    def at_work(self) -> Story | None:
        """The story at work; None if there is none."""
        return next((story for story in self.stories if story.status in table.WORKING), None)

    @property
    def standing_blockers(self) -> tuple[Blocker, ...]:
        """The blockers that nobody has resolved."""
        return tuple(blocker for blocker in self.blockers if not blocker.resolved_at)

    def demand_open(self, *also: table.RunStatus) -> None:
        """Raise Refused if the run is stopped or completed, or in one of these further statuses.

        Such a run takes no records: a person resumes it, or begins another one.
        """
        if self.status in (table.RunStatus.STOPPED, table.RunStatus.COMPLETED, *also):
            why, way = f" ({self.why})" if self.why else "", table.WAITS[self.status]
            raise refused("run-not-active", run=self, why=why, way=way)

    def demand_active(self) -> None:
        """Raise Refused unless the run is active: only a person undoes a brake, no move does."""
        self.demand_open(table.RunStatus.AWAITING_USER)

    def open_story(self, name: str, refusal: str) -> Story:
        """The story with this id, as `story`; raises the refusal with the given name if it is completed.

        A run that takes no more records is refused as in `demand_open`.
        """
        self.demand_open()
        story = self.story(name)
        if story.is_open:
            return story
        raise refused(refusal, story=story)

    def story(self, name: str) -> Story:
        """The story with this id, in upper or lower case; Refused, with the existing ids."""
        wanted = name.strip().upper()
        by_id = {story.id: story for story in self.stories}
        if wanted in by_id:
            return by_id[wanted]
        stands, near = there([*by_id], "there is none yet"), did_you_mean(name, by_id)
        raise refused("no-such-story", name=visible(name), there=stands, near=near)

    def with_story(self, story: Story) -> Run:
        """The same run with this story in place of the one with the same id."""
        stories = (story if other.id == story.id else other for other in self.stories)
        return self.but(stories=tuple(stories))


def data_of(value: _Value) -> dict[str, Any]:
    """A record as JSON data, without default values, for a command that prints it."""
    return dict(msgspec.to_builtins(value))


def encoded(kept: Run | tuple[Clarification, ...]) -> bytes:
    """The JSON of a run's file, or of the file with earlier clarifications."""
    return msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n"


def new_run(goal: str, now: float, **about: Any) -> Run:
    """A new run with this goal, in its first phase; the design's leading "Goal:" is removed.

    Args:
        goal: the goal, in a person's words.
        now: the present, in seconds since the epoch.
        about: more of its fields: autonomous, clarifications, branch, base.

    Raises:
        Refused: the goal is empty, or far too long.
    """
    words = goal.strip()
    words = words[5:].strip() if words[:5].casefold() == "goal:" else words
    if not words:
        raise refused("no-goal")
    if len(words) > LONG:
        raise refused("long-goal", length=len(words), long=LONG)
    lines = (visible(line).rstrip() for line in redact(words).splitlines())
    return Run(secrets.token_hex(4), "\n".join(lines), now, **about)
