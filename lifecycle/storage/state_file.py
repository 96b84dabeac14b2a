"""`.lifecycle/state.json`: what one worktree remembers, by section, as a wake reads and writes it.

Only the product writes the file. It is read at the start of a wake and replaced as a whole under the lock.
Everything in it can be learned again from the claim file and from GitHub, so an unreadable file is set
aside and replaced by an empty one, with a notice about that.

The ledger is the section that makes sure that each sentence is said once. A sentence has a key: the event,
the issue, the pull request, and the head or the error that it is about. Two rules hold. A key is queued
once. And a sentence that a channel takes is marked as offered, with the session that it was offered to, and
leaves the queue *before* it is printed: if a process is killed in between, the sentence is lost, but never
repeated. Questions and errors that need somebody are also kept in the claim's record, and printed from
there whenever a session starts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict

from lifecycle.core.light_dataclass import object_in
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.redact import redact
from lifecycle.storage import regular_files
from lifecycle.storage.store import STATE, Folder, as_json, set_aside

if TYPE_CHECKING:
    from lifecycle.core.errors import LifecycleError
    from lifecycle.core.ports import Clock

STATE_VERSION = 2
"""Version 1 had a claim's record without sections; `claim/record/state.py` can still read it."""

ACCESS: Final = "access"
CLAIMING: Final = "claiming"
NOTED: Final = "noted"
PENDING: Final = "linked_undone"
WATCHED: Final = "watched"
"""In the cache: the pull request's number, its node id, and the node id of its card or issue."""


class StateSections(TypedDict, total=False):
    """The sections of state.json. The claim system's records are kept as JSON; their owners read them.

    Attributes:
        record: the claim's record (`claim/record/state.py`).
        cache: ids that GitHub's adapters look up only once (`ports.Cache`).
        said: the ledger's notices by their keys: when each was queued (`at`) and first `offered`, by which
            `channel` and to which `session`, and whether it `stands` (`Ledger`).
        queue: its notices that wait: `key`, `text`, the audience's name (`tone`), and the only `session`
            that is told, if not any.
        access: the token for which something was refused, as `World.access` distinguishes tokens.
        claiming: the claim that was begun and is neither complete nor undone.
        linked_undone: pending writes to linked tasks; while a task is being claimed, its release, until
            the claim exists.
        noted: the last phase in the journal, and how many moves it has.
        replies: answers to review threads that GitHub may or may not have, by their marker.
    """

    version: int
    record: dict[str, Any]
    cache: dict[str, object]
    said: dict[str, dict[str, Any]]
    queue: list[dict[str, str]]
    access: str
    claiming: dict[str, Any]
    linked_undone: list[dict[str, Any]]
    noted: dict[str, Any]
    replies: dict[str, dict[str, float]]


_SHAPE: dict[str, type] = {"said": dict, "queue": list, "cache": dict}
"""The types of the sections that everybody reads; the claim system's sections have their own readers."""


class MemoryCache(dict[str, object]):
    """A `ports.Cache` that lasts as long as the process: each process looks an id up once."""

    def put(self, key: str, value: object) -> None:
        """Remember a JSON value; None forgets it."""
        self[key] = value


