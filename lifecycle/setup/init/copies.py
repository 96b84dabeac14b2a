"""Copies into a new worktree of the repository the files that git does not carry over."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from lifecycle.core.errors import Refused
from lifecycle.settings import config
from lifecycle.setup.init import init_mark
from lifecycle.setup.init.init_mark import MARK
from lifecycle.setup.init.planned_files import FileChange, write_all
from lifecycle.setup.init.planning import apply, git_of, plan
from lifecycle.storage import store


def copy_to(
    origin: Path, new: Path, *, environment: Mapping[str, str] | None = None
) -> tuple[Path, ...]:
    """Give a new worktree what this one has and git does not track; what was written there.

    That is the untracked `.lifecycle.toml`, but for the main worktree's, which all read; our entries in
    the person's own settings with the mark; and the files that `init` supplied.
    Nothing that is there already is touched, and nothing is done for a project that `init` never wired.

    Args:
        origin: the worktree that has them.
        new: the worktree that `git worktree add` just made.
        environment: names the user's home and PATH; the process's unless given.

    Raises:
        Refused: settings that are in the new worktree cannot be merged with.
        GitFailed, Transient, OSError: git, or the disk.
    """
    environment = os.environ if environment is None else environment
    written: list[Path] = []
    name = config.CONFIG_FILE
    settings = store.read(origin / name)
    if (
        settings is not None
        and not os.path.lexists(new / name)
        and config.file_of(new) != origin / name
        and not git_of(origin, environment).run("ls-files", "--", name)
    ):
        write_all([FileChange(new / name, name, None, settings.content)])
        written.append(new / name)
    put_in = store.read(origin / MARK)
    if put_in is not None and store.read(new / MARK) is None:
        todo = plan(new, environment=environment, only_wires=True, **_parts(put_in.content))
        apply(todo)
        written += [change.path for change in todo.changes]
    return tuple(written)


def _parts(content: bytes) -> dict[str, bool]:
    """What was put in beside the hooks, as `plan` wants to know it."""
    try:
        mark = init_mark.parse(content)
    except Refused:
        return {}  # a broken mark is the old worktree's; `init` and `doctor` name it there
    return {"stages": mark.stages, "run": mark.run, "workflow": mark.workflow}
