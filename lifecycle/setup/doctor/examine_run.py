"""Checks of autonomous runs: what they need is set up, and the file of the run here can be used."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from lifecycle.core.errors import GitFailed
from lifecycle.run.run_store import PATH, RunStore, StrangeRun
from lifecycle.setup.doctor.examine_hooks import init_fix, low_cap
from lifecycle.setup.doctor.examined import DoctorFinding, Examined, cause, finding
from lifecycle.setup.init.found_hooks import allows_all
from lifecycle.setup.init.hook_table import RUN_PERMISSIONS
from lifecycle.setup.init.init_mark import InitMark
from lifecycle.setup.init.planned_files import digest
from lifecycle.setup.init.supplies import SHIM_FILES, Supply, runs
from lifecycle.storage import store


def check(case: Examined) -> Iterator[DoctorFinding]:
    """Findings on supplied files, the run's file, the cap and permissions; one if runs are not used."""
    client, is_there = case.client, (case.root / PATH).exists()
    mark = client.mark if client.mark is not None and client.mark.run else None
    if mark is not None:
        yield from supplied(case, mark, "run", runs(), SHIM_FILES)
    elif client.plugin_runs:
        yield finding("run.use.plugin", names=", ".join(client.plugins))
    elif is_there:
        yield finding("run.use.unset", path=PATH)
    else:
        yield finding("run.use.off")
    if is_there:
        yield from _state(case)
    if is_there or mark is not None:
        yield from _limits(case, mark)


def supplied(
    case: Examined, mark: InitMark, part: str, files: Sequence[Supply], scripts: Collection[str]
) -> Iterator[DoctorFinding]:
    """Findings on the files that `init` supplied: missing, of an earlier version, or changed.

    Args:
        case: the worktree.
        mark: the mark of `init`, with the digests of what it wrote.
        part: what they are for: "run" or "workflow".
        files: the files as this version writes them.
        scripts: the names of those among them that nobody has a reason to change.
    """
    fix = init_fix(f" --{part}", mark)
    # In the project or among the person's own.
    missing = [file.name for file in files if not any(map(Path.is_file, _places(case, file)))]
    contents = {file: content for file in files if (content := store.read(case.root / file.name))}
    differing = [file for file in contents if contents[file].content != file.text.encode()]
    digests = {file.name: digest(contents[file].content) for file in differing}
    old = [name for name in digests if digests[name] == mark.sha256.get(name)]
    if missing:
        yield finding(f"{part}.files.missing", names=", ".join(missing), fix=fix)
    elif old:
        yield finding(f"{part}.files.old", names=", ".join(old), fix=fix)
    else:
        yield finding(f"{part}.use.on")
    for file in differing:
        if file.name in scripts and file.name not in old:
            anew = f"rm {file.name} && {fix}"
            yield finding(f"{part}.files.changed", name=file.name, what=file.what, fix=anew)


def _places(case: Examined, file: Supply) -> tuple[Path, ...]:
    """The two paths where the client looks for such a file: the project's, and the person's own."""
    return (
        case.root / file.name,
        case.client.files[0].path.parent / file.name.removeprefix(".claude/"),
    )


def _state(case: Examined) -> Iterator[DoctorFinding]:
    """A finding if the run's file came with the repository, or cannot be read."""
    try:
        if case.world.git.run("ls-files", "--", PATH):
            yield finding("run.state.tracked", path=PATH)
            return
        RunStore(case.root, case.environment, case.deadline).load()
    except (StrangeRun, GitFailed) as error:
        yield finding("run.state.strange", cause=cause(error), path=PATH)


def _limits(case: Examined, mark: InitMark | None) -> Iterator[DoctorFinding]:
    """Findings on the client's cap of continuations and on permissions, where they do not suffice."""
    setting = init_fix(" --run", mark) if mark is not None else "lifecycle init --permissions --run"
    wanted = case.settings.run.max_iterations
    low = low_cap(case, wanted, mark, setting)
    if low is not None:
        yield finding("run.cap", set=low[0], wanted=wanted, fix=low[1])
    if not allows_all(case.root, case.environment, RUN_PERMISSIONS):
        yield finding("run.permissions", fix=setting)
