"""The Claude Code contract: what comes in on stdin, and what may go out, for each event.

`REPLIES` is the one place that knows which sentence reaches whom. Three rules hold everywhere: a hook
never fails (exit 0, valid JSON or nothing, but for a deliberate wake, which is exit 2 with the text on
stderr); nothing is printed that the client would drop; `hookEventName` is the event that was asked.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from lifecycle.plan import Say, Tone
from lifecycle.redact import as_data, redact, visible

CONTEXT_LIMIT = 9_000
"""Characters of context; the client replaces more than about 10,000 by a file."""


ID_LIMIT = 200
"""Characters of a session's id that are kept."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a hook prints, and how it exits."""

    stdout: str = ""
    stderr: str = ""
    code: int = 0


class Place(StrEnum):
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
        places: where each tone goes; a tone that is not named stays on the queue.
        also: other events that it hears.
    """

    event: str
    places: Mapping[Tone, Place]
    also: tuple[str, ...] = ()

    @property
    def tones(self) -> frozenset[Tone]:
        """What this entrypoint can deliver."""
        return frozenset(self.places)


_WAKES = dict.fromkeys((Tone.ACT, Tone.NEXT, Tone.NEWS, Tone.ASK), Place.WAKE)
_CONTEXT = {
    **dict.fromkeys((Tone.ACT, Tone.NEXT, Tone.NEWS, Tone.ASK), Place.CONTEXT),
    Tone.NOTE: Place.PERSON,
}

REPLIES: dict[str, Channel] = {
    # A continued turn costs a model call: only the new PR and what the agent can mend are worth it.
    "on-stop": Channel(
        "Stop", {Tone.ACT: Place.REASON, Tone.NEXT: Place.CONTEXT, Tone.NOTE: Place.PERSON}
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


def session_of(event: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """The client's session: as the event says, else as the environment does, else empty.

    What is no id goes: it is written into files and shown to people.
    """
    for found in (event.get("session_id"), environment.get("CLAUDE_CODE_SESSION_ID")):
        text = "".join(c for c in str(found or "") if c.isascii() and c.isprintable()).strip()
        if text:
            return text[:ID_LIMIT]
    return ""


def is_machine_made(event: Mapping[str, Any]) -> bool:
    """True if no person wrote this prompt: a wake comes as a prompt too, with its own words."""
    prompt = event.get("prompt")
    return not isinstance(prompt, str) or prompt.lstrip().startswith("<task-notification>")


def is_for(hook: str, event: Mapping[str, Any]) -> bool:
    """False if the client runs this entrypoint for another event than its own.

    A call by hand (`echo '{}' | hooks/on-stop`) names no event and counts as the right one.
    """
    name = event.get("hook_event_name")
    channel = REPLIES[hook]
    return not isinstance(name, str) or name in ("", channel.event, *channel.also)


def render(
    hook: str,
    said: Iterable[Say],
    *,
    reason: Sequence[str] = (),
    context: Sequence[str] = (),
    person: Sequence[str] = (),
    wake: Sequence[str] = (),
) -> Reply:
    """The reply that delivers `said` on this entrypoint's channel.

    Args:
        hook: the entrypoint's name.
        said: sentences whose tones the channel can deliver.
        reason: further lines for the model, for which the turn goes on: at Stop only. They are ours,
            and whoever made them has seen to what strangers wrote.
        context: further lines for the model, where the channel has a place for them.
        person: further lines for the user alone.
        wake: lines of ours that start a turn of the model, on a hook that can do that (`asyncRewake`).
    """
    channel = REPLIES[hook]
    at: dict[Place, list[str]] = {place: [] for place in Place}
    for say in sorted(said, key=lambda say: list(Tone).index(say.tone)):
        at[channel.places[say.tone]].append(say.text)
    at[Place.CONTEXT] += context
    at[Place.PERSON] += person
    # Before JSON escapes anything: a secret with a quote in it is found as it is.
    at = {place: [as_data(redact(line)) for line in lines] for place, lines in at.items()}
    if at[Place.WAKE] or wake:
        own = [visible(redact(line)) for line in wake]
        return Reply(stderr=_clip([*at[Place.WAKE], *own]) + "\n", code=2)
    output: dict[str, Any] = {}
    if at[Place.REASON] or reason:
        own = [visible(redact(line)) for line in reason]
        said_first = [*at[Place.REASON], *at[Place.CONTEXT]]
        text = _clip([*said_first, *([""] if said_first and own else []), *own])
        output |= {"decision": "block", "reason": text}
    elif at[Place.CONTEXT]:
        text = _clip(at[Place.CONTEXT])
        output["hookSpecificOutput"] = {"hookEventName": channel.event, "additionalContext": text}
    if at[Place.PERSON]:
        output["systemMessage"] = _clip(at[Place.PERSON])
    return Reply(json.dumps(output) + "\n") if output else Reply()


def _clip(lines: Iterable[str]) -> str:
    text = "\n".join(lines).strip()
    return text if len(text) <= CONTEXT_LIMIT else f"{text[: CONTEXT_LIMIT - 1]}…"
