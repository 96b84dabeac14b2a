"""`hooks/PostToolUse/workflow_sync.sh`: it becomes our hook, and is silent where that is wired already."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from lifecycle.setup.init.supplies import SYNC_SCRIPT, workflows

SHELLS = [shell for shell in ("sh", "dash", "bash") if shutil.which(shell)]
TEXT = next(file.text for file in workflows() if file.name == SYNC_SCRIPT)
EVENT = '{"hook_event_name": "PostToolUse", "tool_name": "Agent"}'


def test_there_is_a_shell_to_run_it_with() -> None:
    """The tests below are of each shell that is here; there is one at least."""
    assert "sh" in SHELLS


@pytest.fixture(params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    """Each shell that is here."""
    return str(shutil.which(request.param))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the script, and a user's folder that says where our hooks lie."""
    root = tmp_path / "a project"
    (root / SYNC_SCRIPT).parent.mkdir(parents=True)
    (root / SYNC_SCRIPT).write_text(TEXT)
    hooks = tmp_path / "our hooks"
    hooks.mkdir()
    (hooks / "workflow-agent").write_text('#!/bin/sh\nread -r line\necho "heard $line in $PWD"\n')
    (hooks / "workflow-agent").chmod(0o755)
    config = tmp_path / "home/.config/lifecycle"
    config.mkdir(parents=True)
    (config / "hooks").write_text(f"{hooks}\n")
    (root / ".claude").mkdir()
    return root


def run(shell: str, project: Path) -> tuple[int, str, str]:
    """Start it as the client would; exit code, stdout, stderr."""
    done = subprocess.run(
        [shell, str(project / SYNC_SCRIPT)],
        env={
            "PATH": "/nowhere",
            "HOME": str(project.parent / "home"),
            "CLAUDE_PROJECT_DIR": str(project),
        },
        input=EVENT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def wired(command: str) -> str:
    """Settings in which a command hears the launch of an agent."""
    hook = {"type": "command", "command": command}
    group = {"matcher": "Agent|Task", "hooks": [hook]}
    return json.dumps({"hooks": {"PostToolUse": [group]}}, indent=2)


def test_it_becomes_our_hook(shell: str, project: Path) -> None:
    """The event reaches it as it came, in the project's folder, where nothing else runs it."""
    (project / ".claude/settings.json").write_text(wired(f"{project}/{SYNC_SCRIPT}"))
    assert run(shell, project) == (0, f"heard {EVENT} in {project}\n", "")


@pytest.mark.parametrize(
    "command", ["/opt/x/hooks/workflow-agent", "lifecycle hook workflow-agent"]
)
@pytest.mark.parametrize("name", ["settings.json", "settings.local.json"])
def test_where_our_hook_is_wired_it_ends_at_once(
    shell: str, project: Path, command: str, name: str
) -> None:
    """Nothing is noted twice, whichever of the project's files has it."""
    (project / ".claude" / name).write_text(wired(command))
    assert run(shell, project) == (0, "", "")


def test_the_users_own_settings_count_too(shell: str, project: Path) -> None:
    """Hooks of a person's own settings run in each of their projects."""
    own = project.parent / "home/.claude"
    own.mkdir()
    (own / "settings.json").write_text(wired("/opt/x/hooks/workflow-agent"))
    assert run(shell, project) == (0, "", "")


def test_an_enabled_plugin_runs_it_unless_init_silenced_it(shell: str, project: Path) -> None:
    """The plugin's hooks are silent where `init` wired the project, and at work elsewhere."""
    text = '{"enabledPlugins": {"lifecycle@lifecycle": true, "other@other": true}}'
    (project / ".claude/settings.json").write_text(text)
    assert run(shell, project) == (0, "", "")
    (project / ".claude/lifecycle.json").write_text("{}")
    assert run(shell, project)[1].startswith("heard ")
    (project / ".claude/lifecycle.json").unlink()
    (project / ".claude/settings.json").write_text(text.replace("true", "false", 1))
    assert run(shell, project)[1].startswith("heard ")


def test_without_lifecycle_it_ends_quietly(shell: str, project: Path) -> None:
    """Exit 0 and not a word: a project may commit it, and somebody has no lifecycle."""
    shutil.rmtree(project.parent / "home")
    assert run(shell, project) == (0, "", "")
