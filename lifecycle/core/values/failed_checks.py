"""Frozen values of what failed on a head: the checks, their steps, and their remarks on lines of files."""

from __future__ import annotations

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.values.checks import ENDED_BADLY


@dataclass(frozen=True, slots=True)
class JobStep:
    """One step of a job of Actions.

    Attributes:
        word: its result in GraphQL's spelling, "" if it has not ended.
        began, ended: whole seconds since the epoch, None if GitHub does not say.
    """

    number: int
    name: str
    word: str = ""
    began: float | None = None
    ended: float | None = None


@dataclass(frozen=True, slots=True)
class CheckRemark:
    """A check's remark on a line of a file; GitHub calls it an annotation.

    Attributes:
        level: FAILURE, WARNING or NOTICE.
    """

    path: str
    line: int
    level: str
    message: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class ShownFailure:
    """What is shown of a check that did not pass: a job of Actions, another app's run, or a commit status.

    Attributes:
        word: its result in GraphQL's spelling.
        run: the number of its workflow run, None unless it is of Actions.
        job: the number with which its log is read, None unless it is a job of Actions.
        is_required: the base branch demands it, None if GitHub does not say.
        remarks: what it says of lines of files; `remarks_left` is how many further ones there are.
        title, summary: the texts of another app.
    """

    name: str
    word: str
    url: str = ""
    workflow: str = ""
    event: str = ""
    run: int | None = None
    job: int | None = None
    is_required: bool | None = None
    remarks: tuple[CheckRemark, ...] = ()
    remarks_left: int = 0
    title: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True)
class FailedCheck(ShownFailure):
    """A check that did not pass, as GitHub has it."""

    app: str = ""
    steps: tuple[JobStep, ...] = ()

    @property
    def failed_step(self) -> JobStep | None:
        """The first step that did not pass; None if there is none, or none is shown."""
        return next((step for step in self.steps if step.word in ENDED_BADLY), None)


@dataclass(frozen=True, slots=True)
class FailedHead:
    """What failed on the head of a pull request.

    Attributes:
        pull: the pull request's number.
        url: its page.
        sha: the head.
        checks: the checks that did not pass.
        left: how many further failed checks there are.
        unseen: sentences on what could not be read.
    """

    pull: int
    url: str
    sha: str
    checks: tuple[FailedCheck, ...] = ()
    left: int = 0
    unseen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """The present state of a run of a workflow of Actions.

    Attributes:
        attempt: the number of its newest attempt, from 1: one more for each time it was run again.
        is_over: none of its jobs runs any more, so that failed ones can be run again.
        base: the commit of the base branch that it was tested with, "" if GitHub does not say.
    """

    number: int
    attempt: int
    is_over: bool
    base: str = ""


@dataclass(frozen=True, slots=True)
class CommitFailures:
    """What failed in Actions on a commit that is not a pull request's head.

    Attributes:
        failed: jobs of its newest runs that did not pass.
        workflows: those whose newest run there is over; others are not known.
    """

    failed: tuple[FailedCheck, ...] = ()
    workflows: tuple[str, ...] = ()
