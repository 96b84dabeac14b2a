"""REST through PyGithub: the one module that knows it.

Every call is one request: the objects are lazy, and only attributes that the answer holds are read
(an absent one would make PyGithub fetch the object again). PyGithub's own pauses and retries are off,
because its retries resend what creates; what may be sent twice goes through `lifecycle.retry`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from lifecycle.deadline import Deadline
from lifecycle.errors import NoPermission, NotFound, Rejected
from lifecycle.github import access, translate
from lifecycle.github.failures import Answer, Asked, Failures
from lifecycle.model import (
    Checks,
    Comment,
    Issue,
    PullRequest,
    PullState,
    Repository,
    RepositoryAccess,
    TokenFacts,
)
from lifecycle.retry import reading

if TYPE_CHECKING:
    from datetime import datetime

    from github.Issue import Issue as GithubIssue
    from github.Repository import Repository as GithubRepository
    from github.Requester import Requester

T = TypeVar("T")
PAGE = 100
USER_AGENT = "agent-lifecycle"

# What PyGithub lets escape when an answer is not of the shape that it expects.
_NONSENSE = (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError)


class RestClient:
    """A client for the REST API. PyGithub is imported at the first request.

    Args:
        url: the API's base URL.
        token: never shown, logged or part of an error.
        deadline: bounds every request and every wait between two of them.
        token_source: the name of the environment variable that the token came from.
    """

    def __init__(self, url: str, token: str, deadline: Deadline, *, token_source: str) -> None:
        self.deadline = deadline
        self._failures = Failures(token, token_source, deadline.clock)
        self._url = url

    def __repr__(self) -> str:
        return f"RestClient({self._url!r})"

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if "_api" in self.__dict__:
            self._api.close()

    def viewer(self) -> str:
        """The login that the token belongs to.

        Source: https://docs.github.com/rest/users/users#get-the-authenticated-user
        """
        asked = Asked("user")

        def ask() -> str:
            from github.AuthenticatedUser import AuthenticatedUser

            user = AuthenticatedUser(self._api, url="/user")
            self._demand(user.html_url, user.url, asked)
            return user.login

        return self._read(asked, ask)

    def token_facts(self) -> TokenFacts:
        """Whose token it is, of what kind, and what it was given.

        A token that is no user's may not ask who it is; what is left for it costs no request of
        its hour. Sources: https://docs.github.com/rest/users/users#get-the-authenticated-user and
        https://docs.github.com/rest/rate-limit/rate-limit#get-rate-limit-status-for-the-authenticated-user
        """
        try:
            headers, user = self._plain("/user", "login", Asked("user"))
            login = str(user["login"])
        except NoPermission:
            headers, _ = self._plain("/rate_limit", "resources", Asked("rate limit"))
            login = ""
        return access.token_facts(self._failures.token, login, headers)

    def repository_access(self, repository: Repository) -> RepositoryAccess:
        """What the token's owner may do in a repository.

        Source: https://docs.github.com/rest/repos/repos#get-a-repository

        Raises:
            NotFound: GitHub shows no such repository.
        """
        asked = Asked(f"repository {repository}")
        _, found = self._plain(f"/repos/{repository}", "full_name", asked)
        return access.repository_access(found)

    def issue(self, repository: Repository, number: int) -> Issue:
        """One issue.

        Source: https://docs.github.com/rest/issues/issues#get-an-issue

        Raises:
            NotFound: there is none, or the number is a pull request's.
        """
        asked = Asked(f"issue #{number} of {repository}")

        def ask() -> tuple[Issue, bool]:
            found = self._repository(repository).get_issue(number).complete()
            return self._shown(found, asked), found.pull_request is None

        issue, is_issue = self._read(asked, ask)
        if not is_issue:
            raise NotFound(
                f"#{number} of {repository} is a pull request, not an issue, so nothing was changed; "
                "give the number of an issue."
            )
        return issue

    def open_issues(self, repository: Repository) -> tuple[Issue, ...]:
        """Every open issue, page by page, pull requests left out.

        Source: https://docs.github.com/rest/issues/issues#list-repository-issues
        """
        asked = Asked(f"open issues of {repository}")

        def ask() -> tuple[Issue, ...]:
            from github.Issue import Issue as GithubIssue
            from github.PaginatedList import PaginatedList

            # Only pull requests have the key; to ask an issue for it would be one request each.
            found = PaginatedList(
                GithubIssue,
                self._api,
                f"{self._repository(repository).url}/issues",
                {"state": "open"},
                attributesTransformer=lambda raw: {"pull_request": None, **raw},
            )
            return tuple(self._shown(one, asked) for one in found if one.pull_request is None)

        return self._read(asked, ask)

    def create_pull_request(
        self, repository: Repository, *, title: str, body: str, head: str, base: str
    ) -> PullRequest:
        """Open a pull request; sent once.

        Source: https://docs.github.com/rest/pulls/pulls#create-a-pull-request

        Raises:
            PullRequestExists, NothingToMerge, HeadMissing: GitHub's 422.
            Transient: ambiguous if it may have been opened all the same.
        """
        asked = Asked(f"a pull request for {head} in {repository}", is_write=True)
        with self._translated(asked):
            made = self._repository(repository).create_pull(base, head, title=title, body=body)
            self._demand(made.html_url, made.url, asked)
            return PullRequest(
                number=made.number,
                url=made.html_url,
                title=made.title,
                state=PullState.OPEN if made.state == "open" else PullState.CLOSED,
                branch=made.head.ref,
                head_owner=made.head.label.partition(":")[0],
                head_sha=made.head.sha,
                base=made.base.ref,
                body=made.body or "",
                is_draft=bool(made.draft),
            )

    def comment(self, repository: Repository, issue: int, body: str) -> Comment:
        """Post a comment; sent once.

        Source: https://docs.github.com/rest/issues/comments#create-an-issue-comment
        """
        asked = Asked(f"a comment on issue #{issue} of {repository}", is_write=True)
        with self._translated(asked):
            made = self._repository(repository).get_issue(issue).create_comment(body)
            self._demand(made.html_url, made.url, asked)
            return Comment(made.id, made.body)

    def close_issue(self, repository: Repository, issue: int) -> Issue:
        """Close an issue as completed; closing what is closed changes nothing.

        Source: https://docs.github.com/rest/issues/issues#update-an-issue
        """
        asked = Asked(f"the closing of issue #{issue} of {repository}", is_write=True)

        def ask() -> Issue:
            found = self._repository(repository).get_issue(issue)
            found.edit(state="closed", state_reason="completed")
            return self._shown(found, asked)

        return self._read(asked, ask)

    def assign(self, repository: Repository, issue: int, login: str) -> tuple[str, ...]:
        """Add an assignee, a union on GitHub's side, and return all of them.

        Source: https://docs.github.com/rest/issues/assignees#add-assignees-to-an-issue
        """
        asked = Asked(f"assigning {login} to issue #{issue} of {repository}", is_write=True)

        def ask() -> tuple[str, ...]:
            found = self._repository(repository).get_issue(issue)
            found.add_to_assignees(login)
            return self._shown(found, asked).assignees

        return self._read(asked, ask)

    def unassign(self, repository: Repository, issue: int, login: str) -> tuple[str, ...]:
        """Take an assignee off, which may be done twice, and return who is left.

        Source: https://docs.github.com/rest/issues/assignees#remove-assignees-from-an-issue
        """
        asked = Asked(f"unassigning {login} from issue #{issue} of {repository}", is_write=True)

        def ask() -> tuple[str, ...]:
            found = self._repository(repository).get_issue(issue)
            found.remove_from_assignees(login)
            return self._shown(found, asked).assignees

        return self._read(asked, ask)

    def checks(self, repository: Repository, sha: str) -> Checks:
        """Every check run and commit status of a commit, all pages, superseded ones dropped.

        REST does not name a run's workflow, so runs of one name are told apart by check suite.

        Sources: https://docs.github.com/rest/checks/runs#list-check-runs-for-a-git-reference and
        https://docs.github.com/rest/commits/statuses#get-the-combined-status-for-a-specific-reference
        """
        asked = Asked(f"checks of commit {sha[:12]} in {repository}")
        try:
            runs, is_complete = self._read(asked, lambda: self._runs(repository, sha))
        except NoPermission:
            # A fine-grained token cannot be given checks; Actions it can. Checks of other apps stay
            # hidden, so this is never all of them.
            runs = self._read(asked, lambda: self._workflow_runs(repository, sha))
            is_complete = False
        statuses = self._read(asked, lambda: self._statuses(repository, sha))
        return Checks(sha, translate.newest([*runs, *statuses]), is_complete)

    def _runs(self, repository: Repository, sha: str) -> tuple[list[translate.Entry], bool]:
        found = self._repository(repository).get_commit(sha).get_check_runs(filter="latest")
        runs = [
            translate.check_run(
                name=run.name,
                status=run.status,
                conclusion=run.conclusion,
                started_at=_moment(run.started_at),
                ended_at=_moment(run.completed_at),
                url=run.details_url or "",
                key=(run.check_suite.id,),
            )
            for run in found
        ]
        # PyGithub reads an empty body as an empty list; the count tells the two apart.
        return runs, found.totalCount <= len(runs)

    def _workflow_runs(self, repository: Repository, sha: str) -> list[translate.Entry]:
        """The runs of Actions on a commit, one entry each.

        Source: https://docs.github.com/rest/actions/workflow-runs#list-workflow-runs-for-a-repository
        """
        return [
            translate.check_run(
                name=run.name or "",
                status=run.status,
                conclusion=run.conclusion,
                started_at=_moment(run.run_started_at),
                # There is no word for the end; what is over is seldom touched again.
                ended_at=_moment(run.updated_at) if run.status == "completed" else None,
                url=run.html_url,
                workflow=run.name or "",
                event=run.event,
                key=(run.workflow_id, run.event),
            )
            for run in self._repository(repository).get_workflow_runs(head_sha=sha)
            # A redirect (the repository was renamed) loses the query, and shows every commit's runs.
            if run.head_sha == sha
        ]

    def _statuses(self, repository: Repository, sha: str) -> list[translate.Entry]:
        from github.CommitStatus import CommitStatus
        from github.PaginatedList import PaginatedList

        # get_combined_status() would show the first page only.
        url = f"{self._repository(repository).url}/commits/{sha}/status"
        found = PaginatedList(CommitStatus, self._api, url, list_item="statuses")
        return [
            translate.commit_status(
                context=one.context,
                state=one.state,
                made_at=_moment(one.created_at),
                url=one.target_url or "",
            )
            for one in found
        ]

    @cached_property
    def _api(self) -> Requester:
        """PyGithub without `Github` in front, which takes whole seconds only for a time-out."""
        from github.Auth import Token
        from github.Requester import Requester

        from lifecycle.github.wire import Patience

        patience: Any = Patience(self.deadline)  # annotated as int, handed on to requests as is
        return Requester(
            auth=Token(self._failures.token),
            base_url=self._url,
            timeout=patience,
            user_agent=USER_AGENT,
            per_page=PAGE,
            verify=True,
            retry=None,
            pool_size=None,
            seconds_between_requests=None,
            seconds_between_writes=None,
            lazy=True,
        )

    def _repository(self, repository: Repository) -> GithubRepository:
        from github.Repository import Repository as GithubRepository

        return GithubRepository(self._api, url=f"/repos/{repository}")

    def _plain(self, path: str, key: str, asked: Asked) -> tuple[dict[str, Any], dict[str, Any]]:
        """Headers (names in lower case) and JSON object, which has to have `key`."""

        def ask() -> tuple[dict[str, Any], dict[str, Any]]:
            headers, found = self._api.requestJsonAndCheck("GET", path)
            if key not in found:
                raise self._failures.of_nonsense(asked)
            return headers, found

        return self._read(asked, ask)

    def _read(self, asked: Asked, ask: Callable[[], T]) -> T:
        """Ask, and ask again: for reads, and for writes that may be applied twice."""

        def once() -> T:
            with self._translated(asked):
                return ask()

        return reading(self.deadline, once)

    @contextmanager
    def _translated(self, asked: Asked) -> Iterator[None]:
        """Let nothing out but errors of ours, which hold neither the token nor a traceback."""
        import github

        from lifecycle.github.wire import RequestException, silence

        self.deadline.remaining()
        try:
            yield
        except github.GithubException as error:
            answer = Answer.read(error.status or 0, error.headers or {}, error.data)
            raise self._failures.of_answer(answer, asked) from None
        except RequestException as error:
            found = silence(error)
            if found.is_final:
                raise Rejected(f"GitHub {found.words}; nothing was changed, correct it.") from None
            raise self._failures.of_silence(
                found.words, asked, may_have_landed=found.may_have_landed
            ) from None
        except RuntimeError as error:
            # PyGithub's word for a redirect to another host or protocol, or to itself.
            raise Rejected(
                f"GitHub redirects {asked.subject} to where the token must not go, so nothing was "
                "changed; correct the API URL.",
                evidence=self._failures.clean(str(error)),
            ) from None
        except (*_NONSENSE, github.BadAttributeException):
            raise self._failures.of_nonsense(asked) from None

    def _shown(self, found: GithubIssue, asked: Asked) -> Issue:
        self._demand(found.html_url, found.url, asked)
        return Issue(
            number=found.number,
            id=found.node_id,
            title=found.title,
            url=found.html_url,
            is_open=found.state == "open",
            state_reason=found.state_reason or "",
            assignees=tuple(user.login for user in found.assignees),
        )

    def _demand(self, page: str | None, url: str | None, asked: Asked) -> None:
        """Refuse what has no page: PyGithub takes the body of a 307 for the object itself.

        Not the number decides: PyGithub reads it out of the URL that the 307 names.
        Source: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
        """
        if page is not None:
            return
        if url and url.startswith("http"):
            raise self._failures.of_answer(Answer(307, url=url), asked)
        raise self._failures.of_nonsense(asked)


def _moment(when: datetime | None) -> float | None:
    return None if when is None else when.timestamp()
