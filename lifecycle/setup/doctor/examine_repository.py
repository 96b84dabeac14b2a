"""The repository as GitHub has it: whether it can be worked in, and by the token's owner."""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.core.errors import LifecycleError
from lifecycle.core.values.model import RepositoryAccess
from lifecycle.git.process import parse_remote
from lifecycle.setup.doctor.doctor_finding import (
    ON_GITHUB,
    DoctorFinding,
    FixStep,
    cause,
    fail,
    ok,
    warn,
)
from lifecycle.setup.doctor.examined import Examined


def check(case: Examined) -> Iterator[DoctorFinding]:
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


def _state(access: RepositoryAccess) -> Iterator[DoctorFinding]:
    if access.is_archived:
        yield fail(
            "repository.archived",
            f"{access.name} is archived: GitHub lets nobody write to it.",
            (*ON_GITHUB, FixStep.LEASE, FixStep.HANDOFF),
            f"gh repo unarchive {access.name}",
        )
    if not access.has_issues:
        yield fail(
            "repository.issues",
            f"Issues are disabled in {access.name}, so there is nothing to claim.",
            (FixStep.CLAIM, FixStep.CLOSE),
            f"gh repo edit {access.name} --enable-issues",
        )


def _renamed(case: Examined, access: RepositoryAccess) -> Iterator[DoctorFinding]:
    if str(case.base).casefold() == access.name.casefold():
        return
    yield warn(
        "repository.name",
        f"{case.base} is called {access.name} now; GitHub redirects reads, and refuses some writes.",
        (FixStep.PR, FixStep.CLOSE),
        f"git remote set-url {_remote_of(case)} {case.web}/{access.name}.git",
    )


def _remote_of(case: Examined) -> str:
    """The remote that leads to the repository of issues and PRs: a fork's is not the one pushed to."""
    for name in case.world.git.remotes():
        found = parse_remote(case.world.git.remote_url(name) or "")
        if found is not None and str(found.repository).casefold() == str(case.base).casefold():
            return name
    return case.settings.remote


def _pushes(case: Examined, access: RepositoryAccess) -> Iterator[DoctorFinding]:
    head = case.world.head
    is_fork = str(head).casefold() not in (str(case.base).casefold(), access.name.casefold())
    if is_fork:
        yield warn(
            "repository.push",
            f"Branches and leases go to {head}: a lease there binds only those who push to it, too.",
            (FixStep.LEASE,),
        )
    elif access.can_push is False:
        yield fail(
            "repository.push",
            f"The token's owner may not push to {access.name}: no branch, no lease, no assignee.",
            (FixStep.CLAIM, FixStep.LEASE, FixStep.HANDOFF, FixStep.PR, FixStep.CLOSE),
            "gh repo fork --remote",
        )
    elif access.can_push is None:
        yield warn(
            "repository.push",
            f"GitHub does not say whether this token's owner may push to {access.name}.",
            (FixStep.LEASE,),
        )
    else:
        yield ok("repository.push", f"Branches and leases can be pushed to {access.name}.")


def _has_branch(case: Examined, branch: str) -> bool | None:
    """Whether the repository of the PRs has a branch; None if git could not ask."""
    source = _remote_of(case)
    try:
        ref = f"refs/heads/{branch}"
        return bool(case.world.git.run("ls-remote", "--heads", source, ref, remote=source))
    except LifecycleError:
        return None


def _default_branch(case: Examined, access: RepositoryAccess) -> Iterator[DoctorFinding]:
    base, remote = case.settings.base, case.settings.remote
    if base is not None:
        has = _has_branch(case, base)
        if has is False:
            default = access.default_branch or "main"
            yield fail(
                "repository.base",
                f"PRs go to {base}, as configured, and {access.name} has no such branch.",
                (FixStep.CLAIM, FixStep.PR),
                f'base = "{default}" in .lifecycle.toml',
            )
        elif has is None and case.world.git.remote_head_of(base, remote) is None:
            yield warn(
                "repository.base",
                f"PRs go to {base}, as configured; whether {access.name} has it could not be read.",
                (FixStep.PR,),
            )
        else:
            yield ok("repository.base", f"PRs go to {base}, as configured.")
    elif access.default_branch:
        yield ok("repository.base", f"PRs go to {access.default_branch}, the default branch.")
    else:
        yield fail(
            "repository.base",
            f"{access.name} has no default branch yet, so no PR can be opened.",
            (FixStep.PR,),
            f"git push {remote} HEAD:main",
        )
