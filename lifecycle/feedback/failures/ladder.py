"""The cause of a head's failures, and what follows: run again, wait, ignore, fix, or ask a person. Pure.

Infrastructure is suspected first: another attempt costs no turn. A failure that also occurs at the tested
base is not the change's. All others are the agent's, as long as its work makes progress.

`FailureLedger` is the memory of a pull request's red heads. How often a run was rerun is not in it: GitHub
counts the attempts, the same for every machine.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from lifecycle.core.light_dataclass import dataclass, field, from_json, replace
from lifecycle.core.values.configured import Settings

if TYPE_CHECKING:
    from lifecycle.core.values.failed_checks import WorkflowRun
    from lifecycle.feedback.checks.packet import CheckFailure, FailurePacket

MOST_HEADS = 10
"""Red heads for which the agent is woken, over a pull request's whole life."""

BASE_POLLS = 5
"""Polls between two reads of a base that moved: its own run takes minutes, and may never begin."""

BETWEEN = "\t"
"""The separator between the names of a workflow and its check, if a check is named by both."""


MOST_KEPT = 50
"""Red heads at most, the newest."""


@dataclass(frozen=True, slots=True)
class RedHead:
    """A head at which something of the change's own failed: its identities, its trace, its packet."""

    sha: str
    identities: tuple[str, ...]
    trace: tuple[str, ...]
    packet: str


@dataclass(frozen=True, slots=True)
class FailureLedger:
    """What is remembered of one pull request.

    Attributes:
        number: the pull request's number; another pull request begins an empty ledger.
        reds: heads whose failures were the agent's, the oldest first, without heads that had no log.
            Their failures count until a head is green.
        stopped: identities about which a person was asked, until a head is green or they say to continue.
        red: the newest head of which failures were read, "" if there is none.
        failing: what failed at that head: identities by workflow and check.
        kind: whose failures they were at the last read, a `FailureClass` in lower case; else "".
        since: the branch's first red head, after which commits are searched; "" if there is none.
        compared: the head up to which they were searched.
        base: the newest commit of the base that was checked for the same failures; else "".
        base_at: when that was, in seconds since the epoch.
        is_due: read the failures again at the next look that shows checks.
    """

    number: int
    reds: tuple[RedHead, ...] = ()
    stopped: tuple[str, ...] = ()
    red: str = ""
    failing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    compared: str = ""
    base: str = ""
    base_at: float = 0.0
    is_due: bool = False
    kind: str = ""
    since: str = ""

    def count(self, identity: str) -> int:
        """At how many heads this identity has failed so far."""
        return sum(identity in head.identities for head in self.reds)

    def asked(self, identities: tuple[str, ...]) -> FailureLedger:
        """The ledger with these identities as those that a person was asked about."""
        return replace(self, stopped=tuple(dict.fromkeys((*self.stopped, *identities))))

    def mended(self) -> FailureLedger:
        """The ledger with all failures fixed: a repeated failure is new. Its heads still count."""
        reds = tuple(replace(red, identities=(), trace=()) for red in self.reds)
        return replace(self, reds=reds, stopped=())

    def opened(self) -> FailureLedger:
        """The ledger with all counts reset, because the person who was asked said to continue."""
        return replace(self, reds=(), stopped=(), kind="")

    @classmethod
    def from_json(cls, data: Mapping[str, Any], number: int) -> FailureLedger:
        """The ledger in JSON; for another pull request only the branch's part; empty if invalid."""
        if data.get("number") != number:
            return cls(number, since=str(data.get("since", "")))
        ledger: FailureLedger | None = from_json(cls, data)
        return ledger or cls(number)


class FailureClass(Enum):
    """The cause of a head's failures."""

    OURS = auto()
    """The change's own: the agent fixes them."""
    RERUN = auto()
    """The infrastructure's: the jobs are rerun."""
    UNDER_WAY = auto()
    """The infrastructure's, but their run is not over, and GitHub reruns nothing before that."""
    INHERITED = auto()
    """The base has the same failures."""
    MENDED = auto()
    """The base had the same failures when it was tested, but does not any more."""
    STOPPED = auto()
    """The change's own, and a person is or was asked."""


@dataclass(frozen=True, slots=True)
class BaseFacts:
    """What is known of a commit of the base: what failed there, and which workflows are over."""

    sha: str
    identities: frozenset[str] = frozenset()
    workflows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FailureFacts:
    """What was read of a head's failures.

    Attributes:
        packet: what failed, and on which commit.
        runs: the known ones of the runs that failed.
        base: the commit that the head was tested with, None if that is not known.
        tip: the newest commit of the base branch, None if it is not known.
    """

    packet: FailurePacket
    runs: tuple[WorkflowRun, ...] = ()
    base: BaseFacts | None = None
    tip: BaseFacts | None = None


@dataclass(frozen=True, slots=True)
class FailureDecision:
    """What follows from a head's failures.

    Attributes:
        kind: the cause of the failures.
        ledger: the ledger after this decision.
        runs: the runs to rerun, each with the attempt that failed.
        failures: the failures that `kind` is about.
        question: why a person is asked: "attempts", "no change", "heads", or "".
        asked: the identities that the question is about.
    """

    kind: FailureClass
    ledger: FailureLedger
    runs: tuple[tuple[int, int], ...] = ()
    failures: tuple[CheckFailure, ...] = ()
    question: str = ""
    asked: tuple[str, ...] = ()


