"""Pull requests: REST for most, GraphQL for what REST cannot do (drafts, auto-merge).

Each method is one request, and returns what the answer shows.
Sources: https://docs.github.com/rest/pulls and the pages below it, named at each method.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

from lifecycle.core import timing
from lifecycle.core.errors import (
    AlreadyExists,
    HeadMoved,
    LifecycleError,
    NotMergeable,
    Rejected,
    Transient,
)
from lifecycle.core.timing import reading
from lifecycle.core.values.model import PullRequest, PullState
from lifecycle.core.values.shapes import PullFacts
from lifecycle.github.client.client_common import login_of
from lifecycle.github.client.rest import Calls, Json
from lifecycle.github.failures.failure_case import Answer, AskedRequest

if TYPE_CHECKING:
    from lifecycle.github.client.graph import GraphClient

_CLEAN = "is in clean status"
_BASE_MOVED = "base branch was modified"
_BASE_MOVED_SECONDS = 5.0


class PullCalls:
    """The pull requests of one repository."""

    def __init__(self, calls: Calls, graph: GraphClient) -> None:
        self.calls = calls
        self._graph = graph

    def default_branch(self) -> str:
        """The branch that a pull request goes into unless another is named."""
        return self.calls.rest.repository_access(self.calls.repository).default_branch

    def pull(self, number: int) -> PullFacts:
        """One pull request; NotFound.

        Source: https://docs.github.com/rest/pulls/pulls#get-a-pull-request
        """
        subject = f"pull request #{number}"
        return self.calls.read(f"pulls/{number}", subject, _pull)

    def open_of(self, head: str, base: str) -> PullFacts | None:
        """The open pull request of `owner:branch` into a base (any, if ""), or None.

        Source: https://docs.github.com/rest/pulls/pulls#list-pull-requests
        """
        subject = f"pull requests of {head}"
        query = {"state": "open", "head": head} | ({"base": base} if base else {})
        for found in self.calls.values("pulls", subject, _pull, query):
            # A redirect after a renaming loses the query: then the list holds all.
            is_of_base = not base or found.base == base
            if found.head.casefold() == head.casefold() and is_of_base:
                return found
        return None

    def create(self, *, title: str, body: str, head: str, base: str, draft: bool) -> PullFacts:
        """Open one; sent once. PullRequestExists, NothingToMerge, HeadMissing.

        Source: https://docs.github.com/rest/pulls/pulls#create-a-pull-request
        """
        subject = f"a pull request for {head}"
        body_ = {"title": title, "body": body, "head": head, "base": base, "draft": draft}
        return self.calls.create("POST", "pulls", subject, _pull, body_)

    def create_pull_request(
        self, *, title: str, body: str, head: str, base: str, is_draft: bool = False
    ) -> PullRequest:
        """`create` in the words of `ports.Forge`."""
        return _as_pull(self.create(title=title, body=body, head=head, base=base, draft=is_draft))

    def pull_request(self, number: int) -> PullRequest:
        """`pull` in the words of `ports.Forge`."""
        return _as_pull(self.pull(number))

    def set_pull_request_body(self, number: int, body: str) -> PullRequest:
        """`edit` in the words of `ports.Forge`."""
        return _as_pull(self.edit(number, body=body))

    def edit(self, number: int, **changes: str) -> PullFacts:
        """Set title, body, base or state (`open`, `closed`).

        Source: https://docs.github.com/rest/pulls/pulls#update-a-pull-request
        """
        subject = f"the {' and '.join(changes)} of pull request #{number}"
        return self.calls.set("PATCH", f"pulls/{number}", subject, _pull, changes)

    def reviewers_done(self, number: int) -> tuple[str, ...]:
        """Who has submitted a review, in any state, pending ones left out; a hundred a request.

        Source: https://docs.github.com/rest/pulls/reviews#list-reviews-for-a-pull-request
        """
        subject = f"the reviews of pull request #{number}"
        found = self.calls.pages(f"pulls/{number}/reviews", subject)
        return tuple(dict.fromkeys(login_of(one) for one in found if one.get("state") != "PENDING"))

    def request_reviews(
        self, number: int, people: Iterable[str], teams: Iterable[str]
    ) -> PullFacts:
        """Ask people and teams (by their short names) for a review.

        Source: https://docs.github.com/rest/pulls/review-requests#request-reviewers-for-a-pull-request
        """
        return self._reviewers("POST", number, people, teams)

    def withdraw_reviews(
        self, number: int, people: Iterable[str], teams: Iterable[str]
    ) -> PullFacts:
        """Take requests for a review back.

        Source: https://docs.github.com/rest/pulls/review-requests#remove-requested-reviewers-from-a-pull-request
        """
        return self._reviewers("DELETE", number, people, teams)

    def _reviewers(
        self, method: str, number: int, people: Iterable[str], teams: Iterable[str]
    ) -> PullFacts:
        subject = f"the reviewers of pull request #{number}"
        body = {"reviewers": list(people), "team_reviewers": list(teams)}
        path = f"pulls/{number}/requested_reviewers"
        return self.calls.set(method, path, subject, _pull, body)

    def merge(self, number: int, *, method: str, sha: str, title: str, message: str) -> str:
        """Merge it at the head `sha` and return the merge's commit; sent once.

        Source: https://docs.github.com/rest/pulls/pulls#merge-a-pull-request

        Raises:
            NotMergeable: 405: a conflict, a rule, a missing check, a method that is not allowed.
            HeadMoved: 409: the head is another one by now.
            Transient: 405 because the base moved at that moment.
        """
        subject = f"the merge of pull request #{number}"
        texts = {"commit_title": title, "commit_message": message}
        body = {"merge_method": method, "sha": sha, **{k: v for k, v in texts.items() if v}}
        path = f"pulls/{number}/merge"
        own = partial(_not_merged, number)
        done = self.calls.create("PUT", path, subject, dict, body, own=own)
        if not done.get("merged"):
            raise self.calls.rest.nonsense(AskedRequest(subject, is_write=True))
        return str(done.get("sha") or "")

    def behind_by(self, base: str, sha: str) -> int:
        """How many commits of the base branch a commit lacks.

        Source: https://docs.github.com/rest/commits/commits#compare-two-commits
        """
        subject = f"the comparison of {base} and {sha[:12]}"
        path = f"compare/{quote(base)}...{sha}"
        return self.calls.read(path, subject, lambda one: int(one["behind_by"]), {"per_page": 1})

    def update_branch(self, number: int, sha: str) -> None:
        """Have GitHub merge the base into the head branch, if that is still at `sha`; sent once.

        GitHub only accepts the work (202) and does it a moment later.
        Source: https://docs.github.com/rest/pulls/pulls#update-a-pull-request-branch

        Raises:
            HeadMoved: 422, the head is another one by now.
            AlreadyExists: 422, the head has every commit of the base.
            NotMergeable: 422, the two conflict.
        """
        subject = f"the branch of pull request #{number}"
        body = {"expected_head_sha": sha}
        path = f"pulls/{number}/update-branch"
        own = partial(_not_updated, number)
        self.calls.create("PUT", path, subject, lambda _: None, body, own=own)

    def set_draft(self, pull: PullFacts, *, draft: bool) -> bool:
        """Make it a draft or ready for review; whether it is a draft now.

        Sources: https://docs.github.com/graphql/reference/mutations#convertpullrequesttodraft and
        https://docs.github.com/graphql/reference/mutations#markpullrequestreadyforreview
        """
        name = "convert_to_draft" if draft else "mark_ready"
        words = "a draft" if draft else "ready for review"
        found = self._mutate(name, {"pull": pull.id}, f"making #{pull.number} {words}")
        return bool(found.get("isDraft"))

    def enable_auto_merge(self, pull: PullFacts, method: str) -> None:
        """Have GitHub merge it once it may be.

        Source: https://docs.github.com/graphql/reference/mutations#enablepullrequestautomerge

        Raises:
            AlreadyExists: there is nothing to wait for: it can be merged now.
            Rejected: GitHub's words say why not: auto-merge is off in the repository, no rule of the
                base holds the merge back, checks that nobody requires are not green.
        """
        variables = {"pull": pull.id, "method": method.upper(), "head": pull.head_sha}
        try:
            self._mutate("enable_auto_merge", variables, f"auto-merge for #{pull.number}")
        except Rejected as error:
            if _CLEAN not in error.evidence.casefold():
                raise
            raise AlreadyExists(error.sentence, evidence=error.evidence) from None

    def disable_auto_merge(self, pull: PullFacts) -> None:
        """Have GitHub not merge it by itself.

        Source: https://docs.github.com/graphql/reference/mutations#disablepullrequestautomerge
        """
        self._mutate("disable_auto_merge", {"pull": pull.id}, f"auto-merge for #{pull.number}")

    def _mutate(self, name: str, variables: Json, subject: str) -> Json:
        """The pull request in the answer of a mutation that may be applied twice."""

        def once() -> Json:
            reply = self._graph.execute(name, variables, subject=subject)
            asked = AskedRequest(subject, is_write=True)
            if reply.problems:
                raise self._graph.failures.of_problems(reply.problems, asked)
            payload = next(iter(reply.data.values()), None) or {}
            found = payload.get("pullRequest")
            if not isinstance(found, Mapping):
                raise self._graph.failures.of_nonsense(asked)
            return found

        return reading(self._graph.deadline, once)


def _not_merged(number: int, answer: Answer) -> LifecycleError | None:
    words = answer.words.rstrip(".")
    if answer.status == 405 and _BASE_MOVED in words.casefold():
        return Transient(
            f"The base of #{number} moved while it was being merged, so it was not. Try again.",
            retry_after=_BASE_MOVED_SECONDS,
        )
    if answer.status == 405:
        return NotMergeable(
            f"GitHub does not merge #{number} ({words}), so nothing was changed; resolve what it names "
            "there: a conflict, a missing check or review, or a method that is not allowed.",
            evidence=answer.words,
        )
    return _moved(number, answer) if answer.status == 409 else None


def _not_updated(number: int, answer: Answer) -> LifecycleError | None:
    words = answer.words.casefold()
    if answer.status != 422:
        return None
    if "no new commits" in words:
        return AlreadyExists(
            f"The branch of #{number} has every commit of its base; nothing was changed.",
            evidence=answer.words,
        )
    if "expected_head_sha" in words or "head ref" in words or "expected head sha" in words:
        return _moved(number, answer)
    if "conflict" in words:
        return NotMergeable(
            f"The branch of #{number} conflicts with its base, so GitHub did not update it; merge the "
            "base by hand, resolve the conflict and push.",
            evidence=answer.words,
        )
    return None


def _moved(number: int, answer: Answer) -> HeadMoved:
    return HeadMoved(
        f"Somebody pushed to the branch of #{number} after it was looked at, so nothing was changed; "
        "look at the new head first.",
        evidence=answer.words,
    )


def _pull(found: Json) -> PullFacts:
    head = found["head"]
    merged = bool(found.get("merged") or found.get("merged_at"))
    state = PullState.OPEN if found["state"] == "open" else PullState.CLOSED
    return PullFacts(
        number=int(found["number"]),
        id=str(found["node_id"]),
        url=str(found["html_url"]),
        title=str(found["title"]),
        body=str(found.get("body") or ""),
        state=PullState.MERGED if merged else state,
        # The label holds the owner even if the head's repository is gone.
        head=str(head.get("label") or f":{head['ref']}"),
        head_sha=str(head["sha"]),
        base=str(found["base"]["ref"]),
        is_draft=bool(found.get("draft")),
        mergeable_state=str(found.get("mergeable_state") or ""),
        reviewers=tuple(str(one["login"]) for one in found.get("requested_reviewers") or ()),
        team_reviewers=tuple(str(one["slug"]) for one in found.get("requested_teams") or ()),
        auto_merge=str((found.get("auto_merge") or {}).get("merge_method") or ""),
        merge_sha=str(found.get("merge_commit_sha") or "") if merged else "",
        author=login_of(found),
        opened_at=timing.parse_time(found.get("created_at")),
        closed_at=timing.parse_time(found.get("closed_at")),
        updated_at=timing.parse_time(found.get("updated_at")),
    )


def _as_pull(facts: PullFacts) -> PullRequest:
    owner, _, branch = facts.head.partition(":")
    return PullRequest(
        number=facts.number,
        url=facts.url,
        title=facts.title,
        state=facts.state,
        branch=branch,
        head_owner=owner,
        head_sha=facts.head_sha,
        base=facts.base,
        body=facts.body,
        is_draft=facts.is_draft,
        opened_at=facts.opened_at,
        closed_at=facts.closed_at,
        updated_at=facts.updated_at,
    )
