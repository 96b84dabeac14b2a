"""What one line of a transcript adds: kind by kind, and every part of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lifecycle.core.stage_names import Detected, Stage
from lifecycle.evidence.outcomes import CallEnd
from lifecycle.stages.decisions import instructions
from lifecycle.stages.detection.stage_markers import QUESTION
from lifecycle.stages.transcript.turn import Heard, Prompt, Said, ToolCall, entries_of

OK, FAILED, UNKNOWN = CallEnd.OK, CallEnd.FAILED, CallEnd.UNKNOWN
HUMAN, OURS, MACHINE = Prompt.HUMAN, Prompt.OURS, Prompt.MACHINE
TESTING = instructions.instruction(Stage.TESTING, instructions.Facts(), "Lead.")
MARKER = "::: WORKFLOW_STAGE: CODING_COMPLETE :::"
NOTE = "<task-notification>"
DONE = "<status>completed</status>"
LONG = "y" * 3_000 + "x" * 3_000


def seen(entry: Any) -> tuple[Any, ...]:
    """All that is known of an entry."""
    if isinstance(entry, Heard):
        known = (entry.kind, entry.text, entry.uuid, entry.begins, entry.command)
        return (*known, entry.asked, entry.is_known)
    if isinstance(entry, Said):
        return entry.text, entry.markers, entry.is_signed, entry.is_known
    assert isinstance(entry, ToolCall)
    return entry.tool, entry.text, entry.outcome, entry.output, entry.is_background


def heard(kind: Prompt, text: str, *, begins: bool = True, command: str = "") -> tuple[Any, ...]:
    """What somebody said who asks for no stage, on a line `u1`."""
    return kind, text, "u1", begins, command, None, False


def said(text: str) -> tuple[Any, ...]:
    """What the agent said without a marker."""
    return text, (), False, False


def call(
    tool: str, text: str = "", outcome: CallEnd = UNKNOWN, output: str = ""
) -> tuple[Any, ...]:
    """A call that was waited for."""
    return tool, text, outcome, output, False


def user(content: Any, **more: Any) -> dict[str, Any]:
    """A line of the user's side."""
    return {"type": "user", "uuid": "u1", "message": {"content": content}, **more}


def agent(*blocks: Any) -> dict[str, Any]:
    """A line of the agent's."""
    return {"type": "assistant", "message": {"content": list(blocks)}}


def text(words: Any) -> dict[str, Any]:
    """A block of text."""
    return {"type": "text", "text": words}


def use(name: Any, asked: Any = None, **more: Any) -> dict[str, Any]:
    """A block of a call."""
    return {"type": "tool_use", "id": "t1", "name": name, "input": asked, **more}


def more(**attachment: Any) -> dict[str, Any]:
    """A line of what the client attached."""
    return {"type": "attachment", "uuid": "u1", "attachment": attachment}


def context(content: Any, event: str = "SessionStart") -> dict[str, Any]:
    """A line of a hook's context."""
    return more(type="hook_additional_context", content=content, hookEvent=event)


@pytest.mark.parametrize("line", ["{", "[1]", "7", "{}", '{"type": 1}', "[" * 100_000])
def test_what_is_no_line_adds_nothing(line: str) -> None:
    """Torn, nested without end, without a type."""
    assert entries_of(line.encode(), {}) is None


