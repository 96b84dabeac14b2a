"""The claim that GitHub alone shows: no file, no memory, no worktree.

The lease says who holds the task, else the card's Agent, else the assignees. The lease, the branch's
name, or a pull request that says it closes the issue show which branch and pull request belong to the
task; a pull request that only mentions the issue is somebody else's.

What was last synced is inferred from times: if the card's Status was set after the last event of the
task, somebody moved the card; otherwise the card lags behind. The result is a record like any other, and
the same decisions are made about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.record import claim_file, sections
from lifecycle.claim.record.state import Record, is_same
from lifecycle.core.light_dataclass import dataclass, fields_of, replace
from lifecycle.core.redact import unlinked
from lifecycle.core.timing import CLOCK_SKEW, render_time
from lifecycle.core.values.branch_names import named_issue
from lifecycle.core.values.model import BoardItem, Hold, Issue, Observation, PullRequest, PullState
from lifecycle.core.values.priorities import SPELLINGS, Status
from lifecycle.core.values.survey import Holding, Swept, Tip

RECONCILE = "reconcile"
"""The kind of consent to closing that a run's policy gives."""

_AUTOMATIC_SECONDS = 60.0
"""How long a board's own workflow, or a look under way, may take to set a card's Status."""

_WANTED: Mapping[Phase, str] = {
    **dict.fromkeys((Phase.CODING, Phase.PR_CLOSED), Status.IN_PROGRESS),
    **dict.fromkeys((Phase.CHECKS_RUNNING, Phase.MERGED_DETECTED), Status.IN_REVIEW),
    Phase.DONE: Status.DONE,
}
"""The Status of a task for each phase that GitHub can show."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The endings that may be begun: closing after a merge, releasing, ending a closed issue's lease."""

    closing: bool = False
    releasing: bool = False
    ending_lease: bool = False


