"""REST's operations on pull requests: open, edit, list, merge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle.sandbox.base.errors import ActionRefused, ApiError, wrong
from lifecycle.sandbox.git import payload as git_payloads
from lifecycle.sandbox.git.store import history
from lifecycle.sandbox.issues import actions as issues
from lifecycle.sandbox.pulls import actions as pulls
from lifecycle.sandbox.pulls import changes
from lifecycle.sandbox.pulls import payload as payloads
from lifecycle.sandbox.pulls.merging import actions as merging
from lifecycle.sandbox.pulls.state import PullRequest, PullTables
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import REPO, Call, Reply, created, route
from lifecycle.sandbox.wire.rest import asking

MERGE = f"{asking.PULLS}#merge-a-pull-request"
ABOUT_RULES = "https://docs.github.com/articles/about-protected-branches"
SORTS: dict[str, Callable[[PullRequest], Any]] = {
    "created": lambda pull: pull.number,
    "updated": lambda pull: (pull.issue.updated_at, pull.number),
    "popularity": lambda pull: (len(pull.issue.comments), pull.number),
    "long-running": lambda pull: pull.number,
}
TEXTS = {"diff": "application/vnd.github.diff", "patch": "application/vnd.github.patch"}
PULL = f"{REPO}/pulls/<int:number>"


@route("GET", f"{REPO}/pulls")
def list_pulls(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/pulls by state, head (`owner:branch`) and base; newest first by default."""
    asking.only(call, "state", "head", "base", "sort", "direction")
    sort = asking.choice(call, "sort", "created", set(SORTS), "PullRequest")
    state = asking.choice(call, "state", "open", {"open", "closed", "all"}, "PullRequest")
    selection = [p for p in PullTables.of(repo).pulls.values() if state in {"all", p.issue.state}]
    owner, colon, branch = call.query.get("head", "").partition(":")
    if colon:  # GitHub ignores a head without an owner
        selection = [p for p in selection if p.head == branch and _is_of(p, owner)]
    if base := call.query.get("base"):
        selection = [p for p in selection if p.base == base]
    down = call.query.get("direction", "desc" if sort == "created" else "asc") != "asc"
    selection.sort(key=SORTS[sort], reverse=down)
    return call.paged(repo.world.visible(selection, call.seen), payloads.pull)


def _is_of(pull: PullRequest, owner: str) -> bool:
    return pull.head_owner is not None and pull.head_owner.login.lower() == owner.lower()


