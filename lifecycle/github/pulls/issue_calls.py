"""Issues over REST: texts, state, labels, assignees, comments, milestones, relations.

Each method is one request unless it says otherwise, and returns the values in its answer.
Sources: https://docs.github.com/rest/issues and the pages below it, named at each method.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from lifecycle.core import hidden_marker, timing
from lifecycle.core.errors import AlreadyExists, NotFound, Transferred
from lifecycle.core.light_dataclass import replace
from lifecycle.core.values.shapes import CommentFacts, IssueFacts, LabelFacts, MilestoneFacts
from lifecycle.github.client.client_common import given, needed, path_part, text, texts, times
from lifecycle.github.client.rest import Calls, Json
from lifecycle.github.failures import answered, sentence

State = Literal["open", "closed"]
Relation = Literal["dependencies/blocked_by", "sub_issues"]
BLOCKERS: Relation = "dependencies/blocked_by"
PARTS: Relation = "sub_issues"


class IssueCalls:
    """The issues of one repository."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls

    def issue(self, number: int) -> IssueFacts:
        """One issue or pull request; NotFound, and Transferred if GitHub redirects to another's.

        Source: https://docs.github.com/rest/issues/issues#get-an-issue
        """
        issue = self.calls.read(f"issues/{number}", f"issue #{number}", issue_facts)
        if issue.number != number or self._is_elsewhere(issue):
            where = {"repository": self.calls.repository, "url": issue.url}
            raise Transferred(sentence("transferred", number=number, **where), evidence=issue.url)
        return issue

    def _is_elsewhere(self, issue: IssueFacts) -> bool:
        """True if it is another repository's; if the name differs, GitHub is asked about a renaming."""
        if self.is_here(issue):
            return False
        access = self.calls.rest.repository_access(self.calls.repository)
        return access.name.casefold() != _home(issue).casefold()

    def is_here(self, issue: IssueFacts) -> bool:
        """True if an issue is this repository's, by its address: those of others may be related, too."""
        return _home(issue).casefold() == str(self.calls.repository).casefold()

    def marked(self, mark: str, label: str) -> IssueFacts | None:
        """The oldest issue of the token's owner whose body ends with the marker, in any state.

        One request for each hundred issues of that author (with that label, if one is given), up to the
        found one. The list may lag behind recent changes. Source:
        https://docs.github.com/rest/issues/issues#list-repository-issues
        """
        for entry in self._oldest_first(state="all", creator=self.calls.login, labels=label):
            if hidden_marker.is_signed(text(entry, "body"), mark) and self.calls.is_by(entry):
                return self.calls.shaped("issues", issue_facts, entry)
        return None

    def listed(self, state: State, *, label: str = "", assignee: str = "") -> Iterator[IssueFacts]:
        """The repository's issues, the oldest first, without pull requests; one request for a hundred.

        Args:
            state: the state to list.
            label: only those with this label; case is ignored, and GitHub reads a comma as an "and".
            assignee: a login, `none` for unassigned ones, `*` for assigned ones, "" for all.

        Source: https://docs.github.com/rest/issues/issues#list-repository-issues
        """
        for entry in self._oldest_first(state=state, labels=label, assignee=assignee):
            yield self.calls.shaped("issues", issue_facts, entry)

    def _oldest_first(self, **query: str) -> Iterator[Json]:
        """The entries of the list that are no pull requests."""
        order = {"sort": "created", "direction": "asc", **given(**query)}
        listed = self.calls.pages("issues", "issues", order)
        return (entry for entry in listed if "pull_request" not in entry)

    def create(self, title: str, body: str, labels: Iterable[str]) -> IssueFacts:
        """Open an issue; sent once. GitHub drops labels silently if the token may not set them.

        Source: https://docs.github.com/rest/issues/issues#create-an-issue
        """
        content = {"title": title, "body": body, "labels": list(labels)}
        return self.calls.create("POST", "issues", f'an issue "{title}"', issue_facts, content)

    def edit(self, number: int, **changes: object) -> IssueFacts:
        """Set title, body, state with state_reason, or milestone (its number, None removes it).

        Source: https://docs.github.com/rest/issues/issues#update-an-issue
        """
        names = " and ".join(name for name in changes if name != "state_reason")
        subject = f"the {names} of issue #{number}"
        return self.calls.set("PATCH", f"issues/{number}", subject, issue_facts, changes)

    def assignees(self, method: str, number: int, logins: Iterable[str]) -> IssueFacts:
        """Add assignees (POST), or remove them (DELETE); GitHub ignores people who cannot be assigned.

        Sources: https://docs.github.com/rest/issues/assignees#add-assignees-to-an-issue and
        https://docs.github.com/rest/issues/assignees#remove-assignees-from-an-issue
        """
        subject = f"the assignees of issue #{number}"
        body = {"assignees": list(logins)}
        return self.calls.set(method, f"issues/{number}/assignees", subject, issue_facts, body)

    def add_labels(self, number: int, names: Iterable[str]) -> tuple[str, ...]:
        """Add labels and return all labels of the issue.

        Source: https://docs.github.com/rest/issues/labels#add-labels-to-an-issue
        """
        path, subject = f"issues/{number}/labels", f"the labels of issue #{number}"
        return self.calls.set("POST", path, subject, _label_names, {"labels": list(names)})

    def remove_label(self, number: int, name: str) -> tuple[str, ...]:
        """Remove a label and return the remaining ones; NotFound if the issue does not have it.

        Source: https://docs.github.com/rest/issues/labels#remove-a-label-from-an-issue
        """
        subject = f'the label "{name}" of issue #{number}'
        path = f"issues/{number}/labels/{path_part(name)}"
        return self.calls.set("DELETE", path, subject, _label_names, own=_without_label)

    def labels(self) -> Iterator[LabelFacts]:
        """The repository's labels, one request for a hundred.

        Source: https://docs.github.com/rest/issues/labels#list-labels-for-a-repository
        """
        return self.calls.values("labels", "labels", _label)

    def label(self, name: str) -> LabelFacts | None:
        """One label of the repository, or None.

        Source: https://docs.github.com/rest/issues/labels#get-a-label
        """
        return self.calls.read_if_any(f"labels/{path_part(name)}", f'the label "{name}"', _label)

    def create_label(self, wanted: LabelFacts) -> LabelFacts:
        """Make a label; AlreadyExists. Without a colour, GitHub chooses one.

        Source: https://docs.github.com/rest/issues/labels#create-a-label
        """
        subject, body = f'the label "{wanted.name}"', _label_body(wanted)
        return self.calls.create("POST", "labels", subject, _label, body, own=_existing)

    def edit_label(self, name: str, wanted: LabelFacts) -> LabelFacts:
        """Set a label's colour and description.

        Source: https://docs.github.com/rest/issues/labels#update-a-label
        """
        path, subject = f"labels/{path_part(name)}", f'the label "{name}"'
        return self.calls.set("PATCH", path, subject, _label, _label_body(replace(wanted, name="")))

    def comments(self, number: int) -> Iterator[CommentFacts]:
        """The comments, the oldest first; one request for a hundred.

        Source: https://docs.github.com/rest/issues/comments#list-issue-comments
        """
        return self.calls.values(f"issues/{number}/comments", f"comments of #{number}", _comment)

    def signed(self, number: int, mark: str, author: str = "") -> Iterator[CommentFacts]:
        """The comments with a marker that are by this author, by default the token's owner: 1 request more.

        Anybody may put a marker into a comment.
        """
        subject = f"comments of #{number}"
        for entry in self.calls.pages(f"issues/{number}/comments", subject):
            is_signed = hidden_marker.is_signed(text(entry, "body"), mark)
            if is_signed and self.calls.is_by(entry, author):
                yield self.calls.shaped(subject, _comment, entry)

    def comment(self, number: int) -> CommentFacts | None:
        """One comment by its id, or None if it is gone.

        Source: https://docs.github.com/rest/issues/comments#get-an-issue-comment
        """
        return self.calls.read_if_any(f"issues/comments/{number}", f"comment {number}", _comment)

    def create_comment(self, number: int, body: str) -> CommentFacts:
        """Post a comment; sent once.

        Source: https://docs.github.com/rest/issues/comments#create-an-issue-comment
        """
        path, subject = f"issues/{number}/comments", f"a comment on #{number}"
        return self.calls.create("POST", path, subject, _comment, {"body": body})

    def edit_comment(self, comment: int, body: str) -> CommentFacts:
        """Set a comment's text.

        Source: https://docs.github.com/rest/issues/comments#update-an-issue-comment
        """
        path, subject = f"issues/comments/{comment}", f"comment {comment}"
        return self.calls.set("PATCH", path, subject, _comment, {"body": body})

    def delete_comment(self, comment: int) -> None:
        """Delete a comment; NotFound if it is gone.

        Source: https://docs.github.com/rest/issues/comments#delete-an-issue-comment
        """
        self.calls.delete(f"issues/comments/{comment}", f"comment {comment}", _absent)

    def milestones(self) -> Iterator[MilestoneFacts]:
        """The repository's milestones, open and closed, one request for a hundred.

        Source: https://docs.github.com/rest/issues/milestones#list-milestones
        """
        return self.calls.values("milestones", "milestones", _milestone, {"state": "all"})

    def create_milestone(self, title: str) -> MilestoneFacts:
        """Make a milestone; AlreadyExists.

        Source: https://docs.github.com/rest/issues/milestones#create-a-milestone
        """
        subject, body = f'the milestone "{title}"', {"title": title}
        return self.calls.create("POST", "milestones", subject, _milestone, body, own=_existing)

    def related(self, number: int, relation: Relation) -> Iterator[IssueFacts]:
        """The issues that block this one, or its sub-issues; one request for a hundred.

        Sources:
        https://docs.github.com/rest/issues/issue-dependencies#list-dependencies-an-issue-is-blocked-by and
        https://docs.github.com/rest/issues/sub-issues#list-sub-issues
        """
        subject = f"the {_WORDS[relation]} of issue #{number}"
        return self.calls.values(f"issues/{number}/{relation}", subject, issue_facts)

    def blockers(self, facts: IssueFacts) -> tuple[str, ...]:
        """The open issues that block it, and its open sub-issues: `12`, in another repository `o/r#12`.

        Requests: none if the issue says that it has none; else 1 for each of the two kinds that it has.
        """
        counts = {BLOCKERS: facts.open_blockers, PARTS: facts.open_parts}
        lists = (self.related(facts.number, kind) for kind, count in counts.items() if count)
        related = (issue for listed in lists for issue in listed)
        return tuple(dict.fromkeys(self._name(issue) for issue in related if issue.is_open))

    def _name(self, facts: IssueFacts) -> str:
        return f"{facts.number}" if self.is_here(facts) else f"{_home(facts)}#{facts.number}"

    def relate(self, number: int, relation: Relation, database_id: int) -> None:
        """Add a blocking issue or a sub-issue by its database id; AlreadyExists.

        Sources:
        https://docs.github.com/rest/issues/issue-dependencies#add-a-dependency-an-issue-is-blocked-by and
        https://docs.github.com/rest/issues/sub-issues#add-sub-issue
        """
        subject = f"the {_WORDS[relation]} of issue #{number}"
        key = "sub_issue_id" if relation == "sub_issues" else "issue_id"
        path = f"issues/{number}/{relation}"
        self.calls.create("POST", path, subject, lambda _: None, {key: database_id}, own=_existing)

    def separate(self, number: int, relation: Relation, database_id: int) -> None:
        """Remove a blocking issue or a sub-issue; NotFound if it is not there.

        Sources:
        https://docs.github.com/rest/issues/issue-dependencies#remove-dependency-an-issue-is-blocked-by and
        https://docs.github.com/rest/issues/sub-issues#remove-sub-issue
        """
        subject = f"the {_WORDS[relation]} of issue #{number}"
        if relation == "sub_issues":
            body = {"sub_issue_id": database_id}
            self.calls.delete(f"issues/{number}/sub_issue", subject, _absent, body)
        else:
            self.calls.delete(f"issues/{number}/{relation}/{database_id}", subject, _absent)


