"""The tables of an autonomous run: phases, stories, red and green, gates, checks, failures, tiers.

Everything that a command refuses, a stop asks for or a report prints is defined here once, with rows in
`tables.toml`; `docs/states.md` is made from them. No code repeats a rule that a table has.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import convert

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.machine import Machine
from lifecycle.settings import resources

MAX_RETRIES = 3
"""Iterations on one story before it is escalated as a blocker."""

MAX_LINT_ATTEMPTS = 3
KEPT_LINES = 100
"""Lines of the progress file that trimming leaves by default."""


class RunPhase(StrEnum):
    """The phase of a run as a whole."""

    SETUP = "setup"
    ANALYSIS = "analysis"
    PLANNING = "planning"
    DEVELOPMENT = "development"
    LINT_FIX = "lint-fix"
    COMPLETION = "completion"


class RunStatus(StrEnum):
    """Whether a run is active."""

    ACTIVE = "active"
    AWAITING_USER = "awaiting_user"
    """There is a blocker that only a person can resolve: the session may end."""
    STOPPED = "stopped"
    """A brake: a cap was reached, or a person stopped it. Only a person undoes it."""
    COMPLETED = "completed"


class StoryStatus(StrEnum):
    """The status of one story."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    TESTING = "testing"
    REVIEW = "review"
    BLOCKED = "blocked"
    COMPLETED = "completed"


WORKING: Final = (StoryStatus.IN_PROGRESS, StoryStatus.TESTING, StoryStatus.REVIEW)
"""The statuses of a story at work."""


class TddPhase(StrEnum):
    """A story's phase in its cycle; `NONE` before it."""

    NONE = "none"
    RED = "red"
    GREEN = "green"
    REFACTOR = "refactor"
    VERIFY = "verify"


class Gate(StrEnum):
    """What has to be shown before a run continues."""

    G1 = "G1"
    G2 = "G2"
    G3 = "G3"
    G4 = "G4"
    G5 = "G5"
    G6 = "G6"
    G7 = "G7"


class StoryCheck(StrEnum):
    """What has to hold before a story is completed; each is pending until a record shows it."""

    TESTS_PASS = "testsPass"  # noqa: S105 -- the name of a check
    COVERAGE_MET = "coverageMet"
    REVIEW_APPROVED = "reviewApproved"
    SECURITY_CLEARED = "securityCleared"


class CheckState(StrEnum):
    """The state of a story's check, or of a part of a gate."""

    PENDING = "PENDING"
    PASS = "PASS"  # noqa: S105 -- a result
    FAIL = "FAIL"
    NOT_APPLICABLE = "N/A"


class CriterionState(StrEnum):
    """The tester's finding on one acceptance criterion."""

    PENDING = "pending"
    MET = "met"
    UNMET = "unmet"
    MANUAL = "MANUAL_VERIFICATION_REQUIRED"


class Severity(StrEnum):
    """The weight of a reviewer's finding; only BLOCKING refuses."""

    BLOCKING = "BLOCKING"
    SUGGESTION = "SUGGESTION"
    INFO = "INFO"


class ReviewVerdict(StrEnum):
    """The result of a review."""

    APPROVED = "APPROVED"
    CHANGES_REQUESTED = "CHANGES_REQUESTED"
    CLEARED = "CLEARED"
    REMEDIATION_NEEDED = "REMEDIATION_NEEDED"


class FailureCategory(StrEnum):
    """The kind of a failure, which decides whether trying again helps."""

    CODE = "code"
    TEST = "test"
    INFRA = "infra"
    EXTERNAL = "external"
    TIMEOUT = "timeout"


class ClarificationPhase(StrEnum):
    """When something was clarified: before the analysis, before the plan, or later."""

    PRE_ANALYSIS = "pre-analysis"
    PRE_PLAN = "pre-plan"
    DEVELOPMENT = "development"


SIZES: Final = ("S", "M", "L", "XL")
BLOCKER_SEVERITIES: Final = ("low", "medium", "high", "critical")


@dataclass(frozen=True, slots=True)
class GateRow:
    """One gate.

    Attributes:
        when: what it comes before or after.
        checks: the checks of the project that it runs, in their order; without any it is judged from
            records that people and agents made.
        required: those among them that every platform must have.
        on_fail: what to do if it fails.
        is_final: it is a gate of the run, not of a story.
    """

    when: str
    checks: tuple[str, ...]
    on_fail: str
    required: tuple[str, ...] = ()
    is_final: bool = False


