"""The plugin is whole: every file parses, every script exists, every command is one of the CLI's."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from lifecycle.claim.decisions.table import Phase
from lifecycle.cli import main
from lifecycle.core.plan import REPLIES
from lifecycle.setup.init.hook_table import DAY, EVENTS, NAMES, WIRES, groups
from tests.docs.pages import ROOT, codes_in

COMMANDS = sorted((ROOT / "commands").glob("*.md"))
SKILL = ROOT / "skills/lifecycle/SKILL.md"
PAGES = [*COMMANDS, SKILL]
FRONTS = [
    *COMMANDS,
    *sorted((ROOT / "skills").glob("*/*.md")),
    *sorted((ROOT / "agents").glob("*.md")),
]
OF_RUNS = {"workflow", "implement", "review", "run-review"}
FORBIDDEN = ("{{", "!`", "$(", "${", "`!")
"""In a command's page these make the client run or fill in something before the agent reads it."""

INSTALL = 'pipx install "${CLAUDE_PLUGIN_ROOT}"'
"""How a user gets the command; the client fills in the plugin's own folder, which holds its source."""


def page(path: Path) -> tuple[dict[str, Any], str]:
    """A page's frontmatter, read as the client reads it, and its body."""
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(front), body


def loaded(name: str) -> Any:
    """A JSON file of the plugin."""
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


def plugin_form(name: str) -> dict[str, Any]:
    """The script inside the plugin; started without a shell, so spaces in its path do no harm."""
    return {"command": f"${{CLAUDE_PLUGIN_ROOT}}/hooks/{name}", "args": []}


def plugin_hooks() -> dict[str, Any]:
    """What `hooks/hooks.json` holds."""
    return {
        "description": "Claim to close: opens the PR, watches the checks, sees the merge, asks to close. "
        "And from stage to stage, while a labelled task is open.",
        "hooks": {event: groups(event, plugin_form) for event in EVENTS},
    }


def test_the_hooks_are_those_of_the_table() -> None:
    """hooks.json is what the one table gives; else: write plugin_hooks() into it again."""
    text = json.dumps(plugin_hooks(), indent=2) + "\n"
    assert (ROOT / "hooks/hooks.json").read_text(encoding="utf-8") == text


def test_every_script_that_is_wired_is_there_and_can_run() -> None:
    """Each entry is started without a shell, from the plugin's own folder, with its own limit."""
    seen = []
    for event, listed in loaded("hooks/hooks.json")["hooks"].items():
        for hook in (hook for group in listed for hook in group["hooks"]):
            name = hook["command"].removeprefix("${CLAUDE_PLUGIN_ROOT}/hooks/")
            path = ROOT / "hooks" / name
            assert path.read_text(encoding="utf-8").startswith("#!/bin/sh\n")
            assert os.access(path, os.X_OK)
            assert (hook["type"], hook["args"]) == ("command", [])
            assert 0 < hook["timeout"] <= DAY
            seen.append((event, name))
    assert seen == [(wire.event, wire.name) for wire in WIRES]


def test_every_entrypoint_is_wired_to_its_event() -> None:
    """What the command line answers is what the client is told to call, and nothing else."""
    assert {(wire.name, wire.event) for wire in WIRES} == {
        (name, event)
        for name, channel in REPLIES.items()
        for event in (channel.event, *channel.also)
    }


def test_what_waits_may_wait_and_wake() -> None:
    """The waiter has a day and wakes, as on-idle and on-clear do; nothing that is waited for takes long."""
    rewaking = {wire.name for wire in WIRES if wire.is_rewake}
    assert rewaking == {"ci-waiter", "on-idle", "on-clear"}
    assert {wire.name: wire.timeout for wire in WIRES if wire.timeout > 30} == {"ci-waiter": DAY}
    matchers = {wire.name: wire.matcher for wire in WIRES if wire.matcher}
    assert matchers == {
        "on-clear": "clear",
        "on-idle": "idle_prompt",
        "pre-tool-use": "Write|Edit|MultiEdit|NotebookEdit",
        "post-tool-use": "Bash",
        "workflow-agent": "Agent|Task",
    }


def test_plugin_and_marketplace_are_of_one_name_and_no_version() -> None:
    """Without a number the client takes the commit; with one it keeps its old copy until that is raised."""
    plugin, marketplace = (
        loaded(".claude-plugin/plugin.json"),
        loaded(".claude-plugin/marketplace.json"),
    )
    (listed,) = marketplace["plugins"]
    assert listed["source"] == "./"
    assert {plugin["name"], marketplace["name"], listed["name"]} == {"lifecycle"}
    assert "version" not in {**plugin, **listed}
    assert plugin["description"] == listed["description"]
    assert plugin["author"] == marketplace["owner"]


