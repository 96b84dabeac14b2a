"""Judge one task: rehearse the hooks' own decisions, and name the finding that each step repairs.

No rule about tasks is written here. The record is the one that GitHub shows (`inferred.py`), the steps are
those that `claim/decisions/decide.py` gives for it, and a finding is the name of a step. One sentence says
exactly what the steps write. It is an imperative, so that it fits before and after the writing, and also if
that was not allowed: "Clear the Agent, end the lease."
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import starmap

from lifecycle.claim.decisions.decide import apply_observation, foresee, imagine
from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.record import claim_file
from lifecycle.claim.record.state import Record, is_same
from lifecycle.core import plan
from lifecycle.core.light_dataclass import dataclass, field, replace
from lifecycle.core.redact import named, quoted
from lifecycle.core.values.configured import Settings
from lifecycle.core.values.model import LABELS_ITEM, BoardItem, PullState
from lifecycle.core.values.priorities import Status
from lifecycle.reconcile.finding import KINDS, Finding, State, of, sentence
from lifecycle.reconcile.inferred import Allowed, InferredTask, record_of
from lifecycle.reconcile.scope import Policy

EVERYTHING = Policy(closes=True, releases=True)
ALIVE = "Another finding of this task is repaired first; that counts as a sign of life."

Written = dict[str, tuple[InferredTask, list[plan.Action]]]
"""For each kind of finding, what is written, and the task before that."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Everything that judging needs besides the task.

    Attributes:
        settings: those that a decision depends on.
        has_board: a board is configured and can be read.
        policy: what may be done.
        now: the time of the run.
        is_rehearsal: nothing will be written, so the consequences of writes are foreseen.
        planned: the Statuses that the findings so far set, as far as the policy allows.
    """

    settings: Settings
    has_board: bool
    policy: Policy
    now: float
    is_rehearsal: bool = False
    planned: set[str] = field(default_factory=set, repr=False, compare=False)

    def findings(self, task: InferredTask) -> tuple[Finding, ...]:
        """The findings of a task, in the order of KINDS.

        They say what would be done if everything were allowed, and what the policy allows instead.
        """
        allowed = tuple(self._allowed(task, self.policy))
        done = self._writes(task, allowed)
        for _, actions in done.values():
            self.planned.update(_statuses(actions))
        # For most tasks nothing could be closed or released: then both are the same.
        may_end = task.is_merged or self.is_silent(task)
        everything = self._allowed(task, EVERYTHING) if may_end else ()
        further = [endings for endings in everything if endings not in allowed]
        writes = self._writes(task, (*allowed, *further)) | done if further else done
        kinds = set(writes)
        card = task.observation.item
        is_seen = bool(allowed) and card is not None and not card.is_archived
        if is_seen and task.is_moved and not _is_followed(done):
            kinds.add("moved-by-hand")
        if task.is_unassigned and not writes.keys() & {"silent", "merged-open"}:
            kinds.add("unassigned")
        elsewhere = task.merged_elsewhere if task.is_agents and task.issue.is_open else ""
        if elsewhere:
            kinds.add("merged-open")
        stays = {kind: KINDS[kind].stays for kind in KINDS if kind in kinds}
        if elsewhere:
            stays["merged-open"] = sentence("merged-elsewhere", base=named(elsewhere))
        if self.is_rehearsal and "silent" in done and _revives(done):
            stays["silent"] = ALIVE
        fixes = {kind: fix_sentence(actions, before) for kind, (before, actions) in writes.items()}
        issue = task.issue
        about = (task.repository, issue.number, issue.title, issue.url, task.phase.value)

        def finding(kind: str, why: str) -> Finding:
            state = State.LEFT if why else State.PLANNED if kind in done else State.OFF
            return Finding(kind, *about, of(kind, task, self.now), fixes.get(kind, ""), state, why)

        return tuple(starmap(finding, stays.items()))

    def looks(self, task: InferredTask) -> Iterator[Snapshot]:
        """The snapshots to decide on: the claim if it continues, and then its release, if that is due."""
        allowed = self._allowed(task, self.policy)
        return (self._seen(task, record_of(task, endings, self.now)) for endings in allowed)

    def _allowed(self, task: InferredTask, policy: Policy) -> Iterator[Allowed]:
        """The endings of this task that may be begun, for each record of it that is judged."""
        is_known = task.is_claimed if task.issue.is_open else task.keeps_card
        if not is_known:
            return
        is_silent = self.is_silent(task)
        # Closing ends with the lease, so a closing that was cut short is finished with it.
        ends = (policy.releases and is_silent) or (policy.closes and task.is_merged)
        is_doubtful = task.merged_elsewhere or task.reverted_by  # a person judges that
        closing = policy.closes and task.is_merged and not is_doubtful
        allowed = Allowed(closing, ending_lease=ends and not task.issue.is_open)
        is_released = is_silent and policy.releases and task.issue.is_open
        is_left = task.tip is not None and task.pull is None  # work that only the branch shows
        if not is_released or task.has_two_holders or is_left:
            yield allowed
        if is_released:
            yield replace(allowed, releasing=True)

    def is_silent(self, task: InferredTask) -> bool:
        """True if an agent's task shows no sign of life and nobody else has to act on it."""
        sign = task.last_sign
        if sign is not None and not task.issue.is_open:
            sign = max(sign, task.issue.closed_at or sign)
        if sign is None or self.now - sign <= self.policy.silent_seconds or not task.is_agents:
            return False
        # A pull request that mentions it counts, too, whatever its branch.
        near = [pull for pull in (task.pull, *task.swept.observation.by_branch) if pull]
        is_waiting = any(pull.state is PullState.OPEN and not pull.is_draft for pull in near)
        return not (task.issue.is_open and (task.is_merged or is_waiting))

    def _seen(self, task: InferredTask, record: Record) -> Snapshot:
        record = apply_observation(record, task.observation, self.now)
        seen = Snapshot(plan.Wake.SWEEP, self.now, record, self.settings, has_board=self.has_board)
        seen = replace(seen, observation=task.observation, head_owner=task.head_owner)
        pushed = task.tip.sha if task.tip is not None else None
        return replace(seen, pushed_head=pushed, is_silent=self.is_silent(task))

    def _writes(self, task: InferredTask, allowed: Iterable[Allowed]) -> Written:
        """The steps that follow, by the kind of finding; a release sees whom the card then names.

        Any other write is a sign of life, so that no release follows it.
        """
        writes: Written = {}
        for endings in allowed:
            item = task.observation.item
            for kind, action in steps(self._seen(task, record_of(task, endings, self.now)), task):
                writes.setdefault(kind, (task, []))[1].append(action)
                if isinstance(action, plan.SetBoard) and action.status is None:
                    item = _after(action, item or BoardItem(action.item_id))
            task = replace(task, observation=replace(task.observation, item=item))
        return writes