_WORDS = {"dependencies/blocked_by": "blocking issues", "sub_issues": "sub-issues"}


_existing = answered("exists-already", AlreadyExists, 422, "already|duplicate sub-issues")
"""AlreadyExists for GitHub's 422 about something that exists already."""

_without_label = answered("nothing-there", NotFound, 404, "label")
"""NotFound if the issue does not have the label."""

_absent = answered("nothing-there", NotFound, 404)
"""NotFound for GitHub's 404, which for a write usually means a missing permission."""


def issue_facts(issue: Json) -> IssueFacts:
    """An issue, or a pull request as one, from REST's JSON."""
    blockers, parts = issue.get("issue_dependencies_summary"), issue.get("sub_issues_summary")
    return IssueFacts(
        number=int(issue["number"]),
        database_id=int(issue["id"]),
        **needed(issue, id="node_id", url="html_url", title="title"),
        **texts(issue, body="body", state_reason="state_reason", milestone="milestone.title"),
        **texts(issue, author="user.login", closed_by="closed_by.login"),
        is_open=issue["state"] == "open",
        labels=_label_names(issue.get("labels")),
        assignees=tuple(str(user["login"]) for user in issue.get("assignees") or ()),
        is_pull_request="pull_request" in issue,
        **times(issue, closed_at="closed_at", updated_at="updated_at", created_at="created_at"),
        open_blockers=int(blockers["blocked_by"]) if blockers else None,
        open_parts=int(parts["total"]) - int(parts["completed"]) if parts else None,
    )


def _home(issue: IssueFacts) -> str:
    """The repository of an issue, from its address."""
    return "/".join(issue.url.split("/")[-4:-2])


def _label_names(labels: Any) -> tuple[str, ...]:
    # A label in an issue is an object, or, in the published schema, just a name.
    names = (label if isinstance(label, str) else label["name"] for label in labels or ())
    return tuple(map(str, names))


def _label(label: Json) -> LabelFacts:
    return LabelFacts(str(label["name"]), text(label, "color"), text(label, "description"))


def _label_body(wanted: LabelFacts) -> dict[str, str]:
    return given(name=wanted.name, color=wanted.color, description=wanted.description)


def _comment(comment: Json) -> CommentFacts:
    body, author = text(comment, "body"), text(comment, "user.login")
    at = timing.parse_time(comment.get("created_at"))
    return CommentFacts(int(comment["id"]), str(comment["html_url"]), body, author, at)


def _milestone(milestone: Json) -> MilestoneFacts:
    number, is_open = int(milestone["number"]), milestone["state"] == "open"
    return MilestoneFacts(number, str(milestone["title"]), str(milestone["html_url"]), is_open)