def decide(facts: FailureFacts, ledger: FailureLedger, settings: Settings) -> FailureDecision:
    """Decide what follows from what was read of a head's failures."""
    head, every = facts.packet.head, facts.packet.every
    # Twins (a push, and its pull request) have one name: what failed in either is known until both passed.
    failing = dict(ledger.failing) if ledger.red == head else {}
    for failure in every:
        for name in checks_of(failure):
            failing[name] = tuple(dict.fromkeys((*failing.get(name, ()), *failure.identities)))
    since = ledger.since or head
    ledger = replace(ledger, red=head, since=since, failing=failing, base="", is_due=False)
    # What was cancelled beside other failures shows nothing.
    failures = [failure for failure in every if failure.word != "CANCELLED"] or every
    inherited = tuple(failure for failure in failures if is_in(failure, facts.base))
    own = [failure for failure in failures if failure not in inherited]
    broken = tuple(failure for failure in own if failure.broken)
    wanted = {failure.run for failure in broken}
    runs = [run for run in facts.runs if run.number in wanted and run.attempt <= settings.ci_rerun]
    # A run that is not known, or was rerun often enough, is not among them.
    if broken and len(broken) == len(own) and len(runs) == len(wanted):
        is_over = all(run.is_over for run in runs)
        kind = FailureClass.RERUN if is_over else FailureClass.UNDER_WAY
        reruns = tuple((run.number, run.attempt) for run in runs) if is_over else ()
        return FailureDecision(kind, replace(ledger, is_due=not is_over), reruns, broken)
    if inherited and not own:
        flows = {failure.workflow for failure in inherited}
        failed = {name for failure in inherited for name in failure.identities}
        # While the workflow runs, nothing is known of the tip yet: it is looked at again.
        tip = facts.tip if facts.tip is not None and flows <= {*facts.tip.workflows} else None
        newest = tip or facts.base
        ledger = replace(ledger, base=newest.sha if newest is not None else "")
        is_mended = tip is not None and failed.isdisjoint(tip.identities)
        kind = FailureClass.MENDED if is_mended else FailureClass.INHERITED
        return FailureDecision(kind, ledger, (), inherited)
    return _ours(facts, ledger, settings, own)


def checks_of(failure: CheckFailure) -> list[str]:
    """The checks that failed alike, each by its workflow and name."""
    return [f"{failure.workflow}{BETWEEN}{name}" for name in failure.names]


def is_in(failure: CheckFailure, base: BaseFacts | None) -> bool:
    """True if the base has all of its failures, too: a new failure besides an old one is ours."""
    failed = failure.identities
    return base is not None and bool(failed) and base.identities.issuperset(failed)


def _ours(
    facts: FailureFacts, ledger: FailureLedger, settings: Settings, own: Sequence[CheckFailure]
) -> FailureDecision:
    """The decision that the agent fixes the failures, or a question to a person if fixes did not help."""
    identities = tuple(dict.fromkeys(name for failure in own for name in failure.identities))
    ours = FailureDecision(FailureClass.OURS, ledger, (), tuple(own))
    if not identities:
        return ours  # failures that could not be read are not counted
    trace = tuple(sorted({line for failure in own for line in failure.trace}))
    before = [red for red in ledger.reds if red.sha != facts.packet.head]
    head = RedHead(facts.packet.head, identities, trace, facts.packet.path)
    charged = replace(ledger, reds=(*before, head)[-MOST_KEPT:])  # each head is there once
    new = tuple(name for name in identities if name not in ledger.stopped)
    asked: tuple[str, ...] = tuple(n for n in new if charged.count(n) >= settings.ci_attempts)
    question = "attempts" if asked else ""
    if new and before and before[-1].trace == trace:
        asked, question = new, "no change"
    elif new and len(charged.reds) > MOST_HEADS:
        asked, question = new, "heads"
    is_unread = not all(failure.identities for failure in own)
    kind = FailureClass.OURS if set(new) - set(asked) or is_unread else FailureClass.STOPPED
    return replace(ours, kind=kind, ledger=charged.asked(asked), question=question, asked=asked)


def is_due(ledger: FailureLedger, head: str, tip: str, polls: float) -> bool:
    """True if this head's failures have to be read again: its run was not over, or the base moved.

    Args:
        ledger: what failed.
        head: the commit.
        tip: the newest commit of the base now, "" if it is not known.
        polls: how many polls ago the base was looked at; less than 0 if a clock was corrected.
    """
    is_early = 0 <= polls < BASE_POLLS
    has_moved = ledger.base != "" and tip not in ("", ledger.base) and not is_early
    return ledger.red == head and (ledger.is_due or has_moved)


def flakes(
    ledger: FailureLedger, head: str, passed: Collection[str]
) -> tuple[FailureLedger, tuple[tuple[str, tuple[str, ...]], ...]]:
    """The checks that failed at this commit and have passed at it since, and the ledger without them.

    Args:
        ledger: what failed.
        head: the commit.
        passed: checks, by workflow and name, that have no failures there any more.
    """
    if ledger.red != head:
        return ledger, ()
    flaky = tuple((name, ledger.failing[name]) for name in ledger.failing if name in passed)
    failing = {name: failed for name, failed in ledger.failing.items() if name not in passed}
    return (replace(ledger, failing=failing) if flaky else ledger), flaky
