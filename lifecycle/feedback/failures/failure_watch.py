"""Read why a head failed, and decide at a look what follows; a `ports.FailureFeedback`.

Results are kept in this process until a look uses them. If the process ends before that, the failure is
reported without them, and nothing is counted. Usually nothing has failed: the modules that read logs are
imported at the first failure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

from lifecycle.core.errors import LifecycleError
from lifecycle.core.light_dataclass import asdict, replace
from lifecycle.core.plan import Audience, FailuresHeard, Notice
from lifecycle.core.redact import redact
from lifecycle.core.timing import HARD_EXIT_GRACE, DeadlineReached, alarm
from lifecycle.core.values.checks import Bucket
from lifecycle.core.values.failed_checks import FailedHead
from lifecycle.core.values.model import PullRequest
from lifecycle.core.world import World
from lifecycle.feedback.failures import failure_words as words
from lifecycle.feedback.failures import ladder
from lifecycle.storage import log

if TYPE_CHECKING:
    from lifecycle.feedback.checks.packet import CheckFailure
    from lifecycle.feedback.failures.tampering import TamperFinding

MORE_SECONDS = 10.0
"""Seconds, after the logs, for questions about runs and base; a failure not settled by then is ours."""

MOST_RUNS = 5
MOST_BASE_LOGS = 5
_FETCH = ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"]
_RESULTS = ("failed", "green", "waits")
"""Events that the sentences here replace, as one result of the checks replaces another."""

_IDLE = ("SKIPPED", "NEUTRAL")
"""GitHub's words for a check that did not pass, but blocks nothing."""

T = TypeVar("T")


