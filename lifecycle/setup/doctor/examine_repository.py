"""The repository as GitHub has it, its board, and whether the token shows its checks."""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.core.errors import BadConfig, LifecycleError, NoPermission, Rejected
from lifecycle.core.redact import visible
from lifecycle.core.values.model import BoardSchema, RepositoryAccess, TokenFacts
from lifecycle.core.values.priorities import Status
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
        parsed = parse_remote(case.world.git.remote_url(name) or "")
        if parsed is not None and str(parsed.repository).casefold() == str(case.base).casefold():
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


_OPTIONS = {
    Status.TODO: (FixStep.RELEASE, "giving a task back"),
    Status.IN_PROGRESS: (FixStep.CLAIM, "claiming"),
    Status.IN_REVIEW: (FixStep.PR, "opening the PR"),
    Status.DONE: (FixStep.CLOSE, "closing"),
}
"""Each option of Status, and the transition that moves a card there."""

_OPTIONAL = ("Priority", "Readiness", "Dependencies")


def check_board(case: Examined) -> Iterator[DoctorFinding]:
    """What the board is like."""
    if case.settings_problem is not None:
        return  # which board is meant is not known
    number = case.settings.project_number
    prefix = case.settings.labels_prefix
    if case.settings.labels_use == "always":
        yield ok("board.labels", f'The Status is kept as labels of the issue ("{prefix}todo").')
        return
    if number is None:
        yield ok("board.found", "No board is configured; issues and PRs work alone.")
        return
    facts = case.facts
    owner = case.settings.project_owner or (case.base.owner if case.base else "")
    if not owner or case.asking is None or not isinstance(facts, TokenFacts):
        return
    has_none = facts.scopes is not None and "project" not in facts.scopes
    if has_none or facts.kind == "actions":
        return  # said with the token
    try:
        case.world.refuse_strange_board()
    except BadConfig as error:
        fix = f"LIFECYCLE_PROJECT_OWNER={owner}, if that board is meant"
        yield fail("board.owner", cause(error), (*ON_GITHUB, FixStep.BOARD, FixStep.BRIEF), fix)
        return
    from lifecycle.github.board.board_client import ProjectRef

    project = ProjectRef(owner, number)
    try:
        schema, is_closed = case.asking.board(project), case.asking.is_closed(project)
    except LifecycleError as error:
        if case.world.choice.gives_up(error):
            yield warn(
                "board.labels",
                f"{cause(error)} The Status is kept as labels of the issue "
                f'("{prefix}in progress") meanwhile.',
                (FixStep.BOARD, FixStep.BRIEF),
                "use a token of somebody who may see the board",
            )
            return
        yield fail(
            "board.found",
            cause(error),
            (FixStep.BOARD, FixStep.BRIEF),
            f"gh project view {number} --owner {owner}",
        )
        return
    if is_closed:
        yield warn(
            "board.closed",
            f'The board "{visible(schema.title)}" is closed: its cards move, and nobody sees it.',
            (FixStep.BOARD,),
            f"gh project close {number} --owner {owner} --undo",
        )
    yield ok("board.found", f'The board "{visible(schema.title)}" can be read ({schema.url}).')
    yield from _status(schema)
    yield from _agent(schema, owner, number)
    yield from _optional(schema)


def _status(schema: BoardSchema) -> Iterator[DoctorFinding]:
    field = schema.field("Status")
    if field is None or not field.options:
        yield fail(
            "board.status",
            "The board has no single-select field Status.",
            (FixStep.BOARD, FixStep.CLAIM),
            f"add it at {schema.url}/settings",
        )
        return
    missing = [name for name in _OPTIONS if field.option(name) is None]
    if not missing:
        yield ok("board.status", f"Status has {', '.join(_OPTIONS)}.")
        return
    names = " and ".join(f'"{name}"' for name in missing)
    whose = " and ".join(_OPTIONS[name][1] for name in missing)
    yield fail(
        "board.status",
        f"Status has no option {names}: the card stays where it is at {whose}.",
        (FixStep.BOARD, *(_OPTIONS[name][0] for name in missing if name == Status.TODO)),
        f"add it at {schema.url}/settings",
    )


def _agent(schema: BoardSchema, owner: str, number: int) -> Iterator[DoctorFinding]:
    field = schema.field("Agent")
    if field is not None and field.kind == "TEXT":
        yield ok("board.agent", "Agent is a text field.")
        return
    what = "has no field Agent" if field is None else "has a field Agent that is no text"
    create = f"gh project field-create {number} --owner {owner} --name Agent --data-type TEXT"
    yield warn(
        "board.agent",
        f"The board {what}, so it does not show who is at work.",
        (FixStep.BOARD,),
        create if field is None else f"rename it at {schema.url}/settings, then: {create}",
    )


def _optional(schema: BoardSchema) -> Iterator[DoctorFinding]:
    missing = [name for name in _OPTIONAL if schema.field(name) is None]
    if missing:
        yield ok("board.optional", f"Without {', '.join(missing)}, which the board need not have.")


_WAYS = {
    "fine-grained": "The one query of a poll shows no checks to a fine-grained token; they are read over "
    "REST, with two or three requests more."
}
"""How checks are read, by kind of token, where it is not the usual way."""


def check_checks(case: Examined) -> Iterator[DoctorFinding]:
    """What a poll will see. A fine-grained token cannot be given checks; a fallback serves it."""
    hub, base, facts = case.asking, case.base, case.facts
    if hub is None or base is None or not isinstance(facts, TokenFacts):
        return
    if not isinstance(case.access, RepositoryAccess):
        return
    branch = case.settings.base or case.access.default_branch
    try:
        sha = case.world.git.remote_head_of(branch, case.settings.remote) if branch else None
        if sha is None:
            return  # nothing to try it on
        checks = hub.checks(base, sha)
    except NoPermission as error:
        yield fail(
            "checks.read",
            f"The token shows neither checks nor workflow runs: {error.evidence or cause(error)}",
            (FixStep.CI, FixStep.WAKE),
            "give it Actions: read and Commit statuses: read, or use: export GH_TOKEN=$(gh auth token)",
        )
    except Rejected:
        return  # GitHub does not know this commit (any more): nothing to try it on
    except LifecycleError as error:
        yield fail("checks.read", cause(error), (FixStep.CI,), "lifecycle doctor")
    else:
        if checks.is_complete:
            yield ok("checks.read", _WAYS.get(facts.kind, "Checks and statuses can be read."))
            return
        yield warn(
            "checks.read",
            "The token does not show every check, so a poll goes by workflow runs, statuses and GitHub's "
            "own verdict over all.",
            (FixStep.CI,),
            "export GH_TOKEN=$(gh auth token)",
        )
