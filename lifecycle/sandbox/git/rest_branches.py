"""REST's operations on branches, tags and commits: list, compare, merge without a pull request."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from lifecycle.sandbox.base.errors import ApiError, refusing
from lifecycle.sandbox.base.ids import named_id
from lifecycle.sandbox.git import actions as refs
from lifecycle.sandbox.git import payload as payloads
from lifecycle.sandbox.git.store import history, objects
from lifecycle.sandbox.git.store.importing import signature
from lifecycle.sandbox.git.store.repository import Commit
from lifecycle.sandbox.repositories import access
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.rules import actions as rules
from lifecycle.sandbox.wire.call import REPO, Call, Reply, route
from lifecycle.sandbox.wire.rest import asking

HEADS, TAGS = "refs/heads/", "refs/tags/"
COMMITS = "https://docs.github.com/rest/commits/commits"
TEXT = "text/plain; charset=utf-8"


def heads_of(repo: Repository) -> dict[str, str]:
    """Every branch and its commit, by name."""
    pairs = repo.git.refs().items()
    return {name.removeprefix(HEADS): sha for name, sha in pairs if name.startswith(HEADS)}


@route("GET", f"{REPO}/branches")
def list_branches(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/branches, by name; `protected` selects those with or without rules."""
    asking.only(call, "protected")
    heads = sorted(heads_of(repo).items())
    if wanted := call.query.get("protected"):
        keep = wanted == "true"
        heads = [head for head in heads if bool(rules.of_branch(repo, head[0])) is keep]
    shown, headers = call.page(heads)
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


@route("GET", f"{REPO}/branches/<path:branch>")
def get_branch(call: Call, repo: Repository, branch: str) -> Reply:
    """GET /repos/O/R/branches/B, with the checks that its rules demand."""
    sha = repo.git.refs().get(f"{HEADS}{branch}")
    commit = objects.commit(repo.git, sha) if sha else None
    if commit is None:
        raise ApiError(404, "Branch not found")
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
                "checks": [{"context": context, "app_id": None} for context in contexts],
            },
        },
        "protection_url": f"{url}/protection",
    }
    return Reply(200, answer)


