"""Tell failures of what a job ran on from the change's own, by the table in `infrastructure.toml`. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from lifecycle.feedback.checks.anchors import AnchorRank, rank_of
from lifecycle.feedback.checks.packet import CheckFailure
from lifecycle.settings import resources

table = functools.partial(resources.table, "feedback/failures/infrastructure.toml")
"""The content of `infrastructure.toml`."""


def broken(failure: CheckFailure) -> str:
    """What broke that the job ran on, in words; "" for a failure that may be the change's own.

    A check that is no job of Actions cannot be run again here, and so is never one. Where tests failed,
    they may print such a phrase themselves: then only what ends any job counts.
    """
    if failure.job is None:
        return ""
    has_tests = bool(failure.tests)
    lines = [*_telling(failure)]
    for row in table()["phrase"]:
        counts = row.get("always") or not has_tests
        if counts and any(re.search(row["pattern"], line) for line in lines):
            return str(row["of"])
    if failure.word in table()["states"] and not has_tests:
        return failure.word.lower().replace("_", " ")
    return ""


def _telling(failure: CheckFailure) -> Iterable[str]:
    """The lines that tell an error: of the log, and what Actions itself remarks."""
    yield failure.first_error
    for line in failure.excerpt:
        if rank_of(line) is not AnchorRank.NONE or line.startswith("##[error]"):
            yield line
    for remark in failure.remarks:
        if remark.path in (".github", ""):
            yield remark.message
