"""What a run changed, grouped by folder: from git, between the commit that it began on and the last one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from lifecycle.git.process import GitRepository
from lifecycle.run.checkpoints.checkpoint_refs import commit_at, head_of
from lifecycle.run.state import Run

_GROUPS, _FILES = 20, 8


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that differs, and its lines that came and went; -1 for a file that is no text."""

    path: str
    added: int = -1
    removed: int = -1


def changed_files(git: GitRepository, run: Run) -> tuple[ChangedFile, ...]:
    """What differs between the commit that the run began on and HEAD.

    Where nobody kept that commit, or git has it no more, the first story's tells; else all is new.

    Raises:
        GitFailed, Transient: git cannot say.
    """
    head = head_of(git)
    if not head:
        return ()
    begun = sorted((story.started, story.base) for story in run.stories if story.base)
    bases = (one for one in (run.base, *(base for _, base in begun)) if one)
    base = next((one for one in bases if commit_at(git, one)), "")
    base = base or git.run("hash-object", "-t", "tree", "--stdin")
    listed = git.run("diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", base, head)
    rows = (line.split("\t", 2) for line in listed.split("\0") if line)
    return tuple(ChangedFile(path, _number(added), _number(gone)) for added, gone, path in rows)


def grouped(files: tuple[ChangedFile, ...]) -> list[str]:
    """A line for each folder, the largest change first, with its files."""
    groups: dict[str, list[ChangedFile]] = {}
    for file in files:
        folder = str(PurePosixPath(file.path).parent)
        groups.setdefault("the top folder" if folder == "." else f"`{folder}/`", []).append(file)
    ordered = sorted(groups.items(), key=lambda item: (-_size(item[1]), item[0]))
    lines = [_line(name, members) for name, members in ordered[:_GROUPS]]
    if len(ordered) > _GROUPS:
        lines.append(f"- and {len(ordered) - _GROUPS} more folders")
    return lines


def _line(name: str, files: list[ChangedFile]) -> str:
    names = [
        f"`{PurePosixPath(file.path).name}`" for file in sorted(files, key=lambda one: one.path)
    ]
    more = f" and {len(names) - _FILES} more" if len(names) > _FILES else ""
    added = sum(max(0, file.added) for file in files)
    removed = sum(max(0, file.removed) for file in files)
    return f"- {name} (+{added} -{removed}): {', '.join(names[:_FILES])}{more}"


def _size(files: list[ChangedFile]) -> int:
    return sum(max(0, file.added) + max(0, file.removed) for file in files)


def _number(text: str) -> int:
    return int(text) if text.isdigit() else -1