class FailureWatch:
    """Reads with a world; its memory comes in and goes out as JSON values."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._tips: dict[int, str] = {}
        self._read: dict[tuple[int, str], ladder.FailureFacts] = {}
        self._fetched: set[str] = set()

    def explained(self, pull: int, head: str, seconds: float | None) -> tuple[str, ...]:
        """Read why a head failed; as `ports.FailureFeedback.explained`."""
        from lifecycle.feedback.checks.fetching import fetch
        from lifecycle.feedback.checks.packet import FailurePacket

        # Failures that cannot be read are the agent's.
        self._read[pull, head] = ladder.FailureFacts(FailurePacket(pull, "", head))
        packet = fetch(self._world, pull, seconds)
        if packet.head != head:
            return ()  # a newer head has other failures: this head is reported without them
        self._world.deadline.renew(MORE_SECONDS)
        self._read[pull, head] = facts = ladder.FailureFacts(packet)
        try:
            with nullcontext() if seconds is None else alarm(MORE_SECONDS + 1.0 + HARD_EXIT_GRACE):
                self._read[pull, head] = self._completed(facts, self._tips.get(pull, ""))
        except DeadlineReached:
            log.write(self._world.root, "feedback: the time for reading runs and the base was up")
        return tuple(packet.wake_lines())

    def heard(
        self, pull: PullRequest, known: Mapping[str, Any], *, may_read: bool, may_fetch: bool
    ) -> FailuresHeard:
        """Decide what follows from what was read; as `ports.FailureFeedback.heard`."""
        self._tips[pull.number] = pull.base_tip
        ledger, head = ladder.FailureLedger.from_json(known, pull.number), pull.head_sha
        ledger, weakened = self._compared(ledger, pull, may_fetch=may_fetch)
        ledger, flakes = ladder.flakes(ledger, head, _passed(pull))
        if pull.checks is not None and pull.checks.is_green:
            ledger = ledger.mended()
        notices = _weakens(pull.number, ledger.since, head, weakened) if weakened else ()
        # Each flaky check by its name, with each identity that failed in it; "" if not known.
        pairs = ((name, identity) for name, failed in flakes for identity in failed or ("",))
        flaky = tuple((name.rpartition(ladder.BETWEEN)[2], words.shown(of)) for name, of in pairs)
        news = FailuresHeard({}, notices, tampering=weakened, flakes=flaky)
        facts, now = self._read.pop((pull.number, head), None), self._world.clock.now()
        if facts is not None:
            settings = self._world.settings
            decision = ladder.decide(facts, ledger, settings)
            ledger = replace(decision.ledger, base_at=now, kind=decision.kind.name.lower())
            news = _follows(news, decision, facts, settings.ci_attempts)
        elif may_read and pull.checks is not None:
            polls = (now - ledger.base_at) / self._world.settings.poll_seconds
            is_due = ladder.is_due(ledger, head, pull.base_tip, polls)
            ledger = replace(ledger, is_due=False, base="") if is_due else ledger
            news = replace(news, is_due=is_due)
        return replace(news, known=asdict(ledger))

    def _compared(
        self, ledger: ladder.FailureLedger, pull: PullRequest, *, may_fetch: bool
    ) -> tuple[ladder.FailureLedger, tuple[str, ...] | None]:
        """Find how all commits since the first red head weaken the checks; None after the first time.

        Commits that somebody else pushed are fetched, and no ref keeps them.
        Source: https://docs.github.com/pull-requests/collaborating-with-pull-requests/reviewing-changes-in-pull-requests/checking-out-pull-requests-locally
        """
        head, start = pull.head_sha, ledger.since
        if not start or head == (ledger.compared or start):
            return ledger, None
        weakening = self._tried(self._weakening, start, head)
        if weakening is None and may_fetch and head not in self._fetched:
            self._fetched.add(head)  # a missing commit need not be requested at each look
            remote, ref = self._world.settings.remote, f"refs/pull/{pull.number}/head"
            self._tried(self._world.git.run, *_FETCH, remote, ref, remote=remote)
            weakening = self._tried(self._weakening, start, head)
        if weakening is None:
            return ledger, None  # a commit is missing here, perhaps only for now
        theirs = self._of_base(start, pull) if weakening and pull.base else ()
        weakening = tuple(finding for finding in weakening if finding not in theirs)
        return replace(ledger, compared=head), words.weakened(weakening)

    def _of_base(self, start: str, pull: PullRequest) -> tuple[TamperFinding, ...]:
        """The findings in the base's changes between two commits; () if not known."""
        base = f"refs/remotes/{self._world.settings.remote}/{pull.base}"
        before, after = (self._merge_base(tip, base) for tip in (start, pull.head_sha))
        has_moved = bool(before and after) and before != after
        return self._weakening(before, after) if has_moved else ()

    def _weakening(self, before: str, after: str) -> tuple[TamperFinding, ...]:
        """How the changes between two commits weaken the checks."""
        from lifecycle.feedback.failures import tampering
        from lifecycle.git.commits import plain_diff

        signs = {"old": tampering.REMOVED, "new": tampering.ADDED}
        return tampering.findings(plain_diff(self._world.git, before, after, **signs))

    def _merge_base(self, commit: str, base: str) -> str:
        """The common ancestor of both; "" if not known."""
        return self._tried(self._world.git.run, "merge-base", commit, base) or ""

    def _completed(self, facts: ladder.FailureFacts, tip: str) -> ladder.FailureFacts:
        """Read facts about a head besides its logs; facts that cannot be read count as not known."""
        failures = facts.packet.failures
        numbers = dict.fromkeys(failure.run for failure in failures if failure.run is not None)
        tried = [self._tried(self._world.reports.run, number) for number in [*numbers][:MOST_RUNS]]
        runs = tuple(run for run in tried if run is not None)
        facts = replace(facts, runs=runs)
        wanted = [failure for failure in failures if failure.identities and not failure.broken]
        if not wanted:
            return facts
        tested = next((run.base for run in runs if run.base), "")
        if tip and not tested:
            tested = self._merge_base(facts.packet.head, tip)
        base = self._base_of(tested, wanted)
        if base is None or not any(ladder.is_in(failure, base) for failure in wanted):
            return replace(facts, base=base)
        newest = base if tip == base.sha else self._base_of(tip, wanted)
        return replace(facts, base=base, tip=newest)

    def _base_of(self, sha: str, wanted: Sequence[CheckFailure]) -> ladder.BaseFacts | None:
        """Read what failed on a commit of the base, from its logs; None if that cannot be known."""
        base = self._tried(self._world.reports.failed_on, sha) if sha else None
        if base is None:
            return None
        from lifecycle.feedback.checks.fetching import read_log
        from lifecycle.feedback.checks.packet import ordered, packet

        names = {check for failure in wanted for check in ladder.checks_of(failure)}
        checks = ordered(FailedHead(0, "", sha, base.failed))
        checks.sort(key=lambda check: f"{check.workflow}{ladder.BETWEEN}{check.name}" not in names)
        del checks[MOST_BASE_LOGS:]
        logs = {check.job: read_log(self._world, check, check.job) for check in checks if check.job}
        base_packet = packet(FailedHead(0, "", sha, tuple(checks)), logs)
        failed = frozenset(name for failure in base_packet.failures for name in failure.identities)
        return ladder.BaseFacts(sha, failed, base.workflows)

    def _tried(self, ask: Callable[..., T], *args: object, **named: object) -> T | None:
        try:
            return ask(*args, **named)
        except LifecycleError as error:
            why = redact(error.sentence, self._world.environment)
            log.write(self._world.root, f"feedback: {why}")
            return None


