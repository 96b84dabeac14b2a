"""Which task a session works on, the state of that task, and the values for an instruction.

A tracker is asked only if a stage was completed and the last answer is older than a minute, if a task was
closed, or if a question is due and nothing at all is known of the tasks.
"""

from __future__ import annotations

from lifecycle.core.errors import GitFailed, LifecycleError, NotFound
from lifecycle.core.light_dataclass import replace
from lifecycle.core.redact import as_data, named, quoted
from lifecycle.core.stage_names import COMPLETES, Detected, Stage
from lifecycle.core.tracker import GITHUB, Task, TaskStatus
from lifecycle.core.world import World
from lifecycle.evidence import records, tree_hash
from lifecycle.stages.decisions import instructions
from lifecycle.stages.decisions.decide import TESTED, HeldTask, StageSeen
from lifecycle.stages.detection import stage_watch
from lifecycle.stages.session import session_record, workflow_tasks
from lifecycle.stages.session.activation import StageCall
from lifecycle.stages.stop.own_task import AGENT, ENDING, Own
from lifecycle.stages.transcript import tasks_taken
from lifecycle.storage import log


def facts_of(
    call: StageCall, known: workflow_tasks.Activity, task: str, *, names_tests: bool = True
) -> instructions.Facts:
    """The values for an instruction: the commands, the session's task, and the task to begin next.

    The stages of the task, and whether it is claimed on GitHub, are the caller's to put in.

    Args:
        call: the event.
        known: the tracker's tasks.
        task: the id of the session's task, "" if it has none.
        names_tests: the instruction may name the test command; if False, that is not looked up.
    """
    tracker = call.world.tracker
    wording = tracker.wording()
    ready = next((other for other in known.startable if other.id != task), None)
    shown = known.find(task)
    is_held = shown is not None and shown.assignee == tracker.actor
    close = wording.close + (wording.as_holder if is_held else "")
    return instructions.Facts(
        settings=call.world.settings.stages,
        # If the client has no command that begins a task, the task is begun by claiming it.
        wording=replace(wording, start=wording.start or wording.claim, close=close),
        tracker=tracker.name,
        task=as_data(task),
        next_task=as_data(ready.id) if ready is not None else "",
        next_title=quoted(ready.title) if ready is not None else "",
        check=_test_command(call.world) if names_tests else "",
    )


def _test_command(world: World) -> str:
    """The command that runs the tests here and records the result; "" if no test command is known."""
    from lifecycle.evidence.checks import known_checks

    return known_checks.command_of(records.TEST, world.root, world.settings, world.environment)


def can_run_tests(world: World) -> bool:
    """True if a command for the tests is known here, or a run of them was ever seen."""
    was_seen = records.EvidenceRoom(world.root).has_tests
    return bool(world.settings.stages.test or was_seen or _test_command(world))


