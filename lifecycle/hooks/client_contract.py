"""The Claude Code contract: what comes in on stdin, and what may go out, for each event.

Which sentence reaches whom stands in `core.plan`. Three rules hold everywhere: a hook
never fails (exit 0, valid JSON or nothing, but for a deliberate wake, which is exit 2 with the text on
stderr); nothing is printed that the client would drop; `hookEventName` is the event that was asked.

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
"""Characters of context; the client replaces more than about 10,000 by a file."""


class Ours(str):
    """A line of ours, in which the words of strangers are quoted already: its own markers are meant."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a hook prints, and how it exits.

    Attributes:
        stdout, stderr: what is printed.
        code: the exit code.
        printed: called once it was printed, so that what a killed hook did not print is told again.
        rest: what this process is to begin anew with: nothing is printed, and it goes on waiting.
    """

    stdout: str = ""
    stderr: str = ""
    code: int = 0
    printed: Callable[[], None] | None = field(default=None, compare=False)
    rest: bytes | None = field(default=None, repr=False)


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
        reason: further lines for the model, for which the turn goes on: at Stop only. They are ours,
            and whoever made them has seen to what strangers wrote.
        context: further lines for the model, where the channel has a place for them; `Ours` among
            them are delivered as they are, any other as data.
        person: further lines for the user alone.
        refusal: lines of ours for which a tool is not used: at PreToolUse only.
        wake: lines of ours that start a turn of the model, on a hook that can do that (`asyncRewake`).
    """
    channel = REPLIES[hook]
    at: dict[ReplyPlace, list[str]] = {place: [] for place in ReplyPlace}
    for notice in sorted(notices, key=lambda notice: list(Audience).index(notice.audience)):
        place = {**channel.alone, **channel.places}[notice.audience]
        at[place] += redact(notice.text).split("\n")
    at[ReplyPlace.CONTEXT] += context
    at[ReplyPlace.PERSON] += person
    # Before JSON escapes anything: a secret with a quote in it is found as it is.
    at = {place: [fit(line) for line in lines] for place, lines in at.items()}
    if at[ReplyPlace.WAKE] or wake:
        own = [visible(redact(line)) for line in wake]
        return Reply(stderr=_clip([*at[ReplyPlace.WAKE], *own]) + "\n", code=2)
    output: dict[str, Any] = {}
    if at[ReplyPlace.REASON] or reason:
        own = [visible(redact(line)) for line in reason]
        text = _clip([*at[ReplyPlace.REASON], *at[ReplyPlace.CONTEXT], "", *own])
        output |= {"decision": "block", "reason": text}
    elif refusal:
        output["hookSpecificOutput"] = {
            "hookEventName": channel.event,
            "permissionDecision": "deny",
            "permissionDecisionReason": _clip(visible(redact(line)) for line in refusal),
        }
    elif at[ReplyPlace.CONTEXT]:
        text = _clip(at[ReplyPlace.CONTEXT])
        output["hookSpecificOutput"] = {"hookEventName": channel.event, "additionalContext": text}
    if at[ReplyPlace.PERSON]:
        output["systemMessage"] = _clip(at[ReplyPlace.PERSON])
    return Reply(json.dumps(output) + "\n") if output else Reply()


def render_as(client: Client, hook: str, notices: Iterable[Notice]) -> Reply:
    """`render` for a client of any kind: of one that is not Claude Code the user is told all.

    Nobody knows what such a client makes of a turn that should go on.
    """
    if client is Client.OTHER:
        return render(hook, [], person=[notice.text for notice in notices])
    return render(hook, notices)


def fit(line: str) -> str:
    """A line as it is delivered: `Ours` as it stands, any other as data; secrets are taken out."""
    return visible(redact(line)) if isinstance(line, Ours) else as_data(redact(line))


def _clip(lines: Iterable[str]) -> str:
    # Here and not on what is printed: a secret's shape may reach across an escape of JSON, and its end.
    text = shown("\n".join(lines)).strip()
    return text if len(text) <= CONTEXT_LIMIT else f"{text[: CONTEXT_LIMIT - 1]}…"