@route("GET", f"{REPO}/tags")
def list_tags(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/tags, the highest name first."""
    asking.only(call)
    tags = [ref for ref in repo.git.refs().items() if ref[0].startswith(TAGS)]
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


@route("POST", f"{REPO}/merges", "contents:write")
def merge(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/merges {base, head}: 201 a merge commit, 204 nothing to do, 409 a conflict."""
    asking.demand_push(call, repo)
    asking.fields(call, "base", "head", "commit_message")
    base = asking.needed(call, "base", str)
    head = asking.needed(call, "head", str)
    message = asking.typed(call, "commit_message", str)
    git = repo.git
    old, tip = git.refs().get(f"{HEADS}{base}"), git.resolve(head)
    if old is None or tip is None:
        missing = "Base" if old is None else "Head"
        raise ApiError(404, f"{missing} does not exist")
    if git.is_ancestor(tip, old):
        return Reply(204, None)
    tree = git.merged_tree(old, tip)
    if tree is None:
        raise ApiError(409, "Merge conflict")
    who = signature(call.viewer)
    sha = objects.write_commit(
        git, tree, [old, tip], message or f"Merge {head} into {base}", author=who, committer=who
    )
    with refusing(409):
        refs.update(repo, call.viewer, f"{HEADS}{base}", sha, force=False)
    commit = objects.commit(git, sha)
    return Reply(201, payloads.commit(call, repo, commit) if commit else None)


@route(
    "POST",
    f"{REPO}/merge-upstream",
    "contents:write",
)
def merge_upstream(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/merge-upstream {branch}: updates a fork's branch from its parent's."""
    asking.demand_push(call, repo)
    asking.fields(call, "branch")
    branch = asking.needed(call, "branch", str)
    if repo.parent is None:
        raise ApiError(422, "This repository is not a fork of another repository")
    ref = f"{HEADS}{branch}"
    old, above = repo.git.refs().get(ref), repo.parent.git.refs().get(ref)
    if above is None or old is None:
        raise ApiError(404, "Branch not found")
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
            raise ApiError(409, "There are merge conflicts")
        who = signature(call.viewer)
        text = f"Merge branch '{owner}:{branch}' into {branch}"
        sha = objects.write_commit(repo.git, tree, [old, above], text, author=who, committer=who)
        kind = "merge"
    with refusing(422):
        refs.update(repo, call.viewer, ref, sha, force=False)
    words = "fetched and fast-forwarded" if kind == "fast-forward" else "fetched and merged"
    message = f"Successfully {words} from upstream {owner}:{branch}."
    return Reply(200, {**answer, "message": message, "merge_type": kind})


def demand_commits(repo: Repository) -> None:
    """Raise 409 for a repository without any commit."""
    if not repo.git.refs():
        raise ApiError(409, "Git Repository is empty.", documentation=COMMITS)


@route("GET", f"{REPO}/commits")
def list_commits(call: Call, repo: Repository) -> Reply:
    """GET /repos/O/R/commits, newest first, from `sha` (a branch or commit), for a `path`."""
    asking.only(call, "sha", "path", "since", "until", "author")
    demand_commits(repo)
    start = repo.git.resolve(call.query.get("sha", repo.default_branch))
    if start is None:
        raise asking.not_found()
    options = []
    for name in ("since", "until"):
        if text := call.query.get(name):
            moment = asking.moment(text, name, "Commit", documentation=COMMITS)
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
    commits = (
        history.log(
            repo.git, start, path=path, skip=places[0], limit=len(places), options=tuple(options)
        )
        if places
        else []
    )
    return Reply(200, [payloads.commit(call, repo, commit) for commit in commits], headers)


def _mail(login: str, mail: str | None) -> str:
    return f"<{mail}>" if mail else f"+{login}{payloads.NOREPLY}>"


def _found(repo: Repository, ref: str) -> Commit:
    demand_commits(repo)
    sha = asking.commit(repo, ref)
    commit = objects.commit(repo.git, sha)
    if commit is None:
        raise asking.not_found(f"{COMMITS}#get-a-commit")
    return commit


@route("GET", f"{REPO}/commits/<path:ref>")
def get_commit(call: Call, repo: Repository, ref: str) -> Reply:
    """GET /repos/O/R/commits/REF: a commit and its files, or only its diff, patch or sha."""
    commit = _found(repo, ref)
    before = history.parent_of(commit)
    if "sha" in call.accept:
        return Reply(200, commit.sha.encode(), {"Content-Type": TEXT})
    if "diff" in call.accept:
        text = history.diff(repo.git, before, commit.sha)
        return Reply(200, text.encode(), {"Content-Type": TEXT})
    changes, headers = call.page(history.files(repo.git, before, commit.sha), default=100)
    return Reply(200, payloads.full_commit(call, repo, commit, changes), headers)


@route("GET", f"{REPO}/commits/<path:ref>/branches-where-head")
def list_branches_of_head(call: Call, repo: Repository, ref: str) -> Reply:
    asking.only(call)
    sha = _found(repo, ref).sha
    url = f"{repositories.api_url(call, repo)}/commits/{sha}"
    names = sorted(name for name, tip in heads_of(repo).items() if tip == sha)
    return Reply(
        200,
        [{"name": name, "commit": {"sha": sha, "url": url}, "protected": False} for name in names],
    )


@route("GET", f"{REPO}/compare/<path:basehead>")
def compare(call: Call, repo: Repository, basehead: str) -> Reply:
    """GET /repos/O/R/compare/BASE...HEAD; each may be `owner:branch` of a fork."""
    asking.only(call)
    base_name, dots, head_name = basehead.partition("...")
    if not dots:
        raise asking.not_found()
    base, head = (_end(call, repo, name) for name in (base_name, head_name))
    comparison = history.compare(repo.git, base, head)
    if comparison is None:
        raise ApiError(404, f"No common ancestor between {base_name} and {head_name}.")
    shown, headers = call.page(comparison.ahead, default=250)
    changes = history.files(repo.git, comparison.merge_base, head)[:300]
    url = f"{repositories.api_url(call, repo)}/compare/{quote(basehead)}"
    page = f"{repositories.page_url(call, repo)}/compare"
    answer: dict[str, Any] = {
        "url": url,
        "html_url": f"{page}/{basehead}",
        "permalink_url": f"{page}/{repo.owner.login}:{base[:7]}...{repo.owner.login}:{head[:7]}",
        "diff_url": f"{page}/{basehead}.diff",
        "patch_url": f"{page}/{basehead}.patch",
        "base_commit": payloads.commit(call, repo, _found(repo, base)),
        "merge_base_commit": payloads.commit(call, repo, _found(repo, comparison.merge_base)),
        "status": comparison.status,
        "ahead_by": len(comparison.ahead),
        "behind_by": comparison.behind,
        "total_commits": len(comparison.ahead),
        "commits": [payloads.commit(call, repo, commit) for commit in shown],
        "files": [payloads.file_change(call, repo, head, change) for change in changes],
    }
    if "diff" in call.accept:
        text = history.diff(repo.git, comparison.merge_base, head)
        return Reply(200, text.encode(), {"Content-Type": TEXT})
    return Reply(200, answer, headers)


def _end(call: Call, repo: Repository, name: str) -> str:
    """The commit at one end of a comparison; another owner's is fetched from the fork."""
    owner, colon, branch = name.rpartition(":")
    network = [repo, *repo.forks, *([repo.parent] if repo.parent else [])]
    source = next(
        (member for member in network if not colon or member.owner.login.lower() == owner.lower()),
        None,
    )
    sha = source.git.resolve(branch) if source and access.sees(call.token, source) else None
    if source is None or sha is None:
        raise asking.not_found()
    if source is not repo and objects.kind(repo.git, sha) is None:
        repo.git.text("fetch", "--quiet", str(source.git.path), sha)
    return sha
