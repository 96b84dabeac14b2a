"""The tables of an autonomous run: phases, stories, red and green, gates, checks, failures, tiers.

Whatever a command refuses, a stop asks for and a report prints stands here once, and its rows in
`tables.toml`; `docs/states.md` is drawn from them. No rule about a run is written where a table says it.
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
"""Lines of the progress file that trimming leaves, unless another number is asked for."""


class RunPhase(StrEnum):
    """Where a run as a whole stands."""

    SETUP = "setup"
    ANALYSIS = "analysis"
    PLANNING = "planning"
    DEVELOPMENT = "development"
    LINT_FIX = "lint-fix"
    COMPLETION = "completion"


class RunStatus(StrEnum):
    """Whether a run goes on."""

    ACTIVE = "active"
    AWAITING_USER = "awaiting_user"
    """A blocker that only a person can mend: the session may end."""
    STOPPED = "stopped"
    """A brake: a cap was reached, or a person stopped it. A person undoes it."""
    COMPLETED = "completed"


class StoryStatus(StrEnum):
    """Where one story stands."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    TESTING = "testing"
    REVIEW = "review"
    BLOCKED = "blocked"
    COMPLETED = "completed"


WORKING: Final = (StoryStatus.IN_PROGRESS, StoryStatus.TESTING, StoryStatus.REVIEW)
"""Where a story stands that is worked on."""


class TddPhase(StrEnum):
    """Where a story stands in its cycle; `NONE` before it."""

    NONE = "none"
    RED = "red"
    GREEN = "green"
    REFACTOR = "refactor"
    VERIFY = "verify"


class Gate(StrEnum):
    """What has to be shown before a run goes on."""

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
    """How a check of a story, or a part of a gate, stands."""

    PENDING = "PENDING"
    PASS = "PASS"  # noqa: S105 -- a result
    FAIL = "FAIL"
    NOT_APPLICABLE = "N/A"


class CriterionState(StrEnum):
    """What the tester found of one acceptance criterion."""

    PENDING = "pending"
    MET = "met"
    UNMET = "unmet"
    MANUAL = "MANUAL_VERIFICATION_REQUIRED"


class Severity(StrEnum):
    """How much a reviewer's finding weighs; only BLOCKING refuses."""

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
    """What kind of failure it is, and so whether trying again helps."""

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
        when: before or after what it stands.
        checks: the checks of the project that it runs, in their order.
        required: those among them that may not be missing on a platform.
        on_fail: what is done then.
        by_hand: it is judged from records that people and agents made, and not from a command.
        is_final: it is the run's, and not a story's.
    """

    when: str
    checks: tuple[str, ...]
    on_fail: str
    required: tuple[str, ...] = ()
    by_hand: bool = False
    is_final: bool = False


BUILD, TESTS, LINT, COVERAGE = "build", "test", "lint", "coverage"

SHOWN_BY: Final[Mapping[StoryCheck, Gate | None]] = {
    StoryCheck.TESTS_PASS: Gate.G5,
    StoryCheck.COVERAGE_MET: Gate.G4,
    StoryCheck.REVIEW_APPROVED: None,
    StoryCheck.SECURITY_CLEARED: Gate.G6,
}
"""The gate whose record on the present tree shows a check; None: a review that approved shows it."""

APPROVING: Final = frozenset({ReviewVerdict.APPROVED, ReviewVerdict.CLEARED})


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """What is done after a failure of one category.

    Attributes:
        description: what fails.
        strategy: what to do, for people.
        fix: what the developer does.
        backoff: seconds to wait before the first retry; each further one waits twice as long.
        escalates: trying again does not help; a person has to.
    """

    description: str
    strategy: str
    fix: str
    backoff: int = 0
    escalates: bool = False


BACKOFF_LIMIT = 600


class EscalationTrigger(StrEnum):
    """Events of which a run tells somebody."""

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
        trims: the progress file is trimmed.
        sync_seconds: the state is brought up to date after so long; 0.0: with each change.
        hands_over: a break at which another session takes over is worth a thought.
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

PHASES: Final = Machine("run", RunPhase.SETUP, convert(_TEXTS["phases"], _RUN_WAYS))
STORIES: Final = Machine("story", StoryStatus.PENDING, convert(_TEXTS["stories"], _STORY_WAYS))
TDD: Final = Machine("TDD cycle", TddPhase.NONE, convert(_TEXTS["tdd"], _TDD_WAYS))
NUMBERS: Final = convert(_TEXTS["numbers"], dict[RunPhase, int])
WORK: Final = convert(_TEXTS["work"], dict[TddPhase, str])
GATES: Final = convert(_TEXTS["gates"], dict[Gate, GateRow])
REVIEWERS: Final = convert(
    _TEXTS["reviewers"], dict[str, tuple[StoryCheck, ReviewVerdict, ReviewVerdict]]
)
ROLES: Final = {row[0]: role for role, row in REVIEWERS.items()}
"""Who reviews, by the check that it shows."""
RETRY: Final = convert(_TEXTS["retry"], dict[FailureCategory, RetryPolicy])
TRIGGERS: Final = convert(_TEXTS["triggers"], dict[EscalationTrigger, tuple[str, str]])
TIERS: Final = convert(_TEXTS["tiers"], tuple[RuntimeTier, ...])
WAITS: Final = convert(_TEXTS["waits"], dict[RunStatus, str])
WAYS: Final = convert(_TEXTS["ways"], dict[RunStatus, str])
SHOWS: Final = convert(_TEXTS["shows"], dict[str, str])
NEXT: Final = convert(_TEXTS["next"], dict[TddPhase, str])
THEN: Final = convert(_TEXTS["then"], dict[TddPhase, TddPhase])
