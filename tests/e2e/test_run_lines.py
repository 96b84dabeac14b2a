"""Every line that the workflow's page shows, typed as it stands there, in the order of a story."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lifecycle.core.timing import Deadline
from lifecycle.run.run_store import RunStore
from lifecycle.run.state import Run
from tests.conftest import COMMAND, ManualClock
from tests.persons import at_terminal, variables_of_a_client

LINES = (
    """
add-clarification "Question" "Assumed: best judgment" --phase pre-analysis --category scope
add-clarification "What payment provider?" "Stripe" --phase pre-analysis --category technical
add-clarification "Real-time tech?" "SignalR" --phase pre-analysis --category technical
add-clarification "External dependency: Stripe API" "Using sandbox mode for tests" --phase development \
--category external
init "Goal: Implement payment processing"
init "Goal description"
recover
add-story "Story title" --size M
add-story "Story title" --size L --security
add-story "Title" --size M
add-story "Title" --size M --security
tdd-phase S1 red
tdd-phase S1 green
tdd-phase S1 refactor
tdd-phase S1 verify
tdd-validate S1 green
tdd-status S2
add-failure S1 "Connection refused: database not available"
add-failure S1 "API key not configured" --category external
retry-recommendation S1
add-blocker "Stripe API credentials not available for testing" --severity high
add-blocker "Stripe API key not configured in .env" --severity high
await-user-fix 0 "Add Stripe API key to .env file" --check-command "dotnet build" --timeout 60
check-user-fix
user-fix-complete --notes "Added test API key from Stripe dashboard"
resume-context
scan-dependencies S1
update-phase lint-fix
update-story S1 in_progress
update-story S1 testing
update-story S1 review
update-story S1 completed
verify S1 testsPass --passed
verify S1 coverageMet --passed --details "85%"
verify S1 reviewApproved --passed
verify S1 securityCleared --passed
status
progress --lines 20
compact-context
trim-progress --lines 100
mark-working-state
rollback-to-checkpoint
complete
""".replace("\\\n", "")
    .strip()
    .splitlines()
)
"""What stands behind `python .claude/core/state.py`, each line once."""

PLATFORM = {
    "name": "own",
    "displayName": "Own",
    "markers": ["code.py"],
    "priority": 5,
    "commands": {
        "build": [sys.executable, "-m", "py_compile", "code.py"],
        "test": [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        "coverage": ["echo", "TOTAL 85%"],
        "lint": ["grep", "-q", "^def", "code.py"],
    },
    "coverage": {"pattern": "^TOTAL (\\d+)%"},
    "qualityGates": {"coverage": {"M": 75, "L": 75}},
}
VIOLATION = (
    "STOP. TDD violation detected.\n"
    "Current phase: none\n"
    "Expected: red (write failing test first)\n"
    "Developer must write a failing test before implementation.\n"
)
STATE = "python .claude/core/state.py "


class Typist:
    """Types lines in a worktree that `lifecycle init --run` has set up, as the agent's shell does."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root, self.home = root, home
        self.typed: set[str] = set()
        binaries = home / "bin"
        binaries.mkdir(parents=True)
        (binaries / "python").symlink_to(sys.executable)
        self.variables = {
            "PATH": f"{binaries}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(home),
            "LIFECYCLE_BIN": str(COMMAND),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        folder = home / ".config/lifecycle/platforms/own"
        folder.mkdir(parents=True)
        (folder / "platform.json").write_text(json.dumps(PLATFORM))

    @property
    def run(self) -> Run:
        """The run as it stands."""
        store = RunStore(self.root, self.variables, Deadline.after(ManualClock(), 60))
        return store.demanded()

    def sh(self, line: str, code: int = 0) -> str:
        """What a line of sh prints; it ends so."""
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=self.root,
            env={**self.variables, **variables_of_a_client()},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, (line, done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in done.stdout + done.stderr
        return done.stdout if code == 0 else done.stdout + done.stderr

    def line(self, words: str, code: int = 0, *, keeps: bool = True) -> str:
        """Type a line of the page: as JSON the first time, which is undone, and then as it stands.

        Args:
            words: what follows the script.
            code: how it has to end.
            keeps: what it did stays.
        """
        if words not in self.typed:
            self.typed.add(words)
            self._undone(lambda: self._json(words, code))
        if not keeps:
            return str(self._undone(lambda: self.sh(f"{STATE}{words}", code)))
        return self.sh(f"{STATE}{words}", code)

    def person(self, words: str) -> str:
        """A person types it, in a terminal of theirs."""
        self.typed.add(words)
        command = ["/bin/sh", "-c", f"{STATE}{words}"]
        code, shown = at_terminal(command, self.root, self.variables)
        assert code == 0, shown
        return shown

    def write(self, path: str, text: str) -> None:
        """Write a file of the project."""
        (self.root / path).write_text(text)

    def _json(self, words: str, code: int) -> None:
        printed = self.sh(f"{STATE}{words} --json", code)
        data = json.loads(printed.splitlines()[0])
        assert isinstance(data, dict), words

    def _undone(self, act: Any) -> Any:
        """What the act gives, with the run's files as they were before."""
        folders = (".claude", ".lifecycle")
        kept = self.home / "kept"
        for name in folders:
            shutil.copytree(self.root / name, kept / name, dirs_exist_ok=True, symlinks=True)
        try:
            return act()
        finally:
            for name in folders:
                shutil.rmtree(self.root / name, ignore_errors=True)
                shutil.copytree(kept / name, self.root / name, symlinks=True)
            shutil.rmtree(kept)


@pytest.fixture
def typist(tmp_path: Path) -> Typist:
    """A committed project with a run's files."""
    root = tmp_path / "work"
    made = Typist(root, tmp_path / "home")
    subprocess.run(["git", "init", "--quiet", root], check=True)
    made.sh("git config user.name A && git config user.email a@example.com")
    made.write("code.py", "def one():\n    return 1\n")
    made.write("test_one.py", "from code import *\n\ndef test_one():\n    pass\n")
    made.write(".gitignore", "__pycache__/\n.claude/\n.lifecycle/\n")
    made.sh("git add . && git commit --quiet -m Begin")
    made.sh(f"{COMMAND} init --run")
    (root / ".lifecycle").mkdir(exist_ok=True)
    return made


# Two hundred processes one after the other: the limit ends what hangs, and nothing in here depends on it.
@pytest.mark.soak("cli/run/test_design_lines.py::test_the_designs_lines_work_verbatim")
@pytest.mark.timeout(300)
def test_every_line_of_the_page(typist: Typist) -> None:
    """Each prints what the page says, and `--json` gives a machine the same."""
    _analysis(typist)
    _cycle(typist)
    _trouble(typist)
    _completed(typist)
    _looks(typist)
    _second(typist)
    _lint(typist)
    _end(typist)
    assert sorted(set(LINES) - typist.typed) == []


def _analysis(typist: Typist) -> None:
    line = typist.line
    assert "| Existing workflow | No |" in line("recover")
    for words in LINES[:3]:
        assert "the next run adopts it" in line(words)
    assert "Initialized workflow: " in line(LINES[4])
    assert [one.answer for one in typist.run.clarifications][1:] == ["Stripe", "SignalR"]
    assert "is not over" in line('init "Goal description"', 1)
    assert line('add-story "Story title" --size M').startswith("Added story: S1 Story title")
    assert line('add-story "Story title" --size L --security').startswith("Added story: S2 ")
    for words in ('add-story "Title" --size M', 'add-story "Title" --size M --security'):
        assert line(words, keeps=False).startswith("Added story: S3 Title")
    assert "| S2 | Story title | L | Yes |" in line("questions pre-plan")
    line('add-clarification "Story order?" "As it is" --phase pre-plan')
    line(
        'story-plan S1 --criterion "it pays with stripe" --criterion "it mails by sendgrid"'
        ' --design "A function" --file code.py'
    )
    line('story-plan S2 --criterion "it is safe" --design "A check" --file code.py --depends-on S1')
    line("update-phase development")
    line(LINES[3])
    assert typist.run.clarifications[-1].category == "external"


def _cycle(typist: Typist) -> None:
    line = typist.line
    scanned = line("scan-dependencies S1")
    assert scanned.startswith("Detected 2 external dependencies:\n[payment] payment_processing\n")
    assert "Updated story S1: in_progress" in line("update-story S1 in_progress")
    assert json.loads(line("tdd-validate S1 green")) == {"valid": False, "expected": "red"}
    assert line("tdd-phase S1 green", 1).startswith(VIOLATION)
    line("tdd-phase S1 red")
    typist.write("test_two.py", "import code\n\ndef test_two():\n    assert code.one() == 2\n")
    typist.sh(f"{COMMAND} check test", 1)
    assert json.loads(line("tdd-validate S1 green")) == {"valid": True}
    line("tdd-phase S1 green")
    added = line('add-failure S1 "Connection refused: database not available"')
    assert added == "Added failure: F1 [infra]\n"
    told = json.loads(line("retry-recommendation S1"))
    assert told == {"should_retry": True, "backoff_seconds": 30}
    added = line('add-failure S1 "API key not configured" --category external', keeps=False)
    assert added.startswith("Added failure: F2 [external]\n")
    typist.write("code.py", "def one():\n    return 2\n")
    typist.sh(f"{COMMAND} check test")
    line("tdd-phase S1 refactor")
    line("tdd-phase S1 verify")


def _trouble(typist: Typist) -> None:
    line = typist.line
    line(
        'add-blocker "Stripe API credentials not available for testing" --severity high',
        keeps=False,
    )
    added = line('add-blocker "Stripe API key not configured in .env" --severity high')
    assert added.startswith("Added blocker: B1 (index 0) [high]")
    asked = LINES[22]
    told = json.loads(line(asked, keeps=False))
    assert (told["status"], told["check_command"]) == ("awaiting_user", "dotnet build")
    assert told["instructions"][:2] == [
        "1. Fix the issue: Add Stripe API key to .env file",
        "2. Run verification: dotnet build",
    ]
    typist.sh(STATE + asked.replace("dotnet build", "test -f .env"))
    assert json.loads(line("check-user-fix"))["can_resume"] is False
    typist.write(".env", "KEY=1\n")
    assert json.loads(line("check-user-fix")) == {
        "is_fixed": True,
        "verified": True,
        "can_resume": True,
    }
    typist.person(LINES[24])
    assert "| Current story | S1 Story title |" in line("recover")
    context = json.loads(line("resume-context"))
    assert (context["goal"], context["current_story"]["id"]) == (
        "Implement payment processing",
        "S1",
    )
    assert context["recently_resolved_blockers"][0]["index"] == 0
    assert json.loads(line("tdd-status S2")) == "none"
    (typist.root / ".env").unlink()


def _completed(typist: Typist) -> None:
    line = typist.line
    for status in ("testing", "review"):
        assert f"Updated story S1: {status}" in line(f"update-story S1 {status}")
    for words in LINES[32:36]:
        line(words, keeps="securityCleared" not in words)
    assert "G5" in line("update-story S1 completed", 1)
    typist.sh(f"git add . && git commit --quiet -m 'Two' && {COMMAND} trust --yes || true")
    for number in (1, 2):
        line(f"criterion S1 {number} met")
    for gate in ("G2", "G3", "G4", "G5"):
        typist.sh(f"{COMMAND} run gate {gate}")
    line("verify S1 reviewApproved --passed")
    assert "Updated story S1: completed" in line("update-story S1 completed")


def _looks(typist: Typist) -> None:
    line = typist.line
    shown = line("status")
    assert re.search(r"\| S1 \| Story title \| M \| completed \| verify \|", shown)
    assert "| S2 | Story title (security) | L | pending |" in shown
    assert "Story S1: completed" in line("progress --lines 20")
    assert "## Compact Context" in line("compact-context")
    assert "lines are left" in line("trim-progress --lines 100")
    line("mark-working-state")
    line("rollback-to-checkpoint", keeps=False)
    build = 'eval "$(python .claude/core/platform.py get-command build)"'
    test = 'eval "$(python .claude/core/platform.py get-command test)"'
    lint = "$(python .claude/core/platform.py get-command lintFix 2>/dev/null || echo none)"
    typist.sh(f"{build} && {test} && test {lint} = none")


def _second(typist: Typist) -> None:
    """The security-sensitive story, whose code the linter does not like."""
    line = typist.line
    assert "S2" in line("complete", 1)
    typist.sh(f"{STATE}update-story S2 in_progress")
    typist.sh(f"{STATE}tdd waive S2 --reason 'a comment'")
    typist.write("code.py", "one = lambda: 2\n")
    typist.sh("git commit --quiet --all -m 'Checked'")
    typist.sh(f"{STATE}criterion S2 1 met")
    for gate in ("G2", "G3", "G4", "G5"):
        typist.sh(f"{COMMAND} run gate {gate}")
    typist.sh(f"{STATE}verify S2 reviewApproved --passed")
    assert "securityCleared" in typist.sh(f"{STATE}update-story S2 completed", 1)
    typist.sh(f"{STATE}verify S2 securityCleared --passed")
    typist.sh(f"{STATE}update-story S2 completed")


def _lint(typist: Typist) -> None:
    """The last gate fails on lint alone, and passes once the form is mended."""
    printed = typist.sh(f"{COMMAND} run gate G7", 1)
    assert "## Pre-PR Verification (Gate G7)" in printed
    assert re.search(r"\| Lint \| `.*` \| FAIL \|", printed)
    assert "lint-fix" in typist.line("update-phase lint-fix")
    typist.write("code.py", "def one():\n    return 2\n")
    typist.sh("git commit --quiet --all -m 'Form'")
    assert "Proceeding with PR creation." in typist.sh(f"{COMMAND} run gate G7")


def _end(typist: Typist) -> None:
    """Without a remote the run is completed without a pull request, and `complete` prints its block."""
    for by, verdict in (("reviewer", "APPROVED"), ("security", "CLEARED")):
        told = typist.sh(f"{COMMAND} run finish 2>&1", 1)
        assert f"code.py changed after the last review by {by}" in told, "the lint fix, too"
        typist.sh(f"{COMMAND} run review S2 --by {by} --verdict {verdict}")
    assert "No pull request was made" in typist.sh(f"{COMMAND} run finish")
    block = typist.sh(f"{STATE}complete")
    for part in ("## WORKFLOW_COMPLETE", "**Status:** SUCCESS", "**Stories Completed:** 2/2"):
        assert part in block
    assert "All stories verified." in block
    assert "| Existing workflow | No |" in typist.sh(f"{STATE}recover")
