"""The page at `/` for a browser, and its changing part, which the page requests again and again.

It shows one repository, its board, and the last requests. Of long lists it shows the newest entries and
the total.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from werkzeug.wrappers import Request, Response

from lifecycle.sandbox.base.times import stamp
from lifecycle.sandbox.boards.state import BoardTables, DraftIssue, Item, Project
from lifecycle.sandbox.checks import actions as checks
from lifecycle.sandbox.checks.state import CheckRun, CommitStatus
from lifecycle.sandbox.control.faults import Active
from lifecycle.sandbox.issues.state import Issue, IssueTables
from lifecycle.sandbox.pulls import actions as pulls
from lifecycle.sandbox.pulls.state import PullRequest, PullTables
from lifecycle.sandbox.repositories.state import Repository, World
from lifecycle.sandbox.wire.site import Site

LIVE = "/_sandbox/page"
GUARDS = {
    # Only the page's own files: titles and names come from whoever uses the sandbox.
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "connect-src 'self'; img-src data:",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
ASSETS = {"/_sandbox/page.css": "text/css", "/_sandbox/page.js": "text/javascript"}
MOST = 50
"""The most rows of a list, and cards of a column."""
MOST_REQUESTS = 100
WITHOUT_STATUS = "No status"
Shown = dict[str, Any]
"""A template's values, or a part of them."""


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("lifecycle.sandbox.control.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def is_page(request: Request) -> bool:
    """Whether a browser requests the page, or the page a part of itself."""
    if request.method != "GET":
        return False
    if request.path == LIVE or request.path in ASSETS:
        return True
    return request.path == "/" and "text/html" in request.headers.get("Accept", "")


def respond(site: Site, request: Request) -> Response:
    """Answer a request that `is_page`. An ETag avoids sending the changing part while nothing changes."""
    if request.path in ASSETS:
        text = _templates().get_template(request.path.rpartition("/")[2]).render()
        return Response(text, content_type=f"{ASSETS[request.path]}; charset=utf-8", headers=GUARDS)
    name = "live.html" if request.path == LIVE else "page.html"
    with site.world.lock:
        shown = view(site, request.args.get("repository"))
    text = _templates().get_template(name).render(shown)
    answer = Response(text, content_type="text/html; charset=utf-8", headers=GUARDS)
    answer.add_etag()
    answer.make_conditional(request)
    return answer


def view(site: Site, name: str | None) -> Shown:
    """The templates' values for a repository, by default the first. Called under the world's lock."""
    world = site.world
    repo = (world.repository(name) if name else None) or world.home
    pull_tables = PullTables.of(repo)
    projects = BoardTables.of(world).projects
    board = next((project for project in projects if repo in project.repositories), None)
    issues = [
        issue for issue in reversed(IssueTables.of(repo).issues.values()) if not issue.is_pull
    ]
    entries = site.log.newest(MOST_REQUESTS)
    return {
        "repositories": [repository.full_name for repository in world.repositories.values()],
        "chosen": repo.full_name,
        "board": f"{board.title} (project {board.number} of {board.owner.login})" if board else "",
        "columns": _columns(world, board) if board else [],
        "issues": [_issue(issue) for issue in issues[:MOST]],
        "issue_count": len(issues),
        "pulls": [_pull(repo, pull) for pull in list(reversed(pull_tables.pulls.values()))[:MOST]],
        "pull_count": len(pull_tables.pulls),
        "requests": [asdict(entry) for entry in entries],
        "request_count": site.log.total,
        "counts": sorted(site.log.counts().items()),
        "failed": site.log.failed(),
        "points": site.log.points(),
        "faults": [_fault(active) for active in site.faults.active],
        "struck": site.faults.struck,
    }


def _columns(world: World, board: Project) -> list[Shown]:
    """The columns of a board with their cards, in the order of the options of its field Status."""
    status, agent = board.field_named("Status"), board.field_named("Agent")
    names = {option.id: option.name for option in status.options} if status else {}
    cards: dict[str, list[Item]] = {name: [] for name in (*names.values(), WITHOUT_STATUS)}
    for item in board.items:
        chosen = item.values.get(status.id, "") if status else ""
        cards[names.get(chosen, WITHOUT_STATUS)].append(item)
    agent_id = agent.id if agent else ""
    return [
        {
            "name": name,
            "count": len(items),
            "cards": [_card(world, item, agent_id) for item in items[:MOST]],
        }
        for name, items in cards.items()
        if items or name != WITHOUT_STATUS
    ]


def _card(world: World, item: Item, agent: str) -> Shown:
    content = item.content
    is_draft = isinstance(content, DraftIssue)
    number = None if isinstance(content, DraftIssue) else content.number
    where = "" if is_draft or len(world.repositories) == 1 else _where(item)
    return {
        "title": f"{where}{content.title}",
        "number": number,
        "agent": item.values.get(agent, ""),
        "people": ", ".join(user.login for user in content.assignees),
        "archived": item.archived,
    }


def _where(item: Item) -> str:
    content = item.content
    return "" if isinstance(content, DraftIssue) else f"{content.repository.name}: "


def _issue(issue: Issue) -> Shown:
    return {
        "number": issue.number,
        "title": issue.title,
        "state": f"{issue.state} ({issue.state_reason})" if issue.state_reason else issue.state,
        "labels": [(label.name, label.color) for label in issue.labels],
        "people": ", ".join(user.login for user in issue.assignees),
        "comments": len(issue.comments),
    }


def _pull(repo: Repository, pull: PullRequest) -> Shown:
    runs = [_run(run) for run in checks.latest_runs_of(repo, pull.head_sha)]
    statuses = [_status(status) for status in checks.statuses_of(repo, pull.head_sha)]
    verdicts = Counter(review.state.lower().replace("_", " ") for review in pull.reviews)
    state = pulls.state_of(pull).lower()
    return {
        "number": pull.number,
        "title": pull.issue.title,
        "state": "draft" if pull.draft and state == "open" else state,
        "branches": f"{pull.head} → {pull.base}",
        "head": pull.head_sha[:7],
        "reviews": ", ".join(f"{count} {name}" for name, count in verdicts.items()),
        "checks": [*runs, *statuses],
    }


def _run(run: CheckRun) -> Shown:
    ended = f" at {stamp(run.completed_at)}" if run.completed_at else ""
    name = f"{run.name}: {run.conclusion or run.status}{ended}"
    return {"name": name, "state": run.conclusion or "pending"}


def _status(status: CommitStatus) -> Shown:
    return {"name": f"{status.context}: {status.state}", "state": status.state}


def _fault(active: Active) -> Shown:
    fault = active.fault
    where = " ".join(filter(None, (fault.method, fault.path or fault.operation or "anything")))
    what = f"{fault.kind} {fault.status}" if fault.kind == "status" else fault.kind
    chance = f", {fault.probability:.0%} of the time" if fault.probability < 1 else ""
    what = f"{what}, {fault.when} it is done{chance}"
    return {"what": what, "where": where, "left": active.count}
