"""The claim's record: what the engine remembers beside the file, and how a fact changes the record.

The record is a value. `fold` returns the next one; the engine commits it after each fact, so that a
crash loses at most the fact that was under way, and the next look learns that fact again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypedDict, assert_never

from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.record import sections
from lifecycle.claim.record.claim_file import Claim
from lifecycle.core import errors, plan
from lifecycle.core.light_dataclass import asdict, dataclass, field, fields, from_json, replace
from lifecycle.core.values.model import PullRequest
from lifecycle.core.values.priorities import Status

PAST_LIMIT = 24
"""How many earlier projections are kept as possible merge bases."""

RETRY_SECONDS = 60.0
"""How long a failed write waits if the server named no time."""

REFUSED_SECONDS = 600.0
REFUSED_PR_SECONDS = 120.0
"""How long a refused write waits if nothing changes that we can see: permissions may be granted, a pull
request's branch is pushed, and GitHub may lag."""

DAY_SECONDS = 86_400.0
"""The longest wait of a pull request that is refused again and again: each wait is twice as long."""

BEST_EFFORT_TRIES = 3
"""Transient failures of the board or the lease after which closing continues without it."""

NUDGES_KEPT = 20
"""How many moves by hand a record remembers: the newest."""


class ClaimChanges(TypedDict, total=False):
    """Fields of the claim file that a decision or a fact sets."""

    item_id: str | None
    pr_number: int | None
    phase: str
    status: str
    last_check_poll: str | None
    last_synced_status: str | None


_SECTIONS = {
    "pull": sections.PullRecord,
    "card": sections.CardRecord,
    "ending": sections.EndingRecord,
    "ownership": sections.OwnershipRecord,
    "linked": sections.LinkRecord,
}

_VERSION_1 = {
    **{part.name: f"{name}.{part.name}" for name, of in _SECTIONS.items() for part in fields(of)},
    "pr_url": "pull.url",
    "pr_head": "pull.head",
    "opened": "pull.opened",
    "told": "pull.announced",
    "asked_pr": "pull.asked",
    "is_item_known": "card.is_known",
    "synced_agent": "card.agent",
    "given_back": "ownership.is_leaseless",
    "is_link_known": "linked.is_known",
    "link_left": "linked.left",
}
"""The present place of each field of version 1 of `state.json`, which had one flat record."""


P = ParamSpec("P")


def _changing(name: str, _section: Callable[P, object]) -> Callable[Concatenate[Record, P], Record]:
    """A method that returns the record with these fields of a section changed; typed as in the section."""

    def changed(record: Record, /, *_: P.args, **changes: P.kwargs) -> Record:
        before = getattr(record, name)
        after = replace(before, **changes)
        return record if after is before else replace(record, **{name: after})

    return changed


