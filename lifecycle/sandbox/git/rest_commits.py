"""Commits: listed, looked at, compared."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from lifecycle.sandbox.base.errors import ApiError
from lifecycle.sandbox.git import payload as payloads
from lifecycle.sandbox.git.rest_branches import heads_of
from lifecycle.sandbox.git.store import history, objects
from lifecycle.sandbox.git.store.repository import Commit
from lifecycle.sandbox.repositories import access
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.wire.call import Call, Reply
from lifecycle.sandbox.wire.rest import asking
from lifecycle.sandbox.wire.rest.routing import REPO, Route

DOCS = "https://docs.github.com/rest/commits/commits"
TEXT = "text/plain; charset=utf-8"


def demand_commits(repo: Repository) -> None:
    """409 for a repository without any commit."""
    if not repo.git.refs():
        raise ApiError(409, "Git Repository is empty.", documentation=DOCS)


def list_commits(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/commits, newest first, from `sha` (a branch or commit) and of a `path`."""
    asking.only(call, "sha", "path", "since", "until", "author")
    demand_commits(repo)
    start = repo.git.resolve(call.query.get("sha", repo.default_branch))
    if start is None:
        raise asking.not_found(f"{DOCS}#list-commits")
    options = []
    for name in ("since", "until"):
        if text := call.query.get(name):
            moment = asking.moment(text, name, "Commit", DOCS)
            options.append(f"--{name}={int(moment.timestamp())}")
    if author := call.query.get("author"):
        person = call.world.user(author)
        options += [
            "--fixed-strings",
            f"--author={_mail(person.login, person.email) if person else author}",
        ]
    path = call.query.get("path")
    total = history.count(repo.git, start, path=path, options=tuple(options))
    places, headers = call.page(range(total))
    found = (
        history.log(
            repo.git, start, path=path, skip=places[0], limit=len(places), options=tuple(options)
        )
        if places
        else []
    )
    return Reply(200, [payloads.commit(call, repo, one) for one in found], headers)


def _mail(login: str, mail: str | None) -> str:
    return f"<{mail}>" if mail else f"+{login}{payloads.NOREPLY}>"


def _found(repo: Repository, ref: str) -> Commit:
    demand_commits(repo)
    sha = asking.commit(repo, ref)
    found = objects.commit(repo.git, sha)
    if found is None:
        raise asking.not_found(f"{DOCS}#get-a-commit")
    return found


def get_commit(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/commits/REF: a commit and its files, or its diff, patch or sha alone."""
    commit = _found(repo, ref)
    before = history.parent_of(commit)
    if "sha" in call.accept:
        return Reply(200, commit.sha.encode(), {"Content-Type": TEXT})
    if "diff" in call.accept:
        text = history.diff(repo.git, before, commit.sha)
        return Reply(200, text.encode(), {"Content-Type": TEXT})
    changes, headers = call.page(history.files(repo.git, before, commit.sha), default=100)
    return Reply(200, payloads.full_commit(call, repo, commit, changes), headers)


def list_branches_of_head(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/commits/SHA/branches-where-head."""
    asking.only(call)
    sha = _found(repo, ref).sha
    url = f"{repositories.api_url(call, repo)}/commits/{sha}"
    found = sorted(name for name, tip in heads_of(repo).items() if tip == sha)
    return Reply(
        200, [{"name": n, "commit": {"sha": sha, "url": url}, "protected": False} for n in found]
    )


def compare(call: Call, repo: Repository, basehead: str) -> Reply:
    """GET /repos/O/R/compare/BASE...HEAD; each may be `owner:branch` of a fork."""
    asking.only(call)
    documentation = f"{DOCS}#compare-two-commits"
    base_name, dots, head_name = basehead.partition("...")
    if not dots:
        raise asking.not_found(documentation)
    base, head = (_end(call, repo, name) for name in (base_name, head_name))
    found = history.compare(repo.git, base, head)
    if found is None:
        message = f"No common ancestor between {base_name} and {head_name}."
        raise ApiError(404, message, documentation=documentation)
    shown, headers = call.page(found.ahead, default=250)
    changes = history.files(repo.git, found.merge_base, head)[:300]
    url = f"{repositories.api_url(call, repo)}/compare/{quote(basehead)}"
    page = f"{repositories.page_url(call, repo)}/compare"
    answer: dict[str, Any] = {
        "url": url,
        "html_url": f"{page}/{basehead}",
        "permalink_url": f"{page}/{repo.owner.login}:{base[:7]}...{repo.owner.login}:{head[:7]}",
        "diff_url": f"{page}/{basehead}.diff",
        "patch_url": f"{page}/{basehead}.patch",
        "base_commit": payloads.commit(call, repo, _found(repo, base)),
        "merge_base_commit": payloads.commit(call, repo, _found(repo, found.merge_base)),
        "status": found.status,
        "ahead_by": len(found.ahead),
        "behind_by": found.behind,
        "total_commits": len(found.ahead),
        "commits": [payloads.commit(call, repo, one) for one in shown],
        "files": [payloads.file_change(call, repo, head, one) for one in changes],
    }
    if "diff" in call.accept:
        text = history.diff(repo.git, found.merge_base, head)
        return Reply(200, text.encode(), {"Content-Type": TEXT})
    return Reply(200, answer, headers)


def _end(call: Call, repo: Repository, name: str) -> str:
    """The commit that one end of a comparison means; another owner's is fetched from the fork."""
    owner, colon, branch = name.rpartition(":")
    network = [repo, *repo.forks, *([repo.parent] if repo.parent else [])]
    there = next(
        (one for one in network if not colon or one.owner.login.lower() == owner.lower()), None
    )
    sha = there.git.resolve(branch) if there and access.sees(call.token, there) else None
    if there is None or sha is None:
        raise asking.not_found(f"{DOCS}#compare-two-commits")
    if there is not repo and objects.kind(repo.git, sha) is None:
        repo.git.text("fetch", "--quiet", str(there.git.path), sha)
    return sha


ROUTES = (
    Route("GET", f"{REPO}/commits", list_commits),
    Route("GET", f"{REPO}/commits/<path:ref>/branches-where-head", list_branches_of_head),
    Route("GET", f"{REPO}/commits/<path:ref>", get_commit),
    Route("GET", f"{REPO}/compare/<path:basehead>", compare),
)
