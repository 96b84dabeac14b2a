"""What `init` supplies if it is missing: the claim's commands; with `--stages` two more, and two scripts.

The commands speak the product's own verbs, so they work with any tracker. The scripts hold no path of
anybody's, so that a project may commit them. The texts lie in `supplied/`; in them `LABEL` stands for
the label of the workflow's tasks, and `COMMAND` for the command line of a shared hook.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from lifecycle.settings import resources
from lifecycle.setup.init.hook_table import shared_form

REVIEW = "/oracle-review"
"""The client's command that asks for the review."""

REQUIREMENTS = "/requirements-review"
"""The client's command that holds the work against the task's requirements."""

START = "/task-start"
"""The client's command that begins with a task, where the tracker has no name of its own for it."""

COMMANDS = ".claude/commands/"
SCRIPTS = ".claude/hooks/"
DETECT = f"{SCRIPTS}detect_stage.sh"
ORCHESTRATOR = f"{SCRIPTS}workflow_orchestrator.sh"

WRITER = "lifecycle init"
"""In every one of them: nothing without it is ever taken out."""

SIGNED = f"{WRITER} --stages"

CLAIMS = ("claim", "handoff", "status")
"""The plugin's commands that a project gets by their plain names, `/claim`."""

_WITHOUT = "If the shell does not find `lifecycle`"
"""How the last paragraph of the plugin's pages begins: it names the plugin's own folder."""

_COMMAND = re.compile(r"/[A-Za-z0-9][\w-]{0,60}")


@dataclass(frozen=True, slots=True)
class Supply:
    """One file: its name from the worktree's root, its text, and what it is, in a few words."""

    name: str
    text: str
    what: str
    is_executable: bool = False


def page_of(command: str) -> str:
    """The file that holds one of the client's commands, "" if it is none that a file could hold."""
    return f"{COMMANDS}{command[1:]}.md" if _COMMAND.fullmatch(command) else ""


def is_one(name: str) -> bool:
    """True for a name that a file of ours could have."""
    command = name.removeprefix(COMMANDS).removesuffix(".md")
    return name in (DETECT, ORCHESTRATOR) or page_of(f"/{command}") == name


def claims() -> tuple[Supply, ...]:
    """The commands from claim to close: the plugin's pages, for a project that is wired without it."""
    return tuple(
        Supply(page_of(f"/{name}"), _plain_page(name, WRITER), f"the command /{name}")
        for name in CLAIMS
    )


def _plain_page(name: str, writer: str) -> str:
    page, _, _ = resources.command_page(name).partition(_WITHOUT)
    return (
        f"{page}{_WITHOUT}, say so: its README says how the user installs it. Do not\n"
        "install it yourself.\n\n"
        f"<!-- Written by `{writer}`. It is yours to change: a changed one is kept. -->\n"
    )


def supplies(*, review: str, start: str, label: str) -> tuple[Supply, ...]:
    """The files.

    Args:
        review: REVIEW if that command is wanted; "" if not.
        start: the same for the beginning of a task.
        label: the label of the workflow's tasks.
    """
    pages = [
        *(
            Supply(page_of(name), _plain_page(name[1:], SIGNED), f"the command {name}")
            for name in (review, REQUIREMENTS)
            if name
        ),
        Supply(page_of(start), _text("start.md").replace("LABEL", label), f"the command {start}"),
    ]
    orchestrator = _text("workflow_orchestrator.sh")
    orchestrator = orchestrator.replace("COMMAND", str(shared_form("on-stop")["command"]))
    scripts = [
        Supply(DETECT, _text("detect_stage.sh"), "text in, stage out", is_executable=True),
        Supply(ORCHESTRATOR, orchestrator, "becomes on-stop", is_executable=True),
    ]
    return tuple([page for page in pages if page.name] + scripts)


def _text(name: str) -> str:
    """The text of one of the files in `supplied/`, which lies beside this module."""
    return Path(__file__).with_name("supplied").joinpath(name).read_text(encoding="utf-8")


def settings_file() -> str:
    """A `.lifecycle.toml` in which every key stands with its default, commented out."""
    return _text("lifecycle.toml")


def staged(review: str, start: str) -> str:
    """The same with the staged workflow switched on, and the names of its two commands."""
    text = settings_file()
    for commented, line in (
        ("# [stages]\n# use = false\n", "[stages]\nuse = true\n"),
        ('# review = "/oracle-review"\n', f'review = "{review}"\n'),
        ('# start = "/bd-start"\n', f'start = "{start}"\n'),
    ):
        text = text.replace(commented, line)
    return text
