"""The simulated bd is held to what five real builds answered, step by step."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.forked import Forked
from tests.repeated import soaked
from tests.trackers.beads import simulated
from tests.trackers.beads.program.answers import Build
from tests.trackers.beads.program.main import answer

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_REVISION = re.compile(r'"revision": "-?\d+"')
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def _plain(text: str) -> str:
    """The output with times and comment ids made equal; JSON without its layout and its order."""
    text = _REVISION.sub('"revision": ""', _UUID.sub("UUID", _TIME.sub("TIME", text)))
    try:
        return json.dumps(json.loads(text), sort_keys=True, ensure_ascii=False)
    except ValueError:
        return text


def _steps(profile: str) -> list[dict[str, Any]]:
    lines = (simulated.RECORDED / f"{profile}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def _ids(steps: list[dict[str, Any]]) -> tuple[str, ...]:
    made = [step for step in steps if step["name"] in ("create", "create2", "create3")]
    return tuple(json.loads(step["stdout"])["id"] for step in made)


def _started(folder: Path, arguments: list[str], around: dict[str, str]) -> tuple[int, str, str]:
    """One command as a process."""
    done = subprocess.run(
        [folder / "bd", *arguments], env=around, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.started
@pytest.mark.parametrize(
    ("profile", "is_started"),
    [*((one, False) for one in simulated.RECORDINGS), soaked(simulated.PROFILES[-1], True)],
)
def test_it_answers_as_the_real_one_did(
    profile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_started: bool
) -> None:
    """All recorded command lines in their order: same exit codes, same stdout, same stderr.

    By the function that the process calls; of the newest as processes, too.
    """
    steps = _steps(profile)
    folder, root = tmp_path / "bin", tmp_path / "demo"
    simulated.install(folder, profile)
    root.mkdir()
    monkeypatch.chdir(root)
    base = simulated.environment(
        folder, BEADS_ACTOR="agent-1", BD_ACTOR="agent-1", SIMULATED_IDS=",".join(_ids(steps))
    )
    wrong = {}
    for step in steps:
        arguments, around = step["argv"][1:], {**base, **step["env"]}
        if is_started:
            code, out, err = _started(folder, arguments, around)
        else:
            code, out, err = answer(Build(profile), arguments, around)
        got = code, _plain(out), _plain(err)
        wanted = step["rc"], _plain(step["stdout"]), _plain(step["stderr"])
        if got != wanted:
            wrong[step["name"]] = f"{got}\n  instead of\n{wanted}"
    assert len(steps) == 75
    assert not wrong, "\n".join(f"{name}: {what}" for name, what in wrong.items())


FAULTS = ("none", "die-before", "die-after", "garbage", "noise")
LINES = (
    ["create", "--title=A “task”\nof two lines", "--labels=a,b", "--json"],
    ["list", "--json"],
    ["create", "--help"],
    ["nonsense"],
)


def test_a_fork_is_to_everybody_what_a_started_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same exit codes, signals too, the same words, and the same notes, but for who leads a group."""

    def ran(folder: Path, root: Path) -> list[Any]:
        simulated.install(folder)
        simulated.workspace(root, folder)
        around = simulated.environment(folder, BEADS_ACTOR="agent-1")
        monkeypatch.chdir(root)
        told: list[Any] = []
        for fault in FAULTS:
            simulated.fault(folder, "list --json", fault)
            for code, out, err in (_started(folder, line, around) for line in LINES):
                told.append((code, _plain(out), _plain(err)))
        calls = simulated.calls(folder)
        return [*told, *({**call, "cwd": call["cwd"] == str(root), "leads": 0} for call in calls)]

    forked = ran(tmp_path / "bin", tmp_path / "demo")
    monkeypatch.setattr(Forked, "bd", None)
    assert ran(tmp_path / "other bin", tmp_path / "other") == forked
    assert {code for code, *_ in forked[: len(FAULTS) * len(LINES)]} == {0, 1, -9}


def test_a_linked_worktree_has_the_main_one_s_database(tmp_path: Path) -> None:
    """bd in a linked worktree speaks to the database of the main worktree."""
    folder, root = tmp_path / "bin", tmp_path / "demo"
    simulated.install(folder)
    simulated.workspace(root, folder)
    made = simulated.create(folder, root, "A task", "auto-workflow")
    other = tmp_path / "other"
    other.mkdir()
    (other / ".git").write_text(f"gitdir: {root}/.git/worktrees/other\n")
    assert [task["id"] for task in simulated.run(folder, other, "ready")] == [made]
    assert [path.name for path in other.iterdir()] == [".git"]
