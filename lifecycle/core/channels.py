"""Which sentence reaches whom: one row for each hook entrypoint, with its event and its places.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from lifecycle.core.plan import Audience


class ReplyPlace(StrEnum):
    """Where in a reply a sentence can stand, and whom it reaches there."""

    REASON = "decision: block, reason"
    """The model; the turn goes on."""
    CONTEXT = "additionalContext"
    """The model. At Stop the turn goes on as well; elsewhere it costs no turn of its own."""
    PERSON = "systemMessage"
    """The user alone."""
    WAKE = "stderr and exit 2"
    """The model, in a turn of its own (needs `asyncRewake`)."""


@dataclass(frozen=True, slots=True)
class Channel:
    """One entrypoint's row of the reply table.

    Attributes:
        event: the client's name of the event.
        places: where the notices of each audience go; those of one that is not named stay on the queue.
        also: other events that it hears.
        alone: where those of further audiences go while nobody attends, and so nobody waits for them.
    """

    event: str
    places: Mapping[Audience, ReplyPlace]
    also: tuple[str, ...] = ()
    alone: Mapping[Audience, ReplyPlace] = field(default_factory=dict)

    @property
    def audiences(self) -> frozenset[Audience]:
        """What this entrypoint can deliver."""
        return frozenset(self.places)


_WAKES = dict.fromkeys((Audience.ACT, Audience.NEXT, Audience.NEWS, Audience.ASK), ReplyPlace.WAKE)
_CONTEXT = {
    **dict.fromkeys((Audience.ACT, Audience.NEXT, Audience.NEWS, Audience.ASK), ReplyPlace.CONTEXT),
    Audience.NOTE: ReplyPlace.PERSON,
}

REPLIES: dict[str, Channel] = {
    # A continued turn costs a model call: only the new PR and what the agent can mend are worth it.
    "on-stop": Channel(
        "Stop",
        {
            Audience.ACT: ReplyPlace.REASON,
            Audience.NEXT: ReplyPlace.CONTEXT,
            Audience.NOTE: ReplyPlace.PERSON,
        },
        # No waiter was started, and after the last stop the client is gone: said now, or to nobody.
        alone=dict.fromkeys((Audience.NEWS, Audience.ASK), ReplyPlace.CONTEXT),
    ),
    # In the background: what it prints on stdout is dropped, and exit 2 wakes the idle session.
    "ci-waiter": Channel("Stop", _WAKES),
    # Nothing printed on stdout reaches anybody; exit 2 of an asyncRewake hook wakes the session.
    "on-idle": Channel("Notification", _WAKES),
    # Context at the start of a session; it cannot block, and everything that waits belongs here.
    "session-start": Channel("SessionStart", _CONTEXT),
    # After `/clear` nothing that is printed starts a turn; exit 2 of an asyncRewake hook does.
    "on-clear": Channel("SessionStart", {}),
    # Context beside the user's own words: the cheapest moment of all, since a turn begins anyway.
    "user-prompt-submit": Channel("UserPromptSubmit", _CONTEXT),
    # It takes note of test runs, and has nothing to say: the agent is at work.
    "post-tool-use": Channel("PostToolUse", {}, also=("PostToolUseFailure",)),
    # Nobody listens any more.
    "session-end": Channel("SessionEnd", {}),
}
"""Hook entrypoint → its channel: which sentence reaches whom, and by what part of the reply."""
