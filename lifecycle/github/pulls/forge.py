"""One repository on GitHub: a claim's facts in one GraphQL request, and the writes over REST.

An idle look uses only GraphQL; REST is used for writes, or if GraphQL does not show all checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING

from lifecycle.core.errors import LifecycleError, MissingScope, NoPermission, NotFound
from lifecycle.core.light_dataclass import dataclass, field, fields_of, replace
from lifecycle.core.values import model
from lifecycle.core.values.checks import Checks
from lifecycle.core.values.survey import LEASES
from lifecycle.github.board.board_client import IDS, GitHubBoard
from lifecycle.github.board.status_fallback import Choice
from lifecycle.github.client.client_common import Json, nodes, part, text, word
from lifecycle.github.client.graph import GraphReply
from lifecycle.github.failures import AnswerProblem, AskedRequest, sentence
from lifecycle.github.pulls import rest_checks, rollup, translate
from lifecycle.github.pulls.issue_calls import IssueCalls
from lifecycle.github.pulls.pull_calls import PullCalls

if TYPE_CHECKING:
    from lifecycle.core.values.shapes import CommentFacts, IssueFacts

BOARD = "observe_board"
LABELS = "observe_labels"
PARTS = "observe_parts"
WRITES = "observe_writes"
"""The optional document that a look adds if several writes may follow it."""

_WRITERS = {"ADMIN", "MAINTAIN", "WRITE"}

_ABSENT = {("repository", "issue"), ("repository", "byNumber")}
_CLOSERS = "closedByPullRequestsReferences"
_OF_WRITES = {"viewerPermission", "viewerDidAuthor", _CLOSERS, "compare", "lease"}
"""Without these a look is still complete, but writes are sent singly, and the holder is unknown."""
_OF_IDS = "repositoryOwner"
"""A look is complete without the board's ids: whoever writes the card reads them and reports errors."""


