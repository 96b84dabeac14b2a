"""Whom an open pull request waits for, on values alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lifecycle.claim.decisions.pull.merge_standing import awaited
from lifecycle.claim.record.sections import Whom
from lifecycle.core.values.checks import Bucket, Required
from lifecycle.core.values.model import Conversations, MergeDemands, QueueEntry
from tests.batches import each_row
from tests.factories import checks, pull, review

AUTHOR, REVIEWERS, MERGE, RULE, CHECKS, QUEUE, AUTO = Whom
GREEN, RED, RUNNING = (checks(one) for one in (Bucket.PASS, Bucket.FAIL, Bucket.PENDING))
MISSED = replace(GREEN, required=(Required("build"),))
OPEN = Conversations("", unresolved=2)
QUEUED = QueueEntry("QUEUED", 3)
WANTS = (review(author="maria"),)
BY_MARIA = "has changes to be made that were requested by maria in a review"

CASES: dict[str, tuple[dict[str, Any], tuple[Whom, str]]] = {
    "green": ({}, (MERGE, "is ready to merge")),
    "no checks": ({"checks": None}, (MERGE, "is ready to merge")),
    "no conflict known": (
        {"mergeable": "UNKNOWN", "merge_state": "UNKNOWN"},
        (MERGE, "is ready to merge, if GitHub finds no conflict"),
    ),
    "conflict": ({"mergeable": "CONFLICTING", "merge_state": "DIRTY"},
                 (AUTHOR, "conflicts with main")),
    "conflict, base unknown": ({"mergeable": "CONFLICTING", "base": ""},
                               (AUTHOR, "conflicts with its base")),
    "red": ({"checks": RED}, (AUTHOR, "has checks that failed")),
    "red and reviewed": ({"checks": RED, "requested": ("sam",)},
                         (AUTHOR, "has checks that failed")),
    "changes": ({"changes_requested": WANTS}, (AUTHOR, BY_MARIA)),
    "changes, by the decision alone": (
        {"review_decision": "CHANGES_REQUESTED"},
        (AUTHOR, "has changes to be made that were requested in a review"),
    ),
    "changes, of a deleted account": (
        {"changes_requested": (review(author=""),)},
        (AUTHOR, "has changes to be made that were requested in a review"),
    ),
    "changes, and somebody else is asked": (
        {"changes_requested": WANTS, "requested": ("sam",)},
        (AUTHOR, BY_MARIA),
    ),
    "changes made, and asked again": (
        {"changes_requested": WANTS, "review_decision": "CHANGES_REQUESTED", "requested": ("maria",)},
        (REVIEWERS, "waits for a review that was asked for"),
    ),
    "draft": (
        {"is_draft": True},
        (AUTHOR, "is a draft, and cannot be merged before it is marked as ready on its page"),
    ),
    "draft that is red": ({"is_draft": True, "checks": RED}, (AUTHOR, "has checks that failed")),
    "draft with conversations": (
        {"is_draft": True, "conversations": OPEN},
        (AUTHOR, "is a draft, and cannot be merged before it is marked as ready on its page"),
    ),
    "conversations": ({"conversations": OPEN}, (AUTHOR, "has 2 unresolved conversations")),
    "conversations that were answered": ({"conversations": Conversations("d", 2)},
                                         (MERGE, "is ready to merge")),
    "conversations of which one was answered": (
        {"conversations": Conversations("d", 2, unanswered=1)},
        (AUTHOR, "has 1 unresolved conversation"),
    ),
    "conversations that were answered, and a rule wants resolved": (
        {
            "conversations": Conversations("d", 2),
            "demands": MergeDemands(conversations=True),
            "merge_state": "BLOCKED",
        },
        (REVIEWERS, "waits for 2 conversations to be resolved, as main demands"),
    ),
    "one conversation": ({"conversations": Conversations("", 1)},
                         (AUTHOR, "has 1 unresolved conversation")),
    "conversations, and a review is asked for": (
        {"conversations": OPEN, "requested": ("maria",)},
        (REVIEWERS, "waits for a review that was asked for"),
    ),
    "behind": ({"merge_state": "BEHIND"},
               (AUTHOR, "waits for the newest commits of main to be merged into it")),
    "behind, and a review is asked for": (
        {"merge_state": "BEHIND", "requested": ("maria",)},
        (REVIEWERS, "waits for a review that was asked for"),
    ),
    "review required": (
        {"review_decision": "REVIEW_REQUIRED", "merge_state": "BLOCKED"},
        (REVIEWERS, "waits for an approving review"),
    ),
    "review required while checks run": (
        {"review_decision": "REVIEW_REQUIRED", "checks": RUNNING},
        (REVIEWERS, "waits for an approving review; its checks still run"),
    ),
    "running": ({"checks": RUNNING}, (CHECKS, "waits for its checks")),
    "running, auto-merge": ({"checks": RUNNING, "is_auto_merge": True},
                            (CHECKS, "waits for its checks")),
    "queued": ({"queue": QUEUED}, (QUEUE, "is in the merge queue (position 3)")),
    "queued, with conversations": ({"queue": QUEUED, "conversations": OPEN},
                                   (QUEUE, "is in the merge queue (position 3)")),
    "queued, with running checks": ({"queue": QUEUED, "checks": RUNNING},
                                    (QUEUE, "is in the merge queue (position 3)")),
    "queued and in conflict": ({"queue": QUEUED, "mergeable": "CONFLICTING"},
                               (AUTHOR, "conflicts with main")),
    "auto-merge": (
        {"is_auto_merge": True, "merge_state": "BLOCKED"},
        (AUTO, "is merged by GitHub once all requirements are met (auto-merge)"),
    ),
    "a rule": (
        {"merge_state": "BLOCKED", "demands": MergeDemands(others=("required signatures",))},
        (RULE, 'is still blocked by a rule of main; it demands "required signatures"'),
    ),
    "a check that has not reported": (
        {"merge_state": "BLOCKED", "checks": MISSED},
        (CHECKS, "waits for checks that main demands and that have not reported"),
    ),
}  # fmt: skip
"""What was read of a pull request that is green and merges cleanly otherwise → whom it waits for, and how
it stands."""


@each_row(("given", "told"), CASES.values(), ids=CASES)
def test_whom_it_waits_for(given: dict[str, Any], told: tuple[Whom, str]) -> None:
    """Whoever has to do something first; how it stands is said in the words that it has elsewhere."""
    made = pull(**{"checks": GREEN, "merge_state": "CLEAN", **given})
    found = awaited(made)
    assert (found.whom, found.why) == told


def test_whom_is_one_of_the_words_of_the_json() -> None:
    """Programs read them: `--json` of a sweep has them as they are."""
    words = ["author", "reviewers", "merge", "rule", "checks", "queue", "auto-merge"]
    assert [one.value for one in Whom] == words


def test_who_is_named() -> None:
    """The author of what is to be mended, whoever is asked for a review; nobody where nobody is known."""
    red = {"checks": RED, "merge_state": "CLEAN"}
    assert awaited(pull(**red, author="octocat")).names == ("octocat",)
    assert awaited(pull(**red)).names == ()
    asked = ("maria", "octo-org/core")
    assert awaited(pull(requested=asked, author="octocat")).names == asked
    assert awaited(pull(merge_state="CLEAN", author="octocat")).names == ()
