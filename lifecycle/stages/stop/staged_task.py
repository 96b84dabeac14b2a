"""Which task a session works on, how it stands, and what an instruction is filled with.

A tracker is asked only where a stage was completed and its last answer is older than a minute, or where
a task was closed; and where a question is due and nothing is known of its tasks at all.
"""

from __future__ import annotations

from lifecycle.core.errors import GitFailed, LifecycleError, NotFound
from lifecycle.core.light_dataclass import replace
from lifecycle.core.redact import as_data, named, quoted
from lifecycle.core.stage_names import COMPLETES, LINE, Detected, Stage
from lifecycle.core.tracker import GITHUB, Task, TaskStatus
from lifecycle.core.values.configured import StageSettings
from lifecycle.core.world import World
from lifecycle.evidence import records, tree_hash
from lifecycle.evidence.records import Evidence, EvidenceRoom
from lifecycle.stages.decisions import instructions
from lifecycle.stages.decisions.decide import HeldTask, StageSeen
from lifecycle.stages.detection import stage_watch
from lifecycle.stages.session import session_record, workflow_tasks
from lifecycle.stages.session.activation import StageCall
from lifecycle.stages.session.workflow_tasks import Activity
from lifecycle.stages.stop.own_task import AGENT, ENDING, Own, claimed_task, spelled
from lifecycle.stages.transcript import tasks_taken
from lifecycle.stages.transcript.turn import Turn
from lifecycle.storage import log

HANDOFF = "lifecycle handoff"
"""What the instruction to close has in it under a claim."""


def facts_of(
    call: StageCall,
    stages: StageSettings,
    known: Activity,
    task: str,
    line: tuple[Stage, ...],
    *,
    is_claimed: bool,
    names_tests: bool = True,
) -> instructions.Facts:
    """What an instruction is filled with: the commands, the session's task, and the one to begin next.

    Args:
        call: the event.
        stages: the workflow's settings.
        known: the tracker's tasks.
        task: the id of the session's task, "" if it has none.
        line: the stages of that task.
        is_claimed: a claim on GitHub holds the worktree.
        names_tests: what follows may name what runs the tests; else that is not looked for.
    """
    tracker = call.world.tracker
    wording = tracker.wording()
    ready = next((other for other in known.startable if other.id != task), None)
    return instructions.Facts(
        settings=stages,
        # Where the client has no command that begins a task, it is begun by claiming it.
        wording=replace(wording, start=wording.start or wording.claim),
        tracker=tracker.name,
        task=as_data(task),
        next_task=as_data(ready.id) if ready is not None else "",
        next_title=quoted(ready.title) if ready is not None else "",
        line=line,
        is_claimed=is_claimed,
        check=_test_command(call.world) if names_tests else "",
    )


def _test_command(world: World) -> str:
    """What runs the tests here and keeps what they showed; "" where no command for them is known."""
    from lifecycle.evidence.checks import known_checks

    return known_checks.command_of(records.TEST, world.root, world.settings, world.environment)


def has_ended(call: StageCall, turn: Turn, record: session_record.SessionRecord) -> bool:
    """True if the claim ended whose closing the session was told to bring about."""
    is_more = any(state is not Detected.ISSUE_CLOSED for state in turn.markers)
    if turn.asked is not Stage.COMMIT_CLOSE or is_more or HANDOFF not in turn.instruction:
        return False
    if call.claim is not None and not call.claim.outcome:
        return False
    last = call.last_claim
    if last is None or last.outcome != "closed" or last.session not in ("", call.session):
        return False
    return record.task in ("", last.task_in(call.world.tracker.name))


def can_run_tests(world: World) -> bool:
    """True if a command for the tests is known here, or a run of them was ever seen."""
    runs = EvidenceRoom(world.root).records()
    was_seen = any(run.kind == records.TEST for run in runs)
    return bool(world.settings.stages.test or was_seen or _test_command(world))


