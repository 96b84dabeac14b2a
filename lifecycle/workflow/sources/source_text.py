"""What `CLAUDE.local.md` and a PLAN.md say of a workflow: pure readers of their text.

`CLAUDE.local.md` describes a workflow if it has "workflow state", a line `Workflow:` and a line `Phase:`,
in any case. A PLAN.md does while it has "🔄 In Progress", and "phase" or "workflow" anywhere.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import Final

from lifecycle.core.errors import Refused
from lifecycle.workflow.state import MOST_PHASES, reading_path
from lifecycle.workflow.table import FROM_CHECKPOINT, OVER, PhaseStatus

_LINE: Final = 300
_FIELD: Final = re.compile(
    r"(?i)^[\s>#*+-]*\**(workflow type|workflow|type|phase|status|task)\**\s*:\s*\**\s*(.+?)\s*$"
)
_NUMBER: Final = re.compile(
    r"(?i)^(\d{1,3})\s*(?:/|of)\s*(\d{1,3})\b\s*[-\u2013\u2014:.)]*\s*(.*)$"
)
_AT: Final = re.compile(r"^[\s>*+-]*(@\S.*?)\s*$")
_HEADING: Final = re.compile(r"^(#{1,6})\s+(.*?)\s*#*\s*$")
_PHASE: Final = re.compile(r"^\**phase\s+(\d{1,3})\**\s*[-\u2013\u2014:.)]*\s*(.*)$", re.IGNORECASE)
_BOX: Final = re.compile(r"^\s*[-*+]\s+\[([ xX~-])\]\s+(.*)$")
_GOING: Final = re.compile("\U0001f504\ufe0f?[\\s*_]*in\\s+progress", re.IGNORECASE)
_MARKS: Final = (
    (re.compile("\u2705|\\bcompleted?\\b|\\bdone\\b", re.IGNORECASE), PhaseStatus.COMPLETED),
    (re.compile("\U0001f504|\\bin progress\\b", re.IGNORECASE), PhaseStatus.ACTIVE),
    (re.compile("\u26d4|\U0001f6ab|\u274c|\\bblocked\\b", re.IGNORECASE), PhaseStatus.BLOCKED),
    (re.compile("\u23ed|\\bskipped\\b", re.IGNORECASE), PhaseStatus.SKIPPED),
)
_EMOJI: Final = re.compile("[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f]+")


@dataclass(frozen=True)
class SourceFacts:
    """What a source says of a workflow.

    Attributes:
        path: the source's path, from the worktree's root.
        name: the workflow's name.
        phases: the title and status of each phase; () if the source does not list them.
        number, total: the current phase's number, from 1, and the number of phases; 0 if not given.
        title: the current phase's title.
        status: the current phase's status.
        type, task: as the source says, or "".
        reading: the @ paths in it that are inside the project.
        refused: one sentence for each @ path that is not.
    """

    path: str
    name: str
    phases: tuple[tuple[str, PhaseStatus], ...] = ()
    number: int = 0
    total: int = 0
    title: str = ""
    status: PhaseStatus = PhaseStatus.ACTIVE
    type: str = ""
    task: str = ""
    reading: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """A hash of all fields, as 16 hex digits, which changes if any field changes."""
        return hashlib.sha256(repr(astuple(self)).encode()).hexdigest()[:16]


def local_markers(text: str, path: str) -> SourceFacts | None:
    """What `CLAUDE.local.md` says; None if it does not describe a workflow."""
    if "workflow state" not in text.casefold():
        return None
    matches = [match for line in text.splitlines() if (match := _FIELD.match(line))]
    fields = {match[1].casefold(): match[2].strip("* ")[:_LINE] for match in reversed(matches)}
    if not fields.get("workflow") or not fields.get("phase"):
        return None
    word = fields.get("status", "").casefold().replace(" ", "_")
    number, total, title = _numbered(fields["phase"])
    reading, refused = _reading(text)
    return SourceFacts(
        path,
        fields["workflow"],
        number=number,
        total=total,
        title=title,
        status=FROM_CHECKPOINT.get(word, PhaseStatus.ACTIVE),
        type=fields.get("workflow type", "") or fields.get("type", ""),
        task=fields.get("task", ""),
        reading=reading,
        refused=refused,
    )


def active_plan(text: str, path: str) -> SourceFacts | None:
    """What a PLAN.md says; None unless it is in progress.

    Its name is the first heading, else its folder's. Its phases are the headings `Phase N: Title`, else the
    list entries `- [x] Phase N: Title`, else all list entries with a box; each has the status that its
    line, or the lines below it up to the next, mark (✅, 🔄, ⛔ or ❌, ⏭, a box).
    """
    folded = text.casefold()
    if not _GOING.search(text) or not ("phase" in folded or "workflow" in folded):
        return None
    lines = text.splitlines()
    headings = [match for line in lines if (match := _HEADING.match(line))]
    name = _clean(headings[0][2]) if headings else ""
    reading, refused = _reading(text)
    boxed = tuple(_boxed(lines, named=True)) or tuple(_boxed(lines, named=False))
    phases = (tuple(_headed(lines)) or boxed)[:MOST_PHASES]
    going = [at for at, (_, status) in enumerate(phases) if status is PhaseStatus.ACTIVE]
    unfinished = [at for at, (_, status) in enumerate(phases) if status not in OVER]
    at = next(iter((*going, *unfinished)), -1)
    return SourceFacts(
        path,
        name or path.split("/")[-2],
        phases=phases,
        number=at + 1 if phases else 1,
        total=len(phases) or 1,
        title=phases[at][0] if at >= 0 else "In progress",
        reading=tuple(dict.fromkeys((f"@{path}", *reading))),
        refused=refused,
    )


def _numbered(text: str) -> tuple[int, int, str]:
    """`4/10 - SEO Generation` as number, total and title."""
    match = _NUMBER.match(text)
    if match is None:
        return 0, 0, text
    number, total = int(match[1]), int(match[2])
    is_sound = 1 <= number <= total <= MOST_PHASES
    return (number, total, match[3]) if is_sound else (0, 0, text)


def _reading(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The @ paths at the beginning of a line, and why others were not taken."""
    paths, refused = dict[str, None](), list[str]()
    for match in filter(None, map(_AT.match, text.splitlines())):
        try:
            paths[reading_path(match[1].strip("`"))] = None
        except Refused as error:
            refused.append(error.sentence)
    return tuple(paths)[:100], tuple(refused)[:20]


