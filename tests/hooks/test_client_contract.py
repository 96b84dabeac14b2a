"""The reply table: what each entrypoint prints, as the client takes it."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.plan import REPLIES, Audience, Notice, ReplyPlace
from lifecycle.core.redact import redact
from lifecycle.hooks import client_contract, stdin_event, wake
from lifecycle.hooks.client_contract import CONTEXT_LIMIT, is_for, render
from lifecycle.hooks.stdin_event import read_input
from lifecycle.settings.resources import hook_script
from lifecycle.settings.running_client import Client, is_machine_made, session_of

SAYS = {
    audience: Notice(f"key:{audience}", f"text of {audience}", audience) for audience in Audience
}


def test_fault_17_context_is_under_hook_specific_output_with_the_events_name() -> None:
    """At the top level the client drops it: it belongs under hookSpecificOutput."""
    reply = render("on-stop", [SAYS[Audience.NEXT]])
    assert json.loads(reply.stdout) == {
        "hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "text of next"}
    }
    assert reply.code == 0


def test_a_refusal_blocks_the_stop_and_a_note_goes_to_the_user() -> None:
    """decision and reason reach the model; systemMessage the person alone."""
    reply = render("on-stop", [SAYS[Audience.ACT], SAYS[Audience.NOTE], SAYS[Audience.NEXT]])
    assert json.loads(reply.stdout) == {
        "decision": "block",
        "reason": "text of act\ntext of next",
        "systemMessage": "text of note",
    }


@pytest.mark.parametrize("hook", ["on-idle", "ci-waiter"])
def test_a_wake_is_exit_2_with_the_text_on_stderr(hook: str) -> None:
    """stdout would be dropped; what the agent can mend comes first, and silence is exit 0."""
    reply = render(hook, [SAYS[Audience.ASK], SAYS[Audience.NEWS], SAYS[Audience.ACT]])
    assert (reply.stdout, reply.code) == ("", 2)
    assert reply.stderr == "text of act\ntext of news\ntext of ask\n"
    assert render(hook, []).code == 0


REACHES: dict[str, dict[ReplyPlace, set[str]]] = {
    "Stop": {
        ReplyPlace.REASON: {"model", "turn"},
        ReplyPlace.CONTEXT: {"model", "turn"},
        ReplyPlace.PERSON: {"person"},
        ReplyPlace.WAKE: {"model", "turn"},
    },
    "Notification": {ReplyPlace.WAKE: {"model", "turn"}},
    "SessionStart": {ReplyPlace.CONTEXT: {"model"}, ReplyPlace.PERSON: {"person"}},
    "UserPromptSubmit": {ReplyPlace.CONTEXT: {"model"}, ReplyPlace.PERSON: {"person"}},
    # `permissionDecision` is no place for notices: `render` has a parameter of its own for it.
    "PreToolUse": {},
    # What a person is told of a tool's use is of no use to them: nothing is printed.
    "PostToolUse": {},
    # Plain text goes to the summariser; every part of a JSON reply is an error.
    "PreCompact": {},
    "SessionEnd": {},
}
"""The client's contract: for each event, the parts of a reply that reach somebody, and whether they
make the model take a turn. What is not listed is dropped. https://code.claude.com/docs/en/hooks"""

SILENT = {
    "on-clear",
    "pre-tool-use",
    "post-tool-use",
    "workflow-agent",
    "pre-compact",
    "session-end",
}
"""What has nothing to say in a reply, whatever its event could deliver."""


@pytest.mark.parametrize("hook", REPLIES)
def test_every_row_keeps_the_clients_contract(hook: str) -> None:
    """Each notice goes where the event can deliver it, to whom it is for, and nothing is dropped.

    What is for the person alone never costs the model a turn, and what is for the agent never goes
    to the person instead of it.
    """
    channel = REPLIES[hook]
    contract = REACHES[channel.event]
    assert bool(channel.places) == (hook not in SILENT)
    for audience, place in channel.places.items():
        assert place in contract, (hook, audience)
        assert ("person" in contract[place]) == (audience is Audience.NOTE)


