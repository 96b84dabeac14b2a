"""One embedded GitHub a module, and other people's clients in front of it.

`make clients` installs them. The tests of a client that is not installed are not run, and the end says so
(`tests/needed.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.server import Sandbox
from tests.clients.gh import Gh
from tests.clients.git import Git, quiet
from tests.clients.world import Key, make_key, world
from tests.needed import demand_program


@pytest.fixture(scope="session")
def github_key() -> Key:
    """The keys of the App."""
    return make_key()


@pytest.fixture(scope="module")
def github(github_key: Key) -> Iterator[Sandbox]:
    """The built-in world, one for all the tests of a module."""
    with Sandbox(world(github_key)) as running:
        yield running


@pytest.fixture(scope="module")
def control(github: Sandbox) -> Control:
    """The human's hands, and the world as it really is."""
    return Control(github.info.control_url)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the clones of a module."""
    return tmp_path_factory.mktemp("clients")


@pytest.fixture(scope="module")
def clones(github: Sandbox, folder: Path) -> Callable[[str], Git]:
    """`clones(name)`: a fresh clone of the repository by the real git."""

    def clone(name: str, *options: str) -> Git:
        Git(folder, quiet(folder)).run("clone", "-q", *options, github.info.git_url, name)
        return Git(folder / name, quiet(folder))

    return clone


@pytest.fixture(scope="module")
def gh(github: Sandbox, clones: Callable[[str], Git], folder: Path) -> Gh:
    """The real `gh`, in a clone whose remote is the one that it knows: github.localhost."""
    demand_program("gh", "clients")
    clone = clones("gh")
    clone.run(
        "remote", "set-url", "origin", f"http://github.localhost/{github.info.repository}.git"
    )
    environment = {
        **quiet(folder),
        "GH_HOST": "github.localhost",
        "GH_TOKEN": github.info.token,
        "GH_CONFIG_DIR": str(folder / "gh-config"),
        "GH_PROMPT_DISABLED": "1",
        "GH_NO_UPDATE_NOTIFIER": "1",
        "NO_COLOR": "1",
        # Go reads the upper case, libcurl (git) the lower.
        **dict.fromkeys(("HTTP_PROXY", "http_proxy", "HTTPS_PROXY"), github.info.api_url),
    }
    return Gh(clone.folder, environment)
