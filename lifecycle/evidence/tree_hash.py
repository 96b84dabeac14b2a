"""The tree that evidence is bound to: the files as git names them, without files of the product's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from lifecycle.core.errors import Transient
from lifecycle.core.timing import Deadline
from lifecycle.evidence.records import EvidenceRoom
from lifecycle.git import tree_objects
from lifecycle.git.process import GitRepository
from lifecycle.storage import log
from lifecycle.storage.store import FOLDER
from lifecycle.trackers import command_signs

OWN = (
    *(".agent-claim.json*", f"{FOLDER}/", f"{log.STAGED_LOG}*"),
    *(".claude/workflow-state.json*", ".claude/workflow-progress.txt*"),
    *(".claude/state/workflow.json*", ".claude/state/workflows/", "untracked/workflow-state/"),
    *(".claude/workflow_state_system.md*", *command_signs.FILES),
)
"""Files that the product itself and trackers write into a worktree: not part of what was tested."""

_FORMS = [re.escape(name).replace(r"\*", r"[^/\0]*") for name in OWN]
_WHOLE = [rf"{form}[^\0]*" if form.endswith("/") else form for form in _FORMS]
_OWN_PATHS = rf"(?<=\t)(?:{'|'.join(_WHOLE)})(?=\0|$)"
"""The pattern of their paths in git's lists."""

seen = partial(tree_objects.seen, own=_OWN_PATHS, before=tree_objects.UNSEEN)
"""The tree with its files, from `tree_objects.seen`, without our own files."""


def is_own(path: str) -> bool:
    """True for a path that the product itself or a tracker writes in a worktree."""
    return re.compile(_OWN_PATHS).match(f"\t{path}", 1) is not None


SECONDS = 5.0
"""How long git may take to name the tree."""


def fingerprint(root: Path, deadline: Deadline, environment: Mapping[str, str]) -> str:
    """The name of the worktree's present tree; "" outside of a repository.

    Unchanged files that checks are known to have left are not part of it.

    Args:
        root: the worktree's top folder.
        deadline: when git must have ended.
        environment: variables beside this process's own.

    Raises:
        GitFailed: git cannot answer, for instance because it cannot read a file.
        Transient: the deadline or `SECONDS` passed: new files are too many or too big.
    """
    outputs = EvidenceRoom(root).outputs()
    is_sooner = deadline.left > SECONDS
    until = Deadline.after(deadline.clock, SECONDS) if is_sooner else deadline
    git = GitRepository(root, until, environment)
    try:
        return tree_objects.seen(git, outputs, _OWN_PATHS).name
    except Transient:
        if not is_sooner:
            raise
        raise Transient(
            f"git needed more than {SECONDS:.0f} seconds to read what is new in the files here, so no test "
            "run counts for them; nothing was changed. Name big files that do not belong to the project "
            "in .gitignore."
        ) from None