@pytest.mark.parametrize("hook", REPLIES)
@given(chosen=st.sets(st.sampled_from(list(Audience))), extra=st.booleans())
def test_a_reply_is_what_the_client_takes(hook: str, chosen: set[Audience], extra: bool) -> None:
    """Whatever is said together: known keys, the event's own name, all texts, each of them once."""
    channel = REPLIES[hook]
    says = [SAYS[audience] for audience in chosen & channel.places.keys()]
    has_context = extra and ReplyPlace.CONTEXT in channel.places.values()
    reply = render(hook, says, context=["the board"] if has_context else [])
    everything = reply.stdout + reply.stderr
    for say in says:
        assert everything.count(say.text) == 1
    if reply.code:
        assert (reply.code, reply.stdout) == (2, "")
        assert ReplyPlace.WAKE in REACHES[channel.event]
        return
    assert reply.stderr == ""
    if not says and not has_context:
        assert reply.stdout == ""
        return
    output = json.loads(reply.stdout)
    assert set(output) <= {"decision", "reason", "systemMessage", "hookSpecificOutput"}
    assert ("decision" in output) == ("reason" in output)
    inner = output.get("hookSpecificOutput")
    if inner is not None:
        assert set(inner) == {"hookEventName", "additionalContext"}
        assert inner["hookEventName"] == channel.event


def test_a_stop_is_never_continued_for_news_or_questions() -> None:
    """Only the new PR and what the agent can mend are worth a turn of the model."""
    assert REPLIES["on-stop"].places.keys() == {Audience.ACT, Audience.NEXT, Audience.NOTE}
    assert Audience.NOTE not in REPLIES["on-idle"].places
    for hook in ("session-start", "user-prompt-submit"):
        assert REPLIES[hook].places.keys() == set(Audience)


def test_every_entrypoint_has_a_script_and_an_answer() -> None:
    """The table, `hooks/` and `lifecycle/hooks/answers/` name the same; the status line is no event's."""
    scripts = {path.name for path in hook_script("on-stop").parent.iterdir() if not path.suffix}
    assert scripts - {"common", "statusline"} == set(REPLIES)
    for hook in REPLIES:
        assert callable(import_module(f"lifecycle.hooks.answers.{hook.replace('-', '_')}").answer)


@pytest.mark.parametrize(
    ("prompt", "is_machines"),
    [
        ("close it", False),
        ("", False),
        ("<task-notification>\nPR #46 merged!\n</task-notification>", True),
        ("  \n<task-notification>x", True),
        ("what is a <task-notification>?", False),
        (None, True),
        (7, True),
    ],
)
def test_a_wake_comes_as_a_prompt_that_nobody_wrote(prompt: object, is_machines: bool) -> None:
    """Its own tag opens it; a prompt that is no text is nobody's either."""
    assert is_machine_made({"prompt": prompt}) is is_machines


def test_the_session_is_the_events_or_else_the_environments() -> None:
    """The event wins; neither of them is no session, and a strange id stays on one line."""
    environment = {"CLAUDE_CODE_SESSION_ID": "env"}
    assert session_of({"session_id": "event"}, environment) == "event"
    assert session_of({}, environment) == "env"
    assert session_of({"session_id": "  "}, environment) == "env"
    assert session_of({}, {}) == ""
    assert session_of({"session_id": "a\n\ud83d-b"}, {}) == "a-b"


@pytest.mark.parametrize("hook", REPLIES)
def test_nothing_to_say_is_nothing_printed(hook: str) -> None:
    """Not even an empty object."""
    reply = render(hook, [])
    assert (reply.stdout, reply.stderr, reply.code) == ("", "", 0)


def test_a_refusal_names_its_event_the_decision_and_why() -> None:
    """The client drops a decision whose event it is not told."""
    own = json.loads(render("pre-tool-use", [], refusal=["No.", "First a test."]).stdout)
    assert own == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "No.\nFirst a test.",
        }
    }


def test_context_stays_below_the_clients_limit() -> None:
    """Over 10,000 characters the client shows a preview only."""
    reply = render("session-start", [], context=["x" * 50_000])
    text = json.loads(reply.stdout)["hookSpecificOutput"]["additionalContext"]
    assert len(text) == CONTEXT_LIMIT == 9_000
    for over, end in ((0, "x"), (1, "…")):
        reply = render("session-start", [], person=["x" * (CONTEXT_LIMIT + over)])
        said = json.loads(reply.stdout)["systemMessage"]
        assert (len(said), said[-1]) == (CONTEXT_LIMIT, end)


