"""What stands between a pull request and its merge, in words."""

from __future__ import annotations

from typing import Any

from lifecycle.core.messages import merge_messages
from lifecycle.core.values.model import Conversations, MergeDemands, QueueEntry
from tests.batches import each_row
from tests.factories import pull

BLOCKED = {"merge_state": "BLOCKED"}
REVIEW = {**BLOCKED, "review_decision": "REVIEW_REQUIRED"}
OTHERS = MergeDemands(others=("code scanning", "required signatures"))
AUTO = "is merged by GitHub once all requirements are met (auto-merge)"
LEFT = Conversations("d", unresolved=4)


@each_row(
    ("changes", "words"),
    [
        ({"merge_state": "CLEAN"}, "is ready to merge"),
        ({}, "is ready to merge"),
        ({"merge_state": "UNKNOWN"}, "is ready to merge, if GitHub finds no conflict"),
        ({"mergeable": "UNKNOWN"}, "is ready to merge, if GitHub finds no conflict"),
        (
            {"is_draft": True},
            "is a draft, and cannot be merged before it is marked as ready on its page",
        ),
        ({"queue": QueueEntry("QUEUED")}, "is in the merge queue"),
        ({"queue": QueueEntry("QUEUED", 3)}, "is in the merge queue (position 3)"),
        (
            {"queue": QueueEntry("UNMERGEABLE", 2)},
            (
                "is in the merge queue (position 2), and cannot be merged together with what is queued "
                "before it"
            ),
        ),
        ({"is_auto_merge": True}, AUTO),
        ({"is_auto_merge": True, **REVIEW}, f"{AUTO}; it waits for an approving review"),
        (REVIEW, "waits for an approving review"),
        ({"review_decision": "CHANGES_REQUESTED"}, "waits for the changes that a review asks for"),
        (
            {**REVIEW, "demands": MergeDemands(2, code_owners=True, last_push=True)},
            (
                "waits for approving reviews, 2 in all (one by an owner of the code and one by somebody "
                "else than who pushed last)"
            ),
        ),
        (
            {**REVIEW, "demands": MergeDemands(1, code_owners=True)},
            "waits for an approving review (one by an owner of the code)",
        ),
        (
            {**REVIEW, "demands": MergeDemands(1, conversations=True), "conversations": LEFT},
            "waits for an approving review and 4 conversations to be resolved, as main demands",
        ),
        (
            {
                "demands": MergeDemands(conversations=True),
                "conversations": Conversations("d", 1),
                "base": "",
            },
            "waits for 1 conversation to be resolved, as its base demands",
        ),
        (
            {"merge_state": "BEHIND"},
            "waits for the newest commits of main to be merged into it",
        ),
        (
            {"merge_state": "BEHIND", "base": ""},
            "waits for the newest commits of its base to be merged into it",
        ),
        (
            {**BLOCKED, "demands": OTHERS},
            'is still blocked by a rule of main; it demands "code scanning", "required signatures"',
        ),
        (
            {**BLOCKED, "demands": MergeDemands(last_push=True)},
            (
                'is still blocked by a rule of main; it demands "an approval of the last push by somebody '
                'else"'
            ),
        ),
        (
            {**BLOCKED, "demands": MergeDemands(conversations=True)},
            'is still blocked by a rule of main; it demands "conversations that have to be resolved"',
        ),
        (
            {**BLOCKED, "conversations": LEFT},
            (
                "is still blocked by a rule of main; 4 of its conversations are not resolved, which such a "
                "rule may demand"
            ),
        ),
        (
            {**BLOCKED, "conversations": LEFT, "demands": MergeDemands()},
            "is still blocked by a rule of main, which its page names",
        ),
        (
            {
                **BLOCKED,
                "demands": MergeDemands(conversations=True),
                "conversations": Conversations("d"),
            },
            "is still blocked by a rule of main, which its page names",
        ),
        ({**BLOCKED, "base": ""}, "is still blocked by a rule of its base, which its page names"),
        ({"demands": OTHERS}, "is ready to merge"),
    ],
    ids=str,
)
def test_what_keeps_a_pull_request_from_its_merge_is_named(
    changes: dict[str, Any], words: str
) -> None:
    """By its rule, where GitHub shows which; else by the rules that it can be."""
    assert merge_messages.readiness(pull(**changes), is_reported=False) == words


def test_what_was_reported_is_mended_first() -> None:
    """No promise beside a failure that was told."""
    said = merge_messages.readiness(pull(**REVIEW), is_reported=True)
    assert said == "waits for something that has to be fixed first"
