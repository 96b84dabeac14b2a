"""Run a search for issues and pull requests, or for repositories."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.times import stamp
from lifecycle.sandbox.boards.state import BoardTables
from lifecycle.sandbox.issues.actions import mentions
from lifecycle.sandbox.issues.search.query import (
    Query,
    Term,
    UnknownSearch,
    compares,
    holds_words,
    parse,
)
from lifecycle.sandbox.issues.state import Issue, IssueTables
from lifecycle.sandbox.pulls.state import PullRequest, pull_of
from lifecycle.sandbox.repositories import access
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.rules import actions as rules
from lifecycle.sandbox.wire.call import Call

MOST = 1000
"""The most results of a search: https://docs.github.com/rest/search/search#about-search"""


class Unsearchable(Exception):
    """The search names a repository, user or organization that the token cannot see."""


def _login(call: Call, name: str) -> str:
    return (call.viewer.login if name == "@me" else name.removeprefix("@")).lower()


STATES: dict[str, Callable[[Issue], bool]] = {
    "issue": lambda i: not i.is_pull,
    "pr": lambda i: i.is_pull,
    "pull-request": lambda i: i.is_pull,
    "open": lambda i: i.state == "open",
    "closed": lambda i: i.state == "closed",
    "merged": lambda i: bool(_of_pull(i, lambda p: p.merged_at)),
    "unmerged": lambda i: bool(_of_pull(i, lambda p: p.merged_at is None)),
    "draft": lambda i: bool(_of_pull(i, lambda p: p.draft)),
    "locked": lambda i: i.locked,
    "unlocked": lambda i: not i.locked,
    "public": lambda i: not i.repository.is_private,
    "private": lambda i: i.repository.is_private,
    "blocked": lambda i: any(blocker.state == "open" for blocker in i.blocked_by),
    "blocking": lambda i: i.state == "open" and bool(i.blocking),
}
LACKS: dict[str, Callable[[Issue], bool]] = {
    "label": lambda i: not i.labels,
    "assignee": lambda i: not i.assignees,
    "milestone": lambda i: i.milestone is None,
    "project": lambda i: not any(p.item_of(i) for p in BoardTables.of(i.repository.world).projects),
    "parent-issue": lambda i: i.parent is None,
}


def _is(_call: Call, issue: Issue, value: str) -> bool:
    if value not in STATES:
        raise UnknownSearch(f"The sandbox does not imitate 'is:{value}' in a search.")
    return STATES[value](issue)


def _no(_call: Call, issue: Issue, value: str) -> bool:
    if value not in LACKS:
        raise UnknownSearch(f"The sandbox does not imitate 'no:{value}' in a search.")
    return LACKS[value](issue)


def _involves(call: Call, issue: Issue, value: str) -> bool:
    return (
        _author(call, issue, value)
        or _assignee(call, issue, value)
        or mentions(issue, _login(call, value))
        or _commenter(call, issue, value)
    )


def _author(call: Call, issue: Issue, value: str) -> bool:
    return issue.author.login.lower() == _login(call, value)


def _assignee(call: Call, issue: Issue, value: str) -> bool:
    if value == "*":
        return bool(issue.assignees)
    return any(user.login.lower() == _login(call, value) for user in issue.assignees)


def _commenter(call: Call, issue: Issue, value: str) -> bool:
    return any(comment.author.login.lower() == _login(call, value) for comment in issue.comments)


def _milestone(_call: Call, issue: Issue, value: str) -> bool:
    milestone = issue.milestone
    return milestone is not None and (
        value == "*" or milestone.title.casefold() == value.casefold()
    )


def _requested(call: Call, issue: Issue, value: str) -> bool:
    pull = pull_of(issue)
    asked = pull.requested_reviewers if pull else ()
    return any(reviewer.login.lower() == _login(call, value) for reviewer in asked)


def _review(_call: Call, issue: Issue, value: str) -> bool:
    pull = pull_of(issue)
    if pull is None:
        return False
    if value == "none":
        return not pull.reviews
    word = {"required": "REVIEW_REQUIRED", "approved": "APPROVED",
            "changes_requested": "CHANGES_REQUESTED"}.get(value)  # fmt: skip
    return word is not None and rules.decision(pull) == word


