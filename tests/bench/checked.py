"""What `lifecycle check` adds to its command in a tree of many files, set up so that it can be timed."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from lifecycle.settings import user_folder
from lifecycle.storage import store
from tests.bench.timing import Probe

CHECKED = "lifecycle check, 10,000 files, its command does nothing"

FOLDERS, EACH = 100, 100
MOST_STARTS = 15.0
"""A check adds less than so many starts of the installed command: 0.3 s where such a start takes 20 ms."""


def check_probe(folder: Path, environment: Mapping[str, str]) -> Probe:
    """A check in a committed tree.

    Args:
        folder: an empty one.
        environment: of the timed process.
    """
    root, home = folder / "checked", folder / "home"
    for number in range(FOLDERS):
        inner = root / f"folder-{number}"
        inner.mkdir(parents=True)
        for other in range(EACH):
            (inner / f"file-{other}.py").write_text(f"x = {number * EACH + other}\n" * 20)
    (root / ".lifecycle.toml").write_text('[checks.commands]\nlint = ["true"]\n')
    seen = {**environment, "XDG_CONFIG_HOME": str(home)}
    named = ("-c", "user.name=bench", "-c", "user.email=bench@example.com")
    for words in (("init", "--quiet"), ("add", "."), (*named, "commit", "--quiet", "-m", "Begin")):
        subprocess.run(["git", *words], cwd=root, env=seen, check=True, stdin=subprocess.DEVNULL)
    user_folder.allow(seen, store.clone_of(root), checks=["true"])
    command = Path(sys.executable).with_name("lifecycle")
    line = f"cd {shlex.quote(str(root))} && exec {shlex.quote(str(command))} check lint"
    return Probe(CHECKED, ("/bin/sh", "-c", line), seen)


def judge_check(quiet: Mapping[str, float], start: str) -> list[str]:
    """What is too slow, in words; empty if all is well.

    Args:
        quiet: the median seconds of every probe.
        start: the probe of an installed command that does nothing.
    """
    starts = quiet[CHECKED] / quiet[start]
    return [f"{CHECKED} takes {starts:.1f} of {start}"] if starts >= MOST_STARTS else []
