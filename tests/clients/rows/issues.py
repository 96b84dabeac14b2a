"""Issues, comments, labels, milestones, sub-issues and dependencies."""

from __future__ import annotations

from tests.clients.rows.form import Row, gone

ISSUES = (
    Row("issues/list-for-repo", lambda _: {"state": "all", "per_page": 100}),
    Row("issues/create", lambda _: {"title": "By githubkit", "labels": ["bug"]}, 201),
    Row("issues/get", lambda s: {"issue_number": s.rich}),
    Row("issues/update", lambda s: {"issue_number": s.issue(), "state": "closed"}),
    Row("issues/list-comments", lambda s: {"issue_number": s.rich}),
    Row("issues/create-comment", lambda s: {"issue_number": s.rich, "body": "Hello"}, 201),
    Row("issues/list-comments-for-repo"),
    Row("issues/get-comment", lambda s: {"comment_id": s.comment()}),
    Row("issues/update-comment", lambda s: {"comment_id": s.comment(), "body": "New"}),
    gone("issues/delete-comment", lambda s: {"comment_id": s.comment()}),
    Row("issues/list-labels-on-issue", lambda s: {"issue_number": s.rich}),
    Row("issues/add-labels", lambda s: {"issue_number": s.issue(), "labels": ["enhancement"]}),
    Row("issues/set-labels", lambda s: {"issue_number": s.issue(), "labels": ["enhancement"]}),
    Row("issues/remove-label", lambda s: {"issue_number": s.issue(), "name": "bug"}),
    gone("issues/remove-all-labels", lambda s: {"issue_number": s.issue()}),
    Row("issues/add-assignees", lambda s: {"issue_number": s.issue(), "assignees": ["maria"]}, 201),
    Row("issues/remove-assignees", lambda s: {"issue_number": s.issue(), "assignees": ["sam"]}),
    Row("issues/list-assignees"),
    gone("issues/check-user-can-be-assigned", lambda _: {"assignee": "sam"}),
    gone("issues/lock", lambda s: {"issue_number": s.issue(), "lock_reason": "resolved"}),
    gone("issues/unlock", lambda s: {"issue_number": s.issue()}),
    # Not of a closed issue: GitHub sends the event "closed", which its description leaves out here.
    # https://docs.github.com/en/rest/using-the-rest-api/issue-event-types#closed
    Row("issues/list-events", lambda s: {"issue_number": s.issue()}),
    Row("issues/list-events-for-repo"),
    Row("issues/list-events-for-timeline", lambda s: {"issue_number": s.rich}),
    Row("issues/list-labels-for-repo"),
    Row("issues/create-label", lambda s: {"name": s.name("made"), "color": "ff0000"}, 201),
    Row("issues/get-label", lambda _: {"name": "bug"}),
    Row("issues/update-label", lambda s: {"name": s.label(), "description": "New"}),
    gone("issues/delete-label", lambda s: {"name": s.label()}),
    Row("issues/list-milestones", lambda _: {"state": "all"}),
    Row("issues/create-milestone", lambda s: {"title": s.name("Made")}, 201),
    Row("issues/get-milestone", lambda s: {"milestone_number": s.milestone()}),
    Row("issues/update-milestone", lambda s: {"milestone_number": s.milestone(), "state": "closed"}),
    gone("issues/delete-milestone", lambda s: {"milestone_number": s.milestone()}),
    Row("issues/list-labels-for-milestone", lambda s: {"milestone_number": s.milestone()}),
    Row("issues/list-sub-issues", lambda s: {"issue_number": s.family[0]}),
    Row("issues/get-parent", lambda s: {"issue_number": s.family[1]}),
    Row("issues/add-sub-issue", lambda s: {
        "issue_number": s.issue(), "sub_issue_id": s.issue_id(s.issue())}, 201),
    Row("issues/remove-sub-issue", lambda s: {
        "issue_number": s.family[0], "sub_issue_id": s.issue_id(s.family[1])}),
    Row("issues/list-dependencies-blocked-by", lambda s: {"issue_number": s.chain[0]}),
    Row("issues/list-dependencies-blocking", lambda s: {"issue_number": s.chain[1]}),
    Row("issues/add-blocked-by-dependency", lambda s: {
        "issue_number": s.issue(), "issue_id": s.issue_id(s.issue())}, 201),
    Row("issues/remove-dependency-blocked-by", lambda s: {
        "issue_number": s.chain[0], "issue_id": s.issue_id(s.chain[1])}),
    Row("issues/get-event", lambda s: {
        "event_id": s.ask("GET", f"issues/{s.issue()}/events")[0]["id"]}),
    gone("issues/check-user-can-be-assigned-to-issue", lambda s: {
        "issue_number": s.rich, "assignee": "sam"}),
    Row("issues/reprioritize-sub-issue", lambda s: {
        "issue_number": (pair := s.siblings())[0], "sub_issue_id": s.issue_id(pair[1]),
        "after_id": s.issue_id(pair[2])}),
)  # fmt: skip
