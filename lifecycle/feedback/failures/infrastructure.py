"""Separate infrastructure failures from the change's own, by the table in `infrastructure.toml`. Pure."""

from __future__ import annotations

import functools
import re

from lifecycle.feedback.checks.anchors import AnchorRank, rank_of
from lifecycle.feedback.checks.packet import CheckFailure
from lifecycle.settings import resources

table = functools.partial(resources.table, "feedback/failures/infrastructure.toml")
"""The content of `infrastructure.toml`."""


def broken(failure: CheckFailure) -> str:
    """The part of the infrastructure that broke, in words; "" if the failure may be the change's own.

    A check that is not a job of Actions cannot be rerun here, so it always gives "". Failed tests may print
    such a phrase themselves: then only phrases that end any job count.
    """
    if failure.job is None:
        return ""
    has_tests = bool(failure.tests)
    # The lines that name an error: the log's, and Actions' own remarks.
    none, begin = AnchorRank.NONE, "##[error]"
    of_log = (line for line in failure.excerpt if line.startswith(begin) or rank_of(line) != none)
    remarks = (remark.message for remark in failure.remarks if remark.path in (".github", ""))
    lines = [failure.first_error, *of_log, *remarks]
    for row in table()["phrase"]:
        counts = row.get("always") or not has_tests
        if counts and any(re.search(row["pattern"], line) for line in lines):
            return str(row["of"])
    is_state = failure.word in table()["states"] and not has_tests
    return failure.word.lower().replace("_", " ") if is_state else ""
