"""The JSON of reviews, and of comments on lines of a diff, in REST's answers."""

from __future__ import annotations

from typing import Any

from lifecycle.sandbox.accounts import payload as accounts
from lifecycle.sandbox.base.times import attributes, stamp
from lifecycle.sandbox.issues import payload as issues
from lifecycle.sandbox.pulls import payload as pulls
from lifecycle.sandbox.pulls.state import Review, ReviewComment
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.wire.call import Call


def review_url(call: Call, subject: Review) -> str:
    """The URL of a review on its pull request's page."""
    return f"{issues.issue_page(call, subject.pull.issue)}#pullrequestreview-{subject.id}"


def review(call: Call, subject: Review) -> dict[str, Any]:
    """The JSON of a review of a pull request; a pending one has no time."""
    url = pulls.pull_url(call, subject.pull)
    page = review_url(call, subject)
    answer = {
        **attributes(subject, "id node_id"),
        "user": accounts.user(call, subject.author),
        **attributes(subject, "body state"),
        "html_url": page,
        "pull_request_url": url,
        "author_association": repositories.associate(call, subject.pull.repository, subject.author),
        "_links": {"html": {"href": page}, "pull_request": {"href": url}},
        "commit_id": subject.sha,
    }
    if subject.state != "PENDING":
        answer["submitted_at"] = stamp(subject.submitted_at)
    return answer


def comment_url(call: Call, subject: ReviewComment) -> str:
    """The URL of a comment on its pull request's page."""
    return f"{issues.issue_page(call, subject.thread.pull.issue)}#discussion_r{subject.id}"


def comment(call: Call, subject: ReviewComment) -> dict[str, Any]:
    """The JSON of a comment on a line of the diff; an outdated one has no `line` and `position`."""
    thread = subject.thread
    pull = thread.pull
    url = f"{repositories.api_url(call, pull.repository)}/pulls/comments/{subject.id}"
    page = comment_url(call, subject)
    is_now = not thread.is_outdated
    position = max(subject.diff_hunk.count("\n"), 1)
    answer = {
        "url": url,
        "pull_request_review_id": subject.review.id if subject.review else None,
        **attributes(subject, "id node_id diff_hunk"),
        "path": thread.path,
        "commit_id": pull.head_sha if is_now else thread.sha,
        "original_commit_id": thread.sha,
        "user": accounts.user(call, subject.author),
        **attributes(subject, "body created_at updated_at"),
        "html_url": page,
        "pull_request_url": pulls.pull_url(call, pull),
        "author_association": repositories.associate(call, pull.repository, subject.author),
        "_links": {
            "self": {"href": url},
            "html": {"href": page},
            "pull_request": {"href": pulls.pull_url(call, pull)},
        },
        "reactions": issues.reactions(f"{url}/reactions"),
        "start_line": thread.start_line if is_now else None,
        "original_start_line": thread.start_line,
        "start_side": thread.start_side,
        "line": thread.line if is_now else None,
        "original_line": thread.line,
        "side": thread.side,
        "original_position": position,
        "position": position if is_now else None,
        "subject_type": "line" if thread.line is not None else "file",
    }
    if subject.reply_to is not None:
        answer["in_reply_to_id"] = subject.reply_to.id
    return answer
