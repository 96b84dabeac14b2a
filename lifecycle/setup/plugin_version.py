"""Compares the versions of plugin and command, which are installed and updated apart."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path

from lifecycle import __version__


def plugin_version(environment: Mapping[str, str]) -> str | None:
    """The version of the plugin that runs this hook; None outside of a plugin, or if it cannot be read."""
    root = environment.get("CLAUDE_PLUGIN_ROOT")
    if not root:
        return None
    try:
        manifest = json.loads((Path(root) / ".claude-plugin" / "plugin.json").read_bytes())
        return str(manifest["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def install(root: str) -> str:
    """The command line that installs the command from the plugin's folder, which holds its source."""
    return f"pipx install --force {shlex.quote(root)}"


def difference(environment: Mapping[str, str]) -> str | None:
    """The sentence that plugin and command have different versions; None if they do not."""
    plugin = plugin_version(environment)
    if plugin is None or plugin == __version__:
        return None
    return (
        f"The lifecycle plugin is version {plugin} and the lifecycle command is {__version__}; both "
        "go on working as they can. Bring the command to the plugin's version with: "
        f"{install(environment['CLAUDE_PLUGIN_ROOT'])}"
    )
