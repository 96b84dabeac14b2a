"""What follows from a change after it was answered: merges that waited for it.

On GitHub auto-merge and the merge queue act a moment later, too. Whatever could let one happen says
`touch`; who answers a request calls `settle` when the answer is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lifecycle.sandbox.repositories.state import Repository
    from lifecycle.sandbox.repositories.world import World


def touch(repo: Repository) -> None:
    """Something happened in a repository that a waiting merge may have waited for."""
    if repo not in repo.world.unsettled:
        repo.world.unsettled.append(repo)


def settle(world: World) -> None:
    """Let everything happen that now may."""
    from lifecycle.sandbox.pulls.merging import automerge
    from lifecycle.sandbox.rules import queue

    turns = 0
    while world.unsettled and turns < 100:  # each turn merges or ejects something, or is the last
        turns += 1
        repo = world.unsettled.pop(0)
        automerge.run(repo)
        queue.run(repo)