@route("POST", f"{REPO}/pulls", "pull_requests:write")
def create_pull(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/pulls, for users who may write to the head."""
    asking.fields(
        call, "title", "body", "head", "base", "draft", "maintainer_can_modify", "head_repo"
    )
    for name in ("head", "base"):
        if not isinstance(call.body.get(name), str):
            message = f'Invalid request.\n\n"{name}" wasn\'t supplied.'
            raise ApiError(422, message)
    head_repo = asking.typed(call, "head_repo", str)
    source = pulls.head_repository(repo, call.body["head"], head_repo)
    if source is not None and not source.can_push(call.viewer):
        raise asking.not_found()
    pull = pulls.open_pull(
        repo,
        call.viewer,
        title=asking.text(call, "title", "PullRequest"),
        body=asking.typed(call, "body", str),
        head=call.body["head"],
        base=call.body["base"],
        draft=bool(asking.typed(call, "draft", bool)),
        head_repo=head_repo,
        maintainer_can_modify=call.body.get("maintainer_can_modify", True) is not False,
    )
    return created(payloads.full_pull(call, pull, fresh=True))


@route("GET", PULL)
def get_pull(call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/pulls/N, or its diff or patch if the client accepts that."""
    pull = asking.pull(repo, number)
    kind = next((name for name in TEXTS if f"{name}" in call.accept.partition(",")[0]), None)
    if kind is None:
        return Reply(200, payloads.full_pull(call, pull))
    git = repo.git
    if kind == "diff":
        text = history.diff(git, changes.parting(pull), pull.head_sha)
    else:
        text = history.mails(git, pull.base_sha, pull.head_sha)
    return Reply(200, text.encode(), {"Content-Type": f"{TEXTS[kind]}; charset=utf-8"})


@route("PATCH", PULL, "pull_requests:write")
def edit_pull(call: Call, repo: Repository, number: int) -> Reply:
    """PATCH /repos/O/R/pulls/N: title, body, state, base, maintainer_can_modify."""
    pull = asking.pull(repo, number)
    if not repo.can_push(call.viewer) and pull.issue.author is not call.viewer:
        raise asking.forbidden()
    asking.fields(call, "title", "body", "state", "base", "maintainer_can_modify")
    state = asking.typed(call, "state", str)
    if state not in (None, "open", "closed"):
        raise wrong("PullRequest", "invalid", "state")
    base = asking.typed(call, "base", str)
    if base is not None:
        pulls.set_base(pull, call.viewer, base)
    if asking.typed(call, "title", str) is not None:
        title = asking.text(call, "title", "PullRequest")
        issues.rename(pull.issue, call.viewer, title)
    if "body" in call.body:
        issues.rewrite(pull.issue, call.viewer, asking.typed(call, "body", str))
    if call.body.get("maintainer_can_modify") is not None and pull.is_cross_repository:
        pull.maintainer_can_modify = bool(call.body["maintainer_can_modify"])
    if state is not None:
        _set_state(call, pull, state)
    return Reply(200, payloads.full_pull(call, pull))


def _set_state(call: Call, pull: PullRequest, state: str) -> None:
    if state == "closed":
        pulls.close(pull, call.viewer)
    elif not pull.is_open:
        try:
            pulls.reopen(pull.repository, pull, call.viewer)
        except ActionRefused as refused:
            raise wrong(
                "PullRequest", "custom", "state", f"state cannot be changed. {refused}"
            ) from None


@route("GET", f"{PULL}/files")
def list_files(call: Call, repo: Repository, number: int) -> Reply:
    asking.only(call)
    pull = asking.pull(repo, number)
    shown, headers = call.page(changes.files(pull))
    source = pull.head_repository or repo
    listed = [git_payloads.file_change(call, source, pull.head_sha, file) for file in shown]
    return Reply(200, listed, headers)


@route("GET", f"{PULL}/commits")
def list_commits(call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/pulls/N/commits, oldest first, at most 250."""
    asking.only(call)
    pull = asking.pull(repo, number)
    return call.paged(changes.commits(pull)[:250], git_payloads.commit, repo)


@route("GET", f"{REPO}/commits/<path:ref>/pulls")
def commit_pulls(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/commits/SHA/pulls: those with this head, or that brought it to the base."""
    asking.only(call)
    sha = asking.commit(repo, ref)
    selection = [p for p in PullTables.of(repo).pulls.values() if sha in {p.head_sha, p.merge_sha}]
    return call.paged(selection, payloads.pull)


@route("GET", f"{PULL}/merge")
def is_merged(_call: Call, repo: Repository, number: int) -> Reply:
    """GET /repos/O/R/pulls/N/merge: 204 if it is merged."""
    if asking.pull(repo, number).merged_at is None:
        raise asking.not_found()
    return Reply(204, None)


@route("PUT", f"{PULL}/merge", "contents:write")
def merge_pull(call: Call, repo: Repository, number: int) -> Reply:
    """PUT /repos/O/R/pulls/N/merge.

    409 if the head is not `sha`; 405 if it conflicts, is a draft or closed, the method is not allowed, or
    a rule of the base is not met, in the rule's words.
    """
    pull = asking.pull(repo, number)
    asking.fields(call, "commit_title", "commit_message", "sha", "merge_method")
    asking.demand_push(call, repo)
    method = call.body.get("merge_method", "merge")
    if method not in {"merge", "squash", "rebase"}:
        raise asking.malformed(f'No subschema in "anyOf" matched "{method}".')
    how = merging.How(
        method,
        asking.typed(call, "commit_title", str),
        asking.typed(call, "commit_message", str),
        asking.typed(call, "sha", str),
    )
    try:
        sha = merging.merge(pull, call.viewer, how)
    except merging.MergeRefused as refused:
        page = ABOUT_RULES if "required" in str(refused).lower() else MERGE
        raise ApiError(refused.status, str(refused), documentation=page) from None
    message = "Pull Request successfully merged"
    return Reply(200, {"sha": sha, "merged": True, "message": message})


@route(
    "PUT",
    f"{PULL}/update-branch",
    "pull_requests:write",
)
def update_branch(call: Call, repo: Repository, number: int) -> Reply:
    """PUT /repos/O/R/pulls/N/update-branch: 202; the base is merged into the head."""
    pull = asking.pull(repo, number)
    asking.fields(call, "expected_head_sha")
    source = pull.head_repository
    is_ours = pull.maintainer_can_modify and repo.can_push(call.viewer)
    if source is None or not (source.can_push(call.viewer) or is_ours):
        raise asking.forbidden()
    expected = asking.typed(call, "expected_head_sha", str)
    pulls.update_branch(pull, call.viewer, expected)
    url = payloads.pull_url(call, pull)
    return Reply(202, {"message": "Updating pull request branch.", "url": url})
