"""Every operation with values of its own, on one prepared world."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from lifecycle.api import Annotation, Ensured
from tests.github.operations.ground import Ground

Operation = Callable[["Scene"], Ensured[Any]]


@dataclass(frozen=True, slots=True)
class Scene:
    """A prepared world: an open pull request of `work`, a branch `next` without one.

    Attributes:
        ground: where.
        pull: the number of the pull request.
        sha: its head.
    """

    ground: Ground
    pull: int
    sha: str


def prepared(ground: Ground) -> Scene:
    """Make the scene; the request log is empty afterwards."""
    sha = ground.pushed("work")
    ground.pushed("next")
    pull = ground.control.open_pull("work", "Work", by="maria")
    ground.control.push_commit("main", {"base.txt": "base\n"}, "Base")
    # What GitHub reckons out late (whether it can be merged) is known before anything is compared.
    for _ in range(2):
        ground.hub.pulls.ensure_text(pull)
    ground.asked()
    return Scene(ground, pull, sha)


_REMARKS = tuple(Annotation("work.txt", n, n, "notice", f"Remark {n}") for n in range(1, 61))

PEOPLE: Mapping[str, Operation] = {
    "issue": lambda s: s.ground.hub.issues.ensure_issue("k", title="A", body="B"),
    "issue text": lambda s: s.ground.hub.issues.ensure_issue("k", title="C", body="D"),
    "text": lambda s: s.ground.hub.issues.ensure_text(42, title="New", body="Text"),
    "closed": lambda s: s.ground.hub.issues.ensure_closed(42, "not_planned"),
    "open": lambda s: s.ground.hub.issues.ensure_open(42),
    "assignees": lambda s: s.ground.hub.issues.ensure_assignees(42, only=("octocat", "sam")),
    "no assignees": lambda s: s.ground.hub.issues.ensure_assignees(42, only=()),
    "milestone": lambda s: s.ground.hub.issues.ensure_milestone(42, "v1", create=True),
    "no milestone": lambda s: s.ground.hub.issues.ensure_milestone(42, None),
    "comment": lambda s: s.ground.hub.comments.ensure_comment(42, "k", "One"),
    "comment text": lambda s: s.ground.hub.comments.ensure_comment(42, "k", "Two"),
    "no comment": lambda s: s.ground.hub.comments.ensure_no_comment(42, "k"),
    "label": lambda s: s.ground.hub.labels.ensure_label("x", color="ff0000"),
    "labels": lambda s: s.ground.hub.labels.ensure_labels(42, add=("x", "y"), create=True),
    "no labels": lambda s: s.ground.hub.labels.ensure_labels(42, only=()),
    "blocked": lambda s: s.ground.hub.relations.ensure_blocked_by(42, 38),
    "not blocked": lambda s: s.ground.hub.relations.ensure_not_blocked_by(42, 38),
    "part": lambda s: s.ground.hub.relations.ensure_sub_issue(42, 39),
    "no part": lambda s: s.ground.hub.relations.ensure_not_sub_issue(42, 39),
    "pull": lambda s: s.ground.hub.pulls.ensure_pull_request("next", title="N", base="main"),
    "pull text": lambda s: s.ground.hub.pulls.ensure_text(s.pull, title="T", body="B"),
    "pull closed": lambda s: s.ground.hub.pulls.ensure_closed(s.pull),
    "pull open": lambda s: s.ground.hub.pulls.ensure_open(s.pull),
    "draft": lambda s: s.ground.hub.pulls.ensure_draft(s.pull),
    "ready": lambda s: s.ground.hub.pulls.ensure_ready(s.pull),
    "reviewers": lambda s: s.ground.hub.pulls.ensure_reviewers(s.pull, people=("sam",)),
    "no reviewers": lambda s: s.ground.hub.pulls.ensure_not_reviewers(s.pull, people=("sam",)),
    "updated": lambda s: s.ground.hub.merging.ensure_branch_updated(s.pull),
    "merged": lambda s: s.ground.hub.merging.ensure_merged(s.pull, method="squash"),
    "status": lambda s: s.ground.hub.statuses.ensure_status(s.sha, "deploy", "success"),
    "status text": lambda s: s.ground.hub.statuses.ensure_status(
        s.sha, "deploy", "pending", description="Under way"
    ),
    "ref": lambda s: s.ground.hub.refs.ensure_ref("refs/heads/copy", s.sha),
    "no ref": lambda s: s.ground.hub.refs.ensure_no_ref("refs/heads/copy"),
    "item": lambda s: s.ground.hub.board(1).ensure_item(s.pull),
    "no item": lambda s: s.ground.hub.board(1).ensure_no_item(s.pull),
    "option": lambda s: s.ground.hub.board(1).ensure_field(42, "Status", "Done"),
    "points": lambda s: s.ground.hub.board(1).ensure_field(42, "Points", 3),
    "no points": lambda s: s.ground.hub.board(1).ensure_field(42, "Points", None),
    "due": lambda s: s.ground.hub.board(1).ensure_field(42, "Due", date(2026, 1, 31)),
    "sprint": lambda s: s.ground.hub.board(1).ensure_field(42, "Sprint", "Sprint 2"),
    "archived": lambda s: s.ground.hub.board(1).ensure_archived(42),
    "not archived": lambda s: s.ground.hub.board(1).ensure_unarchived(42),
}
"""What a person may do. The names of what undoes another begin with "no" or "not"."""

APPS: Mapping[str, Operation] = {
    "check": lambda s: s.ground.hub.checks.ensure_check_run(
        "lint", s.sha, conclusion="neutral", title="T", summary="S", annotations=_REMARKS
    ),
    "check goes on": lambda s: s.ground.hub.checks.ensure_check_run(
        "lint", s.sha, status="in_progress"
    ),
}
"""What only an app may do."""