@dataclass(frozen=True)
class Record:
    """One claim as the engine remembers it.

    Attributes:
        values: the claim's fields as the engine would write them.
        past: the values that were in the file, oldest first; possible bases of a merge.
        created_at: when this claim was first seen.
        is_taken: `lifecycle claim` made it, or a sweep read it, so that `created_at` is when it was made.
        title: the issue's title when it was last seen, for the journal; "" if nobody saw it.
        touched: the claim file's mtime in nanoseconds after the last look; another is another attempt.
        judged: the phase that GitHub confirmed last.
        nudges: the moves by hand, oldest first, at most NUDGES_KEPT.
        intents: creates whose outcome is unknown, by the kind of action.
        troubles: failures that hold an action back, by its kind.
        conditions: what somebody has to correct first, as sentences by their notices' keys; if about
            GitHub, as of the last read.
    """

    values: Mapping[str, Any]
    past: tuple[Mapping[str, Any], ...] = ()
    created_at: float = 0.0
    is_taken: bool = False
    title: str = ""
    touched: int = 0
    judged: str = ""
    nudges: tuple[sections.Nudge, ...] = ()
    intents: Mapping[str, sections.Intent] = field(default_factory=dict)
    troubles: Mapping[str, sections.Trouble] = field(default_factory=dict)
    conditions: Mapping[str, str] = field(default_factory=dict)
    pull: sections.PullRecord = field(default_factory=sections.PullRecord)
    card: sections.CardRecord = field(default_factory=sections.CardRecord)
    ending: sections.EndingRecord = field(default_factory=sections.EndingRecord)
    ownership: sections.OwnershipRecord = field(default_factory=sections.OwnershipRecord)
    linked: sections.LinkRecord = field(default_factory=sections.LinkRecord)

    if not TYPE_CHECKING:  # a type checker sees the new names only

        def __getattr__(self, name: str) -> object:
            """A field by the name that it had before the record had sections; deprecated."""
            place = _VERSION_1.get(name)
            if place is None:
                text = f"'Record' object has no attribute {name!r}"
                raise AttributeError(text, name=name, obj=self)
            warnings.warn(f"Record.{name} is {place} now", DeprecationWarning, stacklevel=2)
            return attrgetter(place)(self)

    @cached_property
    def claim(self) -> Claim:
        """`values` with their types; cached, since decisions use it again and again."""
        return Claim.of(self.values)

    @property
    def claim_key(self) -> str:
        """The ledger's key for notices of this claim, but not of a later claim on the same issue."""
        return f"{self.claim.issue_number}@{int(self.created_at)}"

    @property
    def is_inherited(self) -> bool:
        """True if the claim's session took over another session's claim and was not informed yet."""
        return bool(self.ownership.inherited) and self.ownership.inherited == self.ownership.session

    @property
    def is_lost(self) -> bool:
        """True if the claim lost its task: somebody else has it, or nobody, since its lease is gone."""
        return bool(self.ownership.taken_by) or self.ownership.is_leaseless

    @property
    def end(self) -> str:
        """The outcome of this claim once its file is deleted."""
        return "released" if self.ending.releasing is not None else "closed"

    def with_values(self, values: Mapping[str, object]) -> Record:
        """The record with some claim fields set."""
        is_so = values.items() <= self.values.items()
        return self if is_so else replace(self, values={**self.values, **values})

    def confirmed(self, phase: str, values: ClaimChanges) -> Record:
        """The record in a phase that GitHub confirms, with further claim fields set."""
        return replace(self.with_values({**values, "phase": str(phase)}), judged=str(phase))

    with_pull = _changing("pull", sections.PullRecord)
    with_ending = _changing("ending", sections.EndingRecord)
    with_ownership = _changing("ownership", sections.OwnershipRecord)
    with_linked = _changing("linked", sections.LinkRecord)

    def projected(self, values: Mapping[str, Any] | None = None) -> Record:
        """The record once `values` (its own unless given) are in the file: the newest merge base."""
        content = dict(self.values if values is None else values)
        if self.past and self.past[-1] == content:
            return self
        return replace(self, past=(*self.past, content)[-PAST_LIMIT:])

    def due(self) -> float | None:
        """The earliest moment at which a failed action is to be tried again; None without one."""
        return min((trouble.until for trouble in self.troubles.values()), default=None)

    def with_trouble(self, kind: str, trouble: sections.Trouble) -> Record:
        """The record with this kind of action held back."""
        return replace(self, troubles={**self.troubles, kind: trouble})

    def without(self, *kinds: str) -> Record:
        """The record with nothing held back of these kinds of action."""
        kept = {kind: trouble for kind, trouble in self.troubles.items() if kind not in kinds}
        return replace(self, troubles=kept)

    def without_intent(self, kind: str) -> Record:
        """The record without the intent of this kind of action."""
        return replace(self, intents={k: v for k, v in self.intents.items() if k != kind})

    def as_json(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Record:
        """The record from the result of `as_json`, or of an older version; unknown keys are dropped.

        Raises:
            TypeError: a part is missing, or of another type; somebody wrote the file by hand.
        """
        sectioned = data if "pull" in data else _from_version_1(data)
        record: Record | None = from_json(cls, sectioned, is_whole=False)
        if record is None:
            raise TypeError("a part of the record is missing, or of another type")
        return record


def _from_version_1(data: Mapping[str, Any]) -> dict[str, Any]:
    """The record's JSON with the flat fields of version 1 moved into sections."""
    sections: dict[str, dict[str, Any]] = {name: {} for name in _SECTIONS}
    for former, place in _VERSION_1.items():
        section, _, name = place.partition(".")
        if former in data:
            sections[section][name] = data[former]
    return {**data, **sections}


def is_same(name: str | None, other: str | None) -> bool:
    """True if two option names mean one option: the board is matched without regard to case."""
    return name == other or (name or "").casefold() == (other or "").casefold()


def kind_of(action: plan.Action) -> str:
    """The name under which an action's intent and trouble are kept."""
    return type(action).__name__


def mark_of(action: plan.Action) -> str:
    """The text that distinguishes one attempt of an action from another, for intents and troubles."""
    match action:
        case plan.PostComment():
            return action.marker
        case plan.OpenPullRequest():
            return f"{action.head.partition(':')[2]}@{action.pushed}: {action.title}"
        case _:
            return repr(action)


def fold(record: Record, fact: plan.Fact, now: float) -> Record:
    """The record after a fact that became true at `now`, in seconds since the epoch. Pure."""
    match fact:
        case plan.Intended():
            intent = sections.Intent(mark_of(fact.action), now)
            return replace(record, intents={**record.intents, kind_of(fact.action): intent})
        case plan.PullRequestOpened():
            number = fact.pull_request.number
            opened = with_pull_request(record, fact.pull_request).with_pull(opened=number)
            return _settled(opened, "OpenPullRequest")
        case plan.OnBoard():
            on_board = replace(record, card=replace(record.card, is_known=True))
            return _settled(on_board.with_values({"item_id": fact.item.id}), "AddToBoard")
        case plan.BoardIs():
            return _settled(_with_board(record, fact), "SetBoard")
        case plan.LeaseIs():
            return _settled(record.with_ownership(lease=fact.sha), "LeadLease")
        case plan.LinkedIs():
            return _settled(_with_link(record, fact), "SetLinked")
        case plan.Done(plan.ForgetClaim()):
            return record.with_ending(outcome=record.end)
        case plan.Done():
            return _settled(_done(record, fact.action, now), kind_of(fact.action))
        case plan.Failed():
            return _failed(record, fact, now)
        case _:
            assert_never(fact)


ENDING_STEPS = {
    plan.PostComment: "comment_done",
    plan.CloseIssue: "issue_closed",
    plan.Unassign: "unassigned",
    plan.ReleaseLease: "lease_done",
}
"""For each action that is a step of an ending: the field of `EndingRecord` that marks it as done."""


def _done(record: Record, action: plan.PlainAction, now: float) -> Record:
    """The record after an action that succeeded as planned."""
    pull = record.pull
    match action:
        case plan.LinkPullRequest():
            return record
        case plan.RemarkOnPull():
            return record.with_pull(remarked=len(pull.tampering))
        case plan.RerunJobs():
            reruns = tuple(rerun for rerun in pull.reruns if rerun[0] != action.run)
            # The checks that were read are out of date.
            return record.with_pull(reruns=reruns, checks=None)
        case plan.AdvancePullRequest():
            return record.with_pull(merging=replace(_asked(pull.merging, action), asked_at=now))
        case _:
            step: dict[str, Any] = {ENDING_STEPS[type(action)]: True}
            return record.with_ending(**step)


def _asked(merging: sections.MergeRecord, action: plan.AdvancePullRequest) -> sections.MergeRecord:
    """The record of the merge after a request to GitHub to advance it."""
    asked = {**merging.asked, action.how: action.head}
    if action.how == plan.AUTO_MERGE:
        asked.pop(plan.AUTO_MERGE_OFF, None)
        return replace(merging, asked=asked, is_ours=True)
    if action.how == plan.AUTO_MERGE_OFF:  # it must not look as if somebody else had done so
        return replace(merging, asked=asked, is_ours=False, auto_on="")
    return replace(merging, asked=asked)


def _with_link(record: Record, fact: plan.LinkedIs) -> Record:
    """The record with the linked task's new state; unchanged if the fact is about another task."""
    link = record.linked.link
    if link is None or link.id != fact.id:
        return record
    return record.with_linked(link=replace(link, synced=fact.synced or link.synced), left=fact.left)


def with_pull_request(record: Record, pull: PullRequest) -> Record:
    """The record once its pull request is open: number, phase and status change in one step."""
    values: ClaimChanges = {"pr_number": pull.number, "status": Status.IN_REVIEW}
    known = of_pull(record, pull.number).confirmed(Phase.PR_CREATED, values)
    return known.with_pull(url=pull.url, head=pull.head_sha, checks=None)


def of_pull(record: Record, number: int) -> Record:
    """The record for the pull request of this number; for another, only facts of the branch are kept."""
    if number == record.claim.pull:  # a dry run's has the number 0, which means none in a claim
        return record
    durations, tampering = record.pull.durations, record.pull.tampering
    since = {name: value for name, value in record.pull.failures.items() if name == "since"}
    known = sections.PullRecord(durations=durations, failures=since, tampering=tampering)
    return replace(record, pull=known)


def _with_board(record: Record, fact: plan.BoardIs) -> Record:
    """The record after a write of its card."""
    values, moved_to = {"item_id": fact.item.id}, record.card.moved_to
    if fact.wrote_status is not None:
        values["last_synced_status"], moved_to = fact.wrote_status, None
    is_done = record.claim.phase == Phase.DONE and is_same(fact.wrote_status, Status.DONE)
    # A release writes the card once, so any write of it is that step.
    is_done = is_done or (record.ending.releasing is not None and record.ending.releasing.is_begun)
    agent = fact.wrote_agent if fact.wrote_agent is not None else record.card.agent
    unsure = record.card.unsure if is_done else ()  # if the closing is refused, it is put back
    card = sections.CardRecord(is_known=True, agent=agent, moved_to=moved_to, unsure=unsure)
    # A closing writes another Status than Done only to put the card back.
    board_done = is_done or (record.ending.board_done and record.claim.phase != Phase.DONE)
    return replace(record.with_values(values), card=card).with_ending(board_done=board_done)


def _settled(record: Record, kind: str) -> Record:
    """The record without intent and trouble of one kind of action, which succeeded."""
    return record.without(kind).without_intent(kind)


def _failed(record: Record, fact: plan.Failed, now: float) -> Record:
    """The record with the failure as a trouble, which has the time of the next try."""
    kind, mark, error = kind_of(fact.action), mark_of(fact.action), fact.error
    before = record.troubles.get(kind)
    tries = before.tries + 1 if before and before.mark == mark else 1
    wait = REFUSED_SECONDS
    if kind == "OpenPullRequest":
        wait = min(REFUSED_PR_SECONDS * 2.0 ** min(tries - 1, 10), DAY_SECONDS)
    if isinstance(error, errors.Transient):
        wait = error.retry_after or RETRY_SECONDS
    if not (isinstance(error, errors.Transient) and error.is_ambiguous):
        record = record.without_intent(kind)  # nothing was created, so nothing need be looked for
    return record.with_trouble(kind, sections.Trouble.of(error, mark, now + wait, tries))
