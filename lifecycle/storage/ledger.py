"""What is said, to whom, and that it is said once.

A sentence has a key: the event, the issue, the pull request, and the head or the error that it is
about. Two rules hold. A key is queued once. And what a channel takes is marked as offered, with the
session that it was offered to, and leaves the queue *before* it is printed: a process that is killed
in between loses a nudge and never repeats one. Questions and errors that need somebody are kept in
the claim's record besides, and rendered from there whenever a session starts.

The ledger is a part of state.json and outlives the claim; the caller holds the lock and saves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from lifecycle.core.errors import LifecycleError
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.ports import Clock
from lifecycle.core.redact import redact
from lifecycle.storage.state_file import StateSections

_REFUSED = "refused:"
_SAID_LIMIT = 400


class Ledger:
    """The queue, and what was said, inside state.json's content."""

    def __init__(self, state: StateSections, clock: Clock) -> None:
        self.state = state
        self.clock = clock

    def was_said(self, key: str) -> bool:
        """True if the sentence with this key was queued or offered before."""
        return key in self.state.get("said", {})

    def queue(self, notice: Notice, *, again: bool = False) -> None:
        """Put a sentence on the queue, once for its key; `again`: if it is not on it now."""
        is_waiting = (
            replace(notice, stands=False, ends=()) in self.waiting()
        )  # the queue has neither
        if is_waiting or (self.was_said(notice.key) and not again):
            return
        said = self.state.setdefault("said", {})
        entry = said.setdefault(notice.key, {})
        entry["at"], entry["stands"] = self.clock.now(), notice.stands
        for stale in list(said)[:-_SAID_LIMIT]:
            del said[stale]
        claim = _claim_of(notice.key)
        self._drop(lambda key: _claim_of(key) == claim and _event_of(key) in notice.ends)
        self.state.setdefault("queue", []).append(
            {"key": notice.key, "text": notice.text, "tone": notice.audience.value}
        )

    def queue_refusal(self, error: LifecycleError) -> None:
        """Queue what stands in the way, once: to the agent if it can mend it."""
        audience = Audience.ACT if error.for_agent else Audience.NOTE
        self.queue(Notice(f"{_REFUSED}{error.sentence}", redact(error.sentence), audience))

    def clear_refusals(self) -> None:
        """What stood in the way stands there no more: it is not said any longer, and may come back."""
        self.withdraw(_REFUSED)

    def forget_cleared(self, prefix: str, stated: Collection[str]) -> None:
        """Conditions that no longer hold are not said any more, and may be said if they come back."""
        said = self.state.get("said", {})
        gone = {
            key
            for key, entry in said.items()
            if key.startswith(prefix) and key not in stated and entry.get("stands")
        }
        for key in gone:
            del said[key]
        self._drop(lambda key: key in gone)

    def withdraw(self, prefix: str) -> None:
        """What was said, or waits to be, under keys that begin so is not true any more."""
        said = self.state.get("said", {})
        for key in [key for key in said if key.startswith(prefix)]:
            del said[key]
        self._drop(lambda key: key.startswith(prefix))

    def retire(self, claim: str) -> bool:
        """What waits of other claims than this one (empty: of any) is for nobody any more.

        But for what the person is to know of how they ended. True if anything went.
        """
        waiting = self.waiting()
        notes = {notice.key for notice in waiting if notice.audience is Audience.NOTE}
        self._drop(lambda key: _claim_of(key) not in ("", claim) and key not in notes)
        return len(self.waiting()) < len(waiting)

    def waiting(self) -> list[Notice]:
        """Sentences that no channel has taken yet."""
        return [
            Notice(entry["key"], entry["text"], Audience(entry["tone"]))
            for entry in self.state.get("queue", [])
        ]

    def take(
        self, audiences: Collection[Audience], channel: str, session: str = ""
    ) -> tuple[Notice, ...]:
        """Take off the queue what `channel` can deliver; the caller saves before it prints.

        Args:
            audiences: whom the channel can deliver; the rest waits.
            channel: the entrypoint that prints it.
            session: whom it is offered to, or empty if nobody knows.
        """
        taken = [notice for notice in self.waiting() if notice.audience in audiences]
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
