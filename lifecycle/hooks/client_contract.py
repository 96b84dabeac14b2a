"""The Claude Code contract: what comes in on stdin, and what may go out, for each event.

`REPLIES` is the one place that knows which sentence reaches whom. Three rules hold everywhere: a hook
never fails (exit 0, valid JSON or nothing, but for a deliberate wake, which is exit 2 with the text on
stderr); nothing is printed that the client would drop; `hookEventName` is the event that was asked.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any

from lifecycle.core.plan import Say, Tone
from lifecycle.core.redact import as_data, redact, shown, visible

CONTEXT_LIMIT = 9_000
"""Characters of context; the client replaces more than about 10,000 by a file."""


ID_LIMIT = 200
"""Characters of a session's id that are kept."""


class Ours(str):
    """A line in which whoever made it has quoted what strangers wrote: its markers are meant."""

    __slots__ = ()


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
        alone: where further tones go while nobody attends, and so nobody waits for them.
    """

    event: str
    places: Mapping[Tone, Place]
    also: tuple[str, ...] = ()
    alone: Mapping[Tone, Place] = field(default_factory=dict)

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
        "Stop",
        {Tone.ACT: Place.REASON, Tone.NEXT: Place.CONTEXT, Tone.NOTE: Place.PERSON},
        # No waiter was started, and after the last stop the client is gone: said now, or to nobody.
        alone=dict.fromkeys((Tone.NEWS, Tone.ASK), Place.CONTEXT),
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


class Client(Enum):
    """Which client runs a hook."""

    OTHER = "another client, or a person"
    """Nothing waits, claims or blocks there: what it makes of a reply is not known."""
    UNATTENDED = "Claude Code, where nobody attends"
    """`claude -p` and the like: what should run in the background is waited for, and nobody is woken."""
    ATTENDED = "Claude Code, where somebody attends"


_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh", "busybox", "post-tool-use"})
"""Names of a process that may stand between the client and us: shells, and the hook that pipes to us."""
_ATTENDED_BY = frozenset({"cli", "claude-vscode", "claude-desktop"})
"""Entrypoints at which somebody sits, for a client that does not say whether somebody does."""


def client_of(environment: Mapping[str, str]) -> Client:
    """Which client runs this process; `served` and `attended` in `hooks/common` are the same in sh.

    Claude Code names its process to its hooks, and that is our parent, or the parent of the one shell
    that was given our command line. A client that only reads its settings names none. One that was
    started from a shell of Claude Code's own agent has inherited the name, and stands in between. An
    older Claude Code that names no process cannot be told from that, and counts as another client.
    """
    named = environment.get("CLAUDE_PID", "")
    if not (environment.get("CLAUDECODE") and named):
        return Client.OTHER
    parent = str(os.getppid())
    if named not in (parent, _above_shell(parent)):
        return Client.OTHER
    said = environment.get("CLAUDE_CODE_SESSION_ATTENDED")
    is_attended = said == "1" if said else environment.get("CLAUDE_CODE_ENTRYPOINT") in _ATTENDED_BY
    return Client.ATTENDED if is_attended else Client.UNATTENDED


def _above_shell(process: str) -> str:
    """The parent of a process that is a shell; "" if it is none, or this system does not show it.

    Source: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    """
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 -- a hook's path imports little
            name, _, rest = file.read().partition("(")[2].rpartition(")")
    except OSError:
        return ""
    return rest.split()[1] if name in _SHELLS else ""


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


BY_ANYBODY = frozenset({"on-stop", "post-tool-use"})
"""Entrypoints that another client, or a person, may run: they look, and take note."""


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
        context: further lines for the model, where the channel has a place for them; `Ours` among
            them are delivered as they are, any other as data.
        person: further lines for the user alone.
        wake: lines of ours that start a turn of the model, on a hook that can do that (`asyncRewake`).
    """
    channel = REPLIES[hook]
    at: dict[Place, list[str]] = {place: [] for place in Place}
    for say in sorted(said, key=lambda say: list(Tone).index(say.tone)):
        at[{**channel.alone, **channel.places}[say.tone]].append(say.text)
    at[Place.CONTEXT] += context
    at[Place.PERSON] += person
    # Before JSON escapes anything: a secret with a quote in it is found as it is.
    at = {place: [_fit(line) for line in lines] for place, lines in at.items()}
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


def _fit(line: str) -> str:
    return visible(redact(line)) if isinstance(line, Ours) else as_data(redact(line))


def _clip(lines: Iterable[str]) -> str:
    # Here and not on what is printed: a secret's shape may reach across an escape of JSON, and its end.
    text = shown("\n".join(lines)).strip()
    return text if len(text) <= CONTEXT_LIMIT else f"{text[: CONTEXT_LIMIT - 1]}…"
