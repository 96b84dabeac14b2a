"""Which tracker a worktree has, and in whose name it is spoken to."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.app.tracker_opening import note_of
from lifecycle.app.wiring import WorktreeWorld
from lifecycle.core.errors import BadConfig, NotInstalled
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.core.tracker import GITHUB
from lifecycle.sandbox.server import SandboxInfo
from lifecycle.storage.state_file import MemoryCache
from lifecycle.storage.store import CLAIM_FILE
from lifecycle.trackers import registry
from lifecycle.trackers.github.github_issues import GitHubIssues
from lifecycle.trackers.memory import MemoryTracker
from lifecycle.trackers.registry import OWN_COMMANDS
from tests.clones import clone
from tests.conftest import COMMAND, environment_of
from tests.factories import EXAMPLE
from tests.trackers.beads import simulated

PACKAGE = Path(__file__).parents[2] / "lifecycle"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A worktree with a remote."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    address = "https://github.com/octo-org/hello-service"
    remote = ["git", "-C", str(tmp_path), "remote", "add", "origin", address]
    subprocess.run(remote, check=True)
    return tmp_path


def world(root: Path, **environment: str) -> WorktreeWorld:
    """The world of a worktree; nothing is asked of anybody."""
    given = {"PATH": os.environ["PATH"], "HOME": str(root / "home"), **environment}
    return WorktreeWorld(root, given, SystemClock(), Deadline(SystemClock(), None), MemoryCache())


def with_program(root: Path, name: str) -> str:
    """A PATH on which there is git, and a program of this name."""
    folder = root / "programs"
    folder.mkdir()
    (folder / name).write_text("#!/bin/sh\nexit 1\n")
    (folder / name).chmod(0o755)
    git = Path(shutil.which("git") or "git").parent
    return f"{folder}{os.pathsep}{git}"


def configure(root: Path, text: str) -> None:
    """The project's settings."""
    (root / ".lifecycle.toml").write_text(text)


def test_github_is_the_tracker_where_no_other_is_found(root: Path) -> None:
    """Nothing is configured: the issues, and no other tracker inside."""
    made = world(root)
    assert isinstance(made.tracker, GitHubIssues)
    assert made.tracker.name == GITHUB
    assert made.inner_as("") is None


def test_a_database_and_its_program_are_found(root: Path) -> None:
    """Only both together: a folder without a program, or a program without a folder, is no tracker."""
    path = with_program(root, "bd")
    assert world(root, PATH=path).inner_as("") is None
    (root / ".beads").mkdir()
    nothing = str(root / "nothing")
    (root / "nothing").mkdir()
    assert registry.chosen(world(root, PATH=nothing)) == GITHUB
    assert registry.chosen(world(root, PATH=path)) == GITHUB, "nobody has allowed it"
    simulated.allow(root, {"HOME": str(root / "home")})
    found = world(root, PATH=path)
    assert found.tracker.name == "beads"
    inner = found.inner_as("")
    assert inner is not None
    assert inner.name == "beads"


def test_a_database_without_its_program_is_never_passed_over_silently(root: Path) -> None:
    """Without a token the program is what is missing; with one it is GitHub, with a note and a log line."""
    (root / ".beads").mkdir()
    path = with_program(root, "other")
    with pytest.raises(NotInstalled) as refusal:
        _ = world(root, PATH=path).tracker
    assert refusal.value.sentence == (
        ".beads is here, and bd is not on PATH, so no task was read or changed; install it, or set "
        "tracker.use in .lifecycle.toml to the tracker that you mean."
    )
    assert note_of(world(root, PATH=path)) == ""
    (root / ".lifecycle").mkdir()
    known = world(root, PATH=path, GH_TOKEN="ghp_" + "a" * 36)
    assert known.tracker.name == GITHUB
    note = note_of(known)
    assert note.startswith(".beads is here, and bd is not on PATH, so tasks are GitHub's issues; ")
    assert f"tracker: {note}" in (root / ".lifecycle" / "log").read_text()
    assert known.inner_as("") is None  # a claim on GitHub goes on without it


