"""What the page shows, as values: one repository, its board, and the last requests.

A page is for eyes: of long lists it holds the newest, and says how many there are.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from lifecycle.sandbox.base.times import stamp
from lifecycle.sandbox.boards.state import BoardTables, DraftIssue, Item, Project
from lifecycle.sandbox.checks import actions as checks
from lifecycle.sandbox.checks.state import CheckRun, CommitStatus
from lifecycle.sandbox.control.faults import Active
from lifecycle.sandbox.issues.state import Issue, IssueTables
from lifecycle.sandbox.pulls import actions as pulls
from lifecycle.sandbox.pulls.state import PullRequest, PullTables
from lifecycle.sandbox.repositories.state import Repository, World
from lifecycle.sandbox.wire.requestlog import Entry
from lifecycle.sandbox.wire.site import Site

MOST = 50
"""Rows of a list, and cards of a column."""
MOST_REQUESTS = 100
WITHOUT_STATUS = "No status"


@dataclass(frozen=True, slots=True)
class Card:
    """A card of the board."""

    title: str
    number: int | None
    agent: str
    people: str
    archived: bool


@dataclass(frozen=True, slots=True)
class Column:
    """The cards of one status."""

    name: str
    count: int
    cards: list[Card]


@dataclass(frozen=True, slots=True)
class IssueRow:
    """An issue."""

    number: int
    title: str
    state: str
    labels: list[tuple[str, str]]
    people: str
    comments: int


@dataclass(frozen=True, slots=True)
class CheckMark:
    """A check run or a status of a head."""

    name: str
    state: str


@dataclass(frozen=True, slots=True)
class PullRow:
    """A pull request."""

    number: int
    title: str
    state: str
    branches: str
    head: str
    reviews: str
    checks: list[CheckMark]


@dataclass(frozen=True, slots=True)
class FaultRow:
    """A fault that is set."""

    what: str
    where: str
    left: int


@dataclass(frozen=True, slots=True)
class View:
    """All of the page."""

    repositories: list[str]
    chosen: str
    board: str
    columns: list[Column]
    issues: list[IssueRow]
    issue_count: int
    pulls: list[PullRow]
    pull_count: int
    requests: list[Entry]
    request_count: int
    counts: list[tuple[str, int]]
    failed: int
    points: int
    faults: list[FaultRow]
    struck: int


def view(site: Site, name: str | None) -> View:
    """The page of a repository, by default the first. Called under the world's lock."""
    world = site.world
    repo = (world.repository(name) if name else None) or world.home
    pull_tables = PullTables.of(repo)
    board = next((one for one in BoardTables.of(world).projects if repo in one.repositories), None)
    issues = [
        issue for issue in reversed(IssueTables.of(repo).issues.values()) if not issue.is_pull
    ]
    entries = site.log.newest(MOST_REQUESTS)
    return View(
        repositories=[one.full_name for one in world.repositories.values()],
        chosen=repo.full_name,
        board=f"{board.title} (project {board.number} of {board.owner.login})" if board else "",
        columns=_columns(world, board) if board else [],
        issues=[_issue(issue) for issue in issues[:MOST]],
        issue_count=len(issues),
        pulls=[_pull(repo, pull) for pull in list(reversed(pull_tables.pulls.values()))[:MOST]],
        pull_count=len(pull_tables.pulls),
        requests=entries,
        request_count=site.log.total,
        counts=sorted(site.log.counts().items()),
        failed=site.log.failed(),
        points=site.log.points(),
        faults=[_fault(one) for one in site.faults.active],
        struck=site.faults.struck,
    )


def _columns(world: World, board: Project) -> list[Column]:
    """The board by its status, in the order of the options."""
    status, agent = board.field_named("Status"), board.field_named("Agent")
    names = {option.id: option.name for option in status.options} if status else {}
    cards: dict[str, list[Item]] = {name: [] for name in (*names.values(), WITHOUT_STATUS)}
    for item in board.items:
        chosen = item.values.get(status.id, "") if status else ""
        cards[names.get(chosen, WITHOUT_STATUS)].append(item)
    agent_id = agent.id if agent else ""
    return [
        Column(name, len(items), [_card(world, item, agent_id) for item in items[:MOST]])
        for name, items in cards.items()
        if items or name != WITHOUT_STATUS
    ]


def _card(world: World, item: Item, agent: str) -> Card:
    content = item.content
    is_draft = isinstance(content, DraftIssue)
    number = None if isinstance(content, DraftIssue) else content.number
    where = "" if is_draft or len(world.repositories) == 1 else _where(item)
    return Card(
        title=f"{where}{content.title}",
        number=number,
        agent=item.values.get(agent, ""),
        people=", ".join(user.login for user in content.assignees),
        archived=item.archived,
    )


def _where(item: Item) -> str:
    content = item.content
    return "" if isinstance(content, DraftIssue) else f"{content.repository.name}: "


def _issue(issue: Issue) -> IssueRow:
    return IssueRow(
        number=issue.number,
        title=issue.title,
        state=f"{issue.state} ({issue.state_reason})" if issue.state_reason else issue.state,
        labels=[(label.name, label.color) for label in issue.labels],
        people=", ".join(user.login for user in issue.assignees),
        comments=len(issue.comments),
    )


def _pull(repo: Repository, pull: PullRequest) -> PullRow:
    runs = [_run(one) for one in checks.latest_runs_of(repo, pull.head_sha)]
    statuses = [_status(one) for one in checks.statuses_of(repo, pull.head_sha)]
    said = Counter(review.state.lower().replace("_", " ") for review in pull.reviews)
    state = pulls.state_of(pull).lower()
    return PullRow(
        number=pull.number,
        title=pull.issue.title,
        state="draft" if pull.draft and state == "open" else state,
        branches=f"{pull.head} → {pull.base}",
        head=pull.head_sha[:7],
        reviews=", ".join(f"{count} {name}" for name, count in said.items()),
        checks=[*runs, *statuses],
    )


def _run(run: CheckRun) -> CheckMark:
    ended = f" at {stamp(run.completed_at)}" if run.completed_at else ""
    return CheckMark(
        f"{run.name}: {run.conclusion or run.status}{ended}", run.conclusion or "pending"
    )


def _status(status: CommitStatus) -> CheckMark:
    return CheckMark(f"{status.context}: {status.state}", status.state)


def _fault(active: Active) -> FaultRow:
    fault = active.fault
    where = " ".join(filter(None, (fault.method, fault.path or fault.operation or "anything")))
    what = f"{fault.kind} {fault.status}" if fault.kind == "status" else fault.kind
    chance = f", {fault.probability:.0%} of the time" if fault.probability < 1 else ""
    return FaultRow(f"{what}, {fault.when} it is done{chance}", where, active.count)