LINES: list[tuple[dict[str, Any], list[tuple[Any, ...]]]] = [
    ({"type": "system"}, []),
    ({"type": "user"}, []),
    ({"type": "user", "message": "x"}, []),
    ({"type": "user", "message": {"content": 7}}, []),
    *((user("go", **{flag: True}), []) for flag in ("isSidechain", "isCompactSummary")),
    (user("go", isApiErrorMessage=True), []),
    (user("go"), [heard(HUMAN, "go")]),
    ({"type": "user", "message": {"content": "go"}}, [(HUMAN, "go", "", True, "", None, False)]),
    (
        user([text(" a"), {"type": "image", "text": "i"}, "x", text(7), text("b ")]),
        [heard(HUMAN, "a\n\nb")],
    ),
    (user(LONG), [heard(HUMAN, LONG[:4_000])]),
    (user(TESTING), [heard(HUMAN, TESTING)]),
    *((user(words), []) for words in (" ", "<local-command-stdout>x", "<bash-input>ls")),
    (user("[Request interrupted by user]"), []),
    (user("Caveat", isMeta=True), []),
    (user("Stop hook feedback:\nlint", isMeta=True), [heard(MACHINE, "Stop hook feedback:\nlint")]),
    (
        user(f"Stop hook feedback:\n{TESTING}", isMeta=True),
        [(OURS, f"Stop hook feedback:\n{TESTING}", "u1", True, "", Stage.TESTING, True)],
    ),
    (user(f"{NOTE}x"), [heard(MACHINE, f"{NOTE}x")]),
    (user("x", origin={"kind": "task-notification"}), [heard(MACHINE, "x")]),
    (user("x", origin={"kind": "human"}), [heard(HUMAN, "x")]),
    (user("x", origin="task-notification"), [heard(HUMAN, "x")]),
    (user("x", promptSource="typed"), [heard(HUMAN, "x")]),
    (user("x", promptSource="system"), [heard(Prompt.SCHEDULED, "x")]),
    (
        user("<command-name>/x</command-name>", promptSource="system"),
        [heard(Prompt.SCHEDULED, "/x", begins=False, command="/x")],
    ),
    (
        user(f"{NOTE}Stop hook blocking error from command: {QUESTION}"),
        [
            (
                OURS,
                f"{NOTE}Stop hook blocking error from command: {QUESTION}",
                "u1",
                True,
                "",
                None,
                True,
            )
        ],
    ),
    (
        user(f"{NOTE}{DONE}<summary> It\nended </summary><result> {LONG} </result><r>"),
        [
            heard(MACHINE, f"{NOTE}{DONE}<summary> It\nended </summary><result> {LONG}"[:4_000]),
            call("Agent", "It\nended", OK, LONG[-4_000:]),
        ],
    ),
    (
        user(f"{NOTE}{DONE}<result>a</result>"),
        [heard(MACHINE, f"{NOTE}{DONE}<result>a</result>"), call("Agent", "", OK, "a")],
    ),
    (user(f"{NOTE}{DONE}<output-file>a"), [heard(MACHINE, f"{NOTE}{DONE}<output-file>a")]),
    (user(f"{NOTE}<result>{DONE}</result>"), [heard(MACHINE, f"{NOTE}<result>{DONE}</result>")]),
    (user(f"{DONE}<result>a</result>"), [heard(HUMAN, f"{DONE}<result>a</result>")]),
    (
        user("<command-message>x</command-message>\n<command-name> /x </command-name>"),
        [heard(HUMAN, "/x", command="/x")],
    ),
    (
        user("<command-name>/clear</command-name><command-args>a\nb</command-args>"),
        [heard(HUMAN, "/clear a\nb", begins=False, command="/clear a\nb")],
    ),
    (
        user("<command-name>clear</command-name>"),
        [heard(HUMAN, "<command-name>clear</command-name>", begins=False)],
    ),
    (
        user("See <command-name>/x</command-name>"),
        [heard(HUMAN, "See <command-name>/x</command-name>")],
    ),
    (
        user(f"<command-name>/x</command-name><command-args>{LONG}</command-args>"),
        [heard(HUMAN, f"/x {LONG}"[:4_000], begins=False, command=f"/x {LONG}"[:4_000])],
    ),
    (
        user(f"{NOTE}{DONE}Stop hook blocking error from command: x<result>a</result>"),
        [heard(MACHINE, f"{NOTE}{DONE}Stop hook blocking error from command: x<result>a</result>")],
    ),
    ({"type": "attachment"}, []),
    (
        {"type": "attachment", "attachment": {"type": "queued_command", "prompt": "and"}},
        [(HUMAN, "and", "", False, "", None, False)],
    ),
    (more(type="date"), []),
    (more(type="queued_command", prompt="and"), [heard(HUMAN, "and", begins=False)]),
    (more(type="queued_command", prompt=7), []),
    (more(type="other", prompt="and"), []),
    (
        more(type="queued_command", prompt="x", origin={"kind": "task-notification"}),
        [heard(MACHINE, "x", begins=False)],
    ),
    (
        more(type="queued_command", prompt=f"{NOTE}{DONE}<result>a</result>"),
        [
            heard(MACHINE, f"{NOTE}{DONE}<result>a</result>", begins=False),
            call("Agent", "", OK, "a"),
        ],
    ),
    (context([TESTING, 7, "b"]), [(OURS, f"{TESTING}\nb", "u1", False, "", Stage.TESTING, True)]),
    (context(TESTING, "Stop"), [(OURS, TESTING, "u1", True, "", Stage.TESTING, True)]),
    (context("lint", "Stop"), [heard(MACHINE, "lint")]),
    (context("lint"), []),
    (more(type="other", content=TESTING), []),
    ({"type": "assistant", "message": {"content": "Hi"}}, [said("Hi")]),
    (
        agent(text("Hi"), text(" "), text(7), {"type": "thinking", "text": "no"}, text("b")),
        [said("Hi"), said("b")],
    ),
    (agent(text(MARKER)), [(MARKER, (Detected.CODING_COMPLETE,), True, True)]),
    (agent(use("Bash", {"command": " ls "}), text("b")), [call("Bash", "ls"), said("b")]),
    (agent(use(7, {"command": "ls"}), {"type": "server_use", "name": "x", "input": {}}), []),
    (
        agent(use("Bash", {"command": "ls", "run_in_background": True})),
        [("Bash", "ls", UNKNOWN, "", True)],
    ),
    (agent(use("Bash", {"command": "ls", "run_in_background": 1})), [call("Bash", "ls")]),
    (agent(use("Bash", "ls")), [call("Bash")]),
    (agent(use("Bash", {"command": LONG})), [call("Bash", LONG[:4_000])]),
    (agent(use("Skill", {"skill": "/look", "args": "at it"})), [call("Skill", "/look at it")]),
    (agent(use("Skill", {"skill": "look", "args": None})), [call("Skill", "/look")]),
    (agent(use("Skill", {"args": LONG})), [call("Skill", f"/ {LONG}"[:4_000])]),
    (agent(use("Read", {"file_path": "/a", "prompt": "p"})), [call("Read", "/a")]),
    (agent(use("NotebookEdit", {"notebook_path": "/a"})), [call("NotebookEdit", "/a")]),
    (
        agent(use("Agent", {"command": 7, "prompt": "p", "subagent_type": "E"})),
        [call("Agent", "E p")],
    ),
    (agent(use("Agent", {"prompt": "p"})), [call("Agent", "p")]),
    (agent(use("Bash", {"command": "c", "subagent_type": "E"})), [call("Bash", "c")]),
    (agent(use("Glob", {"pattern": "*"})), [call("Glob")]),
]
"""A line, and the entries that it adds."""