def test_a_folder_that_is_configured_is_missed_as_well(root: Path) -> None:
    """Its name in the settings is a word for that tracker; where one is named, nothing is guessed."""
    configure(root, 'tracker.folder = "tasks"')
    path = with_program(root, "other")
    with pytest.raises(NotInstalled) as refusal:
        _ = world(root, PATH=path).tracker
    assert refusal.value.sentence.startswith("tracker.folder is set, and bd is not on PATH, so ")
    configure(root, 'tracker.use = "github"\ntracker.folder = "tasks"')
    assert world(root, PATH=path).tracker.name == GITHUB
    assert note_of(world(root, PATH=path)) == ""


def test_the_configured_tracker_is_not_second_guessed(root: Path) -> None:
    """A name in the settings wins over what lies there."""
    path = with_program(root, "bd")
    (root / ".beads").mkdir()
    configure(root, 'tracker.use = "github"')
    assert world(root, PATH=path).inner_as("") is None
    configure(root, 'tracker.use = "memory"')
    made = world(root, PATH=path)
    assert isinstance(made.tracker, MemoryTracker)
    assert made.inner_as("") is not None


def test_an_unknown_tracker_is_refused_by_name(root: Path) -> None:
    """The sentence names those that there are."""
    configure(root, 'tracker.use = "jira"')
    with pytest.raises(BadConfig) as refusal:
        _ = world(root).tracker
    assert refusal.value.sentence == (
        'There is no tracker "jira", so no task was read; set tracker.use in .lifecycle.toml to '
        'one of "auto", "beads", "github", "memory".'
    )


