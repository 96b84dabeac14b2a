"""What the bd that is installed here can do: asked of it once, and remembered until it is replaced.

`bd --help`, `bd update --help` and `bd ready --help` are asked, since versions do not tell it all.
What they say is kept in `<git folder>/lifecycle/beads.json`, for this path, size and mtime.

Source: which build has what: CHANGELOG.md, https://github.com/steveyegge/beads.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lifecycle.core.errors import Lacking, LifecycleError, VersionUnsupported
from lifecycle.core.tracker import Capability
from lifecycle.storage import store
from lifecycle.trackers.beads import bd_decode
from lifecycle.trackers.beads.bd_process import PUBLISH_SECONDS, Runner

OLDEST = (0, 30)
CLAIMS_FROM = (0, 49, 4)
"""Since then `--claim` compares and swaps in one step; before, it looked and then wrote."""

NAME = "beads.json"


@dataclass(frozen=True, slots=True)
class Build:
    """What one program can do.

    Attributes:
        version: as it says; "" if it does not.
        claims: `update --claim`, of which only one of two has the task.
        claims_next: `ready --claim` chooses and claims in one step.
        unlimited: `ready --limit`.
        comments: the group `comments` (add, list); else only `comment` and what `show` gives.
        syncs: the command `sync`.
        pushes: the group `dolt`, which sends to a remote.
        leases: the command `heartbeat`.
    """

    version: str = ""
    claims: bool = False
    claims_next: bool = False
    unlimited: bool = True
    comments: bool = True
    syncs: bool = False
    pushes: bool = False
    leases: bool = False


def probe(runner: Runner) -> Build:
    """What this runner's bd can do.

    Raises:
        NotInstalled: there is none.
        VersionUnsupported: it is older than anything that was tried.
    """
    path = Path(runner.program)
    about = path.resolve().stat()
    key = [str(path), about.st_mtime_ns, about.st_size]
    place = runner.shared / NAME
    known = _kept(place, key)
    if known is None or not _is_new(known.version):  # another program may be behind the same script
        known = _asked(runner)
        text = json.dumps({"program": key, "build": asdict(known)}, indent=1)
        store.write(place, text.encode() + b"\n")
    if not _is_new(known.version):
        raise VersionUnsupported(
            f"bd is of version {known.version}, which is too old to be asked safely, so nothing was done; "
            f"install {OLDEST[0]}.{OLDEST[1]} or later."
        )
    return known


def forget(runner: Runner) -> None:
    """What was kept is not believed any more: the program does not know what it was said to know."""
    (runner.shared / NAME).unlink(missing_ok=True)


def _kept(place: Path, key: list[Any]) -> Build | None:
    """What was kept of this very program; None if nothing was, or what is there cannot be read."""
    snapshot = store.read(place, follow=False)
    if snapshot is None:
        return None
    try:
        data = json.loads(snapshot.content)
        return Build(**data["build"]) if data["program"] == key else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _asked(runner: Runner) -> Build:
    answer = bd_decode.payload(runner.run("version", "--json"), due=dict, doing="version")
    update, ready = (runner.run(word, "--help").out for word in ("update", "ready"))
    commands = set(
        re.findall(r"^ {1,4}([a-z][a-z-]*) {2,}\S", runner.run("--help").out, re.MULTILINE)
    )
    version = str(answer.get("version", ""))
    return Build(
        version=version,
        claims=_has(update, "claim") and _numbers(version) >= CLAIMS_FROM,
        claims_next=_has(ready, "claim"),
        unlimited=_has(ready, "limit"),
        comments="comments" in commands,
        syncs="sync" in commands,
        pushes="dolt" in commands,
        leases="heartbeat" in commands,
    )


def _has(text: str, flag: str) -> bool:
    return re.search(rf"^\s+(?:-\w, )?--{flag}\b", text, re.MULTILINE) is not None


def _is_new(version: str) -> bool:
    """True unless it is known to be older than anything that was tried."""
    numbers = _numbers(version)
    return not numbers or numbers >= OLDEST


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers at the beginning of a version, () if there are none."""
    match = re.match(r"v?(\d+)\.(\d+)(?:\.(\d+))?", version)
    return tuple(int(part or 0) for part in match.groups()) if match else ()


_SYNC, _PUSH = "sync", "dolt push"


def publish_command(runner: Runner, build: Build) -> str:
    """The words of bd's that send; "" where there is nobody to send to, or no way to know."""
    if build.pushes:
        try:
            remotes = bd_decode.payload(
                runner.run("dolt", "remote", "list", "--json"), due=list, doing="dolt remote"
            )
        except LifecycleError:
            # A way that nobody could look at is not offered: it is a convenience.
            return ""
        return _PUSH if remotes else ""
    return _SYNC if build.syncs and _has_git_remote(runner) else ""


def send(runner: Runner, words: str) -> None:
    """Send, by these words of `publish_command`.

    Raises:
        Lacking: there is nothing to send to, or a hook asks.
        Rejected: bd says no; its words are the evidence.
        Transient: no answer came; ambiguous.
    """
    if not words or runner.is_hook:
        why = "A hook publishes nothing" if words else "bd has no remote here"
        raise Lacking(
            f"{why}, so nothing was sent; everything is kept in the database.",
            capability=Capability.PUBLISH,
        )
    ran = runner.run(*words.split(), is_write=True, seconds=PUBLISH_SECONDS)
    if ran.code != 0:
        raise bd_decode.failure(ran.err or ran.out, words)


def _has_git_remote(runner: Runner) -> bool:
    common = store.common_folder(runner.root)
    snapshot = store.read(common / "config") if common else None
    return snapshot is not None and b'[remote "' in snapshot.content