class TaskSearch(Own):
    """What a session works on; the tracker and git are asked if necessary.

    Attributes:
        gone: the task that a command closed, after the tracker was asked for it.
        record: the session's record, with its task after `seen` has found it.
        title, labels: of that task.
    """

    gone: Task | None = None
    record: session_record.SessionRecord
    title: str = ""
    labels: tuple[str, ...] = ()

    def seen(self) -> StageSeen | None:
        """What a decision about the session looks at; None if the workflow is not active for it.

        A session that neither emitted a marker nor was told anything is led only if it works on a labelled
        task; so is one whose run has ended, and what it only looked at is not its task. If any other
        session completes something, the tracker is asked at most once: whether such tasks exist at all, so
        that the guards know.

        Raises:
            LifecycleError: the tracker, or git, did not answer.
        """
        state = self.state
        named = self.begun if self.is_run_over else tasks_taken.ids_in(self.turn.named, self.starts)
        ids = [name for name in (*named, *self.closed) if name != self.kept.ended]
        if not (self.is_ours or ids or self.claimed or self.is_run_over or self.mine(self.before)):
            if state.is_completion and (self.before is None or not self.before.tasks):
                self._activity(may_ask=True)
            return None
        may_ask = state.is_completion or bool(self.finding.misnamed) or self.is_ours
        known = self._activity(may_ask=may_ask)
        if known is None:
            return None
        self.claimed = self._by_now(known, self.claimed)
        self.kept = replace(self.kept, task=self._by_now(known, self.kept.task))
        is_on_task = self.is_ours or self._is_on(known, ids)
        if not is_on_task or not (known.tasks or state in ENDING):
            return None
        task = self.own_task(known)
        fresh = self._asked_for(task) if task and self._is_unsure(known, task) else None
        if fresh is not None and fresh.is_open and not self._has_label(fresh):
            return None  # somebody removed the label: the workflow does not lead this task any more
        return self._seen(known, task, fresh)

    def _by_now(self, known: workflow_tasks.Activity, task: str) -> str:
        """A task's present id: with another prefix it is still this very agent's; or it was renamed."""
        if not task or known.find(task) is not None:
            return task
        end, mine = task.rpartition("-")[2], self.mine(known)
        listed = self.before.tasks if self.before is not None else ()
        before = {old.id: (old.title, old.created_at) for old in listed}
        new = [other for other in known.tasks if other.id not in before]
        same = [other.id for other in new if (other.title, other.created_at) == before.get(task)]
        same += [held.id for held in mine if held.id.rpartition("-")[2] == end]
        alike = next(iter(same), "")
        return alike if alike and self._asked_for(task, holders=False) is None else task

    def _is_on(self, known: workflow_tasks.Activity, ids: list[str]) -> bool:
        """True if the session works on a labelled task, or closed one that had the label."""
        if self.claimed and known.find(self.claimed) is None:
            return False  # it holds a task that the workflow does not lead
        if self.claimed or self.mine(known) or any(known.find(name) is not None for name in ids):
            return True
        closed = self.closed if self.finding.state is Detected.ISSUE_CLOSED else ()
        return any(map(self._was_labelled, self.begun[-1:] if self.is_run_over else closed))

    def _was_labelled(self, name: str) -> bool:
        """True if the task that was closed is one of the workflow's; the tracker is asked once."""
        listed = self.before.find(name) if self.before is not None else None
        self.gone = listed or self._asked_for(name, holders=False)
        return self.gone is not None and self._has_label(self.gone)

    def _seen(self, known: workflow_tasks.Activity, task: str, fresh: Task | None) -> StageSeen:
        """What a decision about this task looks at; `fresh` is its current state, if that was asked."""
        known_before = self.before.find(task) if self.before is not None else None
        gone = self.gone if self.gone is not None and self.gone.id == task else None
        shown = fresh or known.find(task) or known_before or gone
        self.labels = shown.labels if shown is not None else self.kept.labels
        self.title = shown.title if shown is not None else ""
        holding = self._holding(known, task, fresh)
        is_open = self.state in ENDING and fresh is not None and fresh.is_open
        conflict = self._conflict(fresh, holding)
        evidence, obstacle = self._evidence()
        # Whether tests can be run here is looked up only if it matters.
        is_told = self.state is Detected.TESTS_PASSING and self.finding.why == stage_watch.TEXT
        is_asked = is_told or evidence is records.Evidence.MISSING
        # The task that was just taken still has to be done.
        is_over = not is_open and not self.turn.taken
        remaining, elsewhere = self._left(known, task if is_over else "")
        shown_line = session_record.line_told(self.turn.instruction)
        line = self.stages.line_of(self.labels) if self.labels else shown_line
        facts = facts_of(self.call, known, task, names_tests=self._names_tests(line))
        facts = replace(facts, line=line, is_claimed=holding is not HeldTask.NONE)
        holder = fresh.assignee if fresh is not None and not conflict else ""
        is_issue = bool(task) and self.tracker.name == GITHUB
        self.record = replace(
            self.kept.on(task, self.labels, holder),
            actor=self.kept.actor or self.tracker.actor,
            spelled=f"#{tasks_taken.plain(task)}" if is_issue else task,
        )
        return StageSeen(
            turn=self.turn,
            finding=self.finding,
            facts=facts,
            memory=self.kept.memory,
            remaining=remaining,
            elsewhere=elsewhere,
            evidence=evidence,
            obstacle=obstacle,
            conflict=conflict,
            is_still_open=is_open,
            can_run=not is_asked or can_run_tests(self.call.world),
            holding=holding,
            set_by=instructions.BY_RUN if self.is_run_over else instructions.BY_HAND,
        )

    def _is_unsure(self, known: workflow_tasks.Activity, task: str) -> bool:
        """True if the tracker has to be asked for the task as it is now.

        A list may be old, and lacks a task whose label was removed as well as one that is closed.
        """
        if self.state not in ENDING:
            return self.state.is_completion
        if self._holding(known, task, None) in (HeldTask.WAITING, HeldTask.ENDED):
            return False
        return self.state is Detected.ISSUE_CLOSED or not self.turn.taken

    def _asked_for(self, task: str, *, holders: bool = True) -> Task | None:
        """The task as the tracker has it now; None if it is gone (then nobody holds it)."""
        try:
            return self.tracker.get(task, holders=holders)
        except NotFound:
            return None

    def _has_label(self, task: Task) -> bool:
        return any(self.stages.is_label(name) for name in task.labels)

    def _holding(self, known: workflow_tasks.Activity, task: str, fresh: Task | None) -> HeldTask:
        """The state of a claim on GitHub for this session's task.

        A person may merge and close at any stage; the tracker's answer of just now shows it.
        """
        last = self.closed_claim if task and self.kept.task == task else None
        was_ours = last is not None and last.task_in(self.tracker.name) == task
        is_open = fresh.is_open if fresh is not None else known.find(task) is not None
        if self.has_ended or (was_ours and not is_open):
            return HeldTask.ENDED
        claim = self.call.claim
        if not self.claimed or self.claimed != task or claim is None:
            return HeldTask.NONE
        return HeldTask.WORKING if claim.is_begun else HeldTask.WAITING

    def _activity(self, *, may_ask: bool) -> workflow_tasks.Activity | None:
        """The tracker's tasks; None if none are known and the tracker must not be asked."""
        known = self.before
        if not may_ask:
            return known
        if known is not None and not known.is_stale and self.state not in ENDING:
            begun = self.begun[-1:] if self.is_ours else ()
            has_begun = all(known.find(name) is not None for name in begun)
            is_fresh = known.is_fresh(self.call.world.clock.now())
            if not self.state.is_completion or (is_fresh and has_begun):
                return known
        return workflow_tasks.asked_anew(self.call.world, known)

    def _left(self, known: workflow_tasks.Activity, closed: str) -> tuple[int | None, int]:
        """How many tasks are left for this agent besides the closed one, and how many others work on.

        The first is None if no task ends here. A list may be older than a command that closed a task, and a
        command may have failed: if no other task is left, the tracker is asked for the closed one.
        """
        if self.state not in ENDING:
            return None, 0
        actor, own = self.tracker.actor, self.turn.taken
        tasks = [task for task in known.tasks if task.id != closed]
        if all(task.id in self.closed for task in tasks):
            now = (self._asked_for(task.id, holders=False) for task in tasks)
            tasks = [task for task in now if task is not None and task.is_open]
        taken = [task for task in tasks if task.status is TaskStatus.IN_PROGRESS and task.id != own]
        others = [task for task in taken if task.assignee not in ("", actor)]
        return len(tasks) - len(others), len(others)

    def _evidence(self) -> tuple[records.Evidence, str]:
        """What is known of the tests, and the reason if nothing can be known."""
        is_needed = self.stages.require_evidence and self._is_tested
        if not is_needed or self.kept.memory.set_stage is not None:
            return records.Evidence.NOT_NEEDED, ""
        world = self.call.world
        try:
            now = tree_hash.fingerprint(world.root, world.deadline, world.environment)
        except GitFailed as error:
            return records.Evidence.UNREADABLE, error.sentence
        runs = records.EvidenceRoom(world.root).records()
        return records.standing(runs, now, suites=self.stages.test), ""

    @property
    def _is_tested(self) -> bool:
        """True if a stage was completed that needs a green test run."""
        return COMPLETES.get(self.state) in TESTED

    def _names_tests(self, line: tuple[Stage, ...]) -> bool:
        """True if the next instruction may be about tests: TESTING, or a refusal after it."""
        if not self.state.is_completion:
            return self.finding.why == stage_watch.UNREAD
        if self.kept.memory.set_stage is not None:
            return self.kept.memory.set_stage is Stage.TESTING
        return self._is_tested or instructions.following(self.state, line) is Stage.TESTING

    def _conflict(self, task: Task | None, holding: HeldTask) -> str:
        """One sentence if somebody else has the task now, or open tasks block it; else ""."""
        if task is None:
            return ""
        if task.blocked_by:
            return f"Task {as_data(task.id)} is blocked by {as_data(', '.join(task.blocked_by))}."
        if not task.is_open:
            return ""
        holders = (*task.held_by, *self._holders_of_issue(holding))
        other = next((name for name in holders if not self._is_own(name, task.id)), "")
        return f"Task {as_data(task.id)} is claimed by {named(other)}." if other else ""

    def _is_own(self, name: str, task: str) -> bool:
        """True if this session has the task under that name, as far as can be told.

        Its names are the actor and its first name, which may differ after the end of a claim or after
        `/clear`. A tracker's own program may give it a name that is not known here: the name under which it
        was first seen to work; or a name that is not an agent's, if the session took the task by a command
        or was led to its end.
        """
        if name in (self.tracker.actor, self.kept.actor):
            return True
        if self.tracker.name == GITHUB:
            return False
        known = self.kept.holder if self.kept.task == task else ""
        is_taken = task in (self.kept.ended, *tasks_taken.begun_in(self.turn.named))
        return name == known if known else is_taken and not AGENT.search(name)

    def _holders_of_issue(self, holding: HeldTask) -> tuple[str, ...]:
        """Who else has the claim's issue, if the task is not that issue itself."""
        claim, world = self.call.claim, self.call.world
        is_held = holding in (HeldTask.WORKING, HeldTask.WAITING)
        issue = claim.task_in(GITHUB) if claim is not None and is_held else ""
        if not issue or self.tracker.name == GITHUB:
            return ()
        # The tasks can be read, so the session is led.
        with log.Surviving(world.root, f"{self.call.hook}: stages", LifecycleError):
            return world.issues.get(issue, holders=True).held_by
        return ()
