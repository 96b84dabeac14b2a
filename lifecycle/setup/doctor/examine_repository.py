"""The repository as GitHub has it, its board, and whether the token shows its checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lifecycle.core.errors import BadConfig, LifecycleError, NoPermission, Rejected
from lifecycle.core.redact import visible
from lifecycle.core.values.model import BoardSchema, RepositoryAccess, TokenFacts
from lifecycle.core.values.priorities import Status
from lifecycle.git.process import parse_remote
from lifecycle.setup.doctor.doctor_finding import DoctorFinding, FixStep, cause, finding
from lifecycle.setup.doctor.examined import Examined

if TYPE_CHECKING:
    from lifecycle.github.board.board_client import ProjectRef
    from lifecycle.github.clients import GitHubClients


def check(case: Examined) -> Iterator[DoctorFinding]:
    """What GitHub says of the repository."""
    access = case.access
    if access is None:
        return
    if isinstance(access, LifecycleError):
        yield finding("repository.found", cause=cause(access), base=case.base)
        return
    if access.is_archived:
        yield finding("repository.archived", access=access)
    if not access.has_issues:
        yield finding("repository.issues", access=access)
    base = case.base
    if str(base).casefold() != access.name.casefold():
        remote = _remote_of(case)
        yield finding("repository.name", base=base, access=access, remote=remote, web=case.web)
    yield from _pushes(case, access)
    yield from _default_branch(case, access)


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
        yield finding("repository.push.fork", head=head)
    elif access.can_push is None:
        yield finding("repository.push.unknown", access=access)
    else:
        key = "repository.push.allowed" if access.can_push else "repository.push.refused"
        yield finding(key, access=access)


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
            yield finding("repository.base.missing", base=base, access=access, default=default)
        elif has is None and case.world.git.remote_head_of(base, remote) is None:
            yield finding("repository.base.unread", base=base, access=access)
        else:
            yield finding("repository.base.configured", base=base)
    elif access.default_branch:
        yield finding("repository.base.default", access=access)
    else:
        yield finding("repository.base.none", access=access, remote=remote)


_OPTIONS = {
    Status.TODO: "giving a task back",
    Status.IN_PROGRESS: "claiming",
    Status.IN_REVIEW: "opening the PR",
    Status.DONE: "closing",
}
"""Each option of Status, and what moves a card there."""

_OPTIONAL = ("Priority", "Readiness", "Dependencies")


def check_board(case: Examined) -> Iterator[DoctorFinding]:
    """What the board is like."""
    if case.settings_problem is not None:
        return  # which board is meant is not known
    number = case.settings.project_number
    prefix = case.settings.labels_prefix
    if case.settings.labels_use == "always":
        yield finding("board.labels.always", prefix=prefix)
        return
    if number is None:
        yield finding("board.found.none")
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
        yield finding("board.owner", cause=cause(error), owner=owner)
        return
    from lifecycle.github.board.board_client import ProjectRef

    project = ProjectRef(owner, number)
    try:
        # Nothing is kept of the board: its fields and options as they are now.
        schema = case.asking.ask(lambda clients: clients.board(project).schema(refresh=True))
        is_closed = case.asking.ask(lambda clients: _is_closed(clients, project))
    except LifecycleError as error:
        if case.world.choice.gives_up(error):
            yield finding("board.labels.instead", cause=cause(error), prefix=prefix)
            return
        yield finding("board.found.failed", cause=cause(error), number=number, owner=owner)
        return
    if is_closed:
        yield finding("board.closed", title=visible(schema.title), number=number, owner=owner)
    yield finding("board.found.read", title=visible(schema.title), schema=schema)
    yield from _status(schema)
    yield from _agent(schema, owner, number)
    yield from _optional(schema)


def _is_closed(clients: GitHubClients, project: ProjectRef) -> bool:
    """True if somebody closed the board."""
    named = {"owner": project.owner, "number": project.number, "after": None}
    answer = clients.graph.execute("discover_board", named, subject=f"the board, {project}")
    owner = answer.data.get("repositoryOwner") or {}
    return bool((owner.get("projectV2") or {}).get("closed"))


def _status(schema: BoardSchema) -> Iterator[DoctorFinding]:
    field = schema.field("Status")
    if field is None or not field.options:
        yield finding("board.status.none", schema=schema)
        return
    missing = [name for name in _OPTIONS if field.option(name) is None]
    if not missing:
        yield finding("board.status.whole", names=", ".join(_OPTIONS))
        return
    names = " and ".join(f'"{name}"' for name in missing)
    moves = " and ".join(_OPTIONS[name] for name in missing)
    hinders = (FixStep.RELEASE,) if Status.TODO in missing else ()
    yield finding("board.status.missing", names=names, moves=moves, schema=schema, hinders=hinders)


def _agent(schema: BoardSchema, owner: str, number: int) -> Iterator[DoctorFinding]:
    field = schema.field("Agent")
    if field is not None and field.kind == "TEXT":
        yield finding("board.agent.text")
        return
    key = "board.agent.none" if field is None else "board.agent.other"
    yield finding(key, schema=schema, number=number, owner=owner)


def _optional(schema: BoardSchema) -> Iterator[DoctorFinding]:
    missing = [name for name in _OPTIONAL if schema.field(name) is None]
    if missing:
        yield finding("board.optional", names=", ".join(missing))


def check_checks(case: Examined) -> Iterator[DoctorFinding]:
    """Whether the token shows the checks of a commit; for a fine-grained one they are read over REST."""
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
        checks = hub.ask(lambda clients: clients.forge(base).checks(sha))
    except NoPermission as error:
        yield finding("checks.read.refused", cause=error.evidence or cause(error))
    except Rejected:
        return  # GitHub does not know this commit (any more): nothing to try it on
    except LifecycleError as error:
        yield finding("checks.read.failed", cause=cause(error))
    else:
        is_fine_grained = facts.kind == "fine-grained"
        key = "checks.read.rest" if is_fine_grained else "checks.read.whole"
        yield finding(key if checks.is_complete else "checks.read.part")
