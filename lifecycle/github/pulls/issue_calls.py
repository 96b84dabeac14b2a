"""Issues over REST: texts, state, labels, assignees, comments, milestones, relations.

Each method is one request unless it says otherwise, and returns what the answer shows.
Sources: https://docs.github.com/rest/issues and the pages below it, named at each method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Literal

from lifecycle.core import hidden_marker, timing
from lifecycle.core.errors import AlreadyExists, NotFound
from lifecycle.core.values.model import Issue
from lifecycle.core.values.shapes import CommentFacts, IssueFacts, LabelFacts, MilestoneFacts
from lifecycle.github.client.rest import Calls, Json, login_of, part, rest_issue
from lifecycle.github.failures.failures import Answer

State = Literal["open", "closed"]
Relation = Literal["dependencies/blocked_by", "sub_issues"]


class IssueCalls:
    """The issues of one repository."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls

    def issue(self, number: int) -> IssueFacts:
        """One issue or pull request; NotFound.

        Source: https://docs.github.com/rest/issues/issues#get-an-issue
        """
        subject = f"issue #{number}"
        return self._issue(subject, self.calls.read(f"issues/{number}", subject))

    def marked(self, mark: str, label: str) -> IssueFacts | None:
        """The oldest issue of the token's owner whose body ends with the marker, in any state.

        A request for each hundred issues of that author (with that label, if one is given), up to
        the one that is found. The list may lag behind what was just created.
        Source: https://docs.github.com/rest/issues/issues#list-repository-issues
        """
        subject = "issues"
        query = {"state": "all", "sort": "created", "direction": "asc"}
        query |= {"creator": self.calls.login} if self.calls.login else {}
        query |= {"labels": label} if label else {}
        for one in self.calls.pages("issues", subject, query):
            is_issue = "pull_request" not in one
            is_signed = hidden_marker.is_signed(str(one.get("body") or ""), mark)
            if is_issue and is_signed and self.calls.is_mine(one):
                return self._issue(subject, one)
        return None

    def listed(self, state: State, *, label: str = "", assignee: str = "") -> Iterator[IssueFacts]:
        """The repository's issues, the oldest first, pull requests left out; a hundred a request.

        Args:
            state: which.
            label: only those with this label; case is ignored, and GitHub takes a comma for an "and".
            assignee: a login, `none` for those that are nobody's, `*` for all others, "" for all.

        Source: https://docs.github.com/rest/issues/issues#list-repository-issues
        """
        query = {"state": state, "sort": "created", "direction": "asc"}
        query |= {"labels": label} if label else {}
        query |= {"assignee": assignee} if assignee else {}
        for one in self.calls.pages("issues", "issues", query):
            if "pull_request" not in one:
                yield self._issue("issues", one)

    def create(self, title: str, body: str, labels: Iterable[str]) -> IssueFacts:
        """Open an issue; sent once. GitHub drops labels silently if the token may not set them.

        Source: https://docs.github.com/rest/issues/issues#create-an-issue
        """
        subject = f'an issue "{title}"'
        content = {"title": title, "body": body, "labels": list(labels)}
        made = self.calls.create("POST", "issues", subject, content)
        return self._issue(subject, made, is_write=True)

    def edit(self, number: int, **changes: object) -> IssueFacts:
        """Set title, body, state with state_reason, or milestone (its number, None for none).

        Source: https://docs.github.com/rest/issues/issues#update-an-issue
        """
        subject = f"the {_listed(changes)} of issue #{number}"
        shown = self.calls.set("PATCH", f"issues/{number}", subject, changes)
        return self._issue(subject, shown, is_write=True)

    def assign(self, number: int, logins: Iterable[str]) -> IssueFacts:
        """Add assignees; GitHub ignores whom it may not assign.

        Source: https://docs.github.com/rest/issues/assignees#add-assignees-to-an-issue
        """
        return self._assignees("POST", number, logins)

    def unassign(self, number: int, logins: Iterable[str]) -> IssueFacts:
        """Take assignees off.

        Source: https://docs.github.com/rest/issues/assignees#remove-assignees-from-an-issue
        """
        return self._assignees("DELETE", number, logins)

    def _assignees(self, method: str, number: int, logins: Iterable[str]) -> IssueFacts:
        subject = f"the assignees of issue #{number}"
        body = {"assignees": list(logins)}
        shown = self.calls.set(method, f"issues/{number}/assignees", subject, body)
        return self._issue(subject, shown, is_write=True)

    def add_labels(self, number: int, names: Iterable[str]) -> tuple[str, ...]:
        """Add labels and return all of the issue's.

        Source: https://docs.github.com/rest/issues/labels#add-labels-to-an-issue
        """
        subject = f"the labels of issue #{number}"
        path = f"issues/{number}/labels"
        return self._names(subject, self.calls.set("POST", path, subject, {"labels": list(names)}))

    def remove_label(self, number: int, name: str) -> None:
        """Take a label off; one that it does not have is off already.

        Source: https://docs.github.com/rest/issues/labels#remove-a-label-from-an-issue
        """
        subject = f'the label "{name}" of issue #{number}'
        path = f"issues/{number}/labels/{part(name)}"
        self._gone(path, subject)

    def labels(self) -> Iterator[LabelFacts]:
        """The repository's labels, a hundred a request.

        Source: https://docs.github.com/rest/issues/labels#list-labels-for-a-repository
        """
        for one in self.calls.pages("labels", "labels"):
            yield self.calls.translated("labels", _label, one)

    def label(self, name: str) -> LabelFacts | None:
        """One label of the repository, or None.

        Source: https://docs.github.com/rest/issues/labels#get-a-label
        """
        subject = f'the label "{name}"'
        try:
            found = self.calls.read(f"labels/{part(name)}", subject)
        except NotFound:
            return None
        return self.calls.translated(subject, _label, found)

    def create_label(self, wanted: LabelFacts) -> LabelFacts:
        """Make a label; AlreadyExists. Without a colour GitHub chooses one.

        Source: https://docs.github.com/rest/issues/labels#create-a-label
        """
        subject = f'the label "{wanted.name}"'
        made = self.calls.create("POST", "labels", subject, _label_body(wanted), own=_existing)
        return self.calls.translated(subject, _label, made, is_write=True)

    def edit_label(self, name: str, wanted: LabelFacts) -> LabelFacts:
        """Set colour and description of a label.

        Source: https://docs.github.com/rest/issues/labels#update-a-label
        """
        subject = f'the label "{name}"'
        body = {key: value for key, value in _label_body(wanted).items() if key != "name"}
        shown = self.calls.set("PATCH", f"labels/{part(name)}", subject, body)
        return self.calls.translated(subject, _label, shown, is_write=True)

    def comments(self, number: int) -> Iterator[tuple[CommentFacts, Callable[[], bool]]]:
        """The comments, the oldest first, 100 a request; each with the question whether it is ours.

        To ask it costs a request the first time: whose token it is.

        Source: https://docs.github.com/rest/issues/comments#list-issue-comments
        """
        subject = f"comments of #{number}"
        for one in self.calls.pages(f"issues/{number}/comments", subject):
            comment = self.calls.translated(subject, _comment, one)
            yield comment, partial(self.calls.is_mine, one)

    def comment(self, number: int) -> CommentFacts | None:
        """One comment by its id, or None if it is gone.

        Source: https://docs.github.com/rest/issues/comments#get-an-issue-comment
        """
        subject = f"comment {number}"
        try:
            found = self.calls.read(f"issues/comments/{number}", subject)
        except NotFound:
            return None
        return self.calls.translated(subject, _comment, found)

    def create_comment(self, number: int, body: str) -> CommentFacts:
        """Post a comment; sent once.

        Source: https://docs.github.com/rest/issues/comments#create-an-issue-comment
        """
        subject = f"a comment on #{number}"
        made = self.calls.create("POST", f"issues/{number}/comments", subject, {"body": body})
        return self.calls.translated(subject, _comment, made, is_write=True)

    def edit_comment(self, comment: int, body: str) -> CommentFacts:
        """Set a comment's text.

        Source: https://docs.github.com/rest/issues/comments#update-an-issue-comment
        """
        subject = f"comment {comment}"
        shown = self.calls.set("PATCH", f"issues/comments/{comment}", subject, {"body": body})
        return self.calls.translated(subject, _comment, shown, is_write=True)

    def delete_comment(self, comment: int) -> None:
        """Delete a comment; one that is gone is gone.

        Source: https://docs.github.com/rest/issues/comments#delete-an-issue-comment
        """
        self._gone(f"issues/comments/{comment}", f"comment {comment}")

    def milestones(self) -> Iterator[MilestoneFacts]:
        """The repository's milestones, open and closed, a hundred a request.

        Source: https://docs.github.com/rest/issues/milestones#list-milestones
        """
        for one in self.calls.pages("milestones", "milestones", {"state": "all"}):
            yield self.calls.translated("milestones", _milestone, one)

    def create_milestone(self, title: str) -> MilestoneFacts:
        """Make a milestone; AlreadyExists.

        Source: https://docs.github.com/rest/issues/milestones#create-a-milestone
        """
        subject = f'the milestone "{title}"'
        made = self.calls.create("POST", "milestones", subject, {"title": title}, own=_existing)
        return self.calls.translated(subject, _milestone, made, is_write=True)

    def related(self, number: int, relation: Relation) -> Iterator[IssueFacts]:
        """The issues that block this one, or its sub-issues; a hundred a request.

        Sources: https://docs.github.com/rest/issues/issue-dependencies#list-dependencies-an-issue-is-blocked-by
        and https://docs.github.com/rest/issues/sub-issues#list-sub-issues
        """
        subject = f"the {_WORDS[relation]} of issue #{number}"
        for one in self.calls.pages(f"issues/{number}/{relation}", subject):
            yield self._issue(subject, one)

    def relate(self, number: int, relation: Relation, other: int) -> None:
        """Add a blocking issue or a sub-issue by its database id; AlreadyExists.

        Sources: https://docs.github.com/rest/issues/issue-dependencies#add-a-dependency-an-issue-is-blocked-by
        and https://docs.github.com/rest/issues/sub-issues#add-sub-issue
        """
        subject = f"the {_WORDS[relation]} of issue #{number}"
        key = "sub_issue_id" if relation == "sub_issues" else "issue_id"
        path = f"issues/{number}/{relation}"
        self.calls.create("POST", path, subject, {key: other}, own=_existing)

    def separate(self, number: int, relation: Relation, other: int) -> None:
        """Take a blocking issue or a sub-issue away; one that is not there is away.

        Sources: https://docs.github.com/rest/issues/issue-dependencies#remove-dependency-an-issue-is-blocked-by
        and https://docs.github.com/rest/issues/sub-issues#remove-sub-issue
        """
        subject = f"the {_WORDS[relation]} of issue #{number}"
        if relation == "sub_issues":
            body = {"sub_issue_id": other}
            self.calls.set("DELETE", f"issues/{number}/sub_issue", subject, body, own=_absent)
        else:
            self._gone(f"issues/{number}/{relation}/{other}", subject)

    def _gone(self, path: str, subject: str) -> None:
        self.calls.set("DELETE", path, subject, own=_absent)

    def _issue(self, subject: str, found: Any, *, is_write: bool = False) -> IssueFacts:
        return self.calls.translated(subject, _issue, found, is_write=is_write)

    def _names(self, subject: str, found: Any) -> tuple[str, ...]:
        def shape(entries: Any) -> tuple[str, ...]:
            return tuple(str(one["name"]) for one in entries)

        return self.calls.translated(subject, shape, found, is_write=True)


