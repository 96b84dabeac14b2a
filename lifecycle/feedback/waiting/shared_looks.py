"""Ask for digests together with the other waiters of this machine that have the same token.

`looks/` in the user's own folder has one file for each token, named by its fingerprint and readable only by
this user: what is waited for, the last answers, the points left in this hour, until when nobody asks. One
lock is held briefly while the file is changed. The process that asks GitHub holds another; if it dies, the
next one that is due takes over. A file that cannot be read is replaced by a new one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from lifecycle.core.errors import LockBusy, Rejected, Transient, Unsupported
from lifecycle.core.light_dataclass import asdict, dataclass, from_json, object_in, replace
from lifecycle.feedback.waiting import look_rounds
from lifecycle.feedback.waiting.look_rounds import LookBoard, SharedAnswer, WatchedPull
from lifecycle.settings import config, user_folder
from lifecycle.storage import log, regular_files, store

if TYPE_CHECKING:
    from lifecycle.core.ports import Clock
    from lifecycle.github.client.client_common import Json
    from lifecycle.github.client.graph import GraphClient, GraphReply

FOLDER = "looks"
DOCUMENT = "digest_pulls"

BUSY_SECONDS = 2.0
"""Seconds after which to ask again while another process asks GitHub."""

LOCK_SECONDS = 5.0
OLD_SECONDS = 7 * 86_400.0
"""Seconds without use after which a token's file is removed."""


@dataclass(eq=False)
class SharedLooks:
    """One waiter's part in the shared looks of a token.

    Attributes:
        path: the token's file; its folder is made.
        graph: the client that asks GitHub with that token.
        clock: the time.
        root: the worktree, in whose log failures are noted.
        every: seconds between two looks.
    """

    path: Path
    graph: Callable[[], GraphClient]
    clock: Clock
    root: Path
    every: float

    def ask(self, ids: Sequence[str], looked: float) -> SharedAnswer:
        """Say whether the pull request `ids` changed since its last whole look; at most one request.

        Args:
            ids: its node id, and that of its card or issue.
            looked: when its worktree last made a whole look, in seconds since the epoch.
        """
        now = self.clock.now()
        try:
            asked = (ids[0], looked, now, self.every)
            answer = self._enlist(ids, looked, now).answer(*asked)
            if answer is not None:
                return answer
            with self._lock("asking", 0.0):
                # Another process may have asked in the meantime.
                board = self._read()
                answer = board.answer(*asked) or self._round(board, now).answer(*asked)
                return answer or SharedAnswer(True, now)
        except LockBusy:
            return SharedAnswer(False, now + BUSY_SECONDS)
        except OSError as error:
            log.write(self.root, f"looks are not shared: {error}")
            return SharedAnswer(True, now)

    def join(self, ids: Sequence[str], looked: float) -> None:
        """Have the next round include this pull request, whoever runs it; sends no request itself."""
        with contextlib.suppress(OSError, LockBusy):
            self._enlist(ids, looked, self.clock.now())

    def hold(self, seconds: float) -> None:
        """Keep all waiters of this token from asking for this many seconds, as GitHub demands."""
        now = self.clock.now()
        with contextlib.suppress(OSError, LockBusy):
            self._changed(look_rounds.failed, 1, now, named=seconds, why="")

    def _enlist(self, ids: Sequence[str], looked: float, now: float) -> LookBoard:
        return self._changed(look_rounds.enlisted, ids, now, looked=looked, every=self.every)

    def _round(self, board: LookBoard, now: float) -> LookBoard:
        """Ask GitHub for the digests that are due; return the new board."""
        asked = look_rounds.next_round(board, now)
        ids = list(dict.fromkeys(node_id for pull in asked for node_id in pull.ids))
        try:
            reply = self.graph().execute(DOCUMENT, {"ids": ids}, subject="what is waited for")
        except Transient as error:
            log.write(self.root, f"looks: {error.sentence}")
            wait, why = error.retry_after, error.sentence
            return self._changed(look_rounds.failed, len(asked), now, named=wait, why=why)
        except Unsupported as error:
            log.write(self.root, f"looks are not shared: {error.sentence}")
            return self._changed(replace, off=now + look_rounds.OFF)
        except Rejected as error:
            log.write(self.root, f"looks: {error.sentence}")
            return board  # its own look says what is wrong
        digests, rate = _digests(reply, ids, asked), reply.data.get("rateLimit")
        return self._changed(look_rounds.answered, digests, now, rate)

    def _changed(self, change: Callable[..., LookBoard], *more: object, **how: object) -> LookBoard:
        """The board after a change under the short lock; it is written only if it is different."""
        with self._lock("lock", LOCK_SECONDS):
            before = self._read()
            board = change(before, *more, **how)
            if board is not before:
                if not self.path.exists():
                    self._sweep()
                user_folder.write(self.path, json.dumps(asdict(board)).encode("ascii"))
            return board

    def _lock(self, name: str, seconds: float) -> AbstractContextManager[None]:
        folder = self.path.parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        problem = regular_files.strange_folder(str(folder))
        if problem:
            raise regular_files.StrangeFileError(str(folder), problem)
        return store.locked(self.path.with_suffix(f".{name}"), seconds, "Another waiter is at it.")

    def _read(self) -> LookBoard:
        file = store.read(self.path, follow=False)
        if file is None:
            return LookBoard()
        board: LookBoard | None = from_json(LookBoard, object_in(file.content))
        if board is None:
            log.write(self.root, f"{self.path} could not be read and is begun anew")
        return board or LookBoard()

    def _sweep(self) -> None:
        """Remove the files of tokens that are no longer used."""
        for old in self.path.parent.glob("*.*"):
            with contextlib.suppress(FileNotFoundError):
                if old.stat().st_mtime < self.clock.now() - OLD_SECONDS:
                    old.unlink()


def place(environment: Mapping[str, str], url: str, token: str) -> Path | None:
    """The file of a token at this address, named by its fingerprint; None without a home folder."""
    folder = config.own_folder(environment)
    mark = hashlib.sha256(f"{url}\0{token}".encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return folder / FOLDER / f"{mark}.json" if folder is not None else None


def _digests(reply: GraphReply, ids: Sequence[str], pulls: Iterable[WatchedPull]) -> dict[str, str]:
    """A hash of what the answer shows of each pull request with its card or issue, by its node id.

    It is "" if the pull request is not shown, or a part of both was left out. A card or issue may be
    hidden: its own worktree sees no more of it.
    """
    nodes = reply.data.get("nodes")
    holes = {problem.path[1] for problem in reply.problems if len(problem.path) > 2}
    placed = enumerate(zip(ids, nodes or (), strict=False))
    shown = {node_id: _shown(node) for place, (node_id, node) in placed if place not in holes}
    digests = {}
    for pull in pulls:
        text = json.dumps([shown.get(node_id) for node_id in pull.ids], sort_keys=True)
        digest = hashlib.sha256(text.encode("ascii")).hexdigest()[:16]
        is_usable = shown.keys() >= {*pull.ids} and shown[pull.ids[0]] is not None
        digests[pull.ids[0]] = digest if is_usable else ""
    return digests


_TELLING = {"mergeable": ("CONFLICTING",), "mergeStateStatus": ("BEHIND", "DIRTY")}
"""Values that are news, of fields that GitHub recomputes when the base moves; others change at random."""


def _shown(node: object) -> Json | None:
    """The part of a node that its digest is made of; None if GitHub shows none."""
    if not isinstance(node, Mapping):
        return None
    return {key: part for key, part in node.items() if part in _TELLING.get(key, (part,))}