def test_opening_one_asks_nobody_and_loads_no_other(root: Path) -> None:
    """No token, no program, no network: a tracker is opened all the same, and only its own modules."""
    configure(root, 'tracker.use = "memory"')
    code = (
        "import sys; from pathlib import Path; from lifecycle.core.timing import SystemClock as C\n"
        "from lifecycle.core.timing import Deadline as D\n"
        "from lifecycle.storage.state_file import MemoryCache as M\n"
        "from lifecycle.app.wiring import WorktreeWorld\n"
        "WorktreeWorld(Path.cwd(), {'PATH': '/usr/bin:/bin'}, C(), D(C(), None), M()).tracker\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert "lifecycle.trackers.memory" in loaded
    assert not loaded & {
        "lifecycle.trackers.github.github_issues",
        "lifecycle.trackers.beads.bd_tracker",
    }
    assert not loaded & {"github", "gql", "requests"}


def test_the_tasks_in_memory_are_the_worktrees(root: Path) -> None:
    """All trackers of one worktree and process share them; another worktree has its own."""
    configure(root, 'tracker.use = "memory"')
    made = world(root).tracker.create("a", title="Shared")
    assert world(root).tracker.get(made.id).title == "Shared"
    other = root / "other"
    other.mkdir()
    configure(other, 'tracker.use = "memory"')
    assert world(other).tracker.list() == ()


def test_an_agent_has_one_name_and_no_other_has_it(root: Path) -> None:
    """The same machine, worktree and session give the same name; any other gives another."""
    configure(root, 'tracker.use = "memory"')
    other = root / "other"
    other.mkdir()
    configure(other, 'tracker.use = "memory"')
    names = [
        world(place, **session).tracker.actor
        for place in (root, other)
        for session in ({}, {"CLAUDE_CODE_SESSION_ID": "a"}, {"CLAUDE_CODE_SESSION_ID": "b"})
    ]
    assert len(set(names)) == 6
    assert world(root, CLAUDE_CODE_SESSION_ID="b").tracker.actor == names[2]
    assert all(re.fullmatch(r"[\w.-]+-\d{12}", name) for name in names)


def test_the_claims_agent_speaks(root: Path) -> None:
    """Whoever works under a claim has the claim's name, before any other."""
    configure(root, 'tracker.use = "memory"')
    (root / CLAIM_FILE).write_text(json.dumps({**EXAMPLE, "agent_id": "octocat-1700000000"}))
    assert world(root, LIFECYCLE_ACTOR="ci").tracker.actor == "octocat-1700000000"


@pytest.mark.parametrize("content", ["", "{", '{"agent_id": ""}', '{"agent_id": "a b\\n--force"}'])
def test_a_claim_that_names_nobody_is_left_out(root: Path, content: str) -> None:
    """An empty, broken or strange name is nobody's; the configured one counts."""
    configure(root, 'tracker.use = "memory"')
    (root / CLAIM_FILE).write_text(content)
    assert world(root, LIFECYCLE_ACTOR="ci").tracker.actor == "ci"


def test_a_claim_that_came_with_the_repository_names_nobody(root: Path) -> None:
    """Whoever wrote the repository would choose in whose name is claimed."""
    configure(root, 'tracker.use = "memory"')
    (root / CLAIM_FILE).write_text(json.dumps({**EXAMPLE, "agent_id": "somebody-1"}))
    subprocess.run(["git", "-C", str(root), "add", "-f", CLAIM_FILE], check=True)
    assert world(root, LIFECYCLE_ACTOR="ci").tracker.actor == "ci"


@pytest.mark.parametrize("name", ["two words", "--help", "a\nb", "x" * 101])
def test_a_name_that_cannot_be_one_is_refused(root: Path, name: str) -> None:
    """It would be read as an option, or not fit into what others read."""
    configure(root, 'tracker.use = "memory"')
    with pytest.raises(BadConfig, match="LIFECYCLE_ACTOR must be a name without spaces"):
        _ = world(root, LIFECYCLE_ACTOR=name).tracker


def test_whoever_is_about_to_claim_speaks_as_the_claims_agent(root: Path) -> None:
    """There is no claim file yet: `inner_as` takes the name that it will hold."""
    configure(root, 'tracker.use = "memory"')
    made = world(root)
    inner, plain = made.inner_as("octocat-1"), made.inner_as("")
    assert inner is not None
    assert plain is not None
    assert (inner.actor, plain.actor) == ("octocat-1", made.tracker.actor)
    configure(root, 'tracker.use = "github"')
    assert world(root).inner_as("octocat-1") is None


def test_githubs_agent_is_named_by_its_account(sandbox: SandboxInfo, tmp_path: Path) -> None:
    """As the agents of claims are: the login, and digits of its own."""
    root = tmp_path / "clone"
    environment = environment_of(sandbox, root)
    clone(sandbox.git_url, root, environment)
    actor = world(root, **environment).tracker.actor
    assert re.fullmatch(r"octocat-\d{12}", actor)


@pytest.mark.parametrize("verb", ["show", "ready", "claim", "close", "label", "comment"])
def test_the_commands_that_agents_are_told_are_commands(root: Path, verb: str) -> None:
    """Each is understood: what it says is of the task that is not there, and not of its words."""
    configure(root, 'tracker.use = "memory"')
    words = getattr(OWN_COMMANDS, verb).replace("{id}", "mem-1").replace("{label}", "x")
    _, *arguments = shlex.split(words)
    done = subprocess.run(
        [COMMAND, *arguments],
        cwd=root,
        env={"PATH": os.environ["PATH"], "HOME": str(root), "LANG": "C.UTF-8"},
        input="What is said, as a heredoc gives it.",
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == (0 if verb == "ready" else 1), done.stderr
    assert verb == "ready" or "There is no task mem-1" in done.stderr


KNOWS = {
    "trackers/registry.py": "the line that says where its functions are",
    "trackers/command_signs.py": "the list of what speaks to any tracker, which has its words from there",
    "setup/init/supplies.py": "the command that `init` supplies is called as the design calls it",
}
"""Whose code may name bd, and why; what lies in `trackers/beads/` knows it."""


_BD = re.compile(r"\bbd\b|beads|BEADS")


def test_nothing_else_knows_that_bd_exists() -> None:
    """No code outside of its folder names it: not in a text, not in a name, not in an import."""
    found = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if "trackers/beads" not in str(path)
        and _BD.search(path.read_text(encoding="utf-8"))  # most have not the word at all
        and any(_BD.search(word) for word in _code_of(path))
    }
    assert found <= set(KNOWS)
    assert "trackers/registry.py" in found


def test_no_tracker_runs_gh() -> None:
    """What is asked of GitHub goes over its API; a word of what an agent may type is no call."""
    calls = [
        (path, node.lineno)
        for path in (PACKAGE / "trackers").rglob("*.py")
        if path.name != "command_signs.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value == "gh"
    ]
    assert calls == []


def _code_of(path: Path) -> Iterator[str]:
    """Every name and text in a file's code; docstrings and comments are prose."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
