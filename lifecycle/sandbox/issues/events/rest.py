"""REST's lists of issues' events and timelines."""

from __future__ import annotations

from lifecycle.sandbox.issues.events import payload as payloads
from lifecycle.sandbox.issues.rest import ISSUE
from lifecycle.sandbox.issues.state import Comment, Issue, IssueEvent, IssueTables
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import REPO, Call, Reply, route
from lifecycle.sandbox.wire.rest import asking


def _of(issue: Issue) -> list[IssueEvent]:
    return [event for event in issue.events if event.kind not in payloads.IN_TIMELINE_ONLY]


@route("GET", f"{ISSUE}/events")
def list_issue_events(call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/issues/N/events, oldest first."""
    asking.only(call)
    issue = asking.issue(repo, number)
    return call.paged(_of(issue), payloads.event, issue)


@route("GET", f"{REPO}/issues/events")
def list_events(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/issues/events: of every issue, newest first."""
    asking.only(call)
    pairs = [
        (issue, event) for issue in IssueTables.of(repo).issues.values() for event in _of(issue)
    ]
    pairs.sort(key=lambda pair: (pair[1].created_at, pair[1].id), reverse=True)
    shown, headers = call.page(pairs)
    answer = [payloads.event_of_repository(call, issue, event) for issue, event in shown]
    return Reply(200, answer, headers)


@route("GET", f"{REPO}/issues/events/<int:event>")
def get_event(call: Call, repo: Repository, event: int) -> Reply:
    for issue in IssueTables.of(repo).issues.values():
        for entry in _of(issue):
            if entry.id == event:
                return Reply(200, payloads.event_of_repository(call, issue, entry))
    raise asking.not_found()


@route("GET", f"{ISSUE}/timeline")
def list_timeline(call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/issues/N/timeline: events and comments, oldest first."""
    asking.only(call)
    issue = asking.issue(repo, number)
    comments = repo.world.visible(issue.comments, call.seen)
    events = [event for event in issue.events if payloads.may_see(call, event)]
    entries: list[IssueEvent | Comment] = [*events, *comments]
    timeline = sorted(entries, key=lambda entry: (entry.created_at, entry.id))
    return call.paged(timeline, payloads.timeline, issue)
