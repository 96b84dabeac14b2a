"""The files that `init` supplies for claims, the staged workflow, runs and workflows.

The commands use the product's own verbs, so they work with any tracker. The scripts contain nobody's path,
so a project may commit them. Pages are the plugin's own; the other texts are in `supplied/`, and so is
a section of CLAUDE.md, which the mark records to the byte: a section that somebody changed is theirs. In
them `LABEL` stands for the label of the workflow's tasks, `COMMAND` for the command line of a shared
hook, and `VERB`, `OPTION` and `ABOVE` for the differences between the files made from `shim.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from lifecycle.core.light_dataclass import dataclass
from lifecycle.settings import resources
from lifecycle.setup.init import planned_files
from lifecycle.setup.init.hook_table import shared_form

REVIEW = "/oracle-review"
"""The client's command that requests the review."""

REQUIREMENTS = "/requirements-review"
"""The client's command that compares the work with the task's requirements."""

START = "/task-start"
"""The client's command that begins a task, if the tracker has no name of its own for it."""

COMMANDS = ".claude/commands/"
SCRIPTS = ".claude/hooks/"
DETECT = f"{SCRIPTS}detect_stage.sh"
ORCHESTRATOR = f"{SCRIPTS}workflow_orchestrator.sh"

WRITER = "lifecycle init"
"""Words in every supplied file: a file without them is never removed."""

SIGNED = f"{WRITER} --stages"
OF_RUN = f"{WRITER} --run"
OF_WORKFLOW = f"{WRITER} --workflow"

CORE = ".claude/core/"
AGENTS = ".claude/agents/"
SKILLS = ".claude/skills/"

SHIMS = {"state": "run", "platform": "platform"}
"""The files of `.claude/core/` that a run's design calls, and the command that each calls."""

STATE_SCRIPT = "scripts/workflow_state.py"
SYNC_SCRIPT = "hooks/PostToolUse/workflow_sync.sh"
"""The two files that a workflow's design names, at its paths."""

WORKFLOW_AGENT = "delegation-orchestrator"
"""The agent that divides a task into the phases of a workflow, and begins it."""

RUN_AGENTS = ("analyst", "architect", "developer", "tester", "reviewer", "security", "devops")
RUN_COMMANDS = ("workflow", "implement", "review")
RUN_SKILL = "multi-agent-autonomous-workflow"
"""The skill for the main session, which is the orchestrator of a run."""

CLAIMS = ("claim", "handoff", "status")
"""The plugin's commands that a project gets under their plain names, `/claim`."""

SECTION_PAGE = "CLAUDE.md"
"""The file that gets a section on how a workflow's state is kept, at its end."""
SECTION_TITLE = "Workflow State Protocol"
SECTION_BEGIN, _SECTION_END = "<!-- lifecycle:workflow", "<!-- /lifecycle:workflow -->"

_SIGN = "\n<!-- Written by `{}`. It is yours to change: a changed one is kept. -->\n"
"""The end of a supplied page, with the command line that writes it."""

_WITHOUT = "If the shell does not find `lifecycle`"
"""The beginning of the last paragraph of the plugin's pages: it names the plugin's own folder."""

_COMMAND = re.compile(r"/[A-Za-z0-9][\w-]{0,60}")


@dataclass(frozen=True, slots=True)
class Supply:
    """One file to supply: its name from the worktree's root, its text, and a few words about it."""

    name: str
    text: str
    what: str


def page_of(command: str) -> str:
    """The name of the file of one of the client's commands; "" if no file can have such a name."""
    return f"{COMMANDS}{command[1:]}.md" if _COMMAND.fullmatch(command) else ""


def is_one(name: str) -> bool:
    """True if a file that we supply could have this name."""
    command = name.removeprefix(COMMANDS).removesuffix(".md")
    names = (DETECT, ORCHESTRATOR, *RUN_FILES, *WORKFLOW_FILES)
    return name in names or page_of(f"/{command}") == name


SHIM_FILES = tuple(f"{CORE}{name}.py" for name in SHIMS)
SKILL_FILE = f"{SKILLS}{RUN_SKILL}/SKILL.md"
RUN_FILES = (*SHIM_FILES, SKILL_FILE, *(f"{AGENTS}{name}.md" for name in RUN_AGENTS))
"""The files for runs, without those of commands."""

WORKFLOW_FILES = (STATE_SCRIPT, SYNC_SCRIPT, f"{AGENTS}{WORKFLOW_AGENT}.md")
"""The files for workflows."""


def claims() -> tuple[Supply, ...]:
    """The commands from claim to close: the plugin's pages, for a project without the plugin."""
    return _pages(CLAIMS, WRITER)


def _pages(names: Iterable[str], writer: str) -> tuple[Supply, ...]:
    """The plugin's commands of these names, as commands of the project."""
    return tuple(
        Supply(page_of(f"/{name}"), _plain_page(name, writer), f"the command /{name}")
        for name in names
    )


def _signed_page(name: str, writer: str, what: str) -> Supply:
    """One of the plugin's pages unchanged, at the same place below the client's folder."""
    return Supply(name, resources.page(name.removeprefix(".claude/")) + _SIGN.format(writer), what)


