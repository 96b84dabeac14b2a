"""One claimed issue as a sweep shows it, from which each test changes one thing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from lifecycle.core.values.configured import Settings
from lifecycle.core.values.model import BoardItem, Hold, Issue, Observation, PullRequest
from lifecycle.core.values.survey import Holding, Swept, Tip
from lifecycle.reconcile.inferred import InferredTask, task_of
from lifecycle.reconcile.judge import Judge
from lifecycle.reconcile.scope import Policy
from tests.factories import BRANCH, NOW, SHA
from tests.factories import pull as any_pull

REPOSITORY = "octo-org/hello"
AGENT = "edouard-1738000000"
HOUR = 3600.0
TAKEN = NOW - 10 * HOUR
"""When the default world's claim was taken; everything in it is younger than a day."""


ISSUE = Issue(42, "I_42", "Fix thing", "https://github.com/octo-org/hello/issues/42", is_open=True)


@dataclass(frozen=True, slots=True)
class Shown:
    """What GitHub shows: by default a claim in coding, whose card says so.

    `pulls` are those that mention the issue, `open_pulls` those that the repository has open.
    """

    issue: Issue = ISSUE
    item: BoardItem | None = BoardItem("PVTI_1", "In Progress", AGENT, status_at=TAKEN + 5)  # noqa: RUF009 -- a frozen value
    hold: Hold | None = Hold(42, "b" * 40, AGENT, TAKEN, BRANCH)  # noqa: RUF009 -- a frozen value
    pulls: tuple[PullRequest, ...] = ()
    open_pulls: tuple[PullRequest, ...] = ()
    tips: tuple[Tip, ...] = ()
    assigned_at: float | None = None
    closed_by: frozenset[int] = field(default_factory=frozenset)

    def task(self) -> InferredTask:
        """The task that all of it amounts to."""
        holding = Holding(
            REPOSITORY,
            url="https://github.com/octo-org/hello",
            default_branch="main",
            leases={self.hold.issue: self.hold} if self.hold is not None else {},
            tips={tip.branch: tip for tip in self.tips},
            pulls=self.open_pulls,
        )
        seen = Observation(REPOSITORY, "", self.issue, by_branch=self.pulls, item=self.item)
        swept = Swept(REPOSITORY, seen, self.assigned_at, self.closed_by)
        found = task_of(swept, holding)
        assert found is not None
        return found


def shown(*, issue: dict[str, Any] | None = None, **changes: Any) -> Shown:
    """The default world with changes; `issue` changes parts of the issue."""
    world = Shown()
    if issue is not None:
        changes["issue"] = replace(world.issue, **issue)
    return replace(world, **changes)


def card(status: str | None, agent: str | None = AGENT, *, at: float = TAKEN + 5) -> BoardItem:
    """The card with this Status, set then."""
    return BoardItem("PVTI_1", status, agent, status_at=at)


def pull(**changes: Any) -> PullRequest:
    """The claim's open pull request, opened an hour after the claim was taken."""
    defaults: dict[str, Any] = {
        "opened_at": TAKEN + HOUR,
        "updated_at": TAKEN + HOUR,
        "body": "Refs #42",
    }
    return any_pull(**{**defaults, **changes})


def tip(at: float = TAKEN + HOUR) -> Tip:
    """The claim's branch, pushed then."""
    return Tip(BRANCH, SHA, at)


def judge(policy: Policy | None = None, *, has_board: bool = True) -> Judge:
    """A judge at NOW, with a board."""
    return Judge(Settings(project_number=1), has_board, policy or Policy(), NOW)