_WORDS = {"dependencies/blocked_by": "blocking issues", "sub_issues": "sub-issues"}


def _existing(answer: Answer) -> AlreadyExists | None:
    """GitHub's 422 for what is there already."""
    codes = {str(one.get("code")) for one in answer.errors}
    if answer.status == 422 and ("already_exists" in codes or "already" in answer.words.lower()):
        return AlreadyExists(
            f"GitHub has that already ({answer.words.rstrip('.')}); nothing was changed, and what is "
            "there is used.",
            evidence=answer.words,
        )
    return None


def _absent(answer: Answer) -> NotFound | None:
    """GitHub's 404 for what is not there, which a write otherwise takes for a missing permission."""
    if answer.status != 404:
        return None
    return NotFound(
        "GitHub shows nothing there to be removed; nothing was changed.", evidence=answer.words
    )


def _listed(changes: Json) -> str:
    return " and ".join(name for name in changes if name != "state_reason")


def _issue(found: Json) -> IssueFacts:
    return IssueFacts(
        number=int(found["number"]),
        id=str(found["node_id"]),
        database_id=int(found["id"]),
        url=str(found["html_url"]),
        title=str(found["title"]),
        body=str(found.get("body") or ""),
        is_open=found["state"] == "open",
        state_reason=str(found.get("state_reason") or ""),
        author=login_of(found),
        labels=tuple(_label_name(one) for one in found.get("labels") or ()),
        assignees=tuple(str(one["login"]) for one in found.get("assignees") or ()),
        milestone=str((found.get("milestone") or {}).get("title") or ""),
        is_pull_request="pull_request" in found,
        closed_at=timing.parse_time(found.get("closed_at")),
        updated_at=timing.parse_time(found.get("updated_at")),
        created_at=timing.parse_time(found.get("created_at")),
        closed_by=str((found.get("closed_by") or {}).get("login") or ""),
        open_blockers=_open_blockers(found.get("issue_dependencies_summary")),
        open_parts=_open_parts(found.get("sub_issues_summary")),
    )