def _agents(names: Iterable[str], writer: str) -> tuple[Supply, ...]:
    return tuple(_signed_page(f"{AGENTS}{name}.md", writer, f"the agent {name}") for name in names)


def runs() -> tuple[Supply, ...]:
    """The files that a run needs: two for its design's command lines, skill, agents, commands."""
    shims = [
        Supply(f"{CORE}{name}.py", _shim(verb, OF_RUN, "../.."), f"runs lifecycle {verb}")
        for name, verb in SHIMS.items()
    ]
    skill = _signed_page(SKILL_FILE, OF_RUN, "the skill of a run")
    return (*shims, skill, *_agents(RUN_AGENTS, OF_RUN), *_pages(RUN_COMMANDS, OF_RUN))


def workflows() -> tuple[Supply, ...]:
    """The files that a workflow needs: its design's script and hook, and the agent that begins one."""
    shim, functions = _shim("workflow", OF_WORKFLOW, ".."), _text("workflow_functions.txt")
    before, ends, after = shim.rpartition('\n\nif __name__ == "__main__":\n')
    sync = _text("workflow_sync.sh").replace("COMMAND", shared_form("workflow-agent")["command"])
    return (
        Supply(STATE_SCRIPT, f"{before}\n\n{functions}{ends}{after}", "runs lifecycle workflow"),
        Supply(SYNC_SCRIPT, sync, "runs workflow-agent"),
        *_agents([WORKFLOW_AGENT], OF_WORKFLOW),
    )


def _shim(verb: str, option: str, above: str) -> str:
    """The text of a Python file that passes its arguments to one of our commands.

    Args:
        verb: the command.
        option: the command line that writes the file.
        above: the path from the file's folder to the project's.
    """
    return _text("shim.txt").replace("VERB", verb).replace("OPTION", option).replace("ABOVE", above)


def _plain_page(name: str, writer: str) -> str:
    page, _, _ = resources.page(f"commands/{name}.md").partition(_WITHOUT)
    without = "say so: its README says how the user installs it. Do not\ninstall it yourself.\n"
    return f"{page}{_WITHOUT}, {without}{_SIGN.format(writer)}"


def supplies(*, review: str, start: str, label: str) -> tuple[Supply, ...]:
    """The files of the staged workflow.

    Args:
        review: REVIEW if that command is wanted; "" if not.
        start: the same for the command that begins a task.
        label: the label of the workflow's tasks.
    """
    pages = _pages([name[1:] for name in (review, REQUIREMENTS) if name], SIGNED)
    if page_of(start):
        text = _text("start.md").replace("LABEL", label)
        pages += (Supply(page_of(start), text, f"the command {start}"),)
    command = shared_form("on-stop")["command"]
    orchestrator = _text("workflow_orchestrator.sh").replace("COMMAND", command)
    return (
        *pages,
        Supply(DETECT, _text("detect_stage.sh"), "prints the stage of a text"),
        Supply(ORCHESTRATOR, orchestrator, "runs on-stop"),
    )


def _text(name: str) -> str:
    """The text of one of the files in `supplied/`, next to this module."""
    return Path(__file__).with_name("supplied").joinpath(name).read_text(encoding="utf-8")


def settings_file() -> str:
    """A `.lifecycle.toml` with every key and its default, commented out."""
    return _text("lifecycle.toml")


def staged(review: str, start: str) -> str:
    """That `.lifecycle.toml` with the staged workflow switched on, and its two commands named."""
    text = settings_file().replace("# [stages]\n# use = false\n", "[stages]\nuse = true\n")
    text = text.replace('# review = "/oracle-review"\n', f'review = "{review}"\n')
    return text.replace('# start = "/bd-start"\n', f'start = "{start}"\n')


def section() -> str:
    """The section of CLAUDE.md, with its markers; its lines end with a line feed."""
    return _text("workflow_section.md")


def with_section(content: bytes, piece: str) -> tuple[bytes | None, str]:
    """Add the section to a file's content, with the file's own line ends.

    Args:
        content: the file's content before.
        piece: the text that an earlier run added; "" if none did.

    Returns:
        The content, or None if it has a section that somebody changed; and the piece to remember, ""
        if the section is not ours to remove.
    """
    text = planned_files.as_text(content)
    newline = planned_files.newline_of(text)
    whole = section().replace("\n", newline)
    if piece and text.count(piece) == 1:
        new = planned_files.joint_of(piece) + whole
        return planned_files.as_bytes(text.replace(piece, new)), new
    if SECTION_BEGIN in text:
        return (content if whole in text else None), ""
    joint = "" if not text else newline if text.endswith("\n") else newline * 2
    return planned_files.as_bytes(f"{text}{joint}{whole}"), joint + whole


def without_section(content: bytes, piece: str) -> str | None:
    """The text without the piece, as it was before; None if the piece was changed or removed."""
    if planned_files.as_text(content).count(piece) != 1:
        return None
    return planned_files.as_text(planned_files.take_out_lines(content, [piece]))


def is_section(piece: str) -> bool:
    """True if a text may be a section of ours: one pair of markers, and nothing outside of them."""
    text = piece.strip("\r\n")
    is_framed = text.startswith(SECTION_BEGIN) and text.endswith(_SECTION_END)
    return is_framed and text.count(SECTION_BEGIN) == text.count(_SECTION_END) == 1
