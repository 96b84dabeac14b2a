"""Clones of an embedded GitHub's repository: what was cloned once is copied from then on.

A clone is a dozen processes, and most tests need one of the same few commits.
"""

from __future__ import annotations

import base64
import subprocess
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

from lifecycle.sandbox.git.store.repository import content_of, put

_CLONES: dict[bytes, dict[str, bytes | None]] = {}
"""What a clone holds, by what the remote offers; without git's sample hooks."""
_PLACE = b"https://remote.invalid/it.git"
"""Stands in them for the remote's address."""


def clone(url: str, root: Path, environment: Mapping[str, str]) -> None:
    """Have a clone of a repository in a folder that is empty or not there yet, as `git clone` makes it.

    Args:
        url: The repository's address, with a user and a password.
        root: The folder.
        environment: What git sees.
    """
    offered = _offered(url)
    if offered not in _CLONES:
        subprocess.run(["git", "clone", "--quiet", url, str(root)], env=environment, check=True)
        made = content_of(root)
        made[".git/config"] = (made[".git/config"] or b"").replace(url.encode(), _PLACE)
        _CLONES[offered] = {n: data for n, data in made.items() if not n.endswith(".sample")}
        return
    root.mkdir(parents=True, exist_ok=True)
    put(_CLONES[offered], root)
    config = root / ".git" / "config"
    config.write_bytes(config.read_bytes().replace(_PLACE, url.encode()))
    # The files are others than those that the index knows by their inodes and times.
    refresh = ["git", "update-index", "-q", "--refresh"]
    subprocess.run(refresh, cwd=root, env=environment, check=True)


def _offered(url: str) -> bytes:
    """The refs that a remote shows."""
    parts = urlsplit(url)
    where = f"http://{parts.hostname}:{parts.port}{parts.path}/info/refs?service=git-upload-pack"
    user = base64.b64encode(f"{unquote(parts.username or '')}:{parts.password}".encode()).decode()
    with urlopen(Request(where, headers={"Authorization": f"Basic {user}"})) as answer:
        offered: bytes = answer.read()
    return offered
