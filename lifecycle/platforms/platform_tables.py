"""Platforms for people and machines: texts from the templates in `templates/`, and values for `--json`.

A platform's words may come from the repository: they are shown as data.
"""

from __future__ import annotations

import json
from typing import Any

from lifecycle.platforms.command_argv import as_line
from lifecycle.platforms.selection import Detection, Discovered, Platform
from lifecycle.settings import resources


def drawn(name: str, search: Discovered | Detection) -> list[str]:
    """The lines of a text about platforms.

    Args:
        name: `discovery`, of what was discovered; `detection`, of the search and its result; or `context`,
            only the configuration of the selected platform.
        search: what was discovered, or detected.
    """
    path = f"platforms/templates/{name}.md"
    return resources.drawn(path, search=search, as_line=as_line, text=_text)


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


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