@dataclass(frozen=True)
class InferredTask:
    """One issue with everything that a sweep shows of it.

    Attributes:
        swept: what the sweep showed of the issue.
        pull: the claim's own pull request, or None.
        branch: the claim's branch, "" if it is not known.
        tip: the newest commit of that branch on GitHub, or None.
        started_at: when somebody last took it, was assigned or reopened it; None if GitHub does not say.
        base: the configured base branch, "" for the repository's default branch.
    """

    swept: Swept
    repository: str
    issue: Issue
    observation: Observation
    hold: Hold | None = None
    pull: PullRequest | None = None
    branch: str = ""
    tip: Tip | None = None
    started_at: float | None = None
    base: str = ""

    @property
    def agent(self) -> str:
        """The holder of the task according to the lease, else according to the card, or "".

        A card that was put back to Todo may still name its last holder; anybody may claim the task. So
        may an archived card, on which nothing is written.
        """
        if self.hold is not None and self.hold.agent:
            return self.hold.agent
        item = self.observation.item
        if item is None or item.is_archived or self._is_free(item):
            return ""
        return item.agent or ""

    def _is_free(self, item: BoardItem) -> bool:
        """True if only its card, in Todo, names somebody, and the board's workflow did not put it there."""
        is_seen = self.hold is not None or self.pull is not None or not self.issue.is_open
        return is_same(item.status, Status.TODO) and not (is_seen or _came_with(item))

    @property
    def is_claimed(self) -> bool:
        """True if somebody holds it: there is a lease, an agent on the card, or an assignee."""
        return self.is_agents or bool(self.issue.assignees)

    @property
    def is_agents(self) -> bool:
        """True if an agent holds it, as far as anything shows; people's tasks are not touched."""
        return self.hold is not None or bool(self.agent)

    @property
    def is_merged(self) -> bool:
        """True if the claim's pull request is merged, so that the claim only has to be ended."""
        return self.pull is not None and self.pull.state is PullState.MERGED

    @property
    def merged_elsewhere(self) -> str:
        """The base that it merged into, if that is not the base of the work; else ""."""
        pull = self.pull
        return derive.merged_elsewhere(pull, self.base, self.observation) if pull else ""

    @property
    def reverted_by(self) -> int:
        """The pull request that reverted its own, which only a closer look shows; 0 if none did."""
        return self.pull.reverted_by if self.pull is not None else 0

    @property
    def head_owner(self) -> str:
        """The owner of the repository that has the claim's branch."""
        return self.pull.head_owner if self.pull is not None else self.repository.partition("/")[0]

    @property
    def phase(self) -> Phase:
        """The phase that GitHub shows; a closed issue is done."""
        return derive.phase_of(self.pull) if self.issue.is_open else Phase.DONE

    @cached_property
    def happened_at(self) -> float | None:
        """The time of the last event that decides the Status; taking the task is one, too."""
        moment = derive.happened_at(self.pull.number if self.pull else None, self.observation)
        return max([at for at in (moment, self.started_at) if at is not None], default=None)

    @property
    def keeps_card(self) -> bool:
        """True if the card has to follow the task.

        An agent's card does. A person's card does between the columns that the engine knows: people who
        made others (a backlog, shipped work) move cards into and out of them by themselves.
        """
        item = self.observation.item
        if self.is_agents or item is None:
            return self.is_agents
        # An issue without any label of a Status is on no board.
        return item.status.casefold() in SPELLINGS if item.status else not item.is_labels

    @cached_property
    def is_moved(self) -> bool:
        """True if the card's Status was set after the last event and does not fit the task.

        Right after the issue was closed it does not count: a hook's look under way sets what it saw.
        """
        item = self.observation.item
        if item is None or not (item.status and self.keeps_card):
            return False
        if is_same(item.status, _WANTED[self.phase]):
            return False
        if item.is_labels:
            # Nobody knows when a label was set: it counts unless a lease contradicts it.
            is_free = is_same(item.status, Status.TODO) and not self.hold
            return is_free or item.status.casefold() not in SPELLINGS
        if is_same(item.status, Status.TODO) and _came_with(item):
            return False
        status_at = item.status_at
        if is_same(item.status, Status.TODO) and status_at is not None:
            # A release leaves a card that is in Todo as it is; only a closer look shows its comment.
            status_at = max(status_at, derive.told_at(self.issue, None) or 0.0)
        if status_at is None or (moment := self.happened_at) is None:
            return status_at is not None
        return status_at > moment + (0.0 if self.issue.is_open else _AUTOMATIC_SECONDS)

    @property
    def has_two_holders(self) -> bool:
        """True if the card names another agent than the lease."""
        item = self.observation.item
        named = item.agent if item is not None else ""
        return self.hold is not None and bool(named) and named != self.hold.agent

    @property
    def is_unassigned(self) -> bool:
        """True if an agent holds the lease and its account is not among the assignees.

        If nobody was assigned since the lease was taken, GitHub may have refused the account (it may
        not write there): then nobody unassigned it.
        """
        if self.hold is None or self.hold.since is None or not self.issue.is_open:
            return False
        login, assigned_at = derive.login_of(self.hold.agent), self.swept.assigned_at
        if not login or derive.is_app(login) or derive.assigned(self.issue.assignees, login):
            return False
        return assigned_at is not None and assigned_at >= self.hold.since - CLOCK_SKEW

    @cached_property
    def last_sign(self) -> float | None:
        """The time of the holder's last sign of life; None if GitHub shows none with a time.

        A card that was set to Todo is not a sign of life: a release does that, not work.
        """
        item = self.observation.item
        pushed_at = self.tip.at if self.tip else None
        edited_at = self.pull.updated_at if self.pull else None
        set_at = item.status_at if item and not is_same(item.status, Status.TODO) else None
        signs = (pushed_at, edited_at, set_at, self.started_at)
        return max([at for at in signs if at is not None], default=None)

    def looked_at(
        self, observation: Observation, holding: Holding | None = None
    ) -> InferredTask | None:
        """The task as a closer look shows it, or None if GitHub knows no such issue any more.

        Args:
            observation: what the hooks' own look showed.
            holding: the repository's holding now. Without it the sweep's lease counts, unless the card
                names another agent by now: then the lease may not be the task's any more.
        """
        issue, item, before = observation.issue, observation.item, self.observation.item
        if issue is None:
            return None
        if item is not None and before is not None:
            item = replace(item, added_at=before.added_at)
        if holding is None:
            was = before.agent if before is not None else ""
            named = item.agent if item is not None else ""
            is_others = bool(named) and named not in (was, self.agent)
            hold = None if is_others else self.hold
            leases = {issue.number: hold} if hold is not None else {}
            tips = {self.branch: self.tip} if self.tip is not None else {}
            holding = Holding(self.repository, leases=leases, tips=tips)
        fresh = (*observation.by_branch, observation.by_number)
        pulls = {pull.number: pull for pull in (*self.swept.observation.by_branch, *fresh) if pull}
        shown = replace(observation, item=item, by_branch=tuple(pulls.values()))
        return task_of(replace(self.swept, observation=shown), holding, self.base)


