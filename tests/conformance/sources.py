"""Where the oracles' knowledge lies: what GitHub publishes, and recorded traffic, in `.cache/`.

`make sdl openapi recordings` fetches all three. Whoever runs the tests without them is told so, and
nothing is held against GitHub; LIFECYCLE_REQUIRE=all makes that a failure.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.needed import ROOT, lack

PATTERNS = {
    "sdl": "github-schema-*.graphql",
    "openapi": "github-openapi-*.json",
    "recordings": "pygithub-*.tar.gz",
}
"""What a target of the Makefile leaves in `.cache/`."""
SUBJECTS = {
    "sdl": "GitHub's published GraphQL schema",
    "openapi": "GitHub's published REST description",
    "recordings": "recorded traffic with GitHub",
}
"""What the tests are about that need it."""


def kept(target: str) -> Path | None:
    """What has been fetched before, the newest; None if nothing was."""
    found = sorted((ROOT / ".cache").glob(PATTERNS[target]), key=lambda path: path.stat().st_mtime)
    return found[-1] if found else None


def fetched(target: str) -> Path | str:
    """What `make TARGET` has put into `.cache/`, or why it could not."""
    known = kept(target)
    if known is not None:
        return known
    if target != "recordings" and shutil.which("npm") is None:
        return "npm is not installed"
    try:
        # -o: the environment that runs this test is not to be renewed under its feet
        done = subprocess.run(
            ["make", "--silent", "-o", ".venv/.ready", target],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"make {target} failed: {type(error).__name__}"
    if done.returncode != 0:
        return f"make {target} failed: {' '.join(done.stderr.split())[-200:]}"
    return ROOT / done.stdout.strip()


def need(target: str) -> Path:
    """The file of a target; without it the test is not run, or fails where all is required."""
    found = fetched(target)
    if not isinstance(found, Path):
        lack(SUBJECTS[target], found)
    return found
