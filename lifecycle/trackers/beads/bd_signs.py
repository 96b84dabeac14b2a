"""How bd's commands look in a command line, for who reads what an agent did.

Imported at stops that are looked at: it imports nothing.
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
"""What the command's words begin with (an option may stand anywhere), and the verb that it is."""

FILES = (".beads/",)
"""Where bd keeps its tasks in a worktree; an export of them is often under version control."""
