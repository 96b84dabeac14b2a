"""Compares plugin and command, which are installed and updated separately.

For the client, a plugin without a version is new at each commit, so no number shows what fits: both
have the same hooks and pages, and these are compared.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

from lifecycle.settings.resources import PLUGIN, install_line, packaged, top_folder

NAME = "lifecycle@lifecycle"
"""The plugin's name in its marketplace, as given to the client."""


def is_as_command(root: str) -> bool | None:
    """True if the plugin in this folder has the command's hooks and pages; None if it cannot be read."""
    try:
        version = (Path(root) / "lifecycle" / "__init__.py").read_text(encoding="utf-8")
        return version == packaged("__init__.py") and all(
            _files(Path(root) / name) == _files(top_folder(name)) for name in PLUGIN
        )
    except (OSError, ValueError):
        return None


def _files(folder: Path) -> dict[Path, bytes]:
    """The contents of a folder's files, by path, without the hidden files of operating systems."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name[0] != ".")
    return {path.relative_to(folder): path.read_bytes() for path in paths}


def update(name: str) -> str:
    """The command line that updates an installed plugin from its marketplace."""
    marketplace = name.partition("@")[2]
    return f"claude plugin marketplace update {marketplace} && claude plugin update {name}"


def install(root: str) -> str:
    """The command line that installs the command from the plugin's folder, which has its source."""
    return install_line("install", shlex.quote(root))


def difference(environment: Mapping[str, str]) -> str | None:
    """The sentence about a difference of plugin and command; None if they agree, or outside of a plugin."""
    root = environment.get("CLAUDE_PLUGIN_ROOT")
    if not root or is_as_command(root) is not False:
        return None
    return (
        "The lifecycle plugin and the lifecycle command are of different versions; both keep working as "
        f"far as they can. Update the plugin with: {update(NAME)}. If that changes nothing, the command is "
        f"the older one; bring it to the plugin's version with: {install(root)}"
    )