def task_of(swept: Swept, holding: Holding, base: str = "") -> InferredTask | None:
    """The task that an issue and its repository show together, or None if there is no issue.

    `base`: the configured base branch, "" for the repository's default branch.
    """
    issue = swept.observation.issue
    if issue is None:
        return None
    default = swept.observation.default_branch or holding.default_branch
    swept = replace(swept, observation=replace(swept.observation, default_branch=default))
    hold = holding.leases.get(issue.number)
    pull = _pull_of(swept, holding, issue, base)
    leased = hold.branch if hold is not None else ""
    named = (name for name in sorted(holding.tips) if named_issue(name) == issue.number)
    branch = pull.branch if pull is not None else leased or next(named, "")
    times = (hold.since if hold is not None else None, _assigned_at(swept), issue.reopened_at)
    if pull is None and holding.pulls:
        # The branch has one that says nothing of the issue: not the claim's own, but no draft is opened.
        head = (branch, holding.repository.partition("/")[0].casefold())
        near = [p for p in holding.pulls if (p.branch, p.head_owner.casefold()) == head]
        seen = swept.observation
        swept = replace(swept, observation=replace(seen, by_branch=(*seen.by_branch, *near)))
    observation = replace(swept.observation, by_number=pull)
    started_at = max([at for at in times if at is not None], default=None)
    own = (hold, pull, branch, holding.tips.get(branch))
    return InferredTask(swept, holding.repository, issue, observation, *own, started_at, base)


def record_of(task: InferredTask, allowed: Allowed, now: float) -> Record:
    """The record of the claim that GitHub shows.

    Args:
        task: what a sweep or a look showed.
        allowed: which endings may be begun.
        now: the moment of a release.
    """
    item, pull, phase = task.observation.item, task.pull, task.phase
    is_closing = phase is Phase.MERGED_DETECTED and task.is_agents and allowed.closing
    if is_closing:
        phase = Phase.DONE
    keeps_lease = phase is Phase.DONE and not (is_closing or allowed.ending_lease)
    lease = task.hold.sha if task.hold is not None and not keeps_lease else ""
    own = fields_of(pull, "url", opened="number", head="head_sha") if pull is not None else {}
    synced_agent = item.agent if item is not None else None
    # Labels, and a board without that field, cannot hold an agent.
    if task.swept.lacks_agent or (item is not None and item.is_labels):
        synced_agent = task.agent
    return Record(
        values=_values(task, phase),
        created_at=task.started_at or 0.0,
        is_taken=True,
        title=task.issue.title,
        card=sections.CardRecord(is_known=item is not None, agent=synced_agent),
        pull=sections.PullRecord(**own),
        judged=phase.value,
        ownership=sections.OwnershipRecord(lease=lease),
        ending=sections.EndingRecord(
            lease_done=not lease,
            comment_done=not task.issue.is_open,  # the closing account has commented already
            override="" if task.issue.is_open else "the issue is closed",
            consent=RECONCILE if phase is Phase.DONE else "",
            releasing=_releasing(task, now) if allowed.releasing else None,
        ),
    )


