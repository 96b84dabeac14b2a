"""Platforms for people and machines: the tables of discovery, of the match, and of the configuration.

A platform's words are its writer's, and the repository may have brought them: they are shown as data.
"""

from __future__ import annotations

import json
from typing import Any

from lifecycle.core.markdown_table import cell, table
from lifecycle.core.redact import as_data
from lifecycle.platforms.command_argv import as_line
from lifecycle.platforms.discovery import Discovered, Platform
from lifecycle.platforms.selection import Detection


def discovery_lines(discovered: Discovered) -> list[str]:
    """The table of what is there."""
    rows = [
        (one.about.name, _title(one), ", ".join(one.about.markers), one.about.match_mode)
        for one in discovered.platforms
    ]
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
    """The table of the match, and the configuration of what was selected."""
    rows = [
        (
            match.platform.about.name,
            marker,
            "Yes" if is_there else "No",
            "MATCH" if match.is_match else "NO MATCH",
        )
        for match in detection.matches
        for marker, is_there in zip(match.platform.about.markers, match.found, strict=True)
    ]
    lines = [
        "## Platform Detection",
        "",
        "Scanning codebase for platform markers...",
        "",
        *table(("Platform", "Markers Checked", "Found", "Match Result"), rows),
        "",
        *(f"Note: {note}" for note in detection.notes),
    ]
    one = detection.selected
    if one is None:
        return [*lines, "**Selected Platform:** none", f"**Reason:** {detection.reason}"]
    chosen = f"**Selected Platform:** {one.about.name} (priority: {one.about.priority})"
    return [
        *lines,
        chosen,
        f"**Reason:** {detection.reason}",
        "",
        *_loaded(one, detection),
    ]


def platform_data(platform: Platform) -> dict[str, Any]:
    """A platform for `--json`, in the words of its file, and where it comes from."""
    commands = {name: [list(words) for words in argvs] for name, argvs in platform.commands.items()}
    return {
        **platform.about.data(),
        "commands": commands,
        "place": platform.place.value,
        "path": str(platform.path),
        "needs_trust": platform.needs_trust,
    }


def detection_data(detection: Detection) -> dict[str, Any]:
    """The match for `--json`; of the selected one only the commands that are there."""
    selected = None
    if detection.selected is not None:
        commands = {name: [list(a) for a in argvs] for name, argvs in detection.commands.items()}
        selected = {**platform_data(detection.selected), "commands": commands}
    return {
        "platforms": [
            {
                "name": match.platform.about.name,
                "priority": match.platform.about.priority,
                "matchMode": match.platform.about.match_mode,
                "markers": dict(zip(match.platform.about.markers, match.found, strict=True)),
                "match": match.is_match,
            }
            for match in detection.matches
        ],
        "selected": selected,
        "reason": detection.reason,
        "notes": list(detection.notes),
    }


def context_lines(detection: Detection) -> list[str]:
    """The configuration of what was selected, for somebody who only works with it."""
    one = detection.selected
    if one is None:
        return [detection.reason]
    lies = one.about.structure
    where = ["", "### Project Structure", cell(_text(lies))] if lies is not None else []
    return [*_configuration(one, detection), *where]


def _loaded(one: Platform, detection: Detection) -> list[str]:
    return [
        "## Platform Configuration Loaded",
        "",
        *_configuration(one, detection),
        "",
        "---",
        "Platform detection complete. Proceeding with workflow.",
    ]


def _configuration(one: Platform, detection: Detection) -> list[str]:
    about = one.about
    version = f" (v{cell(about.version)})" if about.version else ""
    trust = "; nothing of it is run before: lifecycle trust" if one.needs_trust else ""
    gates = [
        (f"Coverage ({size})", f"{at:g}%") for size, at in about.quality_gates.coverage.items()
    ]
    required = ", ".join(about.quality_gates.required)
    gates += [("Required", required)] if required else []
    commands = [(name, f"`{as_line(argvs)}`") for name, argvs in detection.commands.items()]
    conventions = [(name, _text(value)) for name, value in about.conventions.items()]
    return [
        f"**Platform:** {cell(_title(one))}{version}",
        f"**From:** {as_data(str(one.path))} ({one.place}{trust})",
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


def _title(platform: Platform) -> str:
    return platform.about.display_name or platform.about.name


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