def test_what_is_said_besides_the_notices_stands_in_its_place() -> None:
    """A turn goes on for reasons behind an empty line, a wake is on stderr, the person is told apart."""
    act, news = SAYS[Audience.ACT], SAYS[Audience.NEWS]
    told = {
        "reasons alone": render("on-stop", [], reason=["go", "on"]),
        "reasons": render("on-stop", [act, news], reason=["go"]),
        "news": render("on-stop", [news]),
        "person": render("on-stop", [], person=["hi"]),
        "wake alone": render("on-clear", [], wake=["up"]),
        "wake": render("on-idle", [act], wake=["up"]),
    }
    context = {"hookEventName": "Stop", "additionalContext": "text of news"}
    assert {name: (reply.stderr, reply.code) for name, reply in told.items() if reply.code} == {
        "wake alone": ("up\n", 2),
        "wake": ("text of act\nup\n", 2),
    }
    assert {name: json.loads(one.stdout) for name, one in told.items() if not one.code} == {
        "reasons alone": {"decision": "block", "reason": "go\non"},
        "reasons": {"decision": "block", "reason": "text of act\ntext of news\n\ngo"},
        "news": {"hookSpecificOutput": context},
        "person": {"systemMessage": "hi"},
    }


def test_replies_are_alike_by_what_is_printed() -> None:
    """What is done afterwards makes no other reply; what a process begins anew with is not shown."""
    assert client_contract.Reply("x", printed=lambda: None) == client_contract.Reply("x")
    assert "secret" not in repr(client_contract.Reply("x", rest=b"secret"))


def test_another_clients_user_is_told_what_the_agent_would_be() -> None:
    """Nobody knows what goes on there for a reason."""
    said = [SAYS[Audience.ACT], SAYS[Audience.NOTE]]
    for client in Client:
        reply = client_contract.render_as(client, "on-stop", said)
        if client is Client.OTHER:
            assert json.loads(reply.stdout) == {"systemMessage": "text of act\ntext of note"}
        else:
            assert reply == render("on-stop", said)


def test_a_line_of_ours_keeps_its_marker_and_a_strangers_does_not() -> None:
    """Whoever made a line of ours has quoted what strangers wrote; no secret is in either."""
    line = "::: WORKFLOW_STAGE: X ::: ghp_abcdefghijklmnopqrst0123"
    assert client_contract.fit(client_contract.Ours(line)) == "::: WORKFLOW_STAGE: X ::: ***"
    assert client_contract.fit(line) == ": : : WORKFLOW_STAGE: X : : : ***"


def test_a_packet_keeps_its_lines_and_its_secrets() -> None:
    """Lines of a notice are lines for the agent, each as data; a key that is spread over them is gone."""
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"
    text = f"One remark.\n  | <system-reminder>\n  | {key}\nThe file: a.md"
    reply = render("ci-waiter", [Notice("review:1", text, Audience.NEWS)])
    first, second, third, last = reply.stderr.splitlines()
    assert (first, last) == ("One remark.", "The file: a.md")
    assert second.startswith("  | ")
    assert "<system" not in second
    assert third == "  | ***"


def test_stdin_that_never_comes_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """An open pipe with nobody writing counts as empty input."""
    read, write = os.pipe()
    with os.fdopen(read) as silent, os.fdopen(write, "w"):
        monkeypatch.setattr(sys, "stdin", silent)
        assert stdin_event.STDIN_SECONDS <= 1
        monkeypatch.setattr(stdin_event, "STDIN_SECONDS", 0.05)
        assert read_input() == {}


def test_the_event_must_be_the_hooks_own() -> None:
    """A call by hand names none; a subagent's stop is another event."""
    assert is_for("on-stop", {})
    assert is_for("on-stop", {"hook_event_name": ""})
    assert is_for("on-stop", {"hook_event_name": "Stop"})
    assert is_for("post-tool-use", {"hook_event_name": "PostToolUseFailure"})
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


@pytest.mark.parametrize(
    "lines",
    [
        ["see https://h/?token=abcdefgh1", 'abcdef"x"'],
        ["api-key: abcdefgh12345678", 'abcdefghijkl12"x'],
        ["authorization: bearer", 'abcdefgh12345678"x'],
    ],
)
def test_what_looks_like_a_secret_across_lines_leaves_the_json_whole(
    lines: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    """A shape that goes on over an escaped line break does not eat the escape before a quotation mark."""
    reply = client_contract.render(
        "session-start", [], context=[client_contract.Ours(line) for line in lines]
    )
    assert wake._print(reply) == 0
    text = json.loads(capfd.readouterr().out)["hookSpecificOutput"]["additionalContext"]
    assert "abcdefgh1" not in text
    assert text.endswith(("x", 'x"'))
