"""What happens to pull requests: opened, pushed to, judged, merged, closed.

One open pull request for a head and base, decided under the world's lock; a head's sha follows its
branch while the pull request is open, and stays when the branch goes.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from lifecycle.sandbox.actions import checks, issues
from lifecycle.sandbox.errors import ActionRefused, invalid
from lifecycle.sandbox.git.founding import signature
from lifecycle.sandbox.git.repository import Merge, Signature
from lifecycle.sandbox.state.pulls import PullRequest
from lifecycle.sandbox.state.times import now

if TYPE_CHECKING:
    from lifecycle.sandbox.errors import ApiError
    from lifecycle.sandbox.state.accounts import User
    from lifecycle.sandbox.state.issues import Issue
    from lifecycle.sandbox.state.repositories import Repository

CREATE = "https://docs.github.com/rest/pulls/pulls#create-a-pull-request"
CLOSING = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:(?P<repo>[\w.-]+/[\w.-]+))?#(?P<number>\d+)",
    re.IGNORECASE,
)


def open_pull(
    repo: Repository,
    user: User,
    *,
    title: str,
    body: str | None,
    head: str,
    base: str,
    draft: bool = False,
) -> PullRequest:
    """Open a pull request, as POST /repos/O/R/pulls does.

    Raises:
        ApiError: 422, in GitHub's words: no such head or base, nothing between them, or there is an
            open one already.
    """
    owner, _, branch = head.rpartition(":")
    refs = repo.git.refs()
    base_sha = refs.get(f"refs/heads/{base}")
    head_sha = refs.get(f"refs/heads/{branch}")
    if base_sha is None:
        raise _wrong("base")
    if head_sha is None or (owner and owner.lower() != repo.owner.login.lower()):
        raise _wrong("head")
    for field, text, most in (("title", title, 256), ("body", body or "", 65_536)):
        if len(text) > most:
            raise _custom(f"{field} is too long (maximum is {most} characters)")
    if open_between(repo, branch, base):
        raise _custom(f"A pull request already exists for {repo.owner.login}:{branch}.")
    if repo.git.merge_base(base_sha, head_sha) is None:
        raise _custom(f"The {branch} branch has no history in common with {base}")
    if not repo.git.commits(base_sha, head_sha):
        raise _custom(f"No commits between {base} and {branch}")
    issue = issues.new_issue(
        repo, user, title, body, hidden_for=repo.world.lag["pulls"], is_pull=True
    )
    number, node = repo.new_id("PR")
    pull = PullRequest(
        number, node, issue, branch, base, head_sha, base_sha, draft,
        head_repository=repo, head_owner=repo.owner,
    )  # fmt: skip
    repo.pulls[pull.number] = pull
    repo.world.register(node, pull)
    repo.git.update(f"refs/pull/{pull.number}/head", head_sha, None)
    checks.announce(repo, head_sha)
    return pull


def _wrong(field: str) -> ApiError:
    return invalid(CREATE, {"resource": "PullRequest", "field": field, "code": "invalid"})


def _custom(message: str) -> ApiError:
    return invalid(CREATE, {"resource": "PullRequest", "code": "custom", "message": message})


def open_between(repo: Repository, head: str, base: str) -> PullRequest | None:
    """The open pull request from `head` into `base`, if there is one."""
    pulls = repo.pulls.values()
    return next((p for p in pulls if p.is_open and (p.head, p.base) == (head, base)), None)


def refresh(repo: Repository, user: User) -> None:
    """Bring the world up to date with the repository, after a push or a merge.

    Heads of open pull requests move; one whose branch is gone closes; one whose commits the base
    now contains counts as merged; commit messages that reach the default branch close issues.
    All of it is the doing of `user`, who pushed.
    """
    refs = repo.git.refs()
    before, repo.heads = repo.heads, refs
    for pull in [p for p in repo.pulls.values() if p.is_open]:
        head = refs.get(f"refs/heads/{pull.head}")
        base = refs.get(f"refs/heads/{pull.base}")
        moved = base != before.get(f"refs/heads/{pull.base}")
        if base and moved and repo.git.is_ancestor(head or pull.head_sha, base):
            _follow(repo, pull, head or pull.head_sha)
            _record_merge(repo, pull, user, base)
        elif head is None:
            issues.close(pull.issue, user, None)
        else:
            _follow(repo, pull, head)
    _close_mentioned(repo, user, before, refs)


def _follow(repo: Repository, pull: PullRequest, head: str) -> None:
    if head == pull.head_sha:
        return
    repo.git.update(f"refs/pull/{pull.number}/head", head, pull.head_sha)
    pull.head_sha = head
    pull.issue.updated_at = now()
    checks.announce(repo, head)


def _close_mentioned(
    repo: Repository, user: User, before: dict[str, str], after: dict[str, str]
) -> None:
    ref = f"refs/heads/{repo.default_branch}"
    old, new = before.get(ref), after.get(ref)
    if old and new and old != new:
        for message in repo.git.messages(old, new):
            close_mentioned(repo, message, user)


def close_mentioned(repo: Repository, text: str | None, user: User) -> None:
    """Close the open issues that a text says it closes, fixes or resolves.

    Source: https://docs.github.com/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
    """
    for match in CLOSING.finditer(text or ""):
        if match["repo"] and match["repo"].lower() != repo.full_name.lower():
            continue
        number = int(match["number"])
        issue = repo.issues.get(number)
        if issue and issue.state == "open" and number not in repo.pulls:
            issues.close(issue, user, "completed")


def judge(pull: PullRequest, seen: set[object]) -> bool | None:
    """Whether it merges cleanly: None to the first request that asks about this head and base.

    GitHub starts to compute when first asked and answers null meanwhile
    (https://docs.github.com/rest/pulls/pulls#get-a-pull-request).
    """
    if not pull.is_open:
        return pull.mergeable
    repo = pull.repository
    base = repo.heads.get(f"refs/heads/{pull.base}", pull.base_sha)
    pair = (pull.head_sha, base)
    if pull.judged != pair:
        seen.add(("judged", *pair))
        pull.judged, pull.mergeable = pair, None
    if ("judged", *pair) in seen:
        return None
    if pull.mergeable is None:
        pull.mergeable = repo.git.merged_tree(base, pull.head_sha) is not None
    return pull.mergeable


def merge(repo: Repository, number: int, user: User, method: str, *, delete_branch: bool) -> str:
    """Merge as a human does with the green button; return the sha that the base now has.

    Raises:
        ActionRefused: It is not open, is a draft, conflicts, or its base moved meanwhile.
    """
    pull = repo.pull(number)
    if not pull.is_open:
        raise ActionRefused(f"Pull request {number} is not open, so it was not merged.")
    if pull.draft:
        raise ActionRefused(f"Pull request {number} is still a draft, so it was not merged.")
    ref = f"refs/heads/{pull.base}"
    base_sha = repo.git.refs().get(ref)
    if base_sha is None:
        raise ActionRefused(f"The base branch {pull.base!r} is gone, so nothing was merged.")
    wanted = _merge_of(repo, pull, user, method, base_sha)
    sha = repo.git.merge(wanted, method)
    pull.base_sha = base_sha
    repo.heads = {**repo.heads, ref: sha}
    _record_merge(repo, pull, user, sha)
    if pull.base == repo.default_branch:
        for message in repo.git.messages(base_sha, sha):
            close_mentioned(repo, message, user)
    if delete_branch:
        remove_branch(repo, pull.head)
    refresh(repo, user)
    return sha


def _merge_of(repo: Repository, pull: PullRequest, user: User, method: str, base_sha: str) -> Merge:
    plain = Merge(
        base=pull.base,
        base_sha=base_sha,
        head_sha=pull.head_sha,
        title=f"Merge pull request #{pull.number} from {repo.owner.login}/{pull.head}",
        message=pull.issue.title,
        author=signature(user),
        committer=Signature("GitHub", "noreply@github.com", now()),
    )
    if method != "squash":
        return plain
    messages = repo.git.messages(base_sha, pull.head_sha)
    if len(messages) == 1:
        subject, _, rest = messages[0].partition("\n")
        return replace(plain, title=f"{subject} (#{pull.number})", message=rest.strip())
    listed = "\n\n".join(f"* {message}" for message in messages)
    return replace(plain, title=f"{pull.issue.title} (#{pull.number})", message=listed)


def _record_merge(repo: Repository, pull: PullRequest, user: User, sha: str) -> None:
    issues.close(pull.issue, user, None)
    pull.merged_at, pull.merged_by, pull.merge_sha = now(), user, sha
    if pull.base == repo.default_branch:
        close_mentioned(repo, pull.issue.body, user)


def remove_branch(repo: Repository, branch: str) -> None:
    """Delete a branch.

    Raises:
        ActionRefused: There is none of that name, or it is the default branch.
    """
    ref = f"refs/heads/{branch}"
    sha = repo.git.refs().get(ref)
    if sha is None:
        raise ActionRefused(f"There is no branch {branch!r}; nothing was deleted.")
    if branch == repo.default_branch:
        raise ActionRefused("The default branch cannot be deleted.")
    repo.git.delete(ref, sha)


def reopen(repo: Repository, pull: PullRequest) -> None:
    """Open a closed pull request again, which takes the branch's head of today.

    Raises:
        ActionRefused: It is merged, its branch is gone, or another one is open for the branch.
    """
    if pull.merged_at:
        raise ActionRefused(f"Pull request {pull.number} is merged and cannot be reopened.")
    head = repo.git.refs().get(f"refs/heads/{pull.head}")
    if head is None:
        raise ActionRefused(f"The branch of pull request {pull.number} is gone: not reopened.")
    if open_between(repo, pull.head, pull.base):
        raise ActionRefused(f"Another pull request is open for {pull.head!r}: not reopened.")
    issues.reopen(pull.issue)
    _follow(repo, pull, head)


def state_of(pull: PullRequest) -> str:
    """`OPEN`, `CLOSED` or `MERGED`, as GraphQL has it."""
    return "MERGED" if pull.merged_at else pull.issue.state.upper()


def issue_face(issue: Issue) -> PullRequest | None:
    """The pull request whose issue half this is, or None for a real issue."""
    return issue.repository.pulls.get(issue.number) if issue.is_pull else None
