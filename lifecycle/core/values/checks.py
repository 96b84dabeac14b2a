"""Frozen values of checks: what has run for a head, what the base demands, and the verdict.

Green needs evidence: nothing that is hidden, late or missing counts as a pass. Sources:
https://docs.github.com/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/about-status-checks
and https://docs.github.com/rest/checks
"""

from __future__ import annotations

from enum import StrEnum

from lifecycle.core.light_dataclass import dataclass


class Bucket(StrEnum):
    """The kind of result of a check run or a commit status, whose many values are sorted into these."""

    PASS = "pass"  # noqa: S105 -- a check's bucket, not a password
    FAIL = "fail"
    CANCELLED = "cancelled"
    PENDING = "pending"


ENDED_BADLY = frozenset({"FAILURE", "TIMED_OUT", "CANCELLED", "STARTUP_FAILURE", "ACTION_REQUIRED"})
"""GitHub's words for a check, or a step of one, that did not pass.

Source: https://docs.github.com/graphql/reference/enums#checkconclusionstate
"""


class Verdict(StrEnum):
    """The verdict over all checks of a head. It is green only if everything certainly passed."""

    GREEN = "green"
    FAILED = "failed"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class Check:
    """The newest run of one check on one commit.

    Attributes:
        word: GitHub's own word for its result, or else its state, in GraphQL's spelling.
        app: the id of the GitHub App that made it, None if GitHub does not say (a commit status).
    """

    name: str
    bucket: Bucket
    workflow: str = ""
    event: str = ""
    started_at: float | None = None
    url: str = ""
    ended_at: float | None = None
    word: str = ""
    app: int | None = None


@dataclass(frozen=True, slots=True)
class Required:
    """A check that the base branch demands by name; if `app` is an app's id, only from that app."""

    name: str
    app: int | None = None

    def is_met_by(self, check: Check) -> bool:
        """True if `check` is certainly the demanded one, however it ended."""
        return self.name == check.name and self.app in (None, check.app)

    def may_be_met_by(self, check: Check) -> bool:
        """True if only the app is unknown: GitHub does not say which one set a commit status."""
        return self.name == check.name and check.app is None


@dataclass(frozen=True, slots=True)
class Checks:
    """All checks that have registered on one head commit, without superseded runs.

    Attributes:
        sha: the head commit.
        runs: one `Check` per (name, app, workflow, event).
        is_complete: False if GitHub did not show all of them, so that green cannot be concluded.
        required: what the base branch demands, as far as GitHub shows it.
        held: workflows that somebody has to approve before they run at all.
        unfinished: workflows that still run, so that more of their checks may register.
        unseen: what the token may not see, in words; "" if it sees everything.
        overall: GitHub's own word over all checks, given if some are unseen, else "".
        sees_workflows: False if GitHub did not show which workflows wait or run on this head.
        sees_demands: False if GitHub did not show all that the base branch demands.
        is_unblocked: GitHub itself finds everything that the base branch demands.
        is_late: GitHub showed the workflows of another commit than the head; the next look will tell.
    """

    sha: str
    runs: tuple[Check, ...] = ()
    is_complete: bool = True
    required: tuple[Required, ...] = ()
    held: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    unseen: str = ""
    overall: str = ""
    sees_workflows: bool = True
    sees_demands: bool = True
    is_unblocked: bool = False
    is_late: bool = False

    def count(self, *buckets: Bucket) -> int:
        """How many runs are in any of `buckets`."""
        return sum(run.bucket in buckets for run in self.runs)

    @property
    def running(self) -> tuple[Check, ...]:
        """Runs that have not ended, without those that GitHub gave up waiting for, and those `waiting`."""
        return () if self.waiting else self._open

    @property
    def waiting(self) -> tuple[Check, ...]:
        """Runs that wait for a person to approve their deployment; none while anything else runs."""
        others = {*self.unfinished}.difference(run.workflow for run in self._open)
        is_alone = not others and {run.word for run in self._open} == {"WAITING"}
        return self._open if is_alone else ()

    @property
    def _open(self) -> tuple[Check, ...]:
        pending = (run for run in self.runs if run.bucket is Bucket.PENDING)
        return tuple(run for run in pending if run.word != "STALE")

    @property
    def failed(self) -> tuple[Check, ...]:
        """Failed and cancelled runs, in name order: a cancelled check counts as failed."""
        bad = [run for run in self.runs if run.bucket in (Bucket.FAIL, Bucket.CANCELLED)]
        return tuple(sorted(bad, key=lambda run: run.name))

    @property
    def missing(self) -> tuple[str, ...]:
        """The names that the base branch demands and that have not reported, in name order."""
        absent = (need for need in self._unmet if not any(map(need.may_be_met_by, self.runs)))
        return tuple(sorted({demand.name for demand in absent}))

    @property
    def doubted(self) -> tuple[str, ...]:
        """Names demanded from one app of which there is only somebody's commit status, in name order."""
        if self.is_unblocked:
            return ()
        return tuple(sorted({demand.name for demand in self._unmet}.difference(self.missing)))

    @property
    def _unmet(self) -> list[Required]:
        return [demand for demand in self.required if not any(map(demand.is_met_by, self.runs))]

    @property
    def hidden(self) -> tuple[str, ...]:
        """What the token may not see although green cannot be concluded without it, each in words."""
        has_demands = self.sees_demands or self.is_unblocked
        words = (
            self.unseen,
            "" if self.sees_workflows else "the workflows of this head",
            "" if has_demands else "all that the base branch demands",
            f"which app set {', '.join(self.doubted)}" if self.doubted else "",
        )
        return tuple(word for word in words if word)

    @property
    def stale(self) -> tuple[str, ...]:
        """The names of checks that GitHub gave up waiting for, and that have to be run again."""
        return tuple(sorted(run.name for run in self.runs if run.word == "STALE"))

    @property
    def verdict(self) -> Verdict:
        """The verdict over all checks of the head.

        Green only if at least one check registered, all are known, every one passed, no demanded one
        is missing, no workflow still runs or waits for an approval, and all of that was seen: hidden
        checks do not count as absent.
        """
        if self.failed:
            return Verdict.FAILED
        is_over = bool(self.runs) and all(run.bucket is Bucket.PASS for run in self.runs)
        is_unknown = not self.is_complete or self.hidden or self.is_late
        is_awaited = self.missing or self.held or self.unfinished or is_unknown
        return Verdict.GREEN if is_over and not is_awaited else Verdict.PENDING

    @property
    def are_none(self) -> bool:
        """True if no check has registered or is awaited, and nothing is hidden: perhaps there are none."""
        is_awaited = self.missing or self.held or self.unfinished or self.is_late
        return not (self.runs or is_awaited or self.hidden) and self.is_complete

    @property
    def is_green(self) -> bool:
        """True if the verdict is green."""
        return self.verdict is Verdict.GREEN
