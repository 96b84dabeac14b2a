"""Sending what was written to where others read it, where there is such a place.

Builds with the group `dolt` send to a remote of the database; the older ones go with git (`sync`
writes a file, commits it, pulls and pushes). Between the two `sync` did nothing at all.

Source: CHANGELOG.md and docs/SYNC.md, https://github.com/steveyegge/beads.
"""

from __future__ import annotations

from lifecycle.core.errors import Lacking, LifecycleError
from lifecycle.core.tracker import Capability
from lifecycle.storage import store
from lifecycle.trackers.beads import bd_decode
from lifecycle.trackers.beads.bd_probe import Build
from lifecycle.trackers.beads.bd_process import PUBLISH_SECONDS, Runner

_SYNC, _PUSH = "sync", "dolt push"


def command(runner: Runner, build: Build) -> str:
    """The words of bd's that send; "" where there is nobody to send to, or no way to know."""
    if build.pushes:
        try:
            found = bd_decode.payload(
                runner.run("dolt", "remote", "list", "--json"), due=list, doing="dolt remote"
            )
        except LifecycleError:
            # A way that nobody could look at is not offered: it is a convenience.
            return ""
        return _PUSH if found else ""
    return _SYNC if build.syncs and _has_git_remote(runner) else ""


def send(runner: Runner, words: str) -> None:
    """Send, by these words of `command`.

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
