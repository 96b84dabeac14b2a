"""The Claude Code contract: what comes in on stdin, and what may go out, for each event.

`core.plan` says which sentence reaches whom. Three rules hold everywhere: a hook never fails (exit 0, with
valid JSON or nothing; the only exception is a deliberate wake: exit 2 with the text on stderr); nothing is
printed that the client would drop; `hookEventName` is the event that the client sent.

Source: Claude Code's hook reference, https://code.claude.com/docs/en/hooks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.core.plan import REPLIES, Audience, Notice, ReplyPlace
from lifecycle.core.redact import as_data, redact, shown, visible
from lifecycle.settings.running_client import Client

CONTEXT_LIMIT = 9_000
"""How many characters of context are printed; the client replaces more than about 10,000 by a file."""


class Ours(str):
    """A line of ours in which strangers' words are quoted already: its own markers have to work."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a hook prints, and how it exits.

    Attributes:
        stdout, stderr: what is printed.
        code: the exit code.
        printed: called after printing, so that what a killed hook did not print is told again.
        rest: the input with which this process starts again as a small waiter; nothing is printed.
    """

    stdout: str = ""
    stderr: str = ""
    code: int = 0
    printed: Callable[[], None] | None = field(default=None, compare=False)
    rest: bytes | None = field(default=None, repr=False)


BY_ANYBODY = frozenset({"on-stop", "post-tool-use"})
"""Entrypoints that another client, or a person, may run: they look, or note something."""


def is_for(hook: str, event: Mapping[str, Any]) -> bool:
    """False if the client runs this entrypoint for another event than its own.

    A call by hand (`echo '{}' | hooks/on-stop`) names no event and counts as the right one.
    """
    name = event.get("hook_event_name")
    channel = REPLIES[hook]
    return not isinstance(name, str) or name in ("", channel.event, *channel.also)


def render(
    hook: str,
    notices: Iterable[Notice],
    *,
    reason: Sequence[str] = (),
    context: Sequence[str] = (),
    person: Sequence[str] = (),
    wake: Sequence[str] = (),
    refusal: Sequence[str] = (),
) -> Reply:
    """The reply that delivers these notices and lines on this entrypoint's channel.

    Args:
        hook: the entrypoint's name.
        notices: sentences whose audiences the channel can deliver.
        reason: further lines for the model, which make the turn continue: at Stop only. They are ours,
            with the words of strangers quoted already.
        context: further lines for the model, if the channel has a place for them; `Ours` among them are
            delivered unchanged, any others as data.
        person: further lines for the user only.
        refusal: lines of ours that refuse the use of a tool: at PreToolUse only.
        wake: lines of ours that start a turn of the model, on a hook that can do that (`asyncRewake`).
    """
    channel = REPLIES[hook]
    at: dict[ReplyPlace, list[str]] = {place: [] for place in ReplyPlace}
    for notice in sorted(notices, key=lambda notice: list(Audience).index(notice.audience)):
        place = {**channel.alone, **channel.places}[notice.audience]
        at[place] += redact(notice.text).split("\n")
    at[ReplyPlace.CONTEXT] += context
    at[ReplyPlace.PERSON] += person
    # Before JSON escapes anything, so that a secret with a quotation mark in it is found.
    at = {place: [fit(line) for line in lines] for place, lines in at.items()}
    own = [visible(redact(line)) for line in (*wake, *reason, *refusal)]
    if at[ReplyPlace.WAKE] or wake:
        return Reply(stderr=_clip([*at[ReplyPlace.WAKE], *own]) + "\n", code=2)
    output: dict[str, Any] = {}
    if at[ReplyPlace.REASON] or reason:
        text = _clip([*at[ReplyPlace.REASON], *at[ReplyPlace.CONTEXT], "", *own])
        output |= {"decision": "block", "reason": text}
    elif refusal:
        denial = {"permissionDecision": "deny", "permissionDecisionReason": _clip(own)}
        output["hookSpecificOutput"] = {"hookEventName": channel.event, **denial}
    elif at[ReplyPlace.CONTEXT]:
        text = _clip(at[ReplyPlace.CONTEXT])
        output["hookSpecificOutput"] = {"hookEventName": channel.event, "additionalContext": text}
    if at[ReplyPlace.PERSON]:
        output["systemMessage"] = _clip(at[ReplyPlace.PERSON])
    return Reply(json.dumps(output) + "\n") if output else Reply()


def render_as(client: Client, hook: str, notices: Iterable[Notice]) -> Reply:
    """`render` for a client of any kind: if it is not Claude Code, everything goes to the user.

    Nobody knows what such a client does with a turn that should continue.
    """
    if client is Client.OTHER:
        return render(hook, [], person=[notice.text for notice in notices])
    return render(hook, notices)


def fit(line: str) -> str:
    """A line in the form for delivery: `Ours` unchanged, any other as data; without secrets."""
    return visible(redact(line)) if isinstance(line, Ours) else as_data(redact(line))


def _clip(lines: Iterable[str]) -> str:
    # Here and not on the printed JSON: there an escape could break up a secret, or extend it.
    text = shown("\n".join(lines)).strip()
    return text if len(text) <= CONTEXT_LIMIT else f"{text[: CONTEXT_LIMIT - 1]}…"