def _of_pull(issue: Issue, read: Callable[[PullRequest], Any]) -> Any:
    pull = pull_of(issue)
    return read(pull) if pull else None


FILTERS: dict[str, Callable[[Call, Issue, str], bool]] = {
    "is": _is,
    "type": _is,
    "state": _is,
    "no": _no,
    "repo": lambda _, i, v: i.repository.key == v.lower(),
    "org": lambda _, i, v: i.repository.owner.login.lower() == v.lower(),
    "user": lambda c, i, v: i.repository.owner.login.lower() == _login(c, v),
    "author": _author,
    "assignee": _assignee,
    "mentions": lambda c, i, v: mentions(i, _login(c, v)),
    "commenter": _commenter,
    "involves": _involves,
    "label": lambda _, i, v: any(label.name.lower() == v.lower() for label in i.labels),
    "milestone": _milestone,
    "reason": lambda _, i, v: (i.state_reason or "").replace("_", " ") == v.replace("_", " "),
    "archived": lambda _, i, v: i.repository.archived is (v == "true"),
    "draft": lambda _, i, v: _of_pull(i, lambda p: p.draft) is (v == "true"),
    "base": lambda _, i, v: _of_pull(i, lambda p: p.base) == v,
    "head": lambda _, i, v: bool(_of_pull(i, lambda p: p.head.startswith(v))),
    "review": _review,
    "review-requested": _requested,
    "user-review-requested": _requested,
    "reviewed-by": lambda c, i, v: bool(
        _of_pull(i, lambda p: any(r.author.login.lower() == _login(c, v) for r in p.reviews))
    ),
    "comments": lambda _, i, v: compares(v, len(i.comments)),
    "created": lambda _, i, v: compares(v, stamp(i.created_at) or ""),
    "updated": lambda _, i, v: compares(v, stamp(i.updated_at) or ""),
    "closed": lambda _, i, v: i.closed_at is not None and compares(v, stamp(i.closed_at) or ""),
    "merged": lambda _, i, v: compares(v, _of_pull(i, lambda p: stamp(p.merged_at)) or "0"),
    "sha": lambda _, i, v: bool(_of_pull(i, lambda p: (p.merge_sha or p.head_sha).startswith(v))),
}
PLACES = ("title", "body", "comments")
WHERE = {"repo", "org", "user"}
ISSUE_SORTS: dict[str, Callable[[Issue], Any]] = {
    "created": lambda i: (i.created_at, i.id),
    "updated": lambda i: (i.updated_at, i.id),
    "comments": lambda i: (len(i.comments), i.id),
}


def issues(
    call: Call, text: str, *, sort: str | None = None, order: str | None = None
) -> list[Issue]:
    """The issues and pull requests that a search finds, at most a thousand.

    `sort` applies if the text has none; `order` overrides the direction in the text.

    Raises:
        UnknownSearch: A part of the language is not imitated.
        Unsearchable: It names something that the token cannot see.
    """
    query = parse(text, [*FILTERS, "in"])
    places = query.values("in") or ["title", "body"]
    if strange := set(places) - set(PLACES):
        raise UnknownSearch(f"The sandbox does not imitate 'in:{min(strange)}' in a search.")
    scope = _scope(call, query)
    # `_scope` has answered repo:, org: and user:, except the negated ones.
    terms = [term for term in query.terms if term.key not in WHERE or term.negated]
    hits = [
        issue
        for repo in scope
        for issue in IssueTables.of(repo).issues.values()
        if all(_holds(call, issue, term, places) for term in terms)
    ]
    chosen = query.sort if query.sort != "best" or sort is None else sort
    if chosen not in {"best", *ISSUE_SORTS}:
        raise UnknownSearch(f"The sandbox does not imitate 'sort:{chosen}' in a search.")
    down = query.descending if order is None else order == "desc"
    hits.sort(key=ISSUE_SORTS.get(chosen, ISSUE_SORTS["created"]), reverse=down)
    return hits[:MOST]


