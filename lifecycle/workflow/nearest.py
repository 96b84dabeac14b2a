"""How near a workflow is to the asker: the rule itself, for `whose.py` and for the hooks' quick path.

A workflow and an asker are compared by three values: session ("" for none), client's process (0 for none),
branch ("" for none). Imported by the quick path, so it imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lifecycle.storage.workflow_marks import Whose


def rank(whose: Whose, asker: Whose, is_alive: Callable[[int], bool]) -> int:
    """How near a workflow is to the asker, 1 the nearest; 0 for another session's workflow.

    Args:
        whose: the workflow's three values.
        asker: the asker's three values.
        is_alive: says whether a client's process runs.
    """
    session, client, branch = asker
    if session and whose[0] == session:
        return 1
    if client and whose[1] == client:
        return 2
    if session and whose[0] and is_alive(whose[1]):
        return 0
    return 3 if whose[2] == branch else 4


def adopted_by(asker: Whose, whose: Whose) -> Whose:
    """The three values of a workflow that this asker continues; unchanged if the asker has no session."""
    return (asker[0], asker[1] or whose[1], asker[2] or whose[2]) if asker[0] else whose
