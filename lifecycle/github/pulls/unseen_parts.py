"""What a look was refused, what that hides, and the checks that are read over REST in its place.

Green needs evidence: what the token is not shown is never taken for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from lifecycle.core.values.checks import Bucket, Checks
from lifecycle.core.values.model import PullRequest, PullState
from lifecycle.github.client.rest import Calls
from lifecycle.github.failures.failure_case import AnswerProblem
from lifecycle.github.pulls import rest_checks, rollup

MERGE, RULES, QUEUE = "observe_merge", "observe_rules", "observe_queue"
MERGING = (MERGE, RULES, QUEUE)
"""The documents that a look adds to the claim's own; each is one that may be done without."""

_CONTEXTS = "statusCheckRollup"


@dataclass(frozen=True, slots=True)
class Hidden:
    """What a look was not shown of its pull requests, whichever of them it was refused of.

    Attributes:
        contexts: not every check.
        workflows: not every workflow of the head.
        demands: not all that the base branch demands.
    """

    contexts: bool = False
    workflows: bool = False
    demands: bool = False

    def applied(self, pull: PullRequest) -> PullRequest:
        """The pull request with its checks marked."""
        if pull.checks is None:
            return pull
        made = replace(
            pull.checks,
            is_complete=pull.checks.is_complete and not self.contexts,
            sees_workflows=pull.checks.sees_workflows and not self.workflows,
            sees_demands=pull.checks.sees_demands and not self.demands,
        )
        return replace(pull, checks=made)


def hidden(problems: Iterable[AnswerProblem], left_out: Iterable[str]) -> Hidden:
    """What the problems of a look hide, and the documents that the server does not know."""
    steps = {step for one in problems for step in one.path}
    lacking = set(left_out)
    return Hidden(
        contexts=_CONTEXTS in steps,
        workflows="commits" in steps or MERGE in lacking,
        demands="baseRef" in steps or bool({MERGE, RULES} & lacking),
    )


def is_bearable(problem: AnswerProblem, data: Mapping[str, Any]) -> bool:
    """True if only a part of a pull request is missing, and the pull request itself is there.

    A null where GraphQL allows none takes what is around it along: a pull request that is missing
    for such a reason is not one that does not exist.
    Source: https://spec.graphql.org/October2021/#sec-Handling-Field-Errors
    """
    found: Any = data
    for step in problem.path:
        if step in _parts():
            return found is not None
        if isinstance(step, int):
            found = found[step] if isinstance(found, list) and step < len(found) else None
        else:
            found = found.get(step) if isinstance(found, Mapping) else None
    return False


@cache
def _parts() -> frozenset[str]:
    """The fields of a pull request that a look may be refused: those of its added documents."""
    from lifecycle.github.client.documents import fields_of

    added = (fields_of(name, "PullRequest") for name in MERGING)
    return frozenset({_CONTEXTS}.union(*added))


def completed(
    calls: Calls, shown: Iterable[PullRequest], overall: Mapping[str, str]
) -> dict[str, Checks]:
    """The checks of open pull requests of which GraphQL did not show all, by head.

    Args:
        calls: of the repository.
        shown: the pull requests as GraphQL showed them.
        overall: GitHub's own word over all checks of a head, hidden ones too.
    """
    found: dict[str, Checks] = {}
    for pull in shown:
        checks = pull.checks
        if checks is None or pull.state is not PullState.OPEN or pull.head_sha in found:
            continue
        if not (checks.is_complete and checks.sees_workflows):
            found[pull.head_sha] = _read(calls, checks, overall.get(pull.head_sha, ""))
    return found


def _read(calls: Calls, shown: Checks, overall: str) -> Checks:
    found = shown
    if not shown.is_complete:
        read = rest_checks.read(calls, shown.sha)
        # GitHub's own word counts what it hides, so that it can say that all of it passed.
        whole = replace(read, is_complete=True, unseen="") if overall == "SUCCESS" else read
        found = rollup.with_demands(whole, shown)
        found = _judged_by_word(found, overall) if read.unseen else found
    if not found.sees_workflows and _have_passed(found):
        flows = rest_checks.workflows(calls, shown.sha)
        if flows is not None:
            found = rollup.with_workflows(found, rollup.judged(flows, found.runs))
    return found


def _have_passed(checks: Checks) -> bool:
    """True if what is shown would be green, so that it matters what is not."""
    return bool(checks.runs) and all(run.bucket is Bucket.PASS for run in checks.runs)


def _judged_by_word(checks: Checks, overall: str) -> Checks:
    """Checks of which only runs of Actions and statuses are shown.

    Runs of Actions have their workflow's name, and the base demands jobs: that cannot be compared.
    That all which registered passed does not say that what is demanded has: only a merge that
    nothing blocks does.
    """
    statuses = [run for run in checks.runs if not run.workflow]
    met = tuple(one for one in checks.required if any(map(one.is_met_by, statuses)))
    is_unsure = met != checks.required and not checks.is_unblocked
    if overall != "SUCCESS":
        return replace(checks, required=met, overall=overall)
    if is_unsure and _have_passed(checks):
        names = sorted({one.name for one in checks.required if one not in met})
        unseen = f"whether {', '.join(names)} reported"
        return replace(checks, required=met, is_complete=False, unseen=unseen, overall=overall)
    return replace(checks, required=met)
