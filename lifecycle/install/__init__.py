"""Wires one project to the hooks, and unwires it, without touching what others wrote there."""

from __future__ import annotations

from lifecycle.install.copies import copy_to
from lifecycle.install.files import FileChange
from lifecycle.install.found import Installed, Wired, installed
from lifecycle.install.planning import Plan, apply, plan

__all__ = [
    "FileChange",
    "Installed",
    "Plan",
    "Wired",
    "apply",
    "copy_to",
    "installed",
    "plan",
]