def _headed(lines: list[str]) -> Iterator[tuple[str, PhaseStatus]]:
    """Phases that are headings, each with the text up to the next phase."""
    headings: list[tuple[int, str]] = []
    for at, line in enumerate(lines):
        heading = _HEADING.match(line)
        phase = heading and _PHASE.match(_clean(heading[2]))
        if phase:
            headings.append((at, phase[2] or f"Phase {phase[1]}"))
    ends = (*(at for at, _ in headings[1:]), len(lines))
    for (at, title), end in zip(headings, ends, strict=False):
        marked = [line for line in lines[at + 1 : end] if "status" in line.casefold()][:1]
        yield title[:_LINE], _marked(" ".join([lines[at], *marked]))


def _boxed(lines: list[str], *, named: bool) -> Iterator[tuple[str, PhaseStatus]]:
    """Phases that are list entries with a box; with `named` only those that say `Phase N`."""
    for box in filter(None, map(_BOX.match, lines)):
        title, phase = _clean(box[2]), _PHASE.match(_clean(box[2]))
        if phase is not None:
            title = phase[2] or f"Phase {phase[1]}"
        if phase is not None or not named:
            status = PhaseStatus.COMPLETED if box[1] in "xX" else _marked(box[2])
            yield title[:_LINE], status


def _marked(text: str) -> PhaseStatus:
    return next((status for mark, status in _MARKS if mark.search(text)), PhaseStatus.PENDING)


def _clean(text: str) -> str:
    """A heading or entry without marks and emphasis."""
    plain = _EMOJI.sub(" ", text).replace("**", "").replace("`", "")
    return " ".join(plain.split()).strip(" -\u2013\u2014:")[:_LINE]
