"""Plays one task on the embedded GitHub: claim → code → PR → checks → merge → close.

Nothing is simulated except GitHub, which is embedded and answers over HTTP: git pushes over smart HTTP, and
the agent's side is the real `lifecycle` command and the real hook scripts, each a process of its own.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from lifecycle.claim.decisions.table import Phase
from lifecycle.cli import terminal
from lifecycle.core.errors import Refused
from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.core.messages.figures import count
from lifecycle.core.plan import REPLIES
from lifecycle.core.timing import ran
from lifecycle.core.values.priorities import Status
from lifecycle.sandbox.checks.state import PlannedCheck
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.server import Sandbox, SandboxInfo
from lifecycle.settings.resources import hook_script
from lifecycle.storage.store import CLAIM_FILE

ISSUE = 42

WIDTH = 100
"""The most columns: in a wider row the words of a line are too far apart."""

_COLOURS = {"agent": "cyan", "hook": "magenta", "human": "green"}

_STEP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class DemoStep:
    """One step of the story.

    Attributes:
        who: "human", "agent" or "hook".
        what: what they did.
        heard: the text that the agent or the person got because of it.
        requests: how many requests it sent to GitHub's API.
        board: the task's Status on the board afterwards.
    """

    who: str
    what: str
    heard: str
    requests: int
    board: str


@dataclass(slots=True)
class DemoStory:
    """The steps of the story, and the state of GitHub and the worktree at its end."""

    steps: list[DemoStep] = field(default_factory=list)
    seconds: float = 0.0
    is_closed: bool = False
    comment: str = ""
    board: str = ""
    agent: str = ""
    is_claim_gone: bool = False

    @property
    def is_good(self) -> bool:
        """True if the issue is closed, the board Done with no agent on it, and the claim file gone."""
        is_done = self.is_closed and self.comment.startswith("Completed in #")
        return is_done and self.board == Status.DONE and not self.agent and self.is_claim_gone


def tell(*, quiet: bool) -> DemoStory:
    """Play the story and return it; print its title, each step and its end, unless `quiet`.

    Raises:
        Refused: a process of the story failed, or no pull request was opened.
    """
    started = time.monotonic()
    console = terminal.fitted(terminal.console(quiet=quiet), WIDTH)
    says = ", on an embedded GitHub: real git, real HTTP, real hooks\n"
    console.print(Text.assemble(("claim to close", "bold"), says))
    with Sandbox() as sandbox, tempfile.TemporaryDirectory(prefix="lifecycle-demo-") as folder:
        stage = _Stage(sandbox.info, Path(folder), console)
        _play(stage)
        _end(stage)
    stage.story.seconds = round(time.monotonic() - started, 1)
    _print_end(console, stage.story)
    return stage.story


class _Stage:
    """The place of the story: the worktree, its processes, and the count of requests."""

    def __init__(self, info: SandboxInfo, folder: Path, console: Console) -> None:
        self.control = Control(info.control_url)
        self.root = folder / "hello-service"
        self.story = DemoStory()
        self.console = console
        self.counted = 0
        self.environment = _environment(info, folder)
        author = ("-c", "user.name=Agent", "-c", "user.email=agent@example.com")
        self.run("git", "clone", "--quiet", *author, info.git_url, str(self.root), cwd=folder)
        (self.root / ".lifecycle.toml").write_text("[checks]\npoll_seconds = 0.001\n")

    def run(self, *command: str, cwd: Path | None = None, stdin: str = "") -> str:
        """Run a process and return its output; raises Refused unless it exits with 0 or 2."""
        where = cwd or self.root
        status, out, err = ran(command, _STEP_SECONDS, self.environment, where, given=stdin)
        if status not in (0, 2):
            what = f"{' '.join(command[:3])} exited {status}: {(err or out).strip()}"
            raise Refused(f"The demo did not finish: {what}")
        return out + err

    def lifecycle(self, what: str, *arguments: str) -> None:
        """Run the `lifecycle` command, as the agent does in the step `what`."""
        self.happened("agent", what, self.run(self.environment["LIFECYCLE_BIN"], *arguments))

    def hook(self, name: str, what: str = "", **fields: str) -> str:
        """Run a hook as the client does, in the step `what` if one is given.

        Returns:
            The text for the agent or the person.
        """
        payload = {"hook_event_name": REPLIES[name].event, "session_id": "demo", **fields}
        heard = self.run("sh", str(hook_script(name)), stdin=json.dumps(payload))
        with suppress(ValueError):  # what is no JSON wakes the session
            reply = json.loads(heard)
            context = reply.get("hookSpecificOutput", {}).get("additionalContext")
            texts = (reply.get("reason"), reply.get("systemMessage"), context)
            heard = "\n".join(filter(None, texts))
        if what:
            self.happened("hook", f"{name}: {what}", heard)
        return heard

    def commit(self, name: str, text: str, message: str) -> None:
        """Commit one file, as the agent's work."""
        (self.root / name).write_text(text)
        self.run("git", "add", name)
        self.run("git", "commit", "--quiet", "-m", message)

    def happened(self, who: str, what: str, heard: str = "") -> None:
        """Add a step, with the requests since the last one and the board's Status."""
        api = [request for request in self.control.requests() if request.kind != "git"]
        board = self.control.world()["board"][str(ISSUE)]["values"].get("Status") or "-"
        step = DemoStep(who, what, heard.strip(), len(api) - self.counted, board)
        self.counted = len(api)
        self.story.steps.append(step)
        _print_step(self.console, step)


