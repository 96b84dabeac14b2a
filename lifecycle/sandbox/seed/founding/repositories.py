"""Repositories of a seed, with all their content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lifecycle.sandbox.base.errors import ActionRefused, ApiError, SeedError
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.checks.state import CheckTables
from lifecycle.sandbox.git.store.importing import NewCommit, NewRef, signature
from lifecycle.sandbox.issues.labels import actions as labels
from lifecycle.sandbox.issues.state import IssueTables, Milestone
from lifecycle.sandbox.repositories.state import Repository, World
from lifecycle.sandbox.rules.state import Protection, RuleTables
from lifecycle.sandbox.seed.form import SeedProtection, SeedRef, SeedRepository
from lifecycle.sandbox.seed.founding import checks as founding_checks
from lifecycle.sandbox.seed.founding import issues as founding_issues
from lifecycle.sandbox.seed.founding import pulls as founding_pulls
from lifecycle.sandbox.seed.references import (
    account,
    author,
    grown,
    issue_named,
    moment,
    registered,
)

FIRST_ID = 700_001


def found(world: World, seeds: Sequence[SeedRepository], *, is_told: bool) -> None:
    """Make the repositories of a seed, then the links between them.

    Args:
        world: The world to add them to.
        seeds: The repositories, in order.
        is_told: Whether the seeds contain the whole past of their issues, as those of a dump do.
    """
    pairs = [(_repository(world, seed, n), seed) for n, seed in enumerate(seeds, start=FIRST_ID)]
    for repo, seed in pairs:
        if seed.fork_of:
            _fork(repo, seed)
    for repo, seed in pairs:
        _fill(repo, seed)
    for repo, seed in pairs:
        for issue in seed.issues:
            founding_issues.relate(repo, issue)
        IssueTables.of(repo).moved = {
            number: issue_named(repo, name) for number, name in seed.moved.items()
        }
        _grow(repo, seed)
    for repo, _ in pairs:
        founding_issues.recall(repo)
    founding_issues.understand([] if is_told else pairs)


def _fork(repo: Repository, seed: SeedRepository) -> None:
    parent = repo.world.repository(seed.fork_of or "")
    if parent is None:
        raise SeedError(f"{seed.name} is a fork of {seed.fork_of!r}, which is not there.")
    repo.parent = parent
    parent.forks.append(repo)


def _repository(world: World, seed: SeedRepository, number: int) -> Repository:
    login, _, name = seed.name.partition("/")
    repo = grown(
        Repository, seed, id=seed.id or number, world=world, owner=account(world, login), name=name,
        roles={login.lower(): role for login, role in seed.roles.items()}, last_number=0,
    )  # fmt: skip
    CheckTables.of(repo).plans = tuple(seed.plans)
    rules = RuleTables.of(repo)
    rules.protections = [_protection(protection) for protection in seed.protections]
    rules.required_approvals = seed.required_approvals
    IssueTables.of(repo).gone = set(seed.gone)
    world.repositories[repo.key] = repo
    for former in seed.renamed_from:
        world.renamed[former.lower()] = repo
    world.register(repo.node_id, repo)
    return repo


def _protection(seed: SeedProtection) -> Protection:
    names = {name: tuple(getattr(seed, name)) for name in ("contexts", "includes", "excludes")}
    return grown(Protection, seed, id=seed.id or 0, **names)


def _fill(repo: Repository, seed: SeedRepository) -> None:
    """Make the labels, milestones and issues, to which pull requests and boards refer."""
    for form in seed.labels:
        label = labels.make(repo, form.name, color=form.color, description=form.description)
        label.created_at, label.updated_at = moment(form.created_at), moment(form.updated_at)
        if form.id is not None:
            repo.world.forget(label.node_id)
            label.id, label.node_id = form.id, node_id("LA", repo.id, form.id)
            repo.world.register(label.node_id, label)
    for milestone in seed.milestones:
        creator = author(repo, milestone.creator)
        IssueTables.of(repo).milestones[milestone.number] = registered(
            repo, "MI", milestone.id, Milestone, milestone, creator=creator, repository=repo
        )
    for issue in seed.issues:
        founding_issues.found(repo, issue)


def _grow(repo: Repository, seed: SeedRepository) -> None:
    """Make the branches, pull requests and checks, which need git or commits."""
    try:
        if not seed.bundle:
            refs = [_ref(repo, ref) for ref in seed.refs]
            branches = list(_branches(repo, seed))
            repo.grow_git([*branches, *refs, *founding_pulls.refs(seed, branches)])
        founding_pulls.found(repo, seed.pulls)
    except (ActionRefused, ApiError) as error:
        raise SeedError(f"{seed.name} cannot be made as the seed says: {error}") from None
    founding_checks.found(repo, seed)
    if seed.last_number:
        repo.last_number = seed.last_number


def _branches(repo: Repository, seed: SeedRepository) -> Iterator[NewCommit | NewRef]:
    """The branches and their commits, each on top of its start."""
    known = {repo.default_branch} if repo.files and repo.parent is None else set()
    for branch in seed.branches:
        start = _start(repo, branch.name, branch.start or repo.default_branch, known)
        ref = f"refs/heads/{branch.name}"
        if not branch.commits:
            yield NewRef(ref, start)
        for commit in branch.commits:
            who = signature(author(repo, commit.author), moment(commit.date))
            yield NewCommit(ref, commit.message, who, commit.files, start)
            start = ref
        known.add(branch.name)


def _start(repo: Repository, branch: str, start: str, known: set[str]) -> str:
    """The ref or sha at which a branch starts: a branch of the same seed, or git's meaning of `start`."""
    if start in known:
        return f"refs/heads/{start}"
    tip = repo.git.resolve(start)
    if tip is None:
        raise ActionRefused(f"there is no branch {start!r} for {branch!r} to start at.")
    return tip


def _ref(repo: Repository, seed: SeedRef) -> NewCommit:
    who = signature(author(repo, seed.author), moment(seed.date))
    return NewCommit(seed.name, seed.message, who, seed.files)
