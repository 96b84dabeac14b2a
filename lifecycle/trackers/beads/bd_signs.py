"""The forms of bd's commands in a command line, for readers of an agent's actions.

Imported at stops that are looked at: this module imports nothing.
Source: `bd --help`, https://github.com/steveyegge/beads.
"""

from __future__ import annotations

SIGNS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("bd", "close"), "close"),
    (("bd", "done"), "close"),
    (("bd", "update", "--status=closed"), "close"),
    (("bd", "show"), "show"),
    (("bd", "reopen"), "reopen"),
    (("bd", "update", "--claim"), "claim"),
    (("bd", "update", "--status=in_progress"), "claim"),
)
"""The beginning of the command's words (an option may be anywhere), and the verb that it means."""

FILES = (".beads/",)
"""The paths of bd's tasks in a worktree; an export of them is often under version control."""
