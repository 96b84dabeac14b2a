"""A sandbox for each test, and three ways to talk to it: HTTP, GraphQL documents, git."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import requests

from lifecycle.github.client.graph import document
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.server import Sandbox
from tests.graphql_texts import graphql_document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

REPO = "/repos/octo-org/hello-service"


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """The built-in world, served on loopback."""
    with Sandbox() as running:
        yield running


@pytest.fixture
def control(sandbox: Sandbox) -> Control:
    """The human's hands."""
    return Control(sandbox.info.control_url)


@pytest.fixture
def api(sandbox: Sandbox) -> Iterator[Callable[..., requests.Response]]:
    """`api(method, path, token=…, **kwargs)`: a REST request, below the repository unless `/…`."""
    with requests.Session() as session:
        session.trust_env = False

        def ask(method: str, path: str, *, token: str | None = None, **kwargs: Any) -> Any:
            whole = path if path.startswith("/") else f"{REPO}/{path}".rstrip("/")
            headers = {"Authorization": f"token {token or sandbox.info.token}"}
            headers |= kwargs.pop("headers", {})
            kwargs.setdefault("timeout", 10)
            return session.request(method, sandbox.info.api_url + whole, headers=headers, **kwargs)

        yield ask


@pytest.fixture
def graphql(api: Callable[..., requests.Response]) -> Callable[..., Any]:
    """`graphql(document, token=…, **variables)`: the answer to one of our documents or a text."""

    def ask(document: str, *, token: str | None = None, **variables: Any) -> Any:
        text = document if "{" in document else graphql_document(document)
        body = {"query": text, "variables": variables}
        answer = api("POST", "/graphql", token=token, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return ask


@pytest.fixture
def observe(graphql: Callable[..., Any]) -> Callable[..., Any]:
    """`observe(number, branch, **overrides)`: the one query that observes a claim of issue 42."""

    def ask(number: int = 0, branch: str = "work", **overrides: Any) -> Any:
        given: dict[str, Any] = {
            "owner": "octo-org",
            "name": "hello-service",
            "issue": 42,
            "branch": branch,
            "number": number,
            "byNumber": number > 0,
            "checks": True,
            "comments": True,
            "lease": "refs/agent-claims/42",
            "leased": True,
        }
        return graphql(document("observe_claim", "observe_board").text, **{**given, **overrides})

    return ask


@pytest.fixture
def git(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`git(*args, cwd=…, ok=True)`: a real git that knows nothing of the user's configuration."""

    def run(*args: str, cwd: Path = tmp_path, ok: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com", *args],
            cwd=cwd,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(tmp_path),
                "GIT_CONFIG_GLOBAL": os.devnull,
                "GIT_CONFIG_NOSYSTEM": "1",
                "GIT_TERMINAL_PROMPT": "0",
                "LC_ALL": "C",
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0 or not ok, done.stderr
        return done

    return run


@pytest.fixture
def clone(
    sandbox: Sandbox, git: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> Path:
    """A clone of the repository, with the credential in its remote's URL."""
    git("clone", "--quiet", sandbox.info.git_url, "clone")
    return tmp_path / "clone"