class StateFile:
    """state.json as last read; also a `ports.Cache`.

    One object serves a whole wake: the claim store, the ledger and GitHub's adapters share it, so that
    each has the result of the last `reload`.

    Attributes:
        is_unreadable: the file was not a valid state, and was left where it is.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.content: StateSections = {}
        self.is_unreadable = False
        self._known: bytes | None = None

    def reload(self, *, repair: bool = True) -> StateSections:
        """Read the file again; returns an empty state if there is none.

        With `repair` an unreadable file is set aside, and the new state has a notice about it.

        Raises:
            StrangeFileError: the path is not a regular file.
        """
        self._known = self._bytes()
        state = _parsed(self._known) if self._known is not None else {}
        self.is_unreadable = state is None and not repair
        if state is None:
            self._known = None  # so `is_current` is false until the file is set aside
            state = _begun_anew(Path(self.folder.at(STATE))) if repair else {}
        self.content = state
        return self.content

    @property
    def is_current(self) -> bool:
        """True if the file has the content that was last read or saved; raises StrangeFileError."""
        return self._bytes() == self._known

    def save(self) -> None:
        """Replace the file with the content in memory, unless that was read or saved last."""
        content = as_json({**self.content, "version": STATE_VERSION})
        if content != self._known:
            self.folder.make()
            self.folder.write(STATE, content)
            self._known = content

    def get(self, key: str) -> object | None:
        """The value in the cache for this key, or None."""
        return self.content.get("cache", {}).get(key)

    def put(self, key: str, value: object) -> None:
        """Remember a JSON value in the cache, durable at the next `save`; None forgets it."""
        self.content.setdefault("cache", {})[key] = value

    def _bytes(self) -> bytes | None:
        path = self.folder.at(STATE)
        regular_files.refuse_strange(path)  # a folder is refused too: the state could not be kept
        file = regular_files.content(path)
        return file[0] if file is not None else None


def _begun_anew(path: Path) -> StateSections:
    """Set the file aside; returns the new sections: only the notice to the person."""
    kept = set_aside(path, "unreadable").name
    text = (
        f".lifecycle/state.json could not be read. It was kept as {kept}; its content is read again "
        "from the claim file and GitHub, and some messages may be repeated."
    )
    return {"queue": [{"key": f"state:{kept}", "text": text, "tone": Audience.NOTE.value}]}


def _parsed(content: bytes) -> StateSections | None:
    """The sections, or None if the content is not a state of this version."""
    if len(content) > regular_files.LIMIT:
        return None
    state = object_in(content, 1, STATE_VERSION)
    are_fit = (isinstance(state.get(key, kind()), kind) for key, kind in _SHAPE.items())
    is_whole = bool(state) and all(are_fit)
    if is_whole and "said" in state:  # an entry that is none costs itself alone
        state["said"] = {key: at for key, at in state["said"].items() if isinstance(at, dict)}
    if is_whole and "queue" in state:
        state["queue"] = [notice for notice in state["queue"] if isinstance(notice, dict)]
    sections: StateSections = state  # type: ignore[assignment] # JSON; each section's owner checks its own
    return sections if is_whole else None


REFUSED = "refused:"
"""The beginning of the key of a look's refusal."""

_SAID_LIMIT = 400


