"""Reviews of pull requests over REST, and what was said about lines of them."""

from __future__ import annotations

from typing import Any

from lifecycle.sandbox.accounts import payload as accounts
from lifecycle.sandbox.base.times import attributes, stamp
from lifecycle.sandbox.issues import payload as issues
from lifecycle.sandbox.pulls import payload as pulls
from lifecycle.sandbox.pulls.state import Review, ReviewComment
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.wire.call import Call


def review_url(call: Call, made: Review) -> str:
    """The place of a review on its pull request's page."""
    return f"{issues.issue_page(call, made.pull.issue)}#pullrequestreview-{made.id}"


def review(call: Call, made: Review) -> dict[str, Any]:
    """A review of a pull request; a pending one has no time."""
    url = pulls.pull_url(call, made.pull)
    page = review_url(call, made)
    answer = {
        **attributes(made, "id node_id"),
        "user": accounts.user(call, made.author),
        **attributes(made, "body state"),
        "html_url": page,
        "pull_request_url": url,
        "author_association": repositories.associate(call, made.pull.repository, made.author),
        "_links": {"html": {"href": page}, "pull_request": {"href": url}},
        "commit_id": made.sha,
    }
    if made.state != "PENDING":
        answer["submitted_at"] = stamp(made.submitted_at)
    return answer


def comment_url(call: Call, made: ReviewComment) -> str:
    """The place of a comment on its pull request's page."""
    return f"{issues.issue_page(call, made.thread.pull.issue)}#discussion_r{made.id}"


def comment(call: Call, made: ReviewComment) -> dict[str, Any]:
    """A comment on a line of the diff; an outdated one is about no line of today."""
    thread = made.thread
    pull = thread.pull
    url = f"{repositories.api_url(call, pull.repository)}/pulls/comments/{made.id}"
    page = comment_url(call, made)
    is_now = not thread.is_outdated
    position = max(made.diff_hunk.count("\n"), 1)
    answer = {
        "url": url,
        "pull_request_review_id": made.review.id if made.review else None,
        **attributes(made, "id node_id diff_hunk"),
        "path": thread.path,
        "commit_id": pull.head_sha if is_now else thread.sha,
        "original_commit_id": thread.sha,
        "user": accounts.user(call, made.author),
        **attributes(made, "body created_at updated_at"),
        "html_url": page,
        "pull_request_url": pulls.pull_url(call, pull),
        "author_association": repositories.associate(call, pull.repository, made.author),
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
    if made.reply_to is not None:
        answer["in_reply_to_id"] = made.reply_to.id
    return answer
