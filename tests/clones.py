"""Clones of an embedded GitHub's repository: what was cloned once is copied from then on.

A clone is a dozen processes, and most tests need one of the same few commits.
"""

from __future__ import annotations

import base64
import hashlib
import os
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

from lifecycle.sandbox.git.store.repository import content_of, put

_CLONES: dict[bytes, dict[str, bytes | None]] = {}
"""What a clone holds, by what the remote offers; without git's sample hooks."""
_SHA, _HEADER, _ENTRY, _OWNER = 20, 12, 62, 28
"""Bytes of an index: its sum at the end, its head, an entry up to its name, and up to the owner."""
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
    _refresh(root)


def _refresh(root: Path) -> None:
    """Have the index know the copied files by their inodes and times, as `git update-index` does.

    Source: https://git-scm.com/docs/index-format
    """
    path = root / ".git" / "index"
    index = bytearray(path.read_bytes()[:-_SHA])
    version, count = struct.unpack_from(">4x2I", index)
    assert version == 2, "a clone's index is of version 2"
    place = _HEADER
    for _ in range(count):
        name = bytes(index[place + _ENTRY : index.index(0, place + _ENTRY)])
        file = (root / os.fsdecode(name)).lstat()
        times = *divmod(file.st_ctime_ns, 10**9), *divmod(file.st_mtime_ns, 10**9)
        known = (*times, file.st_dev, file.st_ino, file.st_uid, file.st_gid, file.st_size)
        struct.pack_into(">6I", index, place, *(number % 2**32 for number in known[:6]))
        struct.pack_into(">3I", index, place + _OWNER, *(number % 2**32 for number in known[6:]))
        place += (_ENTRY + len(name) + 8) // 8 * 8
    path.write_bytes(index + hashlib.sha1(index, usedforsecurity=False).digest())


def _offered(url: str) -> bytes:
    """The refs that a remote shows."""
    parts = urlsplit(url)
    where = f"http://{parts.hostname}:{parts.port}{parts.path}/info/refs?service=git-upload-pack"
    user = base64.b64encode(f"{unquote(parts.username or '')}:{parts.password}".encode()).decode()
    with urlopen(Request(where, headers={"Authorization": f"Basic {user}"})) as answer:
        offered: bytes = answer.read()
    return offered