def _is_followed(done: Written) -> bool:
    """True if the card's Status is set after all: a draft that is opened now is newer than a move."""
    silent = done.get("silent")
    return "branch-without-pull" in done or (silent is not None and any(_statuses(silent[1])))


def _statuses(actions: Iterable[plan.Action]) -> Iterator[str]:
    """The Statuses that are written."""
    return (a.status for a in actions if isinstance(a, plan.SetBoard) and a.status is not None)


def _revives(writes: Written) -> bool:
    """True if a write before a release counts as a sign of life, so that no release follows."""
    others = [a for kind, (_, actions) in writes.items() if kind != "silent" for a in actions]
    on_pull = plan.OpenPullRequest | plan.LinkPullRequest
    return any(_statuses(others)) or any(isinstance(action, on_pull) for action in others)


def kind_of(action: plan.Action, record: Record, task: InferredTask) -> str:
    """What the finding is called that an action repairs.

    Args:
        action: what a decision wants.
        record: the claim as the decision left it.
        task: as it was found.
    """
    is_open, is_ending = task.issue.is_open, record.claim.phase == Phase.DONE
    match action:
        case plan.OpenPullRequest():
            return "branch-without-pull"
        case plan.LinkPullRequest():
            return "unlinked"
        case plan.AddToBoard():
            return "off-board"
        case _ if record.ending.releasing is not None:
            return "silent"
        case plan.ReleaseLease() if not is_open:
            return "lease-left"
        case plan.SetBoard() if not is_open:
            return "closed-on-board"
        case plan.SetBoard() if not is_ending:
            return _of_card(action, record, task)
        case _:
            return "merged-open"