def _values(task: InferredTask, phase: Phase) -> dict[str, Any]:
    item, wanted = task.observation.item, _WANTED[phase]
    synced = None
    if item is not None and item.status:
        synced = wanted if task.is_moved else item.status
    return {
        **claim_file.BLANK,
        "item_id": item.id if item is not None else "",
        "issue_number": task.issue.number,
        "branch": task.branch,
        "agent_id": task.agent,
        "phase": phase.value,
        # Of the pull request that pushed work may get: it may close no other issue.
        "summary": unlinked(task.issue.title) if task.tip is not None else "",
        "status": wanted if task.keeps_card else "",
        "pr_number": task.pull.number if task.pull is not None else None,
        "last_synced_status": synced,
    }


def _came_with(item: BoardItem) -> bool:
    """True if the Status is as old as the card: the board set it, and nobody moved the card."""
    if item.status_at is None or item.added_at is None:
        return False
    return item.status_at <= item.added_at + _AUTOMATIC_SECONDS


def _releasing(task: InferredTask, now: float) -> sections.Releasing:
    told_at = derive.told_at(task.issue, task.agent)
    # A release that was told before this claim was taken released an earlier claim of the same name.
    is_this = told_at is not None and told_at >= (task.started_at or 0.0) - CLOCK_SKEW
    pushed = f"pushed up to {task.tip.sha[:7]}" if task.tip is not None else "nothing pushed"
    sign = f" since {render_time(task.last_sign)}" if task.last_sign is not None else ""
    lease = f" The lease was {task.hold.sha}." if task.hold is not None else ""
    reason = f"no sign of life{sign}.{lease}"
    at = float(told_at) if told_at is not None and is_this else now
    progress = f"{pushed}, phase {task.phase}."
    return sections.Releasing(at=at, reason=reason, progress=progress, by="`lifecycle reconcile`")


def _pull_of(swept: Swept, holding: Holding, issue: Issue, base: str) -> PullRequest | None:
    """The claim's own pull request: the newest open one, else the newest merged, else the newest.

    One that merged into another base comes after a closed one, unless it was opened after that was closed:
    then the work continued in it, and a person decides whether that ends the task. A backport ends no task.
    """
    pulls = {pull.number: pull for pull in (*holding.pulls, *swept.observation.by_branch)}
    hold = holding.leases.get(issue.number)
    begun = _assigned_at(swept)
    if hold is not None and hold.since is not None:  # with the first lease, by its holder's clock
        begun = (hold.since if hold.began is None else hold.began) - CLOCK_SKEW
    own = [
        pull
        for pull in pulls.values()
        if _is_own(pull, swept, holding, issue)
        # A pull request that ended before this claim began was another claim's.
        and not (begun is not None and pull.closed_at is not None and pull.closed_at < begun)
        and not derive.ended_before_reopening(pull, issue)
    ]
    order = (PullState.OPEN, PullState.MERGED, PullState.CLOSED)
    here = [pull for pull in own if not derive.merged_elsewhere(pull, base, swept.observation)]
    first = min(here or own, key=lambda pull: (order.index(pull.state), -pull.number), default=None)
    if first is None or first.state is not PullState.CLOSED:
        return first
    return derive.went_on_in(first, [pull for pull in own if pull not in here]) or first


def _assigned_at(swept: Swept) -> float | None:
    """When the present assignee was last assigned; None if nobody is assigned any more."""
    issue = swept.observation.issue
    return swept.assigned_at if issue is not None and issue.assignees else None


def _is_own(pull: PullRequest, swept: Swept, holding: Holding, issue: Issue) -> bool:
    """True if it has the claim's branch, in a repository of the base's owner or of the task's holder."""
    hold, item = holding.leases.get(issue.number), swept.observation.item
    agent = (hold.agent if hold is not None else "") or (item.agent if item is not None else "")
    people = issue.assignees if not agent else (derive.login_of(agent or ""),)
    owners = {holding.repository.partition("/")[0].casefold(), *map(str.casefold, people)}
    if not pull.head_owner or pull.head_owner.casefold() not in owners:
        return False
    refers = derive.refers(pull, issue.number, holding.repository)
    if hold is not None and hold.branch:
        # A sweep does not see a merge that does not refer to the issue, and it closes nothing (`derive`).
        is_told = refers or pull.number in swept.closed_by or pull.state is not PullState.MERGED
        return pull.branch == hold.branch and is_told
    return pull.number in swept.closed_by or (refers and named_issue(pull.branch) == issue.number)
