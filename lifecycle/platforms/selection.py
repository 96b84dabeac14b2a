"""Which platform a worktree is of: the one of the highest priority whose markers are there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lifecycle.platforms import discovery, markers
from lifecycle.platforms.command_argv import Argv
from lifecycle.platforms.discovery import Place, Platform
from lifecycle.platforms.platform_file import CoverageSource

COVERAGE = "coverage"
"""The command that leaves a number behind."""


@dataclass(frozen=True, slots=True)
class Match:
    """One platform held against a worktree; `found` says of each marker, in its order, if it is there."""

    platform: Platform
    found: tuple[bool, ...]

    @property
    def is_match(self) -> bool:
        """True if enough of the markers are there."""
        return any(self.found) if self.platform.about.match_mode == "any" else all(self.found)


@dataclass(frozen=True, slots=True)
class Detection:
    """What was found for a worktree.

    Attributes:
        matches: all platforms, the nearest first.
        selected: the one that counts, None if none matches.
        reason: why this one, or why none, as a sentence.
        commands: the commands of the selected one that are there in this worktree.
        notes: sentences on files that were skipped.
    """

    matches: tuple[Match, ...]
    selected: Platform | None
    reason: str
    commands: Mapping[str, tuple[Argv, ...]]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlatformCommand:
    """A command that a worktree's platform has.

    Attributes:
        name: as `test`.
        argvs: what is run, one after another, each after the success of the last.
        platform: the name of the platform.
        place, path: where that comes from.
        needs_trust: nothing of it may be run before the user has said yes to these very words.
        coverage: how its number is read, by `coverage_number.percent`; None unless it is the coverage
            command of a platform that says it.
    """

    name: str
    argvs: tuple[Argv, ...]
    platform: str
    place: Place
    path: Path
    needs_trust: bool
    coverage: CoverageSource | None = None


def detect(root: Path, environment: Mapping[str, str]) -> Detection:
    """Hold every platform that is there against a worktree, and select one; no process is started.

    Of those that match the highest priority wins; of equals the nearest place, then the first name.
    """
    discovered = discovery.discover(root, environment)
    matches = tuple(
        Match(one, tuple(any(markers.matches(root, marker)) for marker in one.about.markers))
        for one in discovered.platforms
    )
    places = list(Place)
    candidates = sorted(
        (match.platform for match in matches if match.is_match),
        key=lambda one: (-one.about.priority, places.index(one.place), one.about.name),
    )
    selected = candidates[0] if candidates else None
    commands = _here(root, selected) if selected is not None else {}
    return Detection(matches, selected, _reason(candidates), commands, discovered.notes)


def commands_of(root: Path, environment: Mapping[str, str]) -> Mapping[str, PlatformCommand]:
    """The commands of the worktree's platform by their names; empty if no platform matches.

    Args:
        root: the worktree's root.
        environment: names the user's home.
    """
    detection = detect(root, environment)
    one = detection.selected
    if one is None:
        return {}
    return {
        name: PlatformCommand(
            name,
            argvs,
            one.about.name,
            one.place,
            one.path,
            one.needs_trust,
            one.about.coverage if name == COVERAGE else None,
        )
        for name, argvs in detection.commands.items()
    }


def _here(root: Path, platform: Platform) -> dict[str, tuple[Argv, ...]]:
    """The platform's commands, without those whose conditions do not hold here."""
    needs = platform.about.needs
    return {
        name: argvs
        for name, argvs in platform.commands.items()
        if name not in needs or markers.holds(root, needs[name])
    }


def _reason(candidates: list[Platform]) -> str:
    if not candidates:
        return "No platform's markers are here."
    best = candidates[0]
    rivals = [one for one in candidates[1:] if one.about.priority == best.about.priority]
    if len(candidates) == 1:
        return "It is the only one whose markers are here."
    if not rivals:
        return f"Of {len(candidates)} that match it has the highest priority."
    names = ", ".join(one.about.name for one in rivals)
    if all(one.place is not best.place for one in rivals):
        return f"{names} has the same priority; {best.about.name} lies nearer ({best.place})."
    return f"{names} has the same priority and lies as near; the first name counts."