@dataclass(eq=False)
class GitHubForge(PullCalls):
    """Fits `ports.Forge`: the calls for pull requests, those for issues, and looks.

    Args:
        choice: which board a look shows, if it asks for one, and whether labels take its place.
        board: learns missing ids from a look after which its card may be written; None if nobody
            writes one.
        posted: by issue, the comments posted here, by their ids: a look shows them even if GitHub shows
            them late.
    """

    _choice: Choice
    _board: GitHubBoard | None = None
    _posted: dict[int, dict[int, model.Comment]] = field(default_factory=dict)

    def observe(self, look: model.Look) -> model.Observation:
        """Everything for a decision about one claim: one request, if GitHub shows everything.

        A board that cannot be read costs one more request, once an hour, and only the board's part of
        the observation; labels take its place if they may. For open pull requests, checks that GraphQL
        does not show completely are read over REST.

        Raises:
            NotFound: GitHub shows no such repository.
            Transient, BadCredentials, NoPermission: as everywhere.
        """
        parts = self._parts(look)
        reply, unseen = self._look_with(look, parts)
        issue = part(reply.data, "repository.issue")
        if unseen is None and BOARD in parts:
            unseen = self._choice.blindness([issue])
        if unseen is not None:
            self._choice.learn(unseen)
            needs_labels = LABELS not in parts and LABELS in self._parts(look)
            # The board's null may have removed the issue, too, which says nothing about the issue.
            if needs_labels or not issue:
                reply, _ = self._look_with(look, self._parts(look))
        return self._observation(look, reply)

    def pull_requests_of(self, branch: str) -> tuple[model.PullRequest, ...]:
        """The newest ten pull requests whose head branch is named `branch`, newest first."""
        variables = {**self.calls.repository.variables, "branch": branch}
        subject = f"pull requests of {branch} in {self.calls.repository}"
        reply = self._graph.read("observe_branch", variables, subject=subject)
        self._sort(reply, with_board=False)
        repository = part(reply.data, "repository")
        if not repository:
            raise self._graph.failures.of_nonsense(AskedRequest(subject))
        return tuple(map(translate.pull_request, nodes(repository, "pullRequests")))

    def viewer(self) -> str:
        """The login of the token's owner: a bot's for a token that does not belong to a user.

        Such a token may not ask REST for its owner; GraphQL answers.
        Source: https://docs.github.com/graphql/reference/queries#user (viewer)
        """
        try:
            return self.calls.rest.viewer()
        except NoPermission:
            login = text(self._graph.read("viewer", {}, subject="user").data, "viewer.login")
            if not login:
                raise
            return login

    def issue(self, number: int) -> IssueFacts:
        """One issue; NotFound (Transferred) if there is none, or if the number is a pull request's.

        Source: https://docs.github.com/rest/issues/issues#get-an-issue
        """
        repository, issue = self.calls.repository, self._issues.issue(number)
        if issue.is_pull_request:
            raise NotFound(sentence("no-issue", number=number, repository=repository))
        return issue

    def blockers(self, number: int) -> tuple[str, ...]:
        """The open issues that block it, and its open sub-issues: `12`, elsewhere `owner/name#12`.

        Requests: 1, and 1 for each of the two kinds that it has; older servers report none.
        """
        return self._issues.blockers(self._issues.issue(number))

    def open_issues(self) -> tuple[IssueFacts, ...]:
        """Every open issue, the oldest first, without pull requests; one request for a hundred."""
        return tuple(self._issues.listed("open"))

    def comment(self, issue: int, body: str) -> CommentFacts:
        """Post one comment, sent once: GitHub does not deduplicate."""
        posted = self._issues.create_comment(issue, body)
        self._posted.setdefault(issue, {})[posted.id] = model.Comment(posted.id, posted.body)
        return posted

    def delete_comment(self, comment: int) -> None:
        """Delete one comment by its id; NotFound if it is gone."""
        for posted in self._posted.values():
            posted.pop(comment, None)
        self._issues.delete_comment(comment)

    def close_issue(self, issue: int) -> IssueFacts:
        """Close the issue as completed and return it as GitHub's answer shows it."""
        return self._issues.edit(issue, state="closed", state_reason="completed")

    def assign(self, issue: int, login: str) -> IssueFacts:
        """Add an assignee and return the issue's new state: GitHub ignores those who cannot be assigned."""
        return self._issues.assignees("POST", issue, (login,))

    def unassign(self, issue: int, login: str) -> tuple[str, ...]:
        """Remove an assignee and return the remaining ones; nothing changes if they were not assigned."""
        return self._issues.assignees("DELETE", issue, (login,)).assignees

    def move_ref(self, repository_id: str, ref: str, before: str, after: str) -> None:
        """Set a ref to `after`, if it holds `before` now; sent once. Zeros as `after` delete it.

        Whether GitHub supports this outside of branches and tags is for the caller to find out.
        Source: https://docs.github.com/graphql/reference/mutations#updaterefs
        """
        names = {"repository": repository_id, "ref": ref, "before": before, "after": after}
        self._graph.whole("move_ref", names, subject=f"{ref} in {self.calls.repository}")

    def repository_access(self) -> model.RepositoryAccess:
        """What the token's owner may do here. Only reads; NotFound if GitHub shows no repository."""
        return self.calls.rest.repository_access(self.calls.repository)

    def checks(self, sha: str) -> Checks:
        """Every check run and commit status of one commit, page by page."""
        return rest_checks.read(self.calls, sha)

    @cached_property
    def _issues(self) -> IssueCalls:
        return IssueCalls(self.calls)

    def _parts(self, look: model.Look) -> tuple[str, ...]:
        """The documents that a look adds to the claim's."""
        reviews = (translate.REVIEWS,) if look.reviews and look.pr_number is not None else ()
        board: tuple[str, ...] = ()
        if look.board:
            board = (BOARD,) if self._choice.asks_board(insists=look.insists) else ()
            board += (LABELS,) if self._choice.uses_labels else ()
        is_unknown = board == (BOARD,) and self._board is not None and self._board.known is None
        writes = (WRITES, IDS) if is_unknown else (WRITES,)
        of_pulls = (*(translate.MERGING if look.checks else ()), *reviews)
        return (PARTS, *board, *of_pulls, *(writes if look.writes else ()))

    def _look_with(
        self, look: model.Look, parts: tuple[str, ...]
    ) -> tuple[GraphReply, LifecycleError | None]:
        """One look with these documents added: its answer, and why it does not contain the board."""
        try:
            reply = self._ask_claim(look, parts)
        except MissingScope as missing:
            if BOARD not in parts:
                raise
            return GraphReply({}), missing
        if self._board is not None and IDS in parts:
            self._board.learn(reply.data)
        refused = self._sort(reply, with_board=BOARD in parts)
        if refused is None and BOARD in reply.left_out:
            refused = AnswerProblem("undefinedField", (), reply.left_out[BOARD])
        return reply, self._choice.error_of(refused, self._graph.failures) if refused else None

    def _ask_claim(self, look: model.Look, parts: tuple[str, ...]) -> GraphReply:
        variables = {
            **self.calls.repository.variables,
            **fields_of(look, "issue", "branch", "checks", "comments", "opens", leased="lease"),
            "number": look.pr_number or 0,
            "byNumber": look.pr_number is not None,
            "lease": f"{LEASES}{look.issue}",
        }
        if self._choice.project is not None:
            variables |= self._choice.project.variables()
        pulls = f" and the pull requests of {look.branch}" if look.branch else ""
        subject = f"issue #{look.issue}{pulls} in {self.calls.repository}"
        return self._graph.read("observe_claim", variables, subject=subject, added=parts)

    def _sort(self, reply: GraphReply, *, with_board: bool) -> AnswerProblem | None:
        """Raise the problem of a part that must not be missing; return the first problem of the board."""
        board: AnswerProblem | None = None
        for problem in reply.problems:
            if problem.type == "NOT_FOUND" and problem.path == ("repository",):
                unseen = sentence("no-repository", repository=self.calls.repository)
                raise NotFound(unseen, evidence=problem.message)
            if problem.type == "NOT_FOUND" and problem.path in _ABSENT:
                continue
            if not _OF_WRITES.isdisjoint(problem.path) or problem.path[:1] == (_OF_IDS,):
                continue
            is_scope = problem.type == "INSUFFICIENT_SCOPES"
            if with_board and (is_scope or "projectItems" in problem.path):
                board = board or problem
            elif not translate.is_bearable(problem, reply.data):
                field = ".".join(map(str, problem.path)).removeprefix("repository").lstrip(".")
                subject = f"{f'{field} of ' * bool(field)}repository {self.calls.repository}"
                raise self._graph.failures.of_problem(problem, AskedRequest(subject))
        return board

    def _observation(self, look: model.Look, reply: GraphReply) -> model.Observation:
        node = part(reply.data, "repository")
        if not node:
            raise self._graph.failures.of_nonsense(AskedRequest(f"issue #{look.issue}"))
        issue, numbered, listed = node.get("issue"), node.get("byNumber"), nodes(node, "byBranch")
        unseen = translate.hidden(reply.problems, reply.left_out)
        read = partial(translate.pull_request, unseen=unseen)
        by_number, by_branch = read(numbered) if numbered else None, tuple(map(read, listed))
        if look.checks:
            shown = [numbered, *listed] if numbered else listed
            overall = {str(entry["headRefOid"]): rollup.overall(entry) for entry in shown}
            # Missing checks are read over REST for the requested pull request, else for all open ones.
            asked = (by_number,) if by_number else by_branch
            by_head = rest_checks.completed(self.calls, asked, overall)
            by_number = by_number and _mended(by_number, by_head)
            by_branch = tuple(_mended(pull, by_head) for pull in by_branch)
        lease = part(node, "lease.target")
        # The token may still have fewer permissions than its owner; and an issue's author may close it.
        permission = word(node.get("viewerPermission"))
        is_author = part(node, "issue").get("viewerDidAuthor") is not False
        is_writable = permission in _WRITERS and node.get("isArchived") is False
        return model.Observation(
            repository=str(node.get("nameWithOwner") or self.calls.repository),
            default_branch=text(node, "defaultBranchRef.name"),
            issue=self._with_posted(translate.issue(issue)) if issue else None,
            by_number=by_number,
            by_branch=by_branch,
            item=self._choice.item(issue) if issue else None,
            board_problem=self._choice.problem if look.board else None,
            board_note=self._choice.note if look.board else None,
            merge_method=translate.merge_method(node),
            writable=text(node, "id") if is_writable else "",
            is_not_ours_to_close=permission == "READ" and not is_author,
            is_archived=node.get("isArchived") is True,
            closers=_closers(node),
            is_ahead=bool(part(node, "defaultBranchRef.compare").get("aheadBy")),
            hold=translate.hold(look.issue, lease) if lease else None,
        )

    def _with_posted(self, issue: model.Issue) -> model.Issue:
        """The issue with the comments that were posted here and are not shown yet, if it has comments."""
        if issue.comments is None or issue.number not in self._posted:
            return issue
        shown = {comment.id for comment in issue.comments}
        late = [own for own in self._posted[issue.number].values() if own.id not in shown]
        return replace(issue, comments=(*issue.comments, *late))


def _closers(node: Json) -> tuple[int, ...]:
    """The repository's open pull requests that close the issue, as GitHub shows them with it."""
    name, closing = node.get("nameWithOwner"), nodes(part(node, "issue"), _CLOSERS)
    own = (pull for pull in closing if part(pull, "repository").get("nameWithOwner") == name)
    return tuple(int(pull["number"]) for pull in own if word(pull.get("state")) == "OPEN")


def _mended(pull: model.PullRequest, by_head: Mapping[str, Checks]) -> model.PullRequest:
    """A pull request with the checks from REST, if they were read for its head."""
    is_read = pull.state is model.PullState.OPEN and pull.head_sha in by_head
    return replace(pull, checks=by_head[pull.head_sha]) if is_read else pull
