"""What failed on a head as one value: the failed checks in order, each with the lines that say why. Pure.

Required checks come first. Jobs of a matrix with the same excerpt are one failure with several names.
Nothing in it contains a secret; it is always shown as written by strangers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from lifecycle.core.light_dataclass import asdict, dataclass, fields_of, replace
from lifecycle.core.redact import redact, short
from lifecycle.core.values.failed_checks import CheckRemark, FailedCheck, FailedHead, ShownFailure
from lifecycle.feedback.checks.excerpt import ReadLog
from lifecycle.feedback.checks.log_lines import AnchorRank, rank_of
from lifecycle.settings import resources

MOST_JOBS = 15
"""How many failed checks are shown with more than their name."""

MOST_REMARKS = 10
MOST_SUMMARY = 4_000
"""Characters of what another app says of its check."""

TOO_LATE = (
    "There was no time to read this log; its page has it, and lifecycle feedback reads it again."
)
"""The reason why a job's log was not read."""

UNSTARTED = (
    "No job of this workflow began: its file is broken, or names something that does not exist. Fix the "
    "file; running it again does not help."
)
"""The reason why there is no log: the workflow could not start."""

_REMARK_NOISE = re.compile(
    r"Process completed with exit code|The operation was canceled|Node\.js \d+ actions are deprecated"
)
_SAME = re.compile(
    r"\b\d+(?:\.\d+)? ?(?:ms|s|secs?|seconds?|m)\b|0x[0-9a-f]+|/\d+(?:\.\d+)+/|\b\d\d:\d\d:\d\d\b"
)
"""What differs between jobs that fail alike: how long something took, addresses, versions in paths."""


@dataclass(frozen=True)
class CheckFailure(ReadLog, ShownFailure):
    """One failed check, or several that failed alike; what all checks show is of the first of them.

    Attributes:
        step: the step that failed, "" if it is not known.
        same: the names of the others.
    """

    step: str = ""
    same: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all checks that failed alike."""
        return (self.name, *self.same)

    @property
    def identities(self) -> tuple[str, ...]:
        """Names of what failed, without the check's name, equal at other commits and in other runs.

        These are the tests that the log names, else its first error without numbers: line numbers move.
        () if there was no log, so that they are not known.
        """
        if self.tests:
            return tuple(f"test {name}" for name in self.tests)
        if self.first_error:
            line = re.sub(r"\b\d+\b", "N", without_moments(self.first_error))
            return (f"error {' '.join(line.split())}",)
        is_unstarted = self.word == "STARTUP_FAILURE" and self.job is None
        return (f"start of {self.workflow or self.name}",) if is_unstarted else ()

    @property
    def trace(self) -> tuple[str, ...]:
        """What failed and its first error: a different trace shows that something changed."""
        return (*self.identities, without_moments(self.first_error))

    @property
    def broken(self) -> str:
        """The part of the infrastructure that broke, in words; "" if the failure may be the change's own.

        A check that is not a job of Actions cannot be rerun here, so it always gives "". Failed tests may
        print such a phrase themselves: then only phrases that end any job count.
        """
        if self.job is None:
            return ""
        table = resources.table("feedback/failures/infrastructure.toml")
        # The lines that name an error: the log's, and Actions' own remarks.
        none, begin = AnchorRank.NONE, "##[error]"
        of_log = (line for line in self.excerpt if line.startswith(begin) or rank_of(line) != none)
        remarks = (remark.message for remark in self.remarks if remark.path in (".github", ""))
        lines = [self.first_error, *of_log, *remarks]
        for row in table["phrase"]:
            counts = row.get("always") or not self.tests
            if counts and any(re.search(row["pattern"], line) for line in lines):
                return str(row["of"])
        is_state = self.word in table["states"] and not self.tests
        return self.word.lower().replace("_", " ") if is_state else ""


@dataclass(frozen=True, slots=True)
class FailurePacket:
    """Everything that is reported about a failed head.

    Attributes:
        pull: the number of the pull request.
        head: the commit.
        failures: the failures in the order in which they are shown.
        others: names of further failed checks.
        left: how many more failed checks GitHub has.
        unseen: what could not be shown, each a sentence.
        path: the path of the packet as text, from the worktree's root.
    """

    pull: int
    url: str
    head: str
    failures: tuple[CheckFailure, ...] = ()
    others: tuple[str, ...] = ()
    left: int = 0
    unseen: tuple[str, ...] = ()
    path: str = ""

    @property
    def count(self) -> int:
        """How many checks failed."""
        return sum(len(failure.names) for failure in self.every) + self.left

    @property
    def every(self) -> tuple[CheckFailure, ...]:
        """The failures, and each of the others as one of which only its name is known."""
        return (*self.failures, *(CheckFailure(name, "") for name in self.others))


def ordered(head: FailedHead) -> list[FailedCheck]:
    """The failed checks in the order in which they are shown: required ones first, then jobs with a log."""
    return sorted(
        head.checks,
        key=lambda check: (not check.is_required, check.job is None, check.workflow, check.name),
    )


def packet(head: FailedHead, logs: Mapping[int, ReadLog]) -> FailurePacket:
    """The packet of a head.

    Args:
        head: what failed.
        logs: the results of reading the logs, by the job's number.
    """
    checks = ordered(head)
    folded: dict[object, CheckFailure] = {}
    for place, check in enumerate(checks[:MOST_JOBS]):
        log = ReadLog() if check.job is None else logs.get(check.job, ReadLog(problem=TOO_LATE))
        failure = _failure(check, log)
        lines = tuple(without_moments(line) for line in failure.excerpt)
        alike = failure.workflow, failure.step, failure.is_required, failure.tests, lines
        key = alike if lines else place  # without lines, it is like no other
        if key in folded:
            failure = replace(folded[key], same=(*folded[key].same, redact(check.name)))
        folded[key] = failure
    failures = tuple(folded.values())
    others = tuple(redact(further.name) for further in checks[MOST_JOBS:])
    unseen = tuple(redact(sentence) for sentence in head.unseen)
    return FailurePacket(head.pull, head.url, head.sha, failures, others, head.left, unseen)


def _failure(check: FailedCheck, read: ReadLog) -> CheckFailure:
    is_unstarted = check.word == "STARTUP_FAILURE" and check.job is None
    remarks = _told(check.remarks)
    return CheckFailure(
        redact(check.name),
        **fields_of(check, "word", "url", "event", "run", "job", "is_required"),
        **asdict(replace(read, problem=UNSTARTED) if is_unstarted else read),
        workflow=redact(check.workflow),
        step=redact(check.failed_step.name) if check.failed_step else "",
        remarks=remarks[:MOST_REMARKS],
        remarks_left=check.remarks_left + len(remarks[MOST_REMARKS:]),
        title=redact(check.title),
        summary=short(redact(check.summary), MOST_SUMMARY),
    )


def _told(remarks: tuple[CheckRemark, ...]) -> tuple[CheckRemark, ...]:
    """The useful remarks, the worst first; Actions adds an empty one for every failure."""
    levels = ("FAILURE", "WARNING", "NOTICE")
    kept = [remark for remark in remarks if not _REMARK_NOISE.match(remark.message)]
    kept.sort(key=lambda remark: (*levels, remark.level).index(remark.level))
    return tuple(map(_without_secrets, kept))


def _without_secrets(remark: CheckRemark) -> CheckRemark:
    message, title, path = map(redact, (remark.message, remark.title, remark.path))
    return replace(remark, message=message, title=title, path=path)


def without_moments(line: str) -> str:
    """A line without the parts that differ between runs with the same failure."""
    return re.sub(_SAME, "", line)
