"""Find how a diff weakens the checks: tests removed or skipped, commands that may fail, lower bars. Pure.

Findings are reported, never forbidden: a test may be wrong, a threshold too high. `tampering.toml` has the
table.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Iterable, Iterator

from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.settings import resources

_FILE = re.compile(r'diff --git .* "?b/(.+?)"?$')
REMOVED, ADDED = "<", ">"
"""What git puts before the changed lines, so that none of them looks like the head of a file."""

_COMMENT = re.compile(r"\s*(?:#(?!\[)|//|<!--)")
_DELETES = (("workflow", "deletes a workflow"), ("tests", "deletes a file of tests"))
"""What the deletion of a file of a kind is; the first kind counts."""

_MOVED = 0.8
"""The part of a file's lines that must now be elsewhere, so that the file counts as moved, not deleted."""


@dataclass(slots=True)
class DiffedFile:
    """A diff's changes to one file: the removed and the added lines."""

    path: str
    is_deleted: bool = False
    removed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class TamperFinding:
    """One way in which a change weakens the checks: what it does, in which file, and the evidence."""

    what: str
    path: str
    line: str = ""


table = functools.partial(resources.table, "feedback/failures/tampering.toml")
"""The content of `tampering.toml`."""


def files_of(diff: str) -> tuple[DiffedFile, ...]:
    """The files of a diff without context, as git prints it with these marks, in its order."""
    files: list[DiffedFile] = []
    for line in diff.split("\n"):
        if name := _FILE.match(line):
            files.append(DiffedFile(name[1]))
        elif line.startswith("deleted file mode"):
            files[-1].is_deleted = True
        elif line.startswith(REMOVED):
            files[-1].removed.append(line[1:])
        elif line.startswith(ADDED):
            files[-1].added.append(line[1:])
    return tuple(files)


def findings(diff: str) -> tuple[TamperFinding, ...]:
    """How a change weakens the checks, in the order of its files."""
    files = files_of(diff)
    added = {line.strip() for diffed in files for line in diffed.added}
    removed = {line.strip() for diffed in files for line in diffed.removed}
    weakened: list[TamperFinding] = []
    for file in files:
        if file.is_deleted and not _is_elsewhere(file.removed, added):
            deletes = [what for kind, what in _DELETES if _is(kind, file.path)]
            weakened += [TamperFinding(what, file.path) for what in deletes[:1]]
        weakened += [*_tests(file, added, removed), *_added(file, removed), *_bars(file)]
        if _is("workflow", file.path) and not file.is_deleted:
            lost = sorted(_events(file.removed) - _events(file.added))
            weakened += [TamperFinding("takes out a trigger", file.path, event) for event in lost]
    return tuple(dict.fromkeys(weakened))


def _is_elsewhere(lines: Iterable[str], elsewhere: set[str]) -> bool:
    kept = [line.strip() for line in lines if line.strip()]
    return sum(line in elsewhere for line in kept) >= _MOVED * max(len(kept), 1)


def _is(kind: str, path: str) -> bool:
    return re.search(table()[kind], path) is not None


def _tests(file: DiffedFile, added: set[str], removed: set[str]) -> Iterator[TamperFinding]:
    """Findings of removed tests, except tests that were moved, or replaced by others."""
    if file.is_deleted or not _is("tests", file.path):
        return
    gone = [line for line in _defined(file.removed) if line not in added]
    new = [line for line in _defined(file.added) if line not in removed]
    if len(gone) > len(new):
        count = len(gone) - len(new)
        what = "takes out a test" if count == 1 else f"takes out {count} tests"
        yield TamperFinding(what, file.path, gone[0])


def _defined(lines: Iterable[str]) -> list[str]:
    return [line.strip() for line in lines if re.search(table()["test"], line)]


def _added(file: DiffedFile, removed: set[str]) -> Iterator[TamperFinding]:
    for row in table()["added"]:
        if not _is(row["of"], file.path):
            continue
        for line in file.added:
            is_new = line.strip() not in removed and not _COMMENT.match(line)
            if is_new and re.search(row["pattern"], line):
                yield TamperFinding(row["what"], file.path, line.strip())


def _bars(file: DiffedFile) -> Iterator[TamperFinding]:
    """Findings of lowered minimums and raised maximums of checks."""
    if not _is("running", file.path):
        return
    is_kept = any(re.search(table()["certain"], added) for added in file.added)
    for kind, was_better in (("least", operator.gt), ("most", operator.lt)):
        before, after = _numbers(kind, file.removed), _numbers(kind, file.added)
        for name, (number, line) in before.items():
            current = after.get(name)
            if current is not None and was_better(number, current[0]):
                yield TamperFinding("lowers a threshold", file.path, current[1])
            elif re.search(table()["certain"], line) and not is_kept:
                yield TamperFinding("takes out a threshold", file.path, line)


def _numbers(kind: str, lines: Iterable[str]) -> dict[str, tuple[float, str]]:
    """Numbers by the line without its number, each with that line."""
    numbers: dict[str, tuple[float, str]] = {}
    for line in lines:
        match = re.search(table()[kind], line)
        if match is not None and not _COMMENT.match(line):
            name = (line[: match.start("number")] + line[match.end("number") :]).strip(" \t,")
            numbers[name] = (float(match["number"]), line.strip())
    return numbers


def _events(lines: Iterable[str]) -> set[str]:
    """The events at which a workflow runs, by these lines of it."""
    triggers = [line for line in lines if re.search(table()["trigger"], line)]
    return {event for line in triggers for event in re.findall(table()["event"], line)}