_HAND_OFF = ("handoff", "--summary", "Fix race condition in the task queue")


def _play(stage: _Stage) -> None:
    stage.control.plan_checks(
        PlannedCheck(name="lint", after_reads=1),
        PlannedCheck(name="test", conclusion="failure", after_reads=1),
    )
    stage.hook("session-start", source="startup")
    stage.happened("hook", "session-start: tells the agent what the board holds")
    stage.lifecycle(f"lifecycle claim {ISSUE}", "claim", str(ISSUE))
    stage.hook("on-stop", "nothing changed")
    stage.commit("queue.py", "tasks: list[str] = []\n", "Guard the queue")
    stage.lifecycle("writes code, commits, lifecycle handoff", *_HAND_OFF)
    stage.hook("on-stop", "opens the PR")
    stage.hook("on-idle", "no check has registered, so not green")
    printed = stage.hook("on-idle", "CI failed, the agent is woken")
    stage.hook("user-prompt-submit", prompt=f"<task-notification>{printed}</task-notification>")

    stage.control.plan_checks(PlannedCheck(name="lint"), PlannedCheck(name="test"))
    stage.commit("queue.py", "tasks: set[str] = set()\n", "Keep tasks unique")
    stage.lifecycle("fixes, commits, hands off again", *_HAND_OFF)
    stage.hook("on-idle", "CI is green for the new head")

    pulls = stage.control.world()["pulls"]
    number = next((int(name) for name, pull in pulls.items() if pull["state"] == "open"), None)
    if number is None:  # a machine so busy that the hook's deadline came first
        why = "no pull request was opened; the hook said above why"
        raise Refused(f"The demo did not finish: {why}")
    stage.control.merge_pull(number, method="squash", delete_branch=True)
    stage.happened("human", f"merges PR #{number} on GitHub")
    stage.hook("on-idle", "sees the merge and asks")
    stage.hook("user-prompt-submit", prompt="yes")
    claim_file = stage.root / CLAIM_FILE
    claim_file.write_text(json.dumps({**json.loads(claim_file.read_text()), "phase": Phase.DONE}))
    stage.happened("agent", 'the human says "yes"; writes "phase": "done"')
    stage.hook("on-stop", "closes the issue")
    stage.hook("on-stop", "nothing left")


def _end(stage: _Stage) -> None:
    world = stage.control.world()
    issue, board_item = world["issues"][str(ISSUE)], world["board"][str(ISSUE)]
    story = stage.story
    story.is_closed = issue["state"] == "closed"
    story.comment = issue["comments"][-1]["body"] if issue["comments"] else ""
    story.board = board_item["values"].get("Status") or ""
    story.agent = board_item["values"].get("Agent") or ""
    story.is_claim_gone = not (stage.root / CLAIM_FILE).exists()


def _environment(info: SandboxInfo, folder: Path) -> dict[str, str]:
    """The environment of the processes: the embedded GitHub, and none of the user's own settings."""
    command = folder / "lifecycle"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m lifecycle "$@"\n')
    command.chmod(0o755)
    ours = ("LIFECYCLE_", "MOLTNET_", "GIT_", "GITHUB_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {
        "GITHUB_API_URL": info.api_url,
        "GITHUB_GRAPHQL_URL": info.graphql_url,
        "GH_TOKEN": info.token,
        "LIFECYCLE_PROJECT_NUMBER": str(info.project_number),
        "LIFECYCLE_PROJECT_OWNER": str(info.project_owner),
        "LIFECYCLE_BIN": str(command),
        "CLAUDE_PROJECT_DIR": str(folder / "hello-service"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        # The demo acts as the client, attended by a person.
        "CLAUDECODE": "1",
        "CLAUDE_PID": str(os.getpid()),
        "CLAUDE_CODE_SESSION_ATTENDED": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }


def _print_step(console: Console, step: DemoStep) -> None:
    """Print one step as a row: who, what, requests and board; below it the text that was heard."""
    requests, board = Column(width=10, justify="right"), Column(width=11)
    row = Table.grid(Column(width=5), Column(ratio=1), requests, board, padding=(0, 2), expand=True)
    who = Text(step.who, style=f"bold {_COLOURS.get(step.who, 'white')}")
    status = Text(step.board, style="bold green" if step.board == "Done" else "dim")
    cost = Text(count(step.requests, "request"), style="dim")
    row.add_row(who, Text(step.what, style="dim"), cost, status)
    console.print(row)
    if step.heard:
        style = "red" if "FAILED" in step.heard else "green" if "passed!" in step.heard else ""
        console.print(Padding(Text(step.heard, style=style), (0, 0, 0, 7), expand=False))


def _print_end(console: Console, story: DemoStory) -> None:
    """Print how the story ended."""
    total = sum(step.requests for step in story.steps)
    if story.is_good:
        end = f'closed, "{story.comment.splitlines()[0]}", board {story.board}, Agent cleared'
        says = f" in {story.seconds} s with {total} requests: #42 {end}."
        console.print(Text.assemble("\n", ("done", "bold green"), says))
        return
    state = "closed" if story.is_closed else "open"
    says = f": #42 is {state}, the board says {story.board or 'nothing'}."
    console.print(Text.assemble("\n", ("failed", "bold red"), says))
