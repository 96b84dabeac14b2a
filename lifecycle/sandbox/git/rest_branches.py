"""Branches and tags of a repository, and merging without a pull request."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from lifecycle.sandbox.base.errors import ActionRefused, ApiError
from lifecycle.sandbox.base.ids import named_id
from lifecycle.sandbox.git import actions as refs
from lifecycle.sandbox.git import payload as payloads
from lifecycle.sandbox.git.store import objects
from lifecycle.sandbox.git.store.founding import signature
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.rules import actions as rules
from lifecycle.sandbox.wire.call import Call, Reply
from lifecycle.sandbox.wire.rest import asking
from lifecycle.sandbox.wire.rest.routing import REPO, Route

DOCS = "https://docs.github.com/rest/branches/branches"
HEADS, TAGS = "refs/heads/", "refs/tags/"


def heads_of(repo: Repository) -> dict[str, str]:
    """Every branch and its commit, by name."""
    found = repo.git.refs().items()
    return {name.removeprefix(HEADS): sha for name, sha in found if name.startswith(HEADS)}


def list_branches(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/branches, by name; `protected` picks those with or without rules."""
    asking.only(call, "protected")
    found = sorted(heads_of(repo).items())
    if wanted := call.query.get("protected"):
        keep = wanted == "true"
        found = [one for one in found if bool(rules.of_branch(repo, one[0])) is keep]
    shown, headers = call.page(found)
    url = f"{repositories.api_url(call, repo)}/commits"
    answer = [
        {
            "name": name,
            "commit": {"sha": sha, "url": f"{url}/{sha}"},
            "protected": bool(rules.of_branch(repo, name)),
        }
        for name, sha in shown
    ]
    return Reply(200, answer, headers)


def get_branch(call: Call, repo: Repository, branch: str) -> Reply:
    """GET /repos/O/R/branches/B, with what its rules demand of checks."""
    sha = objects.ref(repo.git, f"{HEADS}{branch}")
    commit = objects.commit(repo.git, sha) if sha else None
    if commit is None:
        raise ApiError(404, "Branch not found", documentation=f"{DOCS}#get-a-branch")
    url = f"{repositories.api_url(call, repo)}/branches/{quote(branch, safe='')}"
    page = f"{repositories.page_url(call, repo)}/tree/{quote(branch)}"
    contexts = rules.contexts_of(repo, branch)
    classic = rules.classic_of(repo, branch)
    level = (
        ("everyone" if classic and classic.enforce_admins else "non_admins") if contexts else "off"
    )
    answer = {
        "name": branch,
        "commit": payloads.commit(call, repo, commit),
        "_links": {"self": url, "html": page},
        "protected": bool(rules.of_branch(repo, branch)),
        "protection": {
            "enabled": classic is not None,
            "required_status_checks": {
                "enforcement_level": level,
                "contexts": contexts,
                "checks": [{"context": one, "app_id": None} for one in contexts],
            },
        },
        "protection_url": f"{url}/protection",
    }
    return Reply(200, answer)


def list_tags(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/tags, the highest name first."""
    asking.only(call)
    tags = [one for one in repo.git.refs().items() if one[0].startswith(TAGS)]
    tags.sort(reverse=True)
    shown, headers = call.page(tags)
    return Reply(200, [_tag(call, repo, name.removeprefix(TAGS)) for name, _ in shown], headers)


def _tag(call: Call, repo: Repository, name: str) -> dict[str, Any]:
    url = repositories.api_url(call, repo)
    sha = repo.git.resolve(f"{TAGS}{name}") or ""
    return {
        "name": name,
        "zipball_url": f"{url}/zipball/{TAGS}{quote(name)}",
        "tarball_url": f"{url}/tarball/{TAGS}{quote(name)}",
        "commit": {"sha": sha, "url": f"{url}/commits/{sha}"},
        "node_id": named_id("REF", repo.id, f"{TAGS}{name}"),
    }


def merge(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/merges {base, head}: 201 a merge commit, 204 nothing to do, 409 a conflict."""
    documentation = f"{DOCS}#merge-a-branch"
    asking.demand_push(call, repo, documentation)
    asking.fields(call, "base", "head", "commit_message")
    base = asking.needed(call, "base", str, documentation)
    head = asking.needed(call, "head", str, documentation)
    message = asking.typed(call, "commit_message", str, documentation)
    git = repo.git
    old, tip = objects.ref(git, f"{HEADS}{base}"), git.resolve(head)
    if old is None or tip is None:
        what = "Base" if old is None else "Head"
        raise ApiError(404, f"{what} does not exist", documentation=documentation)
    if git.is_ancestor(tip, old):
        return Reply(204, None)
    tree = git.merged_tree(old, tip)
    if tree is None:
        raise ApiError(409, "Merge conflict", documentation=documentation)
    who = signature(call.viewer)
    sha = objects.write_commit(
        git, tree, [old, tip], message or f"Merge {head} into {base}", author=who, committer=who
    )
    try:
        refs.update(repo, call.viewer, f"{HEADS}{base}", sha, force=False)
    except ActionRefused as refused:
        raise ApiError(409, str(refused), documentation=documentation) from None
    made = objects.commit(git, sha)
    return Reply(201, payloads.commit(call, repo, made) if made else None)


def merge_upstream(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/merge-upstream {branch}: brings a fork's branch up to its parent's."""
    documentation = f"{DOCS}#sync-a-fork-branch-with-the-upstream-repository"
    asking.demand_push(call, repo, documentation)
    asking.fields(call, "branch")
    branch = asking.needed(call, "branch", str, documentation)
    if repo.parent is None:
        message = "This repository is not a fork of another repository"
        raise ApiError(422, message, documentation=documentation)
    ref = f"{HEADS}{branch}"
    old, above = objects.ref(repo.git, ref), objects.ref(repo.parent.git, ref)
    if above is None or old is None:
        raise ApiError(404, "Branch not found", documentation=documentation)
    owner = repo.parent.owner.login
    answer = {"base_branch": f"{owner}:{branch}"}
    repo.git.text("fetch", "--quiet", str(repo.parent.git.path), above)
    if repo.git.is_ancestor(above, old):
        message = f"This branch is not behind the upstream {owner}:{branch}."
        return Reply(200, {**answer, "message": message, "merge_type": "none"})
    kind, sha = "fast-forward", above
    if not repo.git.is_ancestor(old, above):
        tree = repo.git.merged_tree(old, above)
        if tree is None:
            raise ApiError(409, "There are merge conflicts", documentation=documentation)
        who = signature(call.viewer)
        text = f"Merge branch '{owner}:{branch}' into {branch}"
        sha = objects.write_commit(repo.git, tree, [old, above], text, author=who, committer=who)
        kind = "merge"
    try:
        refs.update(repo, call.viewer, ref, sha, force=False)
    except ActionRefused as refused:
        raise ApiError(422, str(refused), documentation=documentation) from None
    words = "fetched and fast-forwarded" if kind == "fast-forward" else "fetched and merged"
    message = f"Successfully {words} from upstream {owner}:{branch}."
    return Reply(200, {**answer, "message": message, "merge_type": kind})


ROUTES = (
    Route("GET", f"{REPO}/branches", list_branches),
    Route("GET", f"{REPO}/branches/<path:branch>", get_branch),
    Route("GET", f"{REPO}/tags", list_tags),
    Route("POST", f"{REPO}/merges", merge, "contents:write"),
    Route("POST", f"{REPO}/merge-upstream", merge_upstream, "contents:write"),
)
