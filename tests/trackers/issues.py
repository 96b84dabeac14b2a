"""What the tests of GitHub's issues as a tracker share: opening it, and seeing what it did."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

from lifecycle.trackers.github.github_issues import GitHubIssues
from tests.trackers.grounds import GitHubGround

ONE, TWO = "agent-1", "agent-2"


def tracker(ground: GitHubGround, actor: str = ONE, **environment: str) -> GitHubIssues:
    """The issues, in the name of this actor."""
    made = ground.world(actor, **environment).tracker
    assert isinstance(made, GitHubIssues)
    return made


def asked(ground: GitHubGround, act: Callable[[], object]) -> list[str]:
    """What the call asks of GitHub, git's own traffic left out."""
    ground.control.clear_requests()
    act()
    prefix = f"/repos/{ground.info.repository}"
    requests = [one for one in ground.control.requests() if one.kind != "git"]
    return [one.operation or f"{one.method} {one.path.replace(prefix, '')}" for one in requests]


def issue(ground: GitHubGround, number: int) -> dict[str, object]:
    """An issue as GitHub has it."""
    found: dict[str, object] = ground.control.world()["issues"][str(number)]
    return found


def refs(ground: GitHubGround) -> set[str]:
    """The leases that there are."""
    return {ref for ref in ground.control.world()["refs"] if ref.startswith("refs/agent-claims/")}


def pushed_by(ground: GitHubGround, token: str) -> None:
    """Let git push with another token."""
    url = ground.info.git_url.replace(ground.info.token, token)
    subprocess.run(["git", "remote", "set-url", "origin", url], cwd=ground.root, check=True)
