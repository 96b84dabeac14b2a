"""`make runners`: installs the runners, runs their projects, and compares with what was recorded."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile

import click

from tests import needed
from tests.evidence.runners import recordings
from tests.evidence.runners.installing import PINNED, Lacking, installed, path_of_programs
from tests.evidence.runners.projects import Project, all_projects
from tests.evidence.runners.recordings import RECORDED, Recording, misread
from tests.evidence.runners.running import run


def _version(project: Project) -> str:
    """The first line with a digit of what the runner prints of its version."""
    with tempfile.TemporaryDirectory(prefix="run-") as empty:
        ended = subprocess.run(
            ["env", f"PATH={path_of_programs()}", *project.version],
            cwd=empty,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
    lines = click.unstyle(ended.stdout + ended.stderr).splitlines()
    return next(line.strip() for line in lines if any(map(str.isdigit, line)))


def _recorded_now(project: Project, wanted: str) -> list[Recording]:
    """Each case of a runner, run now; raises Lacking."""
    for name in project.needs:
        installed(name)
    version = _version(project)
    return [
        recordings.recording(project, case, version, run(case))
        for case in project.cases
        if wanted in case.name
    ]


def _differences(now: list[Recording], name: str) -> list[str]:
    """Where runs of now differ in what counts from what was recorded and from what is true of them."""
    recorded = RECORDED / f"{name}.json"
    before = {each.case: each for each in recordings.read(recorded)} if recorded.exists() else {}
    lines = []
    for each in now:
        if each.case not in before:
            lines.append(f"{each.name}: not recorded; RECORD=1 does it")
        elif each.status != (was := before[each.case].status) and not (
            # Which end an interrupted run comes to is a matter of moments, where `also` says so.
            each.also and each.status and was
        ):
            lines.append(f"{each.name}: status {each.status}, was {was}")
        lines += [f"{each.name}: {told}" for told in misread(each)]
    return lines


def main() -> int:
    """Run what was asked for; 1 where something differs, or is lacking though it is required."""
    parser = argparse.ArgumentParser(prog="make runners", description=__doc__)
    parser.add_argument("--record", action="store_true", help="write what they print now")
    parser.add_argument("--only", default="", help="these runners, with commas between")
    parser.add_argument("--case", default="", help="cases with this in their names")
    parser.add_argument("--show", action="store_true", help="print what each printed")
    parser.add_argument(
        "--pinned", action="store_true", help="those whose versions are ours to say"
    )
    asked = parser.parse_args()
    # A background job of sh ignores it, and so would the runs that are stopped half-way.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    only = set(filter(None, asked.only.split(",")))
    lacking, differing = [], []
    for project in all_projects():
        if (only and project.name not in only) or (
            asked.pinned and not PINNED.issuperset(project.needs)
        ):
            continue
        try:
            now = _recorded_now(project, asked.case)
        except Lacking as why:
            lacking.append(f"not run: {project.name}: {why}")
            continue
        except (RuntimeError, OSError, subprocess.SubprocessError) as why:
            differing.append(f"{project.name}: cannot be run: {why}")
            continue
        for each in now if asked.show else ():
            click.echo(f"=== {each.name}: {' '.join(each.argv)} -> {each.status}, {each.outcome}")
            click.echo(each.output)
        if asked.record and not asked.case:
            recordings.write(now)
        elif not asked.show:
            differing += _differences(now, project.name)
        if now:
            click.echo(f"{project.name}: {now[0].version}: {len(now)} cases")
    for line in [*differing, *lacking]:
        click.echo(line)
    return 1 if differing or (lacking and needed.is_required()) else 0


if __name__ == "__main__":
    sys.exit(main())