BUILD, TESTS, LINT, COVERAGE = "build", "test", "lint", "coverage"

SHOWN_BY: Final[Mapping[StoryCheck, Gate | None]] = {
    StoryCheck.TESTS_PASS: Gate.G5,
    StoryCheck.COVERAGE_MET: Gate.G4,
    StoryCheck.REVIEW_APPROVED: None,
    StoryCheck.SECURITY_CLEARED: Gate.G6,
}
"""For each check, the gate whose record on the present tree shows it; None: an approving review does."""

APPROVING: Final = frozenset({ReviewVerdict.APPROVED, ReviewVerdict.CLEARED})


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """What is done after a failure of one category.

    Attributes:
        description: what fails.
        strategy: what to do, for people.
        fix: what the developer does.
        backoff: seconds to wait before the first retry; each further one waits twice as long.
        escalates: trying again does not help; a person has to help.
    """

    description: str
    strategy: str
    fix: str
    backoff: int = 0
    escalates: bool = False


BACKOFF_LIMIT = 600


class EscalationTrigger(StrEnum):
    """Events that a run reports to somebody."""

    FAILED_ITERATIONS = "3 failed iterations on same story"
    VULNERABILITY = "Security vulnerability found"
    CHECKPOINT = "5 stories completed"
    UNAVAILABLE = "External dependency unavailable"
    ASKED = "User intervention requested"


ESCALATION = "ESCALATION_REQUIRED"
INTERVENTION = "HUMAN_INTERVENTION_NEEDED"
COMPLETE = "WORKFLOW_COMPLETE"

CHECKPOINT_STORIES = 5


@dataclass(frozen=True, slots=True)
class RuntimeTier:
    """How a run of some length is kept small.

    Attributes:
        name: for people.
        until: seconds of runtime up to which it applies.
        report_stories, report_seconds: a report is due after so many completed stories, or so long.
        review_stories: a review of the checkpoint after so many stories; 0: none.
        keeps_full: completed stories are kept in full, not as a summary.
        trims: trim the progress file.
        sync_seconds: the state is updated after so long; 0.0: with each change.
        hands_over: suggest a break at which another session takes over.
    """

    name: str
    until: float
    report_stories: int
    report_seconds: float
    review_stories: int = 0
    keeps_full: bool = True
    trims: bool = False
    sync_seconds: float = 0.0
    hands_over: bool = False


_TEXTS: Final = resources.texts("run/tables.toml")
"""The rows of all tables; a word in them that no enum has is an error."""

_RUN_WAYS = dict[RunPhase, dict[RunPhase, str]]
_STORY_WAYS = dict[StoryStatus, dict[StoryStatus, str]]
_TDD_WAYS = dict[TddPhase, dict[TddPhase, str]]
_REVIEWERS = dict[str, tuple[StoryCheck, ReviewVerdict, ReviewVerdict]]

PHASES: Final = Machine("run", RunPhase.SETUP, convert(_TEXTS["phases"], _RUN_WAYS))
STORIES: Final = Machine("story", StoryStatus.PENDING, convert(_TEXTS["stories"], _STORY_WAYS))
TDD: Final = Machine("TDD cycle", TddPhase.NONE, convert(_TEXTS["tdd"], _TDD_WAYS))
NUMBERS: Final = convert(_TEXTS["numbers"], dict[RunPhase, int])
WORK: Final = convert(_TEXTS["work"], dict[TddPhase, str])
GATES: Final = convert(_TEXTS["gates"], dict[Gate, GateRow])
REVIEWERS: Final = convert(_TEXTS["reviewers"], _REVIEWERS)
ROLES: Final = {row[0]: role for role, row in REVIEWERS.items()}
"""For each check that a review shows, the reviewer's role."""
RETRY: Final = convert(_TEXTS["retry"], dict[FailureCategory, RetryPolicy])
TRIGGERS: Final = convert(_TEXTS["triggers"], dict[EscalationTrigger, tuple[str, str]])
TIERS: Final = convert(_TEXTS["tiers"], tuple[RuntimeTier, ...])
WAITS: Final = convert(_TEXTS["waits"], dict[RunStatus, str])
SHOWS: Final = convert(_TEXTS["shows"], dict[str, str])
NEXT: Final = convert(_TEXTS["next"], dict[TddPhase, str])
THEN: Final = convert(_TEXTS["then"], dict[TddPhase, TddPhase])
