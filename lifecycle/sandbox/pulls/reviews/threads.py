"""Review threads: conversations about places in a pull request's diff.

Source: https://docs.github.com/rest/pulls/comments
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.pulls import changes
from lifecycle.sandbox.pulls.reviews import actions as reviews
from lifecycle.sandbox.pulls.state import PullRequest, Review, ReviewComment, ReviewThread

Side = Literal["LEFT", "RIGHT"]
HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a diff: a line of one side, or without a line the whole file."""

    path: str
    line: int | None = None
    side: Side = "RIGHT"
    start_line: int | None = None
    start_side: Side | None = None


class NotInDiff(ActionRefused):
    """The diff has no such place; `field` names the wrong part of it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def hunk_to(patch: str, line: int, side: Side) -> str | None:
    """The hunk that contains a line, up to that line; None if none does."""
    kept: list[str] = []
    left = right = 0
    for text in patch.split("\n"):
        if match := HUNK.match(text):
            kept, left, right = [text], int(match[1]) - 1, int(match[3]) - 1
            continue
        kept.append(text)
        left += text[:1] in {"-", " "}
        right += text[:1] in {"+", " "}
        is_there = text[:1] in ({"-", " "} if side == "LEFT" else {"+", " "})
        if is_there and (left if side == "LEFT" else right) == line:
            return "\n".join(kept)
    return None


def begin(pull: PullRequest, user: User, place: Place, body: str, review: Review) -> ReviewComment:
    """Begin a thread as a part of a review, and return its first comment.

    Raises:
        NotInDiff: The place is not in the diff.
    """
    file = next((change for change in changes.files(pull) if change.path == place.path), None)
    if file is None:
        raise NotInDiff("pull_request_review_thread.path", "is invalid")
    hunk = file.patch or ""
    for name, line, side in (
        ("start_line", place.start_line, place.start_side or place.side),
        ("line", place.line, place.side),
    ):
        if line is not None:
            excerpt = hunk_to(file.patch or "", line, side)
            if excerpt is None:
                field = f"pull_request_review_thread.{name}"
                raise NotInDiff(field, "must be part of the diff")
            hunk = excerpt
    repo = pull.repository
    number, node = repo.new_id("PRRT")
    thread = ReviewThread(
        number, node, pull, place.path, place.line, pull.head_sha, place.side,
        start_line=place.start_line, start_side=place.start_side,
    )  # fmt: skip
    pull.threads.append(thread)
    repo.world.register(node, thread)
    return _say(thread, user, body, review, hunk)


def reply(comment: ReviewComment, user: User, body: str, review: Review) -> ReviewComment:
    """Add a comment to the thread of `comment`."""
    first = comment.thread.comments[0]
    answer = _say(comment.thread, user, body, review, first.diff_hunk)
    answer.reply_to = first
    return answer


def _say(thread: ReviewThread, user: User, body: str, review: Review, hunk: str) -> ReviewComment:
    repo = thread.pull.repository
    number, node = repo.new_id("PRRC")
    created_at = now()
    comment = ReviewComment(number, node, thread, review, user, body, created_at, created_at, hunk)
    thread.comments.append(comment)
    repo.world.register(node, comment)
    thread.pull.issue.updated_at = created_at
    repo.touch()
    return comment


def review_for(pull: PullRequest, user: User) -> Review:
    """The review for a single comment: a new one of its own, as on GitHub."""
    return reviews.review(pull, user, "COMMENTED", "")


def resolve(thread: ReviewThread, user: User | None) -> None:
    """Resolve a thread; without a user, unresolve it."""
    thread.resolved_by = user
    thread.pull.repository.touch()


def delete(comment: ReviewComment) -> None:
    """Delete a comment; if it is the only one, delete its thread, too."""
    thread = comment.thread
    world = thread.pull.repository.world
    thread.comments.remove(comment)
    world.forget(comment.node_id)
    for other in thread.comments:
        if other.reply_to is comment:
            other.reply_to = None
    if not thread.comments:
        thread.pull.threads.remove(thread)
        world.forget(thread.node_id)


def comments_of(pull: PullRequest, user: User) -> list[ReviewComment]:
    """The comments on the diff, oldest first, without other users' pending ones."""
    comments = [comment for thread in pull.threads for comment in thread.comments]
    visible = [
        comment
        for comment in comments
        if comment.review is None or comment.review.state != "PENDING" or comment.author is user
    ]
    return sorted(visible, key=lambda comment: comment.id)


def outdate(pull: PullRequest) -> None:
    """After a push, mark the threads as outdated whose line the head has changed."""
    git = pull.repository.git
    for thread in pull.threads:
        if thread.line is None or thread.side == "LEFT" or thread.is_outdated:
            continue
        was, is_ = (
            git.run("show", f"{sha}:{thread.path}").stdout.split(b"\n")
            for sha in (thread.sha, pull.head_sha)
        )
        place = thread.line - 1
        thread.is_outdated = was[place : place + 1] != is_[place : place + 1]
