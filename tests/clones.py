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
from itertools import chain
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

from lifecycle.sandbox.git.store.repository import content_of, put

_CLONES: dict[bytes, dict[str, bytes | None]] = {}
"""What a clone holds, by what the remote offers; without git's sample hooks."""
_PLACE = b"https://remote.invalid/it.git"
"""Stands in them for the remote's address."""
_HEAD, _ENTRY, _SUM = 12, 62, 20
"""Bytes of an index: before its entries, of one before its path, and of the checksum at its end."""


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


def _offered(url: str) -> bytes:
    """The refs that a remote shows."""
    parts = urlsplit(url)
    where = f"http://{parts.hostname}:{parts.port}{parts.path}/info/refs?service=git-upload-pack"
    user = base64.b64encode(f"{unquote(parts.username or '')}:{parts.password}".encode()).decode()
    with urlopen(Request(where, headers={"Authorization": f"Basic {user}"})) as answer:
        offered: bytes = answer.read()
    return offered


def _refresh(root: Path) -> None:
    """Have the index know the copied files, by their inodes and times, as a refresh of git's does.

    Source: https://git-scm.com/docs/index-format; a clone has version 2, and no more than its files.
    """
    index = root / ".git" / "index"
    data = bytearray(index.read_bytes())
    signature, version, count = struct.unpack_from(">4sII", data)
    assert (signature, version) == (b"DIRC", 2)
    start = _HEAD
    for _ in range(count):
        end = data.index(b"\0", start + _ENTRY)
        file = (root / os.fsdecode(bytes(data[start + _ENTRY : end]))).lstat()
        times = (divmod(moment, 10**9) for moment in (file.st_ctime_ns, file.st_mtime_ns))
        struct.pack_into(">6I", data, start, *chain(*times), _low(file.st_dev), _low(file.st_ino))
        start = end + 8 - (end - start) % 8
    data[-_SUM:] = hashlib.sha1(data[:-_SUM], usedforsecurity=False).digest()
    index.write_bytes(data)


def _low(number: int) -> int:
    """What git keeps of a number: 32 bits."""
    return number & 0xFFFF_FFFF