class Ledger:
    """The queue, and the sentences already said, in state.json's content; the caller locks and saves.

    The ledger outlives the claim.
    """

    def __init__(self, state: StateSections, clock: Clock) -> None:
        self.state = state
        self.clock = clock

    def was_said(self, key: str) -> bool:
        """True if the sentence with this key was queued or offered before."""
        return key in self.state.get("said", {})

    def offered_to(self, session: str) -> frozenset[str]:
        """The keys of the sentences that were offered to this session, and to no other since."""
        entries = self.state.get("said", {})
        return frozenset(key for key, entry in entries.items() if entry.get("session") == session)

    def queue(self, notice: Notice, *, again: bool = False) -> bool:
        """Put a sentence on the queue, once for its key; with `again`, unless it is on the queue now.

        One that still waits under this key gets the new words: the old ones may not be true any more.
        True if it was offered before, and is on the queue once more.
        """
        new = {"key": notice.key, "text": notice.text, "tone": notice.audience.value}
        new |= {"session": notice.session} if notice.session else {}
        for waiting in self.state.get("queue", []):
            if waiting["key"] == notice.key:
                waiting.update(new)
                return False
        if self.was_said(notice.key) and not again:
            return False
        entries = self.state.setdefault("said", {})
        entry = entries.setdefault(notice.key, {})
        entry["at"], entry["stands"] = self.clock.now(), notice.stands
        for stale in list(entries)[:-_SAID_LIMIT]:
            del entries[stale]
        claim = _claim_of(notice.key)
        self.drop(lambda key: _claim_of(key) == claim and _event_of(key) in notice.ends)
        self.state.setdefault("queue", []).append(new)
        return "offered" in entry

    def end(self, claim: str, events: Collection[str]) -> None:
        """Withdraw waiting notices of these events of a claim: not true now; said again if true again.

        `events` may name a single notice, too: by its key without the claim's.
        """
        for key in [notice.key for notice in self.waiting()]:
            names = {_event_of(key), key.removeprefix(f"{claim}/")}
            if _claim_of(key) == claim and not names.isdisjoint(events):
                self._forget(key.__eq__)

    def queue_refusal(self, error: LifecycleError) -> None:
        """Queue a refusal's sentence once: to the agent if the agent can solve the problem."""
        audience = Audience.ACT if error.for_agent else Audience.NOTE
        sentence = redact(error.sentence)
        self.queue(Notice(f"{REFUSED}{sentence}", sentence, audience))

    def forget_cleared(self, prefix: str, stated: Collection[str]) -> None:
        """Withdraw the conditions below `prefix` that are not in `stated` any more; they may return."""
        entries = self.state.get("said", {})
        stand = {key for key, entry in entries.items() if entry.get("stands")}.difference(stated)
        self._forget(lambda key: key in stand and key.startswith(prefix))

    def withdraw(self, prefix: str) -> None:
        """Forget sentences, said or waiting, whose keys begin with `prefix`: they are not true any more."""
        self._forget(lambda key: key.startswith(prefix))

    def _forget(self, is_over: Callable[[str], bool]) -> None:
        """Forget sentences with such keys, said or waiting."""
        entries = self.state.get("said", {})
        for key in [key for key in entries if is_over(key)]:
            del entries[key]
        self.drop(is_over)

    def retire(self, claim: str) -> bool:
        """Drop the waiting notices of claims other than this one ("": of any), except on how they ended.

        Those are notes to the person, and until the next claim what is for one session. True if anything
        was dropped.
        """
        kept = {notice.key for notice in self.waiting_of(claim)}
        return bool(self.drop(lambda key: key not in kept))

    def waiting_of(self, claim: str) -> list[Notice]:
        """The notices that still wait after those of other claims are dropped, as `retire` does."""
        return [
            notice
            for notice in self.waiting()
            if _claim_of(notice.key) in ("", claim)
            or notice.audience is Audience.NOTE
            or (notice.session and not claim)
        ]

    def waiting(self) -> list[Notice]:
        """Sentences that no channel has taken yet."""
        return [
            Notice(e["key"], e["text"], Audience(e["tone"]), session=e.get("session", ""))
            for e in self.state.get("queue", [])
        ]

    def take(
        self,
        audiences: Collection[Audience],
        channel: str,
        session: str = "",
        held: Collection[str] = (),
    ) -> tuple[Notice, ...]:
        """Take the sentences that `channel` can deliver off the queue; the caller saves before it prints.

        Args:
            audiences: the audiences that the channel can deliver to; other sentences wait.
            channel: the entrypoint that prints it.
            session: the session that they are offered to, or "" if unknown.
            held: events whose sentences wait nevertheless.
        """
        theirs = [notice for notice in self.waiting() if notice.session in ("", session)]
        keys = {notice.key for notice in theirs if notice.audience in audiences}
        taken = self.drop(lambda key: key in keys and _event_of(key) not in held)
        for notice in taken:
            entry = self.state.setdefault("said", {}).setdefault(notice.key, {})
            # The first time is kept: when it was first offered to anybody.
            entry.setdefault("offered", self.clock.now())
            entry["channel"], entry["session"] = channel, session
        return taken

    def drop(self, is_over: Callable[[str], bool]) -> tuple[Notice, ...]:
        """Take the sentences with such keys off the queue without offering them; returns them."""
        dropped = tuple(notice for notice in self.waiting() if is_over(notice.key))
        queue = self.state.get("queue", [])
        self.state["queue"] = [entry for entry in queue if not is_over(str(entry["key"]))]
        return dropped


def _claim_of(key: str) -> str:
    """The claim that a sentence is about, from a key like `42@1738000000/merged:107`; "" for none."""
    claim, slash, _ = key.partition("/")
    return claim if slash and re.fullmatch(r"\d+@\d+", claim) else ""


def lasting(notices: Sequence[Notice]) -> tuple[Notice, ...]:
    """The notices without those that a later one `ends`, as in the queue; keys lack the claim."""
    return tuple(
        notice
        for place, notice in enumerate(notices)
        if not any(_event_of(notice.key) in later.ends for later in notices[place + 1 :])
    )


def _event_of(key: str) -> str:
    """The event in a key like `42@1738000000/merged:107`."""
    return key.removeprefix(f"{_claim_of(key)}/").partition(":")[0]
