"""`.lifecycle/state.json`: what one worktree remembers, by section, as one wake reads and writes it.

The file is the product's alone. It is read at the start of a wake and replaced as a whole under the lock.
Everything in it can be learned again from the claim file and from GitHub, so an unreadable one is set
aside and begun anew, with a notice that says so.

The ledger is the part of it that says each sentence once. A sentence has a key: the event, the issue, the
pull request, and the head or the error that it is about. Two rules hold. A key is queued once. And what a
channel takes is marked as offered, with the session that it was offered to, and leaves the queue *before*
it is printed: a process that is killed in between loses a nudge and never repeats one. Questions and
errors that need somebody are kept in the claim's record besides, and rendered from there whenever a
session starts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict

from lifecycle.core.light_dataclass import object_in, replace
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.redact import redact
from lifecycle.storage import regular_files
from lifecycle.storage.store import STATE, Folder, as_json, set_aside

if TYPE_CHECKING:
    from lifecycle.core.errors import LifecycleError
    from lifecycle.core.ports import Clock

STATE_VERSION = 2
"""Version 1 had a claim's record without sections; `claim/record/state.py` reads it still."""

_READABLE = (1, STATE_VERSION)

ACCESS: Final = "access"
CLAIMING: Final = "claiming"
NOTED: Final = "noted"
PENDING: Final = "linked_undone"
WATCHED: Final = "watched"
"""In the cache: the pull request's number, its node id, and the one of its card or issue."""


class QueuedNotice(TypedDict):
    """A notice that waits: its key, its text, and its audience (by the name that the file has for it)."""

    key: str
    text: str
    tone: str


class SaidNotice(TypedDict, total=False):
    """When a notice was queued and first offered, where, and to which session."""

    at: float
    stands: bool
    offered: float
    channel: str
    session: str


class StateSections(TypedDict, total=False):
    """The sections of state.json. Records of the claim system are kept as JSON; their owners read them.

    Attributes:
        record: the claim's record (`claim/record/state.py`).
        archive: records of earlier claims of this worktree, by issue and branch.
        cache: ids that GitHub's adapters look up once (`ports.Cache`).
        said, queue: the ledger of notices (`Ledger`).
        access: with which token something was refused, as `World.access` tells tokens apart.
        claiming: the claim that was begun and is neither made nor undone.
        linked_undone: writes to linked tasks that are still to be made; of a task that is being claimed its
            release, until the claim is there.
        noted: the phase that the journal has, and how many moves.
        started: the last start of a session that was answered.
        replies: answers to review threads of which nobody knows whether GitHub has them, by their marker.
    """

    version: int
    record: dict[str, Any]
    archive: dict[str, dict[str, Any]]
    cache: dict[str, object]
    said: dict[str, SaidNotice]
    queue: list[QueuedNotice]
    access: str
    claiming: dict[str, Any]
    linked_undone: list[dict[str, Any]]
    noted: dict[str, Any]
    started: dict[str, Any]
    replies: dict[str, dict[str, float]]


_SHAPE: dict[str, type] = {"said": dict, "queue": list, "cache": dict, "archive": dict}
"""The types of the sections that everybody reads; those of the claim system have readers of their own."""


class MemoryCache(dict[str, object]):
    """A `ports.Cache` that lasts as long as the process: ids are looked up once for each."""

    def put(self, key: str, value: object) -> None:
        """Remember a JSON value; None forgets it."""
        self[key] = value


