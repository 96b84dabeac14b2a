"""Checks: whether the token shows them, tried on the newest commit of the PR's base."""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.core.errors import LifecycleError, NoPermission, Rejected
from lifecycle.core.values.model import RepositoryAccess, TokenFacts
from lifecycle.setup.doctor.doctor_finding import DoctorFinding, FixStep, cause, fail, ok, warn
from lifecycle.setup.doctor.examined import Examined

_WAYS = {
    "fine-grained": "The one query of a poll shows no checks to a fine-grained token; they are read over "
    "REST, with two or three requests more."
}
"""How checks are read, by kind of token, where it is not the usual way."""


def check(case: Examined) -> Iterator[DoctorFinding]:
    """What a poll will see. A fine-grained token cannot be given checks; a fallback serves it."""
    hub, base, facts = case.asking, case.base, case.facts
    if hub is None or base is None or not isinstance(facts, TokenFacts):
        return
    if not isinstance(case.access, RepositoryAccess):
        return
    branch = case.settings.base or case.access.default_branch
    try:
        sha = case.world.git.remote_head_of(branch, case.settings.remote) if branch else None
        if sha is None:
            return  # nothing to try it on
        found = hub.checks(base, sha)
    except NoPermission as error:
        yield fail(
            "checks.read",
            f"The token shows neither checks nor workflow runs: {error.evidence or cause(error)}",
            (FixStep.CI, FixStep.WAKE),
            "give it Actions: read and Commit statuses: read, or use: export GH_TOKEN=$(gh auth token)",
        )
    except Rejected:
        return  # GitHub does not know this commit (any more): nothing to try it on
    except LifecycleError as error:
        yield fail("checks.read", cause(error), (FixStep.CI,), "lifecycle doctor")
    else:
        if found.is_complete:
            yield ok("checks.read", _WAYS.get(facts.kind, "Checks and statuses can be read."))
            return
        yield warn(
            "checks.read",
            "The token does not show every check, so a poll goes by workflow runs, statuses and GitHub's "
            "own verdict over all.",
            (FixStep.CI,),
            "export GH_TOKEN=$(gh auth token)",
        )
