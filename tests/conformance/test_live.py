"""`make live`, against an embedded GitHub that is taken for a real one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.server import Sandbox
from tests.live.hub import PREFIX
from tests.needed import ROOT

pytestmark = pytest.mark.xdist_group("live")  # one GitHub, one after the other


def _live(*tests: str, **environment: str) -> str:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rs", *tests],
        cwd=ROOT,
        env={**kept, "LIFECYCLE_LIVE": "1", "NO_PROXY": "127.0.0.1", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


def test_without_a_repository_all_is_skipped() -> None:
    """Nobody's repository is written to by accident: without a name each test says what it wants."""
    told = _live("tests/live")
    assert "name a repository that may be written to: LIFECYCLE_LIVE_REPO=owner/name" in told
    assert "passed" not in told
    assert "failed" not in told


@pytest.mark.soak("conformance/test_live.py::test_without_a_repository_all_is_skipped")
def test_answers_are_a_table_and_nothing_is_left() -> None:
    """What was asked is printed with its answer; refs and labels are gone, issues are closed."""
    with Sandbox() as sandbox:
        info = sandbox.info
        told = _live(
            "tests/live/test_refs.py",
            "tests/live/test_issues.py",
            GITHUB_API_URL=info.api_url,
            GH_TOKEN=info.token,
            LIFECYCLE_LIVE_REPO=info.repository,
        )
        world = Control(info.control_url).world()
        refs = subprocess.run(
            ["git", "ls-remote", info.git_url], capture_output=True, text=True, check=True
        ).stdout
    assert "what GitHub answered" in told
    for question in (
        "git push to refs/agent-claims/*",
        "REST refs with refs/agent-claims/*",
        "updateRefs with refs/agent-claims/*",
        "ref(qualifiedName: refs/agent-claims/*)",
    ):
        assert question in told
    assert info.token not in told
    ours = [one for one in world["issues"].values() if one["title"].startswith(PREFIX)]
    assert ours
    assert {one["state"] for one in ours} == {"closed"}
    assert PREFIX not in refs