def _scope(call: Call, query: Query) -> Iterable[Repository]:
    """The repositories to search: those that are named, else all that the token sees."""
    named = query.values("repo")
    repos = [access.repository(call.world, call.token, name) for name in named]
    owners = [_login(call, name) for key in ("org", "user") for name in query.values(key)]
    if None in repos or any(call.world.user(owner) is None for owner in owners):
        raise Unsearchable
    if named:
        return {repo.id: repo for repo in repos if repo is not None}.values()
    candidates = call.world.repositories.values()
    return [
        repo
        for repo in candidates
        if access.sees(call.token, repo) and (not owners or repo.owner.login.lower() in owners)
    ]


def _holds(call: Call, issue: Issue, term: Term, places: list[str]) -> bool:
    if term.key == "in":
        return True
    if term.key is None:
        texts: dict[str, list[str | None]] = {
            "title": [issue.title],
            "body": [issue.body],
            "comments": [comment.body for comment in issue.comments],
        }
        held = holds_words(term.values[0], [t for place in places for t in texts[place]])
    elif term.key == "repo":
        held = _names(call, issue.repository, term)
    else:
        held = any(FILTERS[term.key](call, issue, value) for value in term.values)
    return held is not term.negated


def _names(call: Call, repo: Repository, term: Term) -> bool:
    named_repos = (access.repository(call.world, call.token, value) for value in term.values)
    return any(candidate is repo for candidate in named_repos)


def _visibility(repo: Repository, value: str) -> bool:
    if value not in {"public", "private"}:
        raise UnknownSearch(f"The sandbox does not imitate 'is:{value}' in a search.")
    return repo.visibility == value


REPOSITORY_FILTERS: dict[str, Callable[[Call, Repository, str], bool]] = {
    "repo": lambda _, r, v: r.key == v.lower(),
    "org": lambda _, r, v: r.owner.login.lower() == v.lower(),
    "user": lambda c, r, v: r.owner.login.lower() == _login(c, v),
    "is": lambda _, r, v: _visibility(r, v),
    "archived": lambda _, r, v: r.archived is (v == "true"),
    "fork": lambda _, r, v: v == "true" or (r.parent is None) is (v == "false"),
    "topic": lambda _, r, v: v.lower() in r.topics,
    "created": lambda _, r, v: compares(v, stamp(r.created_at) or ""),
    "pushed": lambda _, r, v: compares(v, stamp(r.pushed_at) or ""),
    "forks": lambda _, r, v: compares(v, len(r.forks)),
}


def repositories(
    call: Call, text: str, *, sort: str | None = None, order: str | None = None
) -> list[Repository]:
    """The repositories that a search finds, at most a thousand; forks only if the text has `fork:`.

    Raises:
        UnknownSearch: A part of the language is not imitated.
        Unsearchable: It names something that the token cannot see.
    """
    query = parse(text, [*REPOSITORY_FILTERS, "in"])
    owners: list[User | None] = [
        call.world.user(_login(call, name)) for key in ("org", "user") for name in query.values(key)
    ]
    if None in owners:
        raise Unsearchable
    forks = bool(query.values("fork"))
    hits = [
        repo
        for repo in call.world.repositories.values()
        if access.sees(call.token, repo)
        and (forks or repo.parent is None)
        and all(_fits(call, repo, term) for term in query.terms)
    ]
    chosen = query.sort if query.sort != "best" or sort is None else sort
    down = query.descending if order is None else order == "desc"
    keys: dict[str, Callable[[Repository], Any]] = {
        "updated": lambda repo: (repo.updated_at, repo.id),
        "forks": lambda repo: (len(repo.forks), repo.id),
    }
    if chosen not in {"best", "stars", *keys}:
        raise UnknownSearch(f"The sandbox does not imitate 'sort:{chosen}' in a search.")
    hits.sort(key=keys.get(chosen, lambda repo: repo.id), reverse=down)
    return hits[:MOST]


def _fits(call: Call, repo: Repository, term: Term) -> bool:
    if term.key == "in":
        return True
    if term.key is None:
        held = holds_words(term.values[0], [repo.name.replace("-", " "), repo.name,
                                            repo.description, *repo.topics])  # fmt: skip
    else:
        held = any(REPOSITORY_FILTERS[term.key](call, repo, value) for value in term.values)
    return held is not term.negated
