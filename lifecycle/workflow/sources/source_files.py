"""Find and read the sources of workflows in a worktree, and check whether one still has its workflow."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lifecycle.storage import regular_files
from lifecycle.workflow.state import Workflow, slug
from lifecycle.workflow.store.document_files import own_content

if TYPE_CHECKING:
    from lifecycle.workflow.sources.source_text import SourceFacts

LOCAL: Final = "CLAUDE.local.md"
PLANS: Final = "CLAUDE/Plan"
PLAN: Final = "PLAN.md"

MOST_BYTES: Final = 1_000_000
MOST_PLANS: Final = 200


def read_sources(root: Path) -> tuple[list[SourceFacts], list[str]]:
    """The facts from all sources of a worktree that describe a workflow in progress.

    Returns also one sentence for each source that cannot be used.
    """
    facts, troubles = list["SourceFacts"](), list[str]()
    for path in source_paths(root):
        try:
            source = source_facts(root, path)
        except OSError as error:
            troubles.append(f"{path} was not read: it {error.strerror}. It was left as it is.")
            continue
        if source is not None:
            facts.append(source)
            troubles += [f"{path}: {sentence}" for sentence in source.refused]
    return facts, troubles


def source_paths(root: Path) -> Iterator[str]:
    """The paths of all possible sources, from the worktree's root."""
    if os.path.lexists(root / LOCAL):
        yield LOCAL
    try:
        folder = regular_files.below(str(root), *PLANS.split("/"), "")
        names = sorted(os.listdir(folder))[:MOST_PLANS]  # noqa: PTH208 -- names alone
    except OSError:
        return
    paths = (f"{PLANS}/{name}/{PLAN}" for name in names)
    yield from (path for path in paths if os.path.lexists(f"{root}/{path}"))


def source_facts(root: Path, path: str) -> SourceFacts | None:
    """What one source says; None if it does not describe a workflow in progress.

    Raises:
        OSError: it cannot be read, is too large, or is not this user's file.
    """
    content = own_content(root, path, MOST_BYTES)
    if content is None:
        return None
    if len(content[0]) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"is larger than {MOST_BYTES // 1_000_000} MB")
    # Without a source, importing the readers would be wasted time.
    from lifecycle.workflow.sources.source_text import active_plan, local_markers

    text = content[0].decode("utf-8", "replace")
    facts = local_markers(text, path) if path == LOCAL else active_plan(text, path)
    if facts is not None and not any(map(str.isalnum, facts.name)):
        return replace(facts, name=f"workflow {path}")  # no file could have its name
    return facts


def is_standing(root: Path, workflow: Workflow) -> bool:
    """True unless the workflow came from a source that no longer says that it is in progress.

    `CLAUDE.local.md` has to name this workflow; a plan only has to be in progress, whatever else changed
    in it. A source that is missing or cannot be read does not say that a workflow is in progress.
    """
    if not workflow.source:
        return True
    try:
        facts = source_facts(root, workflow.source)
    except OSError:
        return False
    is_named = facts is not None and slug(facts.name) == slug(workflow.name)
    return is_named if workflow.source == LOCAL else facts is not None
