"""What shows a worktree, set up so that it can be timed: the status line and `lifecycle status`."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lifecycle.settings.resources import hook_script
from lifecycle.storage.store import CLAIM_FILE
from tests.bench.timing import Probe, seconds_of

LINE = "claim unchanged: hooks/statusline"
LINE_NONE = "nothing at work: hooks/statusline"
STATUS = "lifecycle status, a claim alone"
VERSION = "lifecycle --version"

MOST_NO_OPS = 1.5
"""The status line takes what a hook's no-op takes, but for the machine's noise."""

MOST_VERSIONS = 2.5
"""`lifecycle status` takes less than so many of `lifecycle --version`."""

_HOUR = 3_600.0


def view_probes(
    folder: Path, environment: Mapping[str, str], claim: Mapping[str, Any]
) -> list[Probe]:
    """The status line that was prepared and one that has nothing to say; status, and a bare command.

    Args:
        folder: an empty one.
        environment: of the timed processes, but for the worktree.
        claim: what the claim's file holds.
    """
    bare, held = folder / "bare", folder / "held"
    for root in (bare, held):
        root.mkdir(parents=True)
        subprocess.run(["git", "init", "--quiet"], cwd=root, check=True, env=dict(environment))
    (held / CLAIM_FILE).write_text(json.dumps(claim))
    before = time.time() - _HOUR
    os.utime(held / CLAIM_FILE, (before, before))
    script = str(hook_script("statusline"))
    within, without = ({**environment, "CLAUDE_PROJECT_DIR": str(root)} for root in (held, bare))
    seconds_of((script,), within)
    if not (held / ".git/lifecycle.line").exists():
        raise RuntimeError("no line was prepared: the status line cannot be measured")
    command = shlex.quote(str(Path(sys.executable).with_name("lifecycle")))
    lines = (
        f"cd {shlex.quote(str(held))} && exec {command} {words}"
        for words in ("status", "--version")
    )
    status, version = (("/bin/sh", "-c", line) for line in lines)
    return [
        Probe(LINE, (script,), within),
        Probe(LINE_NONE, (script,), without),
        Probe(VERSION, version, within),
        Probe(STATUS, status, within),
    ]


def judge_views(quiet: Mapping[str, float], no_op: str) -> list[str]:
    """What is too slow, in words; empty if all is well.

    Args:
        quiet: the median seconds of every probe.
        no_op: the probe of the claim's no-op.
    """
    limits = (
        (LINE, no_op, MOST_NO_OPS),
        (LINE_NONE, no_op, MOST_NO_OPS),
        (STATUS, VERSION, MOST_VERSIONS),
    )
    ratios = [(name, other, quiet[name] / quiet[other], most) for name, other, most in limits]
    return [
        f"{name} takes {ratio:.2f} of {other}"
        for name, other, ratio, most in ratios
        if ratio >= most
    ]