def _open_blockers(summary: Json | None) -> int | None:
    return int(summary["blocked_by"]) if summary else None


def _open_parts(summary: Json | None) -> int | None:
    return int(summary["total"]) - int(summary["completed"]) if summary else None


def _label_name(found: Any) -> str:
    # A label in an issue is an object, or, as the published schema has it, a bare name.
    return found if isinstance(found, str) else str(found["name"])


def _label(found: Json) -> LabelFacts:
    color, text = str(found.get("color") or ""), str(found.get("description") or "")
    return LabelFacts(str(found["name"]), color, text)


def _label_body(wanted: LabelFacts) -> dict[str, str]:
    body = {"name": wanted.name, "color": wanted.color, "description": wanted.description}
    return {key: value for key, value in body.items() if value}


def _comment(found: Json) -> CommentFacts:
    body = str(found.get("body") or "")
    at = timing.parse_time(found.get("created_at"))
    return CommentFacts(int(found["id"]), str(found["html_url"]), body, login_of(found), at)


def _milestone(found: Json) -> MilestoneFacts:
    is_open = found["state"] == "open"
    return MilestoneFacts(
        int(found["number"]), str(found["title"]), str(found["html_url"]), is_open
    )


def open_issues(calls: Calls) -> tuple[Issue, ...]:
    """Every open issue, page by page, pull requests left out.

    Source: https://docs.github.com/rest/issues/issues#list-repository-issues
    """
    subject = "open issues"
    found = calls.pages("issues", subject, {"state": "open"})
    issues = [one for one in found if "pull_request" not in one]
    return tuple(calls.translated(subject, rest_issue, one) for one in issues)
