"""Pull requests: REST for most, GraphQL for what REST cannot do (drafts, auto-merge).

Each method is one request, and returns the values in its answer.
Sources: https://docs.github.com/rest/pulls and the pages below it, named at each method.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lifecycle.core.light_dataclass import dataclass, fields, fields_of
from lifecycle.core.values.model import ClosingPull, PullRequest, PullState
from lifecycle.core.values.shapes import PullFacts
from lifecycle.github.client.client_common import given, needed, nodes, part, text, texts, times
from lifecycle.github.client.rest import Calls, Json
from lifecycle.github.failures import AskedRequest

if TYPE_CHECKING:
    from lifecycle.github.client.graph import GraphClient


@dataclass(eq=False)
class PullCalls:
    """The pull requests of one repository."""

    calls: Calls
    _graph: GraphClient

    def pull(self, number: int) -> PullFacts:
        """One pull request; NotFound.

        Source: https://docs.github.com/rest/pulls/pulls#get-a-pull-request
        """
        return self.calls.read(f"pulls/{number}", f"pull request #{number}", pull_facts)

    def open_of(self, head: str, base: str) -> PullFacts | None:
        """The open pull request of `owner:branch` into a base (any, if ""), or None.

        Source: https://docs.github.com/rest/pulls/pulls#list-pull-requests
        """
        subject = f"pull requests of {head}"
        query = given(state="open", head=head, base=base)
        for pull in self.calls.values("pulls", subject, pull_facts, query):
            # A redirect after a renaming loses the query: then the list contains all.
            if pull.head.casefold() == head.casefold() and base in {"", pull.base}:
                return pull
        return None

    def closing_pulls(self) -> Iterator[ClosingPull]:
        """Every open pull request with the issues here that its merge closes; a hundred in a request."""
        subject, after = f"the open pull requests of {self.calls.repository}", None
        home = str(self.calls.repository).casefold()
        while True:
            variables = {**self.calls.repository.variables, "after": after}
            reply = self._graph.read("closing_pulls", variables, subject=subject)
            shown = part(reply.data, "repository")
            if not part(shown, "pullRequests"):
                raise self._graph.failures.of_problems(reply.problems, AskedRequest(subject))
            for pull in nodes(shown, "pullRequests"):
                listed = nodes(pull, "closingIssuesReferences")
                ours = (e for e in listed if text(e, "repository.nameWithOwner").casefold() == home)
                head = text(pull, "headRefName"), text(pull, "headRepositoryOwner.login")
                yield ClosingPull(*head, tuple(int(issue["number"]) for issue in ours))
            after = self._graph.next_page(part(shown, "pullRequests"), subject)
            if after is None:
                return

    def create(self, *, title: str, body: str, head: str, base: str, draft: bool) -> PullFacts:
        """Open a pull request; sent once. PullRequestExists, NothingToMerge, HeadMissing.

        Source: https://docs.github.com/rest/pulls/pulls#create-a-pull-request
        """
        content = {"title": title, "body": body, "head": head, "base": base, "draft": draft}
        return self.calls.create("POST", "pulls", f"a pull request for {head}", pull_facts, content)

    def create_pull_request(
        self, *, title: str, body: str, head: str, base: str, is_draft: bool = False
    ) -> PullRequest:
        """The same as `create`, with the types of `ports.Forge`."""
        return _as_pull(self.create(title=title, body=body, head=head, base=base, draft=is_draft))

    def pull_request(self, number: int) -> PullRequest:
        """The same as `pull`, with the types of `ports.Forge`."""
        return _as_pull(self.pull(number))

    def set_pull_request_texts(self, number: int, **texts: str) -> PullRequest:
        """The same as `edit`, with the types of `ports.Forge`."""
        return _as_pull(self.edit(number, **texts))

    def mark_ready(self, number: int, node_id: str) -> None:
        """Make a draft ready for review.

        Source: https://docs.github.com/graphql/reference/mutations#markpullrequestreadyforreview
        """
        self.mutate("mark_ready", {"pull": node_id}, f"making #{number} ready for review")

    def edit(self, number: int, **changes: str) -> PullFacts:
        """Set title, body, base or state (`open`, `closed`).

        Source: https://docs.github.com/rest/pulls/pulls#update-a-pull-request
        """
        subject = f"the {' and '.join(changes)} of pull request #{number}"
        return self.calls.set("PATCH", f"pulls/{number}", subject, pull_facts, changes)

    def mutate(self, name: str, variables: Json, subject: str) -> Json:
        """Send a mutation that may be repeated; return the pull request in its answer."""
        payloads = [*self._graph.change(name, variables, subject=subject).values()]
        asked = AskedRequest(subject, is_write=True)
        return self._graph.shaped(asked, lambda: {**payloads[0]["pullRequest"]})

    def queued(self, number: int) -> str:
        """The global id of a pull request in the merge queue; "" if it is in none, as far as is shown.

        Source: https://docs.github.com/graphql/reference/objects#mergequeueentry
        """
        subject = f"pull request #{number}"
        variables = {**self.calls.repository.variables, "number": number}
        reply = self._graph.read("queue_entry", variables, subject=subject)
        pull = part(reply.data, "repository.pullRequest")
        if not pull:
            raise self._graph.failures.of_problems(reply.problems, AskedRequest(subject))
        return text(pull, "id") if pull.get("mergeQueueEntry") else ""

    def dequeue(self, number: int, pull_id: str) -> None:
        """Remove a pull request from the merge queue, by its global id; sent once.

        Source: https://docs.github.com/graphql/reference/mutations#dequeuepullrequest
        """
        subject = f"the place of #{number} in the merge queue"
        self._graph.whole("dequeue", {"pull": pull_id}, subject=subject)


def pull_facts(pull: Json) -> PullFacts:
    """A pull request, from REST's JSON."""
    head = pull["head"]
    merged = bool(pull.get("merged") or pull.get("merged_at"))
    state = PullState.OPEN if pull["state"] == "open" else PullState.CLOSED
    return PullFacts(
        number=int(pull["number"]),
        **needed(pull, id="node_id", url="html_url", title="title"),
        **texts(pull, body="body", mergeable_state="mergeable_state", author="user.login"),
        state=PullState.MERGED if merged else state,
        # The label contains the owner even if the head's repository is gone.
        head=str(head.get("label") or f":{head['ref']}"),
        head_sha=str(head["sha"]),
        base=str(pull["base"]["ref"]),
        is_draft=bool(pull.get("draft")),
        reviewers=tuple(str(user["login"]) for user in pull.get("requested_reviewers") or ()),
        team_reviewers=tuple(str(team["slug"]) for team in pull.get("requested_teams") or ()),
        auto_merge=text(pull, "auto_merge.merge_method"),
        merge_sha=str(pull.get("merge_commit_sha") or "") if merged else "",
        **times(pull, opened_at="created_at", closed_at="closed_at", updated_at="updated_at"),
    )


_SAME = {own.name for own in fields(PullFacts)} & {own.name for own in fields(PullRequest)}
"""The fields that both values of a pull request have under the same name."""


def _as_pull(facts: PullFacts) -> PullRequest:
    owner, _, branch = facts.head.partition(":")
    same = fields_of(facts, *_SAME)
    return PullRequest(**same, node_id=facts.id, branch=branch, head_owner=owner)