def test_the_commands_are_these() -> None:
    """One page a command; it may use that command, and what its own text says to look with, unasked."""
    names = [path.stem for path in COMMANDS]
    reviews = ["oracle-review", "requirements-review"]
    claims = ["claim", "handoff", "nudge", "release", "status", "run-status"]
    assert names == sorted([*claims, *reviews, *OF_RUNS])
    for path in COMMANDS:
        front, _ = page(path)
        looks = (
            "Bash(git diff:*), Bash(git log:*), Bash(git status:*), Bash(lifecycle tracker show:*)"
        )
        own = looks if path.stem in reviews else f"Bash(lifecycle {path.stem}:*)"
        if path.stem.endswith("status"):
            own = "Bash(lifecycle status:*), Bash(lifecycle run status:*), Bash(lifecycle tick:*)"
        if path.stem == "claim":
            own += ", Bash(lifecycle tracker show:*)"
        assert path.stem in OF_RUNS or front["allowed-tools"] == own
        assert 10 < len(front["description"]) < 100


@pytest.mark.parametrize("path", FRONTS, ids=lambda path: path.parent.name + path.stem)
def test_every_frontmatter_is_yaml(path: Path) -> None:
    """Of what is none, the client drops all: what the menu shows, and what the page may run unasked."""
    front, _ = page(path)
    assert all(isinstance(value, (str, bool)) for value in front.values())
    assert front["description"]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_command_line_on_a_page_is_one(path: Path) -> None:
    """The command exists, its options too, and click takes the whole line."""
    lines = [code for code in codes_in(page(path)[1]) if code.startswith("lifecycle ")]
    assert lines
    for line in lines:
        name, *arguments = shlex.split(line.partition(" <<")[0])[1:]
        found = main.group.get_command(click.Context(main.group), name)
        assert found is not None, line
        if arguments or not any(p.required for p in found.params):
            found.make_context(name, arguments, resilient_parsing=False)


def test_every_answer_that_a_page_quotes_is_given() -> None:
    """An agent that was told to wait for other words than the command prints takes none of them for one."""
    rooms = [ROOT / "lifecycle" / room for room in ("claim", "cli", "core")]
    files = [
        file for room in rooms for end in ("py", "toml", "txt") for file in room.rglob(f"*.{end}")
    ]
    code = "\n".join(file.read_text(encoding="utf-8") for file in files)
    code = re.sub(r'"\s*\n\s*f?"', "", code)  # a long sentence is several texts
    quoted = [line for path in COMMANDS for line in re.findall(r"(?m)^ *- (\".*)", page(path)[1])]
    answers = [text for line in quoted for text in re.findall(r'"([^"]*…[^"]*)"', line)]
    parts = [part.strip() for text in answers for part in re.split("…|#N", text)]
    assert len(answers) >= 5
    assert [part for part in parts if part not in code] == []


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_nothing_that_a_user_types_reaches_a_shell_unread(path: Path) -> None:
    """The arguments stand in prose, once; the agent composes the command line, in quotes."""
    front, body = page(path)
    assert body.count(INSTALL) == 1, "from the plugin's folder, not by a name on an index"
    body = body.replace(INSTALL, "")
    assert not any(mark in body for mark in FORBIDDEN)
    assert body.count("$ARGUMENTS") == ("argument-hint" in front)
    assert not [code for code in codes_in(body) if "$" in code]


def test_only_a_person_can_nudge_by_slash() -> None:
    """Its page allows a move to done: the model must not call it up for itself."""
    assert page(ROOT / "commands/nudge.md")[0]["disable-model-invocation"] is True


def test_the_skill_fits_a_page_and_teaches_every_phase() -> None:
    """Each phase is explained, and those fields named that an agent may edit."""
    front, body = page(SKILL)
    assert front["name"] == SKILL.parent.name
    assert len(front["description"]) < 1024
    assert len(body.splitlines()) <= 80
    codes = set(codes_in(body))
    assert {phase.value for phase in Phase} | {"summary", "status", "phase", "branch"} <= codes


def test_the_skill_never_lets_an_agent_poll_or_say_yes() -> None:
    """The two rules that matter most stand there in so many words."""
    body = page(SKILL)[1]
    assert "never poll" in body
    assert "Closing is the user's decision" in body


def test_the_scripts_and_their_table_have_the_same_names() -> None:
    """What in hooks/ can run is wired, but for the status line, which is no hook."""
    runnable = {p.name for p in (ROOT / "hooks").iterdir() if os.access(p, os.X_OK)}
    assert runnable == {*NAMES, "statusline"}
    assert len(set(re.findall(r"hooks/([\w-]+)", json.dumps(loaded("hooks/hooks.json"))))) == len(
        NAMES
    )
