"""Every command line that the design shows, as it stands there: through the shims, by a shell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lifecycle.setup.init.supplies import CORE, runs
from tests.conftest import COMMAND
from tests.platforms.platform_ground import OWN, put
from tests.run.run_ground import RunGround

STATE = "python .claude/core/state.py"
PLATFORM = "python .claude/core/platform.py"

LINES = {
    # The session's start, and what is asked.
    f"{STATE} recover": "## Session Recovery",
    f'{STATE} add-clarification "Question" "Assumed: best judgment" --phase pre-analysis '
    "--category scope": "[pre-analysis]",
    f'{STATE} add-clarification "What payment provider?" "Stripe" --phase pre-analysis '
    "--category technical": "Stripe",
    f'{STATE} add-clarification "Real-time tech?" "SignalR" --phase pre-analysis '
    "--category technical": "SignalR",
    # The run and its stories.
    f'{STATE} init "Goal: Implement payment processing"': "Implement payment processing",
    f'{STATE} add-story "Story title" --size M': "S1",
    f'{STATE} add-story "Pay with stripe, mail by sendgrid" --size L --security': "S2",
    f"{STATE} scan-dependencies S2": "Detected 2 external dependencies:",
    f"{STATE} status": "S1",
    f"{STATE} progress --lines 20": "Added story: S1",
    f"{STATE} compact-context": "Implement payment processing",
    f"{STATE} trim-progress --lines 100": "",
    # The plan, by commands of our own.
    f"{STATE} add-clarification 'Order?' 'As it is' --phase pre-plan": "[pre-plan]",
    f"{STATE} story-plan S1 --criterion 'It pays' --design 'One module' --file pay.py": "S1",
    f"{STATE} story-plan S2 --criterion 'It mails' --design 'One module' --file mail.py": "S2",
    f"{STATE} update-phase development": "Updated phase: development",
    # A story's cycle; what nothing has shown is refused in a sentence.
    f"{STATE} tdd-validate S1 green": '{"valid": false, "expected": "red"}',
    f"{STATE} tdd-status S1": "none",
    f"{STATE} tdd-phase S1 green": "STOP. TDD violation detected.",
    f"{STATE} tdd-phase S1 refactor": "STOP. TDD violation detected.",
    f"{STATE} tdd-phase S1 verify": "STOP. TDD violation detected.",
    f"{STATE} update-story S1 in_progress": "Updated story S1: in_progress",
    f"{STATE} tdd-phase S1 red": "red",
    f"{STATE} update-story S1 testing": "",
    f"{STATE} update-story S1 review": "",
    f"{STATE} update-story S1 completed": "",
    f"{STATE} update-phase lint-fix": "",
    f"{STATE} complete": "",
    # Words about checks are kept as words.
    f"{STATE} verify S1 testsPass --passed": "testsPass PASSED",
    f'{STATE} verify S1 coverageMet --passed --details "85%"': "85%",
    f"{STATE} verify S1 reviewApproved --passed": "reviewApproved PASSED",
    f"{STATE} verify S1 securityCleared --passed": "securityCleared PASSED",
    # What fails.
    f'{STATE} add-failure S1 "Connection refused: database not available"': (
        "Added failure: F1 [infra]"
    ),
    f"{STATE} retry-recommendation S1": '"should_retry": true',
    f'{STATE} add-failure S1 "API key not configured" --category external': "[external]",
    f'{STATE} add-clarification "External dependency: Stripe API" "Using sandbox mode for tests" '
    "--phase development --category external": "[development]",
    f'{STATE} add-blocker "Stripe API credentials not available for testing" --severity high': "B1",
    # Platforms.
    f"BUILD_CMD=$({PLATFORM} get-command build)\n"
    f"TEST_CMD=$({PLATFORM} get-command test)\n"
    'eval "$BUILD_CMD"\neval "$TEST_CMD"': "built\ntested\n",
    f'LINT_CMD=$({PLATFORM} get-command lint 2>/dev/null || echo "")\n'
    'if [ -n "$LINT_CMD" ]; then\n    eval "$LINT_CMD" 2>&1\nfi': "linted\n",
    f'LINT_FIX=$({PLATFORM} get-command lintFix 2>/dev/null || echo "")\n'
    'if [ -n "$LINT_FIX" ]; then\n    eval "$LINT_FIX"\nfi\necho "after $LINT_FIX"': "after \n",
    # Checkpoints.
    f"{STATE} mark-working-state": "mark",
    f"{STATE} rollback-to-checkpoint": "",
    # A person.
    f'{STATE} add-blocker "Stripe API key not configured in .env" --severity high': "B2",
    f'{STATE} await-user-fix 0 "Add Stripe API key to .env file" --check-command "dotnet build" '
    "--timeout 60": '"status": "awaiting_user"',
    f"{STATE} check-user-fix": '"can_resume": false',
    f"{STATE} resume-context": '"current_phase"',
    f'{STATE} user-fix-complete --notes "Added test API key from Stripe dashboard"': "",
    f"{STATE} tdd-status S2": "none",
}
"""The design's lines in an order in which they can be run, and words of what each prints."""


@pytest.fixture
def design(ground: RunGround, tmp_path: Path) -> RunGround:
    """A worktree with the two files, and a platform of the user's own."""
    for file in runs():
        if file.name.startswith(CORE):
            path = ground.root / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text)
    words = {"build": ["echo", "built"], "test": ["echo", "tested"], "lint": ["echo", "linted"]}
    put(tmp_path / "home" / OWN, "demo", commands=words)
    (ground.root / "marker").write_text("")
    ground.git("add", "marker")
    ground.git("commit", "--quiet", "-m", "A project")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to(sys.executable)
    return ground


def test_the_designs_lines_work_verbatim(design: RunGround, tmp_path: Path) -> None:
    """Each is taken and answered: never a usage error, a defect or a traceback."""
    environment = {
        **design.environment,
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "LIFECYCLE_BIN": str(COMMAND),
    }
    for line, words in LINES.items():
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=design.root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stdout + done.stderr
        assert done.returncode in (0, 1), (line, said)
        assert words in said, (line, said)
        assert "Traceback" not in said
        assert said.strip() or "eval" in line, line
