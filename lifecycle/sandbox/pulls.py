"""What happens to pull requests: opened, pushed to, judged, merged, closed.

One open pull request for a head and base, decided under the world's lock; a head's sha follows its
branch while the pull request is open, and stays when the branch goes.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from lifecycle.sandbox import checks, issues
from lifecycle.sandbox.errors import ActionRefused, invalid
from lifecycle.sandbox.gitrepo import Merge, Signature
from lifecycle.sandbox.state import Issue, PullRequest, User, World, now
from lifecycle.sandbox.world import signature

if TYPE_CHECKING:
    from lifecycle.sandbox.errors import ApiError

CREATE = "https://docs.github.com/rest/pulls/pulls#create-a-pull-request"
CLOSING = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+(?:(?P<repo>[\w.-]+/[\w.-]+))?#(?P<number>\d+)",
    re.IGNORECASE,
)


def open_pull(
    world: World,
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
    refs = world.git.refs()
    base_sha = refs.get(f"refs/heads/{base}")
    head_sha = refs.get(f"refs/heads/{branch}")
    if base_sha is None:
        raise _wrong("base")
    if head_sha is None or (owner and owner.lower() != world.owner.login.lower()):
        raise _wrong("head")
    for field, text, most in (("title", title, 256), ("body", body or "", 65_536)):
        if len(text) > most:
            raise _custom(f"{field} is too long (maximum is {most} characters)")
    if open_between(world, branch, base):
        raise _custom(f"A pull request already exists for {world.owner.login}:{branch}.")
    if world.git.merge_base(base_sha, head_sha) is None:
        raise _custom(f"The {branch} branch has no history in common with {base}")
    if not world.git.commits(base_sha, head_sha):
        raise _custom(f"No commits between {base} and {branch}")
    issue = issues.new_issue(world, user, title, body, hidden_for=world.lag["pulls"])
    number, node = world.new_id("PR")
    pull = PullRequest(number, node, issue, branch, base, head_sha, base_sha, draft)
    world.pulls[pull.number] = pull
    world.git.update(f"refs/pull/{pull.number}/head", head_sha, None)
    checks.announce(world, head_sha)
    return pull


def _wrong(field: str) -> ApiError:
    return invalid(CREATE, {"resource": "PullRequest", "field": field, "code": "invalid"})


def _custom(message: str) -> ApiError:
    return invalid(CREATE, {"resource": "PullRequest", "code": "custom", "message": message})


def open_between(world: World, head: str, base: str) -> PullRequest | None:
    """The open pull request from `head` into `base`, if there is one."""
    pulls = world.pulls.values()
    return next((p for p in pulls if p.is_open and (p.head, p.base) == (head, base)), None)


def refresh(world: World, user: User) -> None:
    """Bring the world up to date with the repository, after a push or a merge.

    Heads of open pull requests move; one whose branch is gone closes; one whose commits the base
    now contains counts as merged; commit messages that reach the default branch close issues.
    All of it is the doing of `user`, who pushed.
    """
    refs = world.git.refs()
    before, world.heads = world.heads, refs
    for pull in [p for p in world.pulls.values() if p.is_open]:
        head = refs.get(f"refs/heads/{pull.head}")
        base = refs.get(f"refs/heads/{pull.base}")
        moved = base != before.get(f"refs/heads/{pull.base}")
        if base and moved and world.git.is_ancestor(head or pull.head_sha, base):
            _follow(world, pull, head or pull.head_sha)
            _record_merge(world, pull, user, base)
        elif head is None:
            issues.close(pull.issue, user, None)
        else:
            _follow(world, pull, head)
    _close_mentioned(world, user, before, refs)


def _follow(world: World, pull: PullRequest, head: str) -> None:
    if head == pull.head_sha:
        return
    world.git.update(f"refs/pull/{pull.number}/head", head, pull.head_sha)
    pull.head_sha = head
    pull.issue.updated_at = now()
    checks.announce(world, head)


def _close_mentioned(
    world: World, user: User, before: dict[str, str], after: dict[str, str]
) -> None:
    ref = f"refs/heads/{world.default_branch}"
    old, new = before.get(ref), after.get(ref)
    if old and new and old != new:
        for message in world.git.messages(old, new):
            close_mentioned(world, message, user)


def close_mentioned(world: World, text: str | None, user: User) -> None:
    """Close the open issues that a text says it closes, fixes or resolves.

    Source: https://docs.github.com/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
    """
    for match in CLOSING.finditer(text or ""):
        if match["repo"] and match["repo"].lower() != world.full_name.lower():
            continue
        number = int(match["number"])
        issue = world.issues.get(number)
        if issue and issue.state == "open" and number not in world.pulls:
            issues.close(issue, user, "completed")


def judge(world: World, pull: PullRequest, seen: set[object]) -> bool | None:
    """Whether it merges cleanly: None to the first request that asks about this head and base.

    GitHub starts to compute when first asked and answers null meanwhile
    (https://docs.github.com/rest/pulls/pulls#get-a-pull-request).
    """
    if not pull.is_open:
        return pull.mergeable
    base = world.heads.get(f"refs/heads/{pull.base}", pull.base_sha)
    pair = (pull.head_sha, base)
    if pull.judged != pair:
        seen.add(("judged", *pair))
        pull.judged, pull.mergeable = pair, None
    if ("judged", *pair) in seen:
        return None
    if pull.mergeable is None:
        pull.mergeable = world.git.merged_tree(base, pull.head_sha) is not None
    return pull.mergeable


def merge(world: World, number: int, user: User, method: str, *, delete_branch: bool) -> str:
    """Merge as a human does with the green button; return the sha that the base now has.

    Raises:
        ActionRefused: It is not open, is a draft, conflicts, or its base moved meanwhile.
    """
    pull = world.pull(number)
    if not pull.is_open:
        raise ActionRefused(f"Pull request {number} is not open, so it was not merged.")
    if pull.draft:
        raise ActionRefused(f"Pull request {number} is still a draft, so it was not merged.")
    ref = f"refs/heads/{pull.base}"
    base_sha = world.git.refs().get(ref)
    if base_sha is None:
        raise ActionRefused(f"The base branch {pull.base!r} is gone, so nothing was merged.")
    wanted = _merge_of(world, pull, user, method, base_sha)
    sha = world.git.merge(wanted, method)
    pull.base_sha = base_sha
    world.heads = {**world.heads, ref: sha}
    _record_merge(world, pull, user, sha)
    if pull.base == world.default_branch:
        for message in world.git.messages(base_sha, sha):
            close_mentioned(world, message, user)
    if delete_branch:
        remove_branch(world, pull.head)
    refresh(world, user)
    return sha


def _merge_of(world: World, pull: PullRequest, user: User, method: str, base_sha: str) -> Merge:
    plain = Merge(
        base=pull.base,
        base_sha=base_sha,
        head_sha=pull.head_sha,
        title=f"Merge pull request #{pull.number} from {world.owner.login}/{pull.head}",
        message=pull.issue.title,
        author=signature(user),
        committer=Signature("GitHub", "noreply@github.com", now()),
    )
    if method != "squash":
        return plain
    messages = world.git.messages(base_sha, pull.head_sha)
    if len(messages) == 1:
        subject, _, rest = messages[0].partition("\n")
        return replace(plain, title=f"{subject} (#{pull.number})", message=rest.strip())
    listed = "\n\n".join(f"* {message}" for message in messages)
    return replace(plain, title=f"{pull.issue.title} (#{pull.number})", message=listed)


def _record_merge(world: World, pull: PullRequest, user: User, sha: str) -> None:
    issues.close(pull.issue, user, None)
    pull.merged_at, pull.merged_by, pull.merge_sha = now(), user, sha
    if pull.base == world.default_branch:
        close_mentioned(world, pull.issue.body, user)


def remove_branch(world: World, branch: str) -> None:
    """Delete a branch.

    Raises:
        ActionRefused: There is none of that name, or it is the default branch.
    """
    ref = f"refs/heads/{branch}"
    sha = world.git.refs().get(ref)
    if sha is None:
        raise ActionRefused(f"There is no branch {branch!r}; nothing was deleted.")
    if branch == world.default_branch:
        raise ActionRefused("The default branch cannot be deleted.")
    world.git.delete(ref, sha)


def reopen(world: World, pull: PullRequest) -> None:
    """Open a closed pull request again, which takes the branch's head of today.

    Raises:
        ActionRefused: It is merged, its branch is gone, or another one is open for the branch.
    """
    if pull.merged_at:
        raise ActionRefused(f"Pull request {pull.number} is merged and cannot be reopened.")
    head = world.git.refs().get(f"refs/heads/{pull.head}")
    if head is None:
        raise ActionRefused(f"The branch of pull request {pull.number} is gone: not reopened.")
    if open_between(world, pull.head, pull.base):
        raise ActionRefused(f"Another pull request is open for {pull.head!r}: not reopened.")
    issues.reopen(pull.issue)
    _follow(world, pull, head)


def state_of(pull: PullRequest) -> str:
    """`OPEN`, `CLOSED` or `MERGED`, as GraphQL has it."""
    return "MERGED" if pull.merged_at else pull.issue.state.upper()


def issue_face(world: World, issue: Issue) -> PullRequest | None:
    """The pull request whose issue half this is, or None for a real issue."""
    return world.pulls.get(issue.number)
