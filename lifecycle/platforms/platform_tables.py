"""Platforms for people and machines: the tables of discovery, of the match, and of the configuration.

A platform's words may come from the repository: they are shown as data.
"""

from __future__ import annotations

import json
from typing import Any

from lifecycle.core.markdown_table import cell, table
from lifecycle.core.redact import as_data
from lifecycle.platforms.command_argv import as_line
from lifecycle.platforms.platform_file import PlatformFile
from lifecycle.platforms.selection import Detection, Discovered, Platform


def discovery_lines(discovered: Discovered) -> list[str]:
    """The discovered platforms as lines of a Markdown table, with the notes."""
    abouts = [platform.about for platform in discovered.platforms]
    rows = [(a.name, _title(a), ", ".join(a.markers), a.match_mode) for a in abouts]
    return [
        "## Platform Discovery",
        "",
        "Scanning for available platforms...",
        "",
        *table(("Platform", "Description", "Markers", "Match Mode"), rows),
        "",
        f"Found {len(rows)} platform configurations.",
        *(f"Note: {note}" for note in discovered.notes),
    ]


def detection_lines(detection: Detection) -> list[str]:
    """The markers of each platform as a table, and the configuration of the selected platform."""
    rows: list[tuple[str, ...]] = []
    for match in detection.matches:
        name, end = match.platform.about.name, "MATCH" if match.is_match else "NO MATCH"
        for marker, is_there in match.found:
            rows.append((name, marker, "Yes" if is_there else "No", end))
    lines = [
        "## Platform Detection",
        "",
        "Scanning codebase for platform markers...",
        "",
        *table(("Platform", "Markers Checked", "Found", "Match Result"), rows),
        "",
        *(f"Note: {note}" for note in detection.notes),
    ]
    platform = detection.selected
    if platform is None:
        return [*lines, "**Selected Platform:** none", f"**Reason:** {detection.reason}"]
    return [
        *lines,
        f"**Selected Platform:** {platform.about.name} (priority: {platform.about.priority})",
        f"**Reason:** {detection.reason}",
        "",
        "## Platform Configuration Loaded",
        "",
        *_configuration(platform),
        "",
        "---",
        "Platform detection complete. Proceeding with workflow.",
    ]


def platform_data(platform: Platform) -> dict[str, Any]:
    """A platform for `--json`, with its file's own keys, and its origin."""
    return {
        **platform.about.data(),
        "commands": platform.commands,
        "place": platform.place.value,
        "path": str(platform.path),
        "needs_trust": platform.place.needs_trust,
    }


def detection_data(detection: Detection) -> dict[str, Any]:
    """The comparison for `--json`; for the selected platform only the commands that apply."""
    return {
        "platforms": [
            {
                "name": match.platform.about.name,
                "priority": match.platform.about.priority,
                "matchMode": match.platform.about.match_mode,
                "markers": dict(match.found),
                "match": match.is_match,
            }
            for match in detection.matches
        ],
        "selected": detection.selected and platform_data(detection.selected),
        "reason": detection.reason,
        "notes": list(detection.notes),
    }


def context_lines(detection: Detection) -> list[str]:
    """Only the configuration of the selected platform, without the tables of the search."""
    platform = detection.selected
    if platform is None:
        return [detection.reason]
    structure = platform.about.structure
    where = ["", "### Project Structure", cell(_text(structure))] if structure is not None else []
    return [*_configuration(platform), *where]


def _configuration(platform: Platform) -> list[str]:
    about = platform.about
    version = f" (v{cell(about.version)})" if about.version else ""
    trust = "; to let its commands run: lifecycle trust" if platform.place.needs_trust else ""
    wanted = about.quality_gates
    gates = [(f"Coverage ({size})", f"{at:g}%") for size, at in wanted.coverage.items()]
    required = ", ".join(wanted.required)
    gates += [("Required", required)] if required else []
    commands = [(name, f"`{as_line(argvs)}`") for name, argvs in platform.commands.items()]
    conventions = [(name, _text(value)) for name, value in about.conventions.items()]
    return [
        f"**Platform:** {cell(_title(about))}{version}",
        f"**From:** {as_data(str(platform.path))} ({platform.place}{trust})",
        "",
        "### Commands",
        *table(("Action", "Command"), commands),
        "",
        "### Conventions",
        *table(("Convention", "Value"), conventions),
        "",
        "### Quality Gates",
        *table(("Gate", "Threshold"), gates),
        "",
        "### Skills Loaded",
        *([f"- {cell(skill)}" for skill in about.skills] or ["None."]),
    ]


def _title(about: PlatformFile) -> str:
    return about.display_name or about.name


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