def _of_card(action: plan.SetBoard, record: Record, task: InferredTask) -> str:
    item, pull = task.observation.item, task.pull
    if item is None:
        return "off-board"
    if pull is None and record.pull.opened is not None:
        return "branch-without-pull"  # the card follows the draft that was just opened
    if action.status is None:
        return "agent-drift"
    is_review = is_same(item.status, Status.IN_REVIEW)
    if pull is not None and pull.state is PullState.CLOSED and is_review:
        return "pull-closed"
    is_todo = not item.status or is_same(item.status, Status.TODO)
    return "assigned-todo" if pull is None and is_todo and task.issue.assignees else "status-drift"


def steps(snapshot: Snapshot, task: InferredTask) -> Iterator[tuple[str, plan.Action]]:
    """The writes that are foreseen for a task, each with the kind of the finding that it repairs."""
    for seen, step in foresee(snapshot, imagine):
        if step.action is not None and not isinstance(step.action, plan.ForgetClaim):
            yield kind_of(step.action, seen.record, task), step.action


_COMMENT = "<!--"
"""The characters from which on GitHub shows no more of a line."""


def fix_sentence(actions: Sequence[plan.Action], task: InferredTask) -> str:
    """The sentence that says what these actions do to the task; "" without actions.

    Args:
        actions: the writes that are planned, or were made, in order; a repeated one is told once.
        task: the task before these writes.
    """
    parts: list[str] = []
    item = task.observation.item or BoardItem("")
    for action in dict.fromkeys(actions):
        parts += _parts(action, task, item)
        if isinstance(action, plan.SetBoard):
            item = _after(action, item)
    text = ", ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _parts(action: plan.Action, task: InferredTask, item: BoardItem) -> Iterator[str]:
    match action:
        case plan.OpenPullRequest():
            draft = "draft " if action.is_draft else ""
            yield f"open a {draft}pull request of {named(action.head.partition(':')[2])}"
        case plan.LinkPullRequest():
            line = action.line.partition(_COMMENT)[0].strip()
            yield f'add "{line}" to the text of PR #{action.number}'
        case plan.SetBoard():
            yield from _card(action, item)
        case plan.ReleaseLease():
            who = task.hold.agent if task.hold is not None else ""
            yield f"end the lease of {named(who)}" if who else "end the lease"
        case _ if words := claim_file.actions()[type(action).__name__].get("fixes"):
            yield words.format(action)


def _card(action: plan.SetBoard, before: BoardItem) -> Iterator[str]:
    """What changes on a card, or on the labels that replace it, which name no agent."""
    is_labels = action.item_id.startswith(LABELS_ITEM)  # the board may have refused a new card
    if action.status is not None and action.status != before.status:
        yield _set("Status label" if is_labels else "Status", before.status, action.status)
    if is_labels:
        return
    if action.clear_agent:
        yield f"clear the Agent {quoted(before.agent)}" if before.agent else "clear the Agent"
    elif action.agent and action.agent != before.agent:
        yield _set("Agent", before.agent, action.agent)


def _set(what: str, was: str | None, wanted: str) -> str:
    start = f" from {quoted(was)}" if was else ""
    return f"set the {what}{start} to {quoted(wanted)}"


def _after(action: plan.SetBoard, before: BoardItem) -> BoardItem:
    """The card after this write."""
    agent = None if action.clear_agent else action.agent or before.agent
    return replace(before, status=action.status or before.status, agent=agent)
