"""The reply table: what each entrypoint prints, as the client takes it."""

from __future__ import annotations

import json
import os

import pytest

from lifecycle.hookio import CONTEXT_LIMIT, REPLIES, is_for, read_input, render
from lifecycle.plan import Say, Tone
from lifecycle.redact import redact

SAYS = {tone: Say(f"key:{tone}", f"text of {tone}", tone) for tone in Tone}


def test_fault_17_context_is_under_hook_specific_output_with_the_events_name() -> None:
    """At the top level the client drops it: it belongs under hookSpecificOutput."""
    reply = render("on-stop", [SAYS[Tone.NEXT]])
    assert json.loads(reply.stdout) == {
        "hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "text of next"}
    }
    assert reply.code == 0


def test_a_refusal_blocks_the_stop_and_a_note_goes_to_the_user() -> None:
    """decision and reason reach the model; systemMessage the person alone."""
    reply = render("on-stop", [SAYS[Tone.ACT], SAYS[Tone.NOTE], SAYS[Tone.NEXT]])
    assert json.loads(reply.stdout) == {
        "decision": "block",
        "reason": "text of act\ntext of next",
        "systemMessage": "text of note",
    }


def test_on_idle_wakes_with_exit_2_or_says_nothing() -> None:
    """stdout would be dropped: the text is on stderr, and only with exit 2."""
    reply = render("on-idle", [SAYS[Tone.ASK], SAYS[Tone.NEWS]])
    assert (reply.stdout, reply.code) == ("", 2)
    assert reply.stderr == "text of ask\ntext of news\n"
    assert render("on-idle", []).code == 0


def test_a_stop_is_never_continued_for_news_or_questions() -> None:
    """Only the new PR and what the agent can mend are worth a turn of the model."""
    assert REPLIES["on-stop"].tones == {Tone.ACT, Tone.NEXT, Tone.NOTE}
    assert Tone.NOTE not in REPLIES["on-idle"].tones
    assert REPLIES["session-start"].tones == set(Tone)


@pytest.mark.parametrize("hook", REPLIES)
def test_nothing_to_say_is_nothing_printed(hook: str) -> None:
    """Not even an empty object."""
    reply = render(hook, [])
    assert (reply.stdout, reply.stderr, reply.code) == ("", "", 0)


def test_context_stays_below_the_clients_limit() -> None:
    """Over 10,000 characters the client shows a preview only."""
    reply = render("session-start", [], context="x" * 50_000)
    text = json.loads(reply.stdout)["hookSpecificOutput"]["additionalContext"]
    assert len(text) == CONTEXT_LIMIT


def test_stdin_that_never_comes_is_not_waited_for() -> None:
    """An open pipe with nobody writing counts as empty input."""
    read, write = os.pipe()
    try:
        assert read_input(read) == {}
    finally:
        os.close(read)
        os.close(write)


def test_the_event_must_be_the_hooks_own() -> None:
    """A call by hand names none; a subagent's stop is another event."""
    assert is_for("on-stop", {})
    assert is_for("on-stop", {"hook_event_name": "Stop"})
    assert not is_for("on-stop", {"hook_event_name": "SubagentStop"})


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("token ghp_abcdefghijklmnopqrst0123", "token ***"),
        ("github_pat_11ABCDEFG0abcdefghijkl_x", "***"),
        ("https://user:hunter2@github.com/a/b", "https://***@github.com/a/b"),
        ("Authorization: Bearer abc.def", "Authorization: ***"),
        ("the secret is s3cr3t-value here", "the secret is *** here"),
        ("nothing to hide", "nothing to hide"),
    ],
)
def test_secrets_are_redacted(text: str, clean: str) -> None:
    """Tokens by their form, passwords in URLs, and values of variables that are named so."""
    assert redact(text, {"MY_TOKEN": "s3cr3t-value", "PATH": "/usr/bin"}) == clean
