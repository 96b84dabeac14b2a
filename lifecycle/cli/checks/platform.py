"""`lifecycle platform`: what kind of project this is, and its commands. No network."""

from __future__ import annotations

import sys

import click

from lifecycle.cli.command_session import Session
from lifecycle.cli.main import RowGroup
from lifecycle.core.errors import Refused, did_you_mean
from lifecycle.core.redact import redact, shown
from lifecycle.platforms import command_argv, platform_tables, selection

ALL = "to see the known platforms: lifecycle platform list"


@click.group("platform", cls=RowGroup, table="checks/platform")
def command() -> None:
    """Show what kind of project this is, by platform.json files, and how it is built, tested and checked.

    The files are searched for in Workflows/platforms/*/ of this worktree and of its parent folder, in
    platforms/*/ of your own configuration folder, and among the shipped ones; if two have the same name,
    the first one counts. See docs/platforms.md.
    """


def list_(session: Session) -> None:
    """List every platform, whether it matches this worktree or not."""
    discovered = selection.discover(session.root, session.world.environment)
    shown_platforms = [*map(platform_tables.platform_data, discovered.platforms)]
    data = {"platforms": shown_platforms, "notes": list(discovered.notes)}
    session.show(platform_tables.drawn("discovery", discovered), data)


def detect(session: Session) -> int:
    """Compare every platform's markers with this worktree, and show the one that is selected.

    Of the matching ones, the highest priority counts, then the nearest, then the first by name. Exits 1
    if none matches.
    """
    detection = selection.detect(session.root, session.world.environment)
    none = Refused(f"{detection.reason[:-1]}, so none is selected; {ALL}")
    lines = platform_tables.drawn("detection", detection)
    data = platform_tables.detection_data(detection)
    return session.show_all_but(None if detection.selected else none, lines, data)


def get_command(session: Session, *, name: str) -> None:
    """Print a command of the selected platform (build, test, lint, lintFix, coverage, any other).

    It is quoted for a shell, as in: eval "$(lifecycle platform get-command build)". Nothing is run. If
    there is no such command, nothing is printed on standard output, and the exit code is 1.
    """
    detection = selection.detect(session.root, session.world.environment)
    platform, argvs = detection.selected, detection.commands.get(name)
    if platform is None or argvs is None:
        if not session.as_json:
            for note in detection.notes:
                click.echo(f"Note: {note}", err=True)
        raise Refused(_lacking(detection, name))
    line = command_argv.as_line(argvs)
    # In JSON only secrets are removed; other escaped characters are restored by a parser.
    if redact(line) != line or not (session.as_json or _is_printed_as_it_is(line)):
        raise Refused(
            f"The command {name} of the platform {platform.about.name} cannot be printed unchanged: it "
            "holds a secret, words that a client reads as its own, or characters that this output lacks; "
            f"nothing was printed; look at {platform.path}"
        )
    data = {"name": name, "command": line, "argvs": argvs, "platform": platform.about.name}
    data |= {"place": platform.place.value, "path": str(platform.path)}
    session.show_whole([line], {**data, "needs_trust": platform.place.needs_trust})


def _is_printed_as_it_is(line: str) -> bool:
    """True if the line reaches standard output unchanged: no escapes, and no character that it lacks."""
    encoding = sys.stdout.encoding or "ascii"
    return shown(line).encode(encoding, "replace").decode(encoding) == line


def _lacking(detection: selection.Detection, name: str) -> str:
    """The sentence that the selected platform has no command of this name, and why."""
    platform = detection.selected
    if platform is None:
        return f"{detection.reason[:-1]}, so there is no command {name!r}; {ALL}"
    needed = platform.about.needs.get(name, [])
    if needed:
        files = " or ".join(dict.fromkeys(file for condition in needed for file in condition.files))
        return f"The platform {platform.about.name} has {name} only if {files} asks for it."
    names = f"{', '.join(platform.commands) or 'none'}.{did_you_mean(name, platform.commands)}"
    return f"The platform {platform.about.name} has no command {name!r} here; it has: {names}"
