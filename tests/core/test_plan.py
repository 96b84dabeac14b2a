"""`core.plan`: which sentence reaches whom, by which hook."""

from __future__ import annotations

import pytest

from lifecycle.core.plan import ASKED, REPLIES, Audience, Notice, Wake

AGENTS = ("act", "next", "news", "ask")
WAKES = dict.fromkeys(AGENTS, "stderr and exit 2")
CONTEXT = {**dict.fromkeys(AGENTS, "additionalContext"), "note": "systemMessage"}
STOP = {"act": "decision: block, reason", "next": "additionalContext", "note": "systemMessage"}

CHANNELS = {
    "on-stop": ("Stop", STOP, ()),
    "ci-waiter": ("Stop", WAKES, ("SessionStart",)),
    "on-idle": ("Notification", WAKES, ()),
    "session-start": ("SessionStart", CONTEXT, ()),
    "on-clear": ("SessionStart", {}, ()),
    "user-prompt-submit": ("UserPromptSubmit", CONTEXT, ()),
    "pre-tool-use": ("PreToolUse", {}, ()),
    "post-tool-use": ("PostToolUse", {}, ("PostToolUseFailure",)),
    "workflow-agent": ("PostToolUse", {}, ("PostToolUseFailure", "SubagentStop")),
    "pre-compact": ("PreCompact", {}, ()),
    "session-end": ("SessionEnd", {}, ()),
}
"""What each hook hears and delivers, in the client's own words; what is not named waits in the queue."""


def test_each_hook_delivers_what_its_event_can() -> None:
    """A person's note never costs a turn, a stop goes on for the new PR and what can be mended alone."""
    assert {
        name: (channel.event, dict(channel.places), channel.also)
        for name, channel in REPLIES.items()
    } == CHANNELS


def test_only_a_stop_that_nobody_attends_says_more() -> None:
    """No waiter was started then, and after the last stop nobody would hear it."""
    alone = {name: dict(channel.alone) for name, channel in REPLIES.items() if channel.alone}
    assert alone == {"on-stop": {"news": "additionalContext", "ask": "additionalContext"}}


def test_who_asks_and_who_sweeps_wants_all_that_github_shows() -> None:
    """A hook's look is held back by what was seen shortly before; theirs is not."""
    assert {Wake.TICK, Wake.SWEEP} == ASKED


def test_the_old_name_of_an_audience_warns_its_reader() -> None:
    """Who still reads `tone` gets the same, and is shown the line that reads it."""
    notice = Notice("key", "Do it.", Audience.ACT)
    with pytest.warns(DeprecationWarning, match="audience") as warned:
        assert notice.tone is Audience.ACT
    assert [warning.filename for warning in warned] == [__file__]
