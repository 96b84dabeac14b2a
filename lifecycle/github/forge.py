"""One repository on GitHub: what a claim looks like in one GraphQL request, and the writes over REST.

An idle look speaks GraphQL only; PyGithub is imported when something has to be written, or when
GraphQL does not show all of the checks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from lifecycle.errors import MissingScope, NotFound
from lifecycle.github import translate
from lifecycle.github.failures import Asked, Problem
from lifecycle.model import (
    Checks,
    Comment,
    Issue,
    Look,
    Observation,
    PullRequest,
    PullState,
    Repository,
    RepositoryAccess,
    TokenFacts,
)
from lifecycle.retry import reading

if TYPE_CHECKING:
    from lifecycle.github.board import ProjectRef
    from lifecycle.github.graph import GraphClient, Reply
    from lifecycle.github.rest import RestClient

_ABSENT = {("repository", "issue"), ("repository", "byNumber")}


@dataclass(frozen=True, slots=True)
class _Sorted:
    """The problems of a look, by what they cost."""

    board: Problem | None = None
    has_hidden_checks: bool = False


class GitHubForge:
    """Fits `ports.Forge`.

    Args:
        repository: where issues and pull requests live.
        project: the board to look at when a look asks for it, or None.
        graph: GraphQL, for looks.
        rest: REST, for everything else.
    """

    def __init__(
        self,
        repository: Repository,
        project: ProjectRef | None,
        *,
        graph: GraphClient,
        rest: RestClient,
    ) -> None:
        self._repository = repository
        self._project = project
        self._graph = graph
        self._rest = rest
        self._board_problem: str | None = None

    def observe(self, look: Look) -> Observation:
        """All that a decision about one claim needs: one request, if GitHub shows everything.

        A board that cannot be read costs one request more, once per process, and the board's part
        of the observation only. Checks that GraphQL does not show, or not all of, are read over REST
        for the pull requests that are open.

        Raises:
            NotFound: GitHub shows no such repository.
            Transient, BadCredentials, NoPermission: as everywhere.
        """
        with_board = look.board and self._project is not None and self._board_problem is None
        try:
            reply = self._ask_claim(look, with_board=with_board)
        except MissingScope as missing:
            if not with_board:
                raise
            self._board_problem = missing.sentence
            reply = self._ask_claim(look, with_board=False)
        found = self._sort(reply.problems, with_board=with_board)
        if found.board is not None:
            self._board_problem = self._problem_of_board(found.board)
            if not _repository_in(reply).get("issue"):
                # The board's null took the issue with it: that is no word about the issue.
                reply = self._ask_claim(look, with_board=False)
                found = self._sort(reply.problems, with_board=False)
        return self._observation(look, _repository_in(reply), found)

    def pull_requests_of(self, branch: str) -> tuple[PullRequest, ...]:
        """The newest ten pull requests whose head branch is called `branch`, newest first."""
        variables = {**self._names(), "branch": branch}
        subject = f"pull requests of {branch} in {self._repository}"
        ask = partial(self._graph.execute, "observe_branch", variables, subject=subject)
        reply = reading(self._graph.deadline, ask)
        self._sort(reply.problems, with_board=False)
        found = _repository_in(reply)
        if not found:
            raise self._graph.failures.of_nonsense(Asked(subject))
        nodes = (found.get("pullRequests") or {}).get("nodes") or []
        return tuple(translate.pull_request(node) for node in nodes if node)

    def viewer(self) -> str:
        """The login that the token belongs to."""
        return self._rest.viewer()

    def issue(self, number: int) -> Issue:
        """One issue; NotFound if there is none, or if the number is a pull request's."""
        return self._rest.issue(self._repository, number)

    def open_issues(self) -> tuple[Issue, ...]:
        """Every open issue, pull requests left out."""
        return self._rest.open_issues(self._repository)

    def create_pull_request(self, *, title: str, body: str, head: str, base: str) -> PullRequest:
        """Open one, sent once; PullRequestExists, NothingToMerge, HeadMissing."""
        return self._rest.create_pull_request(
            self._repository, title=title, body=body, head=head, base=base
        )

    def comment(self, issue: int, body: str) -> Comment:
        """Post one comment, sent once: GitHub does not deduplicate."""
        return self._rest.comment(self._repository, issue, body)

    def close_issue(self, issue: int) -> Issue:
        """Close as completed and return the issue as GitHub shows it afterwards."""
        return self._rest.close_issue(self._repository, issue)

    def assign(self, issue: int, login: str) -> tuple[str, ...]:
        """Add an assignee and return all of them: GitHub ignores whom it may not assign."""
        return self._rest.assign(self._repository, issue, login)

    def unassign(self, issue: int, login: str) -> tuple[str, ...]:
        """Take an assignee off and return who is left; nothing changes if it was not assigned."""
        return self._rest.unassign(self._repository, issue, login)

    def token_facts(self) -> TokenFacts:
        """Whose token it is, of what kind, and what it was given. Only reads."""
        return self._rest.token_facts()

    def repository_access(self) -> RepositoryAccess:
        """What the token's owner may do here. Only reads; NotFound if GitHub shows no repository."""
        return self._rest.repository_access(self._repository)

    def checks(self, sha: str) -> Checks:
        """Every check run and commit status of one commit, page by page."""
        return self._rest.checks(self._repository, sha)

    def _names(self) -> dict[str, Any]:
        return {"owner": self._repository.owner, "name": self._repository.name}

    def _ask_claim(self, look: Look, *, with_board: bool) -> Reply:
        variables = {
            **self._names(),
            "issue": look.issue,
            "branch": look.branch,
            "number": look.pr_number or 0,
            "byNumber": look.pr_number is not None,
            "checks": look.checks,
            "comments": look.comments,
            "board": with_board,
        }
        subject = (
            f"issue #{look.issue} and the pull requests of {look.branch} in {self._repository}"
        )
        ask = partial(self._graph.execute, "observe_claim", variables, subject=subject)
        return reading(self._graph.deadline, ask)

    def _sort(self, problems: Iterable[Problem], *, with_board: bool) -> _Sorted:
        """What may be missing, and what may not: the latter is raised."""
        found = _Sorted()
        for problem in problems:
            if problem.type == "NOT_FOUND" and problem.path == ("repository",):
                raise NotFound(
                    f"GitHub shows no repository {self._repository} to the token, so nothing was "
                    "changed; check the remote's name, and that the token may see it.",
                    evidence=problem.message,
                )
            if problem.type == "NOT_FOUND" and problem.path in _ABSENT:
                continue
            is_scope = problem.type == "INSUFFICIENT_SCOPES"
            if with_board and (is_scope or "projectItems" in problem.path):
                found = replace(found, board=found.board or problem)
            elif "statusCheckRollup" in problem.path:
                found = replace(found, has_hidden_checks=True)
            else:
                subject = f"the claim's part {'.'.join(str(step) for step in problem.path)}"
                raise self._graph.failures.of_problem(problem, Asked(subject))
        return found

    def _problem_of_board(self, problem: Problem) -> str:
        return self._graph.failures.of_problem(
            problem, Asked(f"the board, {self._project}")
        ).sentence

    def _observation(self, look: Look, node: translate.Json, found: _Sorted) -> Observation:
        if not node:
            raise self._graph.failures.of_nonsense(Asked(f"issue #{look.issue}"))
        issue = node.get("issue")
        by_number = _pull(node.get("byNumber"), found)
        nodes = (node.get("byBranch") or {}).get("nodes") or []
        by_branch = tuple(pull for one in nodes if (pull := _pull(one, found)))
        if look.checks:
            pulls = [one for one in (node.get("byNumber"), *nodes) if one]
            green = {one["headRefOid"] for one in pulls if translate.is_rollup_green(one)}
            by_number, by_branch = self._with_all_checks(by_number, by_branch, green)
        item = None
        if self._project is not None and issue:
            items = (issue.get("projectItems") or {}).get("nodes") or []
            item = translate.board_item_of(items, self._project.owner, self._project.number)
        return Observation(
            repository=str(node.get("nameWithOwner") or self._repository),
            default_branch=(node.get("defaultBranchRef") or {}).get("name") or "",
            issue=translate.issue(issue) if issue else None,
            by_number=by_number,
            by_branch=by_branch,
            item=item,
            board_problem=self._board_problem if look.board else None,
        )

    def _with_all_checks(
        self,
        by_number: PullRequest | None,
        by_branch: tuple[PullRequest, ...],
        green: set[str],
    ) -> tuple[PullRequest | None, tuple[PullRequest, ...]]:
        """Read over REST what is missing: of the pull request asked for, else of all open ones.

        Where REST does not show everything either, GitHub's own verdict, which counts what it
        hides, can still say that all of it passed (`green`: the heads of which it does).
        """
        asked = (by_number,) if by_number else by_branch
        shas = {pull.head_sha for pull in asked if _lacks_checks(pull)}
        known = {sha: self.checks(sha) for sha in sorted(shas)}
        for sha in green & known.keys():
            known[sha] = replace(known[sha], is_complete=True)

        def mended(pull: PullRequest) -> PullRequest:
            checks = known.get(pull.head_sha) if _lacks_checks(pull) else None
            return replace(pull, checks=checks) if checks else pull

        return by_number and mended(by_number), tuple(mended(pull) for pull in by_branch)


def _repository_in(reply: Reply) -> translate.Json:
    return reply.data.get("repository") or {}


def _pull(node: translate.Json | None, found: _Sorted) -> PullRequest | None:
    if not node:
        return None
    pull = translate.pull_request(node)
    if found.has_hidden_checks and pull.checks and not pull.checks.runs:
        return replace(pull, checks=replace(pull.checks, is_complete=False))
    return pull


def _lacks_checks(pull: PullRequest) -> bool:
    is_incomplete = pull.checks is not None and not pull.checks.is_complete
    return is_incomplete and pull.state is PullState.OPEN
