"""What a base demands, the queue and what left it, from GitHub's words."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.core.values.model import Ejection, MergeDemands, QueueEntry
from lifecycle.github.pulls import translate

HEAD, GROUP = "a" * 40, "c" * 40


def rule(kind: str, **parameters: Any) -> dict[str, Any]:
    """One rule of a ruleset."""
    return {"type": kind, "parameters": parameters or None}


def demands(classic: dict[str, Any] | None, *rules: dict[str, Any]) -> MergeDemands | None:
    """What a base with these demands."""
    return translate.merge_demands(
        {"baseRef": {"refUpdateRule": classic, "rules": {"nodes": [*rules]}}}
    )


@pytest.mark.parametrize("node", [{}, {"baseRef": None}, {"baseRef": {}}], ids=str)
def test_what_was_not_shown_is_no_freedom(node: dict[str, Any]) -> None:
    """Nobody knows what a base demands that was hidden or not asked for."""
    assert translate.merge_demands(node) is None


@pytest.mark.parametrize("base", [{"refUpdateRule": None}, {"rules": {"nodes": []}}], ids=str)
def test_either_of_both_tells_what_a_base_demands(base: dict[str, Any]) -> None:
    """An older server knows classic protection alone."""
    assert translate.merge_demands({"baseRef": base}) == MergeDemands()


@pytest.mark.parametrize(
    ("classic", "rules", "found"),
    [
        (None, (), MergeDemands()),
        ({"requiredApprovingReviewCount": None}, (), MergeDemands()),
        ({"requiredApprovingReviewCount": 2}, (), MergeDemands(2)),
        ({"requiresCodeOwnerReviews": True}, (), MergeDemands(code_owners=True)),
        ({"requiresConversationResolution": True}, (), MergeDemands(conversations=True)),
        ({"requiresSignatures": True}, (), MergeDemands(others=("required signatures",))),
        ({"requiresLinearHistory": True}, (), MergeDemands(others=("required linear history",))),
        (
            {"requiredApprovingReviewCount": 1, "requiresSignatures": False},
            (rule("PULL_REQUEST", requiredApprovingReviewCount=3),),
            MergeDemands(3),
        ),
        (
            None,
            (rule("PULL_REQUEST", requireCodeOwnerReview=True),),
            MergeDemands(code_owners=True),
        ),
        (None, (rule("PULL_REQUEST", requireLastPushApproval=True),), MergeDemands(last_push=True)),
        (
            None,
            (rule("PULL_REQUEST", requiredReviewThreadResolution=True),),
            MergeDemands(conversations=True),
        ),
        (
            None,
            (rule("REQUIRED_REVIEW_THREAD_RESOLUTION"),),
            MergeDemands(conversations=True),
        ),
        (
            {"requiresSignatures": True},
            (
                rule("WORKFLOWS"),
                rule("REQUIRED_SIGNATURES"),
                rule("CODE_SCANNING"),
                rule("MERGE_QUEUE"),
                rule("DELETION"),
                {"parameters": None},
            ),
            MergeDemands(others=("code scanning", "required signatures", "workflows")),
        ),
    ],
    ids=str,
)
def test_classic_protection_and_rulesets_demand_together(
    classic: dict[str, Any] | None, rules: tuple[dict[str, Any], ...], found: MergeDemands
) -> None:
    """The stricter of both; what is read elsewhere, or holds no merge back, is none of the others."""
    assert demands(classic, *rules) == found


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        (None, None),
        ({"state": "QUEUED"}, QueueEntry("QUEUED")),
        ({"state": "QUEUED", "position": None, "headCommit": None}, QueueEntry("QUEUED")),
        (
            {"state": "AWAITING_CHECKS", "position": 2, "headCommit": {"oid": GROUP}},
            QueueEntry("AWAITING_CHECKS", 2, GROUP),
        ),
        (
            {
                "state": "LOCKED",
                "position": 1,
                "headCommit": {"oid": GROUP, "statusCheckRollup": {"state": "PENDING"}},
            },
            QueueEntry("LOCKED", 1, GROUP, has_checks=True),
        ),
    ],
    ids=str,
)
def test_a_place_in_the_queue(entry: dict[str, Any] | None, found: QueueEntry | None) -> None:
    """With the commit that is tested, once there is one."""
    assert translate.queue_entry({"mergeQueueEntry": entry}) == found


@pytest.mark.parametrize(
    ("event", "found"),
    [
        ({"id": "E_1"}, Ejection("E_1")),
        (
            {
                "id": "E_1",
                "createdAt": "1970-01-01T00:01:00Z",
                "reason": "failed_checks",
                "beforeCommit": {"oid": GROUP},
            },
            Ejection("E_1", 60.0, "failed_checks", GROUP),
        ),
        ({"id": "E_1", "beforeCommit": {"oid": HEAD}}, Ejection("E_1")),
        ({}, None),
    ],
    ids=str,
)
def test_what_left_the_queue(event: dict[str, Any], found: Ejection | None) -> None:
    """The queue's commit, unless GitHub names the pull request's own head there."""
    node = {"headRefOid": HEAD, "timelineItems": {"nodes": [event]}}
    assert translate.ejection(node) == found


@pytest.mark.parametrize(
    ("word", "method"),
    [("MERGE", "merge"), ("SQUASH", "squash"), ("REBASE", "rebase"), (None, "merge")],
)
def test_how_a_repository_merges(word: str | None, method: str) -> None:
    """A merge commit where GitHub does not say."""
    assert translate.merge_method({"viewerDefaultMergeMethod": word}) == method


def test_the_last_time_that_it_left_the_queue_counts() -> None:
    """Of several; events of other kinds have no id here."""
    events = [{"id": "E_0"}, {"id": "E_1"}, {"reason": "odd"}]
    assert translate.ejection({"timelineItems": {"nodes": events}}) == Ejection("E_1")
