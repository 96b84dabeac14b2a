"""pytest in a process of a test's own, without the plug-ins that are installed here and not asked about.

They are three quarters of what its start costs.
"""

from __future__ import annotations

BARE = ("--disable-plugin-autoload", "-p", "no:cacheprovider")
"""Options of a project's pytest."""


def only(*plugins: str) -> dict[str, str]:
    """The variables with which pytest, its workers too, loads these plug-ins and no other by itself."""
    return {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": ",".join(plugins)}
