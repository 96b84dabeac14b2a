"""Puts the hooks into one project's settings, and takes them out; keeps what others wrote there."""

from __future__ import annotations

from lifecycle.setup.init.planned_files import FileChange
from lifecycle.setup.init.planning import Plan, apply, copy_to, plan

__all__ = ["FileChange", "Plan", "apply", "copy_to", "plan"]