class TaskSearch(Own):
    """What a session works on, also by what the tracker and git are asked for.

    Attributes:
        asked: the tracker's answer, which is new and to be kept; None until it was asked for its tasks.
        gone: the task that a command closed, once the tracker was asked for it.
        task, title, labels: the session's task, once `seen` knew it.
        holder: who has it, as the tracker writes it.
        actor: in whose name the tracker is spoken to.
        journal_task: the task as the journal spells it.
    """

    asked: Activity | None = None
    gone: Task | None = None
    task: str = ""
    title: str = ""
    labels: tuple[str, ...] = ()
    holder: str = ""
    actor: str = ""
    journal_task: str = ""

    def seen(self) -> StageSeen | None:
        """What a decision about the session looks at; None if the workflow is not active for it.

        A session that neither said a marker nor was told anything is led only if it works on a labelled
        task. What a stranger's session completes leads to one question at the most: whether there are
        such tasks at all, so that the guards know.

        Raises:
            LifecycleError: the tracker, or git, did not answer.
        """
        is_ours = self.is_ours()
        state = self._state()
        claimed = claimed_task(self.call)
        ids = () if is_ours else tuple(name for name in self.taken_up() if name != self.kept.ended)
        if not (is_ours or ids or claimed or self.mine(self.before)):
            if state.is_completion and (self.before is None or not self.before.tasks):
                self._activity(state, may_ask=True)
                self._keep()
            return None
        is_said = state.is_completion or bool(self.finding.misnamed)
        known = self._activity(state, may_ask=is_said or is_ours)
        if known is None:
            return None
        is_on_task = is_ours or self._is_on(known, claimed, ids)
        if not is_on_task or not (known.tasks or state in ENDING):
            self._keep()
            return None
        task = self.own_task(known, claimed, state)
        fresh = self._fresh(task, state)
        if fresh is not None and fresh.is_open and not self._has_label(fresh):
            self._keep()
            return None  # somebody took the label off: the workflow does not lead it any more
        return self._seen(known, state, fresh, task, claimed)

    def _is_on(self, known: Activity, claimed: str, ids: tuple[str, ...]) -> bool:
        """True if the session works on a labelled task, or closed one that was labelled until then."""
        if claimed and known.find(claimed) is None:
            return False  # it holds a task that the workflow does not lead
        if claimed or self.mine(known) or any(known.find(name) is not None for name in ids):
            return True
        if self.finding.state is not Detected.ISSUE_CLOSED:
            return False
        return any(map(self._was_labelled, self.closed()))

    def _was_labelled(self, name: str) -> bool:
        """True if the task that was closed is one of the workflow's; the tracker is asked once."""
        self.gone = self.before.find(name) if self.before is not None else None
        if self.gone is None:
            self.gone = self._asked_for(name)
        return self.gone is not None and self._has_label(self.gone)

    def _seen(
        self, known: Activity, state: Detected, fresh: Task | None, task: str, claimed: str
    ) -> StageSeen:
        known_before = self.before.find(task) if self.before is not None else None
        gone = self.gone if self.gone is not None and self.gone.id == task else None
        shown = fresh or known.find(task) or known_before or gone
        labels = shown.labels if shown is not None else self.kept.labels
        holding = self._holding(known, claimed, task, fresh)
        left = self._still_open(known, state, task, holding)
        is_open = left is not None
        is_over = not (is_open or self.turn.taken)  # what was just taken is left to be done
        conflict = self._conflict(fresh or left, holding)
        evidence, obstacle = self._evidence(state)
        left_by = task if is_over else ""
        remaining, elsewhere = self._left(known, left_by) if state in ENDING else (None, 0)
        shown_line = session_record.line_told(self.turn.instruction)
        line = self.stages.line_of(labels) if labels else shown_line
        facts = facts_of(
            self.call,
            self.stages,
            known,
            task,
            line,
            is_claimed=holding is not HeldTask.NONE,
            names_tests=self._names_tests(state, line),
        )
        self.task, self.labels = task, labels
        self.title = shown.title if shown is not None else ""
        self.holder = fresh.assignee if fresh is not None and not conflict else ""
        self.actor = self.kept.actor or self.tracker.actor
        self.journal_task = spelled(self.tracker, task)
        return StageSeen(
            turn=self.turn,
            finding=self.finding,
            facts=facts,
            memory=self.kept.memory,
            is_on_task=True,
            remaining=remaining,
            elsewhere=elsewhere,
            evidence=evidence,
            obstacle=obstacle,
            conflict=conflict,
            is_still_open=is_open,
            can_run=self._can_run(state, evidence),
            holding=holding,
        )

    def _fresh(self, task: str, state: Detected) -> Task | None:
        """The task as it is now, where a stage of it was completed; None if it does not matter."""
        if not task or not state.is_completion or state in ENDING:
            return None
        return self._asked_for(task, holders=True)

    def _still_open(
        self, known: Activity, state: Detected, task: str, holding: HeldTask
    ) -> Task | None:
        """The task that is said to be over and is not; a list that shows it open may be behind."""
        if state not in ENDING or holding in (HeldTask.WAITING, HeldTask.ENDED):
            return None
        if known.find(task) is None or (state is Detected.SESSION_CLEARED and self.turn.taken):
            return None
        now = self._asked_for(task, holders=True)
        return now if now is not None and now.is_open else None

    def _asked_for(self, task: str, *, holders: bool = False) -> Task | None:
        """The task as the tracker has it now; None if it is gone, so nobody holds it."""
        try:
            return self.tracker.get(task, holders=holders)
        except NotFound:
            return None

    def _has_label(self, task: Task) -> bool:
        return any(self.stages.is_label(name) for name in task.labels)

    def _was_closed(self, known: Activity, task: str, fresh: Task | None) -> bool:
        """True if the claim of the session's own task ended with its issue, and that is closed still.

        A person may merge and close at any stage; what the tracker was asked for just now shows it.
        """
        claim = self.call.claim
        is_over = claim is None or bool(claim.outcome)
        last = self.call.last_claim if is_over else None
        if last is None or last.outcome != "closed" or self.kept.task != task:
            return False
        if not task or last.task_in(self.tracker.name) != task:
            return False
        return not fresh.is_open if fresh is not None else known.find(task) is None

    def _holding(self, known: Activity, claimed: str, task: str, fresh: Task | None) -> HeldTask:
        """How a claim on GitHub stands to this session's task."""
        if has_ended(self.call, self.turn, self.kept) or self._was_closed(known, task, fresh):
            return HeldTask.ENDED
        claim = self.call.claim
        if not claimed or claimed != task or claim is None:
            return HeldTask.NONE
        return HeldTask.WORKING if claim.is_begun else HeldTask.WAITING

    def _state(self) -> Detected:
        """What counts as found: the stage that was set by hand is as good as a completed one."""
        if self.kept.memory.set_stage is not None:
            return Detected.CODING_COMPLETE
        is_over = has_ended(self.call, self.turn, self.kept)
        return Detected.ISSUE_CLOSED if is_over else self.finding.state

    def _activity(self, state: Detected, *, may_ask: bool) -> Activity | None:
        """The tracker's tasks; None if nothing is known of them and nobody is to be asked."""
        known = self.before
        if known is not None and self._is_believed(known, state):
            return known
        if not may_ask:
            return known
        now = self.call.world.clock.now()
        self.asked = workflow_tasks.ask(self.tracker, self.stages, now, known)
        return self.asked

    def _is_believed(self, known: Activity, state: Detected) -> bool:
        """True unless the answer is old; it is, too, for a task that was begun here and is not in it."""
        if known.is_stale or state in ENDING:
            return False
        if not state.is_completion:
            return True
        begun = tasks_taken.begun_in(self.turn.named, self.starts())[-1:] if self.is_ours() else ()
        is_fresh = known.is_fresh(self.call.world.clock.now())
        return is_fresh and all(known.find(name) is not None for name in begun)

    def _keep(self) -> None:
        if self.asked is not None:
            with self.files.locked():
                workflow_tasks.keep(self.files, self.asked)

    def _left(self, known: Activity, closed: str) -> tuple[int, int]:
        """How many tasks are left for this agent but for the closed one, and how many others work on.

        A list may be behind a command that closed one, and a command may have failed: where nothing else
        is left, such a task is asked for.
        """
        actor, own = self.tracker.actor, self.turn.taken
        tasks = [task for task in known.tasks if task.id != closed]
        if all(task.id in self.closed() for task in tasks):
            now = (self._asked_for(task.id) for task in tasks)
            tasks = [task for task in now if task is not None and task.is_open]
        taken = [task for task in tasks if task.status is TaskStatus.IN_PROGRESS and task.id != own]
        others = [task for task in taken if task.assignee not in ("", actor)]
        return len(tasks) - len(others), len(others)

    def _evidence(self, state: Detected) -> tuple[Evidence, str]:
        """What is known of the tests, and why nothing can be known."""
        needs = state.is_completion and LINE.index(COMPLETES[state]) >= LINE.index(Stage.TESTING)
        if not self.stages.require_evidence or not needs or self.kept.memory.set_stage is not None:
            return Evidence.NOT_NEEDED, ""
        world = self.call.world
        try:
            now = tree_hash.fingerprint(world.root, world.deadline, world.environment)
        except GitFailed as error:
            return Evidence.UNREADABLE, error.sentence
        return records.standing(EvidenceRoom(world.root).records(), now), ""

    def _names_tests(self, state: Detected, line: tuple[Stage, ...]) -> bool:
        """True if what the session is told next may be about its tests: TESTING, or a refusal after it."""
        if not state.is_completion:
            return self.finding.why == stage_watch.UNREAD
        if self.kept.memory.set_stage is not None:
            return self.kept.memory.set_stage is Stage.TESTING
        is_behind = LINE.index(COMPLETES[state]) >= LINE.index(Stage.TESTING)
        return is_behind or instructions.following(state, line) is Stage.TESTING

    def _can_run(self, state: Detected, evidence: Evidence) -> bool:
        """True if tests can be run here; looked for only where it matters."""
        is_told = state is Detected.TESTS_PASSING and self.finding.why == stage_watch.TEXT
        is_asked = is_told or evidence is Evidence.MISSING
        return not is_asked or can_run_tests(self.call.world)

    def _conflict(self, task: Task | None, holding: HeldTask) -> str:
        """One sentence if somebody else has the task now, or open tasks block it."""
        if task is None:
            return ""
        if task.blocked_by:
            names = as_data(", ".join(task.blocked_by))
            return f"Task {as_data(task.id)} is blocked by {names}."
        if not task.is_open:
            return ""
        holders = (*task.held_by, *self._holders_of_issue(holding))
        other = next((name for name in holders if not self._is_own(name, task.id)), "")
        return f"Task {as_data(task.id)} is claimed by {named(other)}." if other else ""

    def _is_own(self, name: str, task: str) -> bool:
        """True if this session has the task under that name, as far as anybody can tell.

        Its names are the actor, and who it was at first: a claim is over, or `/clear` made another session
        of it. Another tracker's own program may give it one that nobody here knows. That is the name under
        which it was first seen to work; or one that is no agent's, where the session took the task by a
        command, or was led to its end.
        """
        if name in (self.tracker.actor, self.kept.actor):
            return True
        if self.tracker.name == GITHUB:
            return False
        known = self.kept.holder if self.kept.task == task else ""
        is_taken = task in (self.kept.ended, *tasks_taken.begun_in(self.turn.named))
        return name == known if known else is_taken and not AGENT.search(name)

    def _holders_of_issue(self, holding: HeldTask) -> tuple[str, ...]:
        """Who else has the claim's issue, where the task is not that issue itself."""
        claim, world = self.call.claim, self.call.world
        is_held = holding in (HeldTask.WORKING, HeldTask.WAITING)
        issue = claim.task_in(GITHUB) if claim is not None and is_held else ""
        if not issue or self.tracker.name == GITHUB:
            return ()
        try:
            return world.issues.get(issue, holders=True).held_by
        except LifecycleError as error:  # the tasks can be read, so the session is led
            log.write(world.root, f"{self.call.hook}: stages: {error.sentence}")
            return ()