def _passed(pull: PullRequest) -> Collection[str]:
    """The checks of the head of which every run has passed, by workflow and name; none that was skipped."""
    passed: dict[bool, set[str]] = {True: set(), False: set()}
    for run in pull.checks.runs if pull.checks is not None else ():
        is_passed = run.bucket is Bucket.PASS and run.word not in _IDLE
        passed[is_passed].add(f"{run.workflow}{ladder.BETWEEN}{run.name}")
    return passed[True] - passed[False]


def _weakens(number: int, red: str, head: str, weakened: tuple[str, ...]) -> tuple[Notice, ...]:
    place = (number, red, head, weakened)
    key = f"{number}:{'; '.join(weakened)}"  # a head that adds no findings is not news
    return (
        Notice(f"weakens:{key}", words.weakens(*place, is_agents=True), Audience.NEWS),
        Notice(f"weakened:{key}", words.weakens(*place, is_agents=False), Audience.NOTE),
    )


def _follows(
    heard: FailuresHeard, decision: ladder.FailureDecision, facts: ladder.FailureFacts, most: int
) -> FailuresHeard:
    """The result of a look, with the notices of a decision and the runs to be rerun.

    `most`: at how many heads with the same failure a person is asked.
    """
    kinds, news, note = ladder.FailureClass, Audience.NEWS, Audience.NOTE
    packet, kind = facts.packet, decision.kind
    number, head, about = packet.pull, packet.head, (packet, decision.failures)
    runs = ",".join(f"{run}/{attempt}" for run, attempt in decision.runs)
    base, tip = (known.sha if known is not None else "" for known in (facts.base, facts.tip))
    # Of each kind: the event, what makes its key its own, who hears it, and the sentence.
    rows = {
        kinds.RERUN: ("rerun", runs, note, words.of_head("run-again", *about)),
        kinds.INHERITED: ("inherited", head, news, words.of_head("inherited", *about, base)),
        kinds.MENDED: ("mended", f"{head}:{tip}", news, words.of_head("mended", *about, tip)),
        kinds.STOPPED: ("stopped", head, note, words.of_head("still-stopped", *about)),
    }
    notices, is_settled = heard.notices, kind is not kinds.OURS
    ends = _RESULTS if is_settled else ()
    if decision.question:
        asked = decision.asked
        packets = [red.packet for red in decision.ledger.reds if set(asked) & set(red.identities)]
        text = words.stopped(number, decision.question, asked, packets, most)
        notices += (Notice(f"ci-stop:{number}:{head}", text, Audience.ASK, ends=ends),)
    elif kind in rows:
        event, key, audience, text = rows[kind]
        notices += (Notice(f"{event}:{number}:{key}", text, audience, ends=ends),)
    return replace(heard, notices=notices, is_settled=is_settled, reruns=decision.runs)
