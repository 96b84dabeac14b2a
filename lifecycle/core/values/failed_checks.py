"""Frozen values of what failed on a head: the checks, their steps, and what they say of lines of files."""

from __future__ import annotations

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.values.checks import ENDED_BADLY


@dataclass(frozen=True, slots=True)
class JobStep:
    """One step of a job of Actions.

    Attributes:
        word: how it ended, in GraphQL's spelling, "" if it has not.
        began, ended: whole seconds since the epoch, None if GitHub does not say.
    """

    number: int
    name: str
    word: str = ""
    began: float | None = None
    ended: float | None = None


@dataclass(frozen=True, slots=True)
class CheckRemark:
    """What a check says of a line of a file; GitHub calls it an annotation.

    Attributes:
        level: FAILURE, WARNING or NOTICE.
    """

    path: str
    line: int
    level: str
    message: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class FailedCheck:
    """A check that did not pass: a job of Actions, another app's run, or a commit status.

    Attributes:
        word: how it ended, in GraphQL's spelling.
        job: the number by which its log is asked for, None unless it is a job of Actions.
        run: the number of the workflow run that it belongs to, None unless it is of Actions.
        is_required: the base branch demands it, None if GitHub does not say.
        title, summary: what another app says of it.
        remarks_left: how many remarks there are beside those that are here.
    """

    name: str
    word: str
    url: str = ""
    workflow: str = ""
    event: str = ""
    app: str = ""
    job: int | None = None
    run: int | None = None
    is_required: bool | None = None
    steps: tuple[JobStep, ...] = ()
    remarks: tuple[CheckRemark, ...] = ()
    remarks_left: int = 0
    title: str = ""
    summary: str = ""

    @property
    def failed_step(self) -> JobStep | None:
        """The first step that did not pass, None if there is none, or none is shown."""
        return next((step for step in self.steps if step.word in ENDED_BADLY), None)


@dataclass(frozen=True, slots=True)
class FailedHead:
    """What failed on the head of a pull request.

    Attributes:
        pull: its number.
        url: its page.
        sha: the head.
        checks: those that did not pass.
        left: how many failed checks there are beside those that are here.
        unseen: what could not be shown, each a sentence.
    """

    pull: int
    url: str
    sha: str
    checks: tuple[FailedCheck, ...] = ()
    left: int = 0
    unseen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """A run of a workflow of Actions, as it stands now.

    Attributes:
        attempt: the number of its newest attempt, from 1 on: one more for each time it was run again.
        is_over: no job of it runs any more, so that failed ones can be run again.
        base: the commit of the base branch that it was tested with, "" if GitHub does not say.
    """

    number: int
    attempt: int
    is_over: bool
    base: str = ""


@dataclass(frozen=True, slots=True)
class CommitFailures:
    """What Actions says of a commit that is no pull request's head.

    Attributes:
        failed: jobs of its newest runs that did not pass.
        workflows: those whose newest run there is over; what is not among them is not known.
    """

    failed: tuple[FailedCheck, ...] = ()
    workflows: tuple[str, ...] = ()