class StateFile:
    """state.json as it was read last; fits `ports.Cache` as well.

    One object serves a whole wake: the claim store, the ledger and GitHub's adapters hold it, so that
    each sees what the last `reload` read.

    Attributes:
        is_unreadable: the file that lies there was no state, and was left where it is.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.content: StateSections = {}
        self.is_unreadable = False
        self._saved: bytes | None = None
        self._read_as: bytes | None = None

    def reload(self, *, repair: bool = True) -> StateSections:
        """Read the file anew; empty if there is none.

        An unreadable one is set aside if `repair`, and what is begun in its place has a notice of it.

        Raises:
            StrangeFileError: something else than a regular file lies there.
        """
        self._saved, self._read_as = None, self._bytes()
        state = _parsed(self._read_as) if self._read_as is not None else {}
        self.is_unreadable = state is None and not repair
        if state is None:
            self._read_as = None  # so `is_current` is false until it was set aside
            state = _begun_anew(Path(self.folder.at(STATE))) if repair else {}
        self.content = state
        return self.content

    @property
    def is_current(self) -> bool:
        """True if the file holds what the last `reload` read; raises StrangeFileError."""
        return self._bytes() == self._read_as

    def save(self) -> None:
        """Replace the file by what is in memory; nothing is written if that is what was saved last."""
        content = as_json({**self.content, "version": STATE_VERSION})
        if content != self._saved:
            self.folder.make()
            self.folder.write(STATE, content)
        self._saved = content

    def get(self, key: str) -> object | None:
        """What was put into the cache, or None."""
        return self.content.get("cache", {}).get(key)

    def put(self, key: str, value: object) -> None:
        """Remember a JSON value in the cache, durable at the next `save`; None forgets it."""
        self.content.setdefault("cache", {})[key] = value

    def _bytes(self) -> bytes | None:
        path = self.folder.at(STATE)
        regular_files.refuse_strange(path)  # a folder too: what is learned could not be kept
        file = regular_files.content(path)
        return file[0] if file is not None else None


def _begun_anew(path: Path) -> StateSections:
    """Set the file aside; the sections that take its place: nothing but the notice to the person."""
    kept = set_aside(path, "unreadable").name
    text = (
        f".lifecycle/state.json could not be read. It was kept as {kept}; its content is read again "
        "from the claim file and GitHub, and some messages may be repeated."
    )
    return {"queue": [{"key": f"state:{kept}", "text": text, "tone": Audience.NOTE.value}]}


def _parsed(content: bytes) -> StateSections | None:
    """The sections, or None for what is no state of this version."""
    if len(content) > regular_files.LIMIT:
        return None
    state = object_in(content, *_READABLE)
    is_whole = bool(state) and all(
        isinstance(state.get(key, kind()), kind) for key, kind in _SHAPE.items()
    )
    sections: StateSections = state  # type: ignore[assignment] # JSON; each section's owner checks its own
    return sections if is_whole else None


_REFUSED = "refused:"
_SAID_LIMIT = 400


class Ledger:
    """The queue, and what was said, inside state.json's content; the caller holds the lock and saves.

    It outlives the claim.
    """

    def __init__(self, state: StateSections, clock: Clock) -> None:
        self.state = state
        self.clock = clock

    def was_said(self, key: str) -> bool:
        """True if the sentence with this key was queued or offered before."""
        return key in self.state.get("said", {})

    def offered_to(self, session: str) -> frozenset[str]:
        """The keys of what was offered to this session, and to no other since."""
        entries = self.state.get("said", {})
        return frozenset(key for key, entry in entries.items() if entry.get("session") == session)

    def queue(self, notice: Notice, *, again: bool = False) -> None:
        """Put a sentence on the queue, once for its key; `again`: if it is not on it now."""
        # The queue has neither.
        is_waiting = replace(notice, stands=False, ends=()) in self.waiting()
        if is_waiting or (self.was_said(notice.key) and not again):
            return
        entries = self.state.setdefault("said", {})
        entry = entries.setdefault(notice.key, {})
        entry["at"], entry["stands"] = self.clock.now(), notice.stands
        for stale in list(entries)[:-_SAID_LIMIT]:
            del entries[stale]
        claim = _claim_of(notice.key)
        self._drop(lambda key: _claim_of(key) == claim and _event_of(key) in notice.ends)
        self.state.setdefault("queue", []).append(
            {"key": notice.key, "text": notice.text, "tone": notice.audience.value}
        )

    def end(self, claim: str, events: Collection[str]) -> None:
        """Withdraw what waits of these events of a claim: it is not true, and is said if it comes back."""
        for key in [notice.key for notice in self.waiting()]:
            if _claim_of(key) == claim and _event_of(key) in events:
                self.withdraw(key)

    def queue_refusal(self, error: LifecycleError) -> None:
        """Queue what stands in the way, once: to the agent if it can mend it."""
        audience = Audience.ACT if error.for_agent else Audience.NOTE
        sentence = redact(error.sentence)
        self.queue(Notice(f"{_REFUSED}{sentence}", sentence, audience))

    def clear_refusals(self) -> None:
        """Withdraw every refusal: what stood in the way is gone, and is said again if it comes back."""
        self.withdraw(_REFUSED)

    def forget_cleared(self, prefix: str, stated: Collection[str]) -> None:
        """Withdraw the conditions below `prefix` that are not `stated` any more; they may come back."""
        entries = self.state.get("said", {})
        gone = {
            key
            for key, entry in entries.items()
            if key.startswith(prefix) and key not in stated and entry.get("stands")
        }
        self._forget(gone.__contains__)

    def withdraw(self, prefix: str) -> None:
        """Forget what was said, or waits to be said, under keys that begin so: it is not true any more."""
        self._forget(lambda key: key.startswith(prefix))

    def _forget(self, is_over: Callable[[str], bool]) -> None:
        """Forget what was said under such keys, and drop what waits."""
        entries = self.state.get("said", {})
        for key in [key for key in entries if is_over(key)]:
            del entries[key]
        self._drop(is_over)

    def retire(self, claim: str) -> bool:
        """Drop what waits of other claims than this one ("": of any), but for notes to the person.

        Those say how such a claim ended. True if anything was dropped.
        """
        count, kept = len(self.waiting()), {notice.key for notice in self.waiting_of(claim)}
        self._drop(lambda key: key not in kept)
        return len(self.waiting()) < count

    def waiting_of(self, claim: str) -> list[Notice]:
        """What still waits once those of other claims than this one were dropped, as `retire` does."""
        return [
            notice
            for notice in self.waiting()
            if _claim_of(notice.key) in ("", claim) or notice.audience is Audience.NOTE
        ]

    def waiting(self) -> list[Notice]:
        """Sentences that no channel has taken yet."""
        return [
            Notice(entry["key"], entry["text"], Audience(entry["tone"]))
            for entry in self.state.get("queue", [])
        ]

    def take(
        self,
        audiences: Collection[Audience],
        channel: str,
        session: str = "",
        held: Collection[str] = (),
    ) -> tuple[Notice, ...]:
        """Take off the queue what `channel` can deliver; the caller saves before it prints.

        Args:
            audiences: whom the channel can deliver; the rest waits.
            channel: the entrypoint that prints it.
            session: whom it is offered to, or empty if nobody knows.
            held: events whose sentences wait all the same.
        """
        waiting = [notice for notice in self.waiting() if _event_of(notice.key) not in held]
        taken = [notice for notice in waiting if notice.audience in audiences]
        keys = {notice.key for notice in taken}
        self.state["queue"] = [e for e in self.state.get("queue", []) if e["key"] not in keys]
        for key in keys:
            entry = self.state.setdefault("said", {}).setdefault(key, {})
            # The first time is kept: when it reached anybody at all.
            entry.setdefault("offered", self.clock.now())
            entry["channel"], entry["session"] = channel, session
        return tuple(taken)

    def _drop(self, is_over: Callable[[str], bool]) -> None:
        queue = self.state.get("queue", [])
        self.state["queue"] = [entry for entry in queue if not is_over(str(entry["key"]))]


def _claim_of(key: str) -> str:
    """The claim that a sentence is about, as in `42@1738000000/merged:107`; empty if about none."""
    claim, slash, _ = key.partition("/")
    return claim if slash and re.fullmatch(r"\d+@\d+", claim) else ""


def lasting(notices: Sequence[Notice]) -> tuple[Notice, ...]:
    """Without those that a later one `ends`, as the queue drops them; keys without the claim's."""
    return tuple(
        notice
        for place, notice in enumerate(notices)
        if not any(_event_of(notice.key) in later.ends for later in notices[place + 1 :])
    )


def _event_of(key: str) -> str:
    """The event, as in `42@1738000000/merged:107`."""
    return key.removeprefix(f"{_claim_of(key)}/").partition(":")[0]