def test_each_line_adds_what_it_says() -> None:
    """Who spoke, to whom, with which words and commands; what the agent said, and asked of its tools."""
    for line, entries in LINES:
        found = entries_of(json.dumps(line).encode(), {})
        assert found is not None, line
        assert (line, [seen(entry) for entry in found]) == (line, entries)


def test_a_result_is_kept_for_its_call() -> None:
    """A line of results is no prompt; the call takes what came of it, and has it alone."""
    rows: list[tuple[dict[str, Any], Any, tuple[Any, ...]]] = [
        ({"content": "out"}, None, (OK, "out", False)),
        ({"content": [text("a"), "x", {"text": "b"}, text(7)]}, "x", (OK, "a\nb\n", False)),
        ({"content": 7}, None, (OK, "", False)),
        ({"content": LONG}, None, (OK, LONG[-4_000:], False)),
        ({"content": "a", "is_error": True}, None, (FAILED, "a", False)),
        ({"content": "a"}, {"interrupted": True, "isAsync": True}, (FAILED, "a", True)),
        ({"content": "a"}, {"interrupted": False}, (OK, "a", False)),
        ({"content": "a"}, {"backgroundTaskId": "b1"}, (UNKNOWN, "a", True)),
        ({"content": "a"}, {"isAsync": True}, (UNKNOWN, "a", True)),
    ]
    for part, details, wanted in rows:
        results: dict[str, ToolCall] = {}
        block = {"type": "tool_result", "tool_use_id": "t1", **part}
        line = user([block, text("and more")], toolUseResult=details)
        assert entries_of(json.dumps(line).encode(), results) == []
        kept = results["t1"]
        assert seen(kept) == ("", "", *wanted), line
        other = entries_of(json.dumps(agent(use("Bash", None, id="t2"))).encode(), results)
        asked = entries_of(json.dumps(agent(use("Bash", {"command": "ls"}))).encode(), results)
        assert other is not None
        assert asked is not None
        end = UNKNOWN if kept.is_background else wanted[0]
        assert [seen(one) for one in (*other, *asked)] == [
            call("Bash"),
            ("Bash", "ls", end, *wanted[1:]),
        ]
        assert results == {}
    begun = {"t1": ToolCall("", "", OK, "started")}
    line = agent(use("Bash", {"command": "a", "run_in_background": True}))
    assert [seen(one) for one in entries_of(json.dumps(line).encode(), begun) or ()] == [
        ("Bash", "a", UNKNOWN, "started", True)
    ]
