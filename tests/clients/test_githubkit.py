"""githubkit, whose models are generated from GitHub's OpenAPI: they parse every response.

A model has what GitHub promises: each required key, its type, its choices. A response that they
refuse is a fault of the sandbox.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.server import Sandbox
from lifecycle.sandbox.wire.rest.router import ROUTES
from tests.clients.rows.form import Row
from tests.clients.rows.table import ROWS
from tests.clients.scene import Scene
from tests.clients.world import APP, APP_ID, INSTALLATION, INSTALLED, Key
from tests.needed import lack

VERSION = "2022-11-28"


def shape(path: str) -> str:
    """A path with its parameters' names left out: `/repos/{}/{}/issues`."""
    return re.sub(r"<[^>]+>|\{[^}]+\}", "{}", path)


def each(path: str) -> list[str]:
    """The paths that one with alternatives stands for: `/<any(orgs, users):kind>` is two."""
    found = re.search(r"<any\(([^)]+)\):\w+>", path)
    return [path.replace(found[0], word) for word in found[1].split(", ")] if found else [path]


def operations() -> dict[str, tuple[str, str, str]]:
    """githubkit's operations: id to verb and path, the client's attribute, the method's name."""
    found = {}
    rest = importlib.import_module("githubkit_schemas.v2022_11_28.rest")
    for module in pkgutil.iter_modules(rest.__path__):
        known = importlib.import_module(f"{rest.__name__}.{module.name}")
        for _, client in inspect.getmembers(known, inspect.isclass):
            if client.__module__ != known.__name__:
                continue
            for name, method in inspect.getmembers(client, inspect.isfunction):
                said = re.match(r"(\S+/\S+)\s+([A-Z]+) (\S+)", (method.__doc__ or "").strip())
                if said and not name.startswith("async_"):
                    found[said[1]] = (f"{said[2]} {shape(said[3])}", module.name, name)
    return found


@pytest.fixture(scope="module")
def kit() -> Any:
    """The package."""
    try:
        return importlib.import_module("githubkit")
    except ModuleNotFoundError:
        lack("githubkit", "`make clients` installs it")


@pytest.fixture(scope="module")
def known(kit: Any) -> dict[str, tuple[str, str, str]]:
    """What it knows."""
    return operations()


@pytest.fixture(scope="module")
def scene(github: Sandbox, control: Control) -> Iterator[Scene]:
    """Something for each endpoint to answer about."""
    with requests.Session() as session:
        session.trust_env = False
        yield Scene(github.info, control, session)


@pytest.fixture(scope="module")
def client(kit: Any, github: Sandbox, github_key: Key) -> Any:
    """`client(token)`: githubkit for somebody; no cache, no second try, no proxy."""
    app = (str(APP_ID), github_key.private)
    special = {
        APP: lambda: kit.AppAuthStrategy(*app),
        INSTALLED: lambda: kit.AppInstallationAuthStrategy(*app, INSTALLATION),
    }

    def of(token: str) -> Any:
        return kit.GitHub(
            special[token]() if token in special else token,
            base_url=github.info.api_url,
            http_cache=False,
            auto_retry=False,
            trust_env=False,
            timeout=10,
            ssl_verify=False,  # it is plain HTTP: each client would read all certificates first
        )

    return of


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.operation)
def test_its_models_parse_the_answer(
    row: Row,
    kit: Any,
    known: dict[str, tuple[str, str, str]],
    client: Any,
    scene: Scene,
    github: Sandbox,
) -> None:
    """Every endpoint that the sandbox serves and githubkit knows answers as its model demands."""
    _, attribute, name = known[row.operation]
    asked = client(row.token)
    method = getattr(getattr(asked.rest(VERSION), attribute), name)
    owner, _, repo = github.info.repository.partition("/")
    where = {"owner": owner, "repo": repo} if "repo" in inspect.signature(method).parameters else {}
    try:
        answer = method(**(where | row.arguments(scene)))
    except kit.exception.RequestFailed as refused:
        answer = refused.response
    assert answer.status_code == row.status
    if row.parsed:
        assert answer.parsed_data is not None


def test_no_endpoint_is_left_out(known: dict[str, tuple[str, str, str]]) -> None:
    """The table has a row for each route of the sandbox that githubkit knows, and no others."""
    routes = {f"{route.method} {shape(path)}" for route in ROUTES for path in each(route.path)}
    served = {operation for operation, (route, *_) in known.items() if route in routes}
    assert served == {row.operation for row in ROWS}


@pytest.mark.parametrize(
    ("operation", "asked", "status"),
    [
        ("issues/get", {"issue_number": 99999}, 404),
        ("issues/create", {"title": ""}, 422),
        ("issues/create-label", {"name": "bug", "color": "ff0000"}, 422),
        ("git/create-ref", {"ref": "refs/heads/main", "sha": "0" * 40}, 422),
        ("pulls/create", {"title": "T", "head": "nowhere", "base": "main"}, 422),
        ("pulls/merge", {"pull_number": 99999}, 404),
    ],
)
def test_its_models_parse_the_refusal(
    kit: Any,
    known: dict[str, tuple[str, str, str]],
    client: Any,
    github: Sandbox,
    operation: str,
    asked: dict[str, Any],
    status: int,
) -> None:
    """A refusal has the form of GitHub's errors, with its sentence and page."""
    _, attribute, name = known[operation]
    owner, _, repo = github.info.repository.partition("/")
    somebody = client(github.info.token)
    with pytest.raises(kit.exception.RequestFailed) as caught:
        getattr(getattr(somebody.rest(VERSION), attribute), name)(owner=owner, repo=repo, **asked)
    assert caught.value.response.status_code == status
    said = caught.value.response.parsed_data
    assert said.message
    assert said.documentation_url.startswith("https://docs.github.com/")
