"""A `bd` that replays recorded answers, one after the other, and knows nothing else."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.trackers.beads import simulated

_PROGRAM = """\
#!{python} -IS
import json, os, sys
from pathlib import Path
folder = Path({folder!r})
if sys.argv[1:2] == ["version"]:
    sys.stdout.write('{{"version": "{version}"}}')
elif sys.argv[-1] == "--help":
    known = {known!r}
    sys.stdout.write(known.get(sys.argv[1], "  comments  about\\n"))
else:
    left = json.loads((folder / "script.json").read_text())
    step = left.pop(0) if left else {{"verb": "", "rc": 70, "stdout": "", "stderr": "nothing is left\\n"}}
    (folder / "script.json").write_text(json.dumps(left))
    with (folder / "asked.jsonl").open("a") as file:
        file.write(json.dumps(sys.argv[1:]) + "\\n")
    if step["verb"] and step["verb"] != sys.argv[1]:
        sys.exit("due was " + step["verb"])
    sys.stdout.write(step["stdout"])
    sys.stderr.write(step["stderr"])
    sys.stdout.flush()
    sys.exit(step["rc"])
"""


def install(folder: Path, profile: str, *script: str) -> None:
    """Put a `bd` into a folder that answers with these recorded steps of a build.

    Args:
        folder: is made if it is not there.
        profile: whose recording.
        script: names of steps in the order in which they are due; each must be asked for by its verb.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines = (simulated.RECORDED / f"{profile}.jsonl").read_text().splitlines()
    steps = {step["name"]: step for step in map(json.loads, lines)}
    due = [{**steps[name], "verb": steps[name]["argv"][1]} for name in script]
    (folder / "script.json").write_text(json.dumps(due))
    known = {"ready": "      --limit int\n" + ("      --claim\n" if profile == "1.0.5" else "")}
    known["update"] = "" if profile == "0.30.7" else "      --claim\n"
    text = _PROGRAM.format(
        python=sys.executable, folder=str(folder), version=profile.partition("-")[0], known=known
    )
    (folder / "bd").write_text(text)
    (folder / "bd").chmod(0o755)


def recorded_id(profile: str) -> str:
    """The id of the issue that most recorded steps are about."""
    lines = (simulated.RECORDED / f"{profile}.jsonl").read_text().splitlines()
    (made,) = (step for step in map(json.loads, lines) if step["name"] == "create")
    found: str = json.loads(made["stdout"])["id"]
    return found


def asked(folder: Path) -> list[list[str]]:
    """Every command line so far, without the questions about the build."""
    return [json.loads(line) for line in (folder / "asked.jsonl").read_text().splitlines()]


def left(folder: Path) -> int:
    """How many steps of the script nobody asked for."""
    return len(json.loads((folder / "script.json").read_text()))
