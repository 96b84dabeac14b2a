"""The repository as GitHub has it: whether it can be worked in, and by the token's owner."""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.core.errors import LifecycleError
from lifecycle.core.values.model import RepositoryAccess
from lifecycle.git.process import parse_remote
from lifecycle.setup.doctor.doctor_finding import ON_GITHUB, Finding, Step, cause, fail, ok, warn
from lifecycle.setup.doctor.examined import Case


def check(case: Case) -> Iterator[Finding]:
    """What GitHub says of the repository."""
    access = case.access
    if access is None:
        return
    if isinstance(access, LifecycleError):
        yield fail(
            "repository.found",
            cause(access),
            ON_GITHUB,
            f"gh repo view {case.base}",
        )
        return
    yield from _state(access)
    yield from _renamed(case, access)
    yield from _pushes(case, access)
    yield from _default_branch(case, access)


def _state(access: RepositoryAccess) -> Iterator[Finding]:
    if access.is_archived:
        yield fail(
            "repository.archived",
            f"{access.name} is archived: GitHub lets nobody write to it.",
            (*ON_GITHUB, Step.LEASE, Step.HANDOFF),
            f"gh repo unarchive {access.name}",
        )
    if not access.has_issues:
        yield fail(
            "repository.issues",
            f"Issues are disabled in {access.name}, so there is nothing to claim.",
            (Step.CLAIM, Step.CLOSE),
            f"gh repo edit {access.name} --enable-issues",
        )


def _renamed(case: Case, access: RepositoryAccess) -> Iterator[Finding]:
    if str(case.base).casefold() == access.name.casefold():
        return
    yield warn(
        "repository.name",
        f"{case.base} is called {access.name} now; GitHub redirects reads, and refuses some writes.",
        (Step.PR, Step.CLOSE),
        f"git remote set-url {_remote_of(case)} {case.web}/{access.name}.git",
    )


def _remote_of(case: Case) -> str:
    """The remote that leads to the repository of issues and PRs: a fork's is not the one pushed to."""
    for name in case.world.git.remotes():
        found = parse_remote(case.world.git.remote_url(name) or "")
        if found is not None and str(found.repository).casefold() == str(case.base).casefold():
            return name
    return case.settings.remote


def _pushes(case: Case, access: RepositoryAccess) -> Iterator[Finding]:
    head = case.world.head
    is_fork = str(head).casefold() not in (str(case.base).casefold(), access.name.casefold())
    if is_fork:
        yield warn(
            "repository.push",
            f"Branches and leases go to {head}: a lease there binds only those who push to it, too.",
            (Step.LEASE,),
        )
    elif access.can_push is False:
        yield fail(
            "repository.push",
            f"The token's owner may not push to {access.name}: no branch, no lease, no assignee.",
            (Step.CLAIM, Step.LEASE, Step.HANDOFF, Step.PR, Step.CLOSE),
            "gh repo fork --remote",
        )
    elif access.can_push is None:
        yield warn(
            "repository.push",
            f"GitHub does not say whether this token's owner may push to {access.name}.",
            (Step.LEASE,),
        )
    else:
        yield ok("repository.push", f"Branches and leases can be pushed to {access.name}.")


def _has_branch(case: Case, branch: str) -> bool | None:
    """Whether the repository of the PRs has a branch; None if git could not ask."""
    source = _remote_of(case)
    try:
        ref = f"refs/heads/{branch}"
        return bool(case.world.git.run("ls-remote", "--heads", source, ref, remote=source))
    except LifecycleError:
        return None


def _default_branch(case: Case, access: RepositoryAccess) -> Iterator[Finding]:
    base, remote = case.settings.base, case.settings.remote
    if base is not None:
        has = _has_branch(case, base)
        if has is False:
            default = access.default_branch or "main"
            yield fail(
                "repository.base",
                f"PRs go to {base}, as configured, and {access.name} has no such branch.",
                (Step.CLAIM, Step.PR),
                f'base = "{default}" in .lifecycle.toml',
            )
        elif has is None and case.world.git.remote_head_of(base, remote) is None:
            yield warn(
                "repository.base",
                f"PRs go to {base}, as configured; whether {access.name} has it could not be read.",
                (Step.PR,),
            )
        else:
            yield ok("repository.base", f"PRs go to {base}, as configured.")
    elif access.default_branch:
        yield ok("repository.base", f"PRs go to {access.default_branch}, the default branch.")
    else:
        yield fail(
            "repository.base",
            f"{access.name} has no default branch yet, so no PR can be opened.",
            (Step.PR,),
            f"git push {remote} HEAD:main",
        )
