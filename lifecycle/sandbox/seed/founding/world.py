"""Make a world from a seed: first people, then repositories, then boards."""

from __future__ import annotations

import itertools
from pathlib import Path

from lifecycle.sandbox.accounts.state import App, Installation, Token, User
from lifecycle.sandbox.base.errors import ActionRefused, SeedError
from lifecycle.sandbox.base.times import clock
from lifecycle.sandbox.control import catalogue
from lifecycle.sandbox.control.faults import Fault
from lifecycle.sandbox.repositories.state import World
from lifecycle.sandbox.seed.form import Seed, SeedFault
from lifecycle.sandbox.seed.founding import boards as founding_boards
from lifecycle.sandbox.seed.founding import repositories as founding_repositories
from lifecycle.sandbox.seed.references import account, account_or_none, grown

FIRST_ID = 1_000_001


def make_world(seed: Seed, folder: Path) -> World:
    """Build the world of a seed, with bare repositories below `folder`.

    Raises:
        SandboxError: git is missing or too old.
        SeedError: A branch or pull request of the seed cannot be made.
    """
    with clock(seed.ahead):
        return _world(seed, folder)


def _world(seed: Seed, folder: Path) -> World:
    world = World(folder, ahead=seed.ahead)
    world.serial = itertools.count(seed.next_id or FIRST_ID)
    world.lag.update(seed.lag)
    _people(world, seed)
    founding_repositories.found(world, seed.repositories, is_told=seed.next_id is not None)
    for project in seed.projects:
        founding_boards.found(world, project)
    if seed.next_id:
        world.serial = itertools.count(seed.next_id)
    _ = world.home.git  # asks for git now: without a usable one, nothing starts
    return world


def fault_of(seed: SeedFault) -> Fault:
    """The fault that a seed names.

    Raises:
        SeedError: There is none of that name.
    """
    changes = {key: getattr(seed, key) for key in seed.__struct_fields__ if key != "name"}
    try:
        return catalogue.named(seed.name, **{k: v for k, v in changes.items() if v is not None})
    except ActionRefused as error:
        raise SeedError(str(error)) from None


def _people(world: World, seed: Seed) -> None:
    for number, user in enumerate(seed.users, start=583_231):
        _join(world, grown(User, user, id=user.id or number, name=user.name or user.login))
    for number, form in enumerate(seed.organizations, start=9_001):
        organization = grown(
            User, form, id=form.id or number, name=form.name or form.login, kind="organization",
            role="admin", members=[account(world, login) for login in form.members],
        )  # fmt: skip
        _join(world, organization)
    for app in seed.apps:
        world.apps[app.slug] = grown(
            App, app, name=app.name or app.slug, owner=account(world, app.owner),
            bot=account_or_none(world, app.bot),
        )  # fmt: skip
    for installation in seed.installations:
        world.installations[installation.id] = grown(
            Installation, installation, app=_named(world, installation.app),
            account=account(world, installation.account),
            repositories=frozenset(name.lower() for name in installation.repositories),
        )  # fmt: skip
    for token in seed.tokens:
        world.tokens[token.token] = grown(
            Token, token, value=token.token, user=account(world, token.user),
            scopes=frozenset(token.scopes),
            repositories=frozenset(name.lower() for name in token.repositories),
            app=_named(world, token.app) if token.app else None,
        )  # fmt: skip


def _named(world: World, slug: str) -> App:
    if slug not in world.apps:
        raise SeedError(f"The seed names the App {slug!r}, but has no such App.")
    return world.apps[slug]


def _join(world: World, user: User) -> None:
    world.users[user.login.lower()] = user
    world.register(user.node_id, user)
