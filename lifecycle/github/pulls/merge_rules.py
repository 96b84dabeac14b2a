"""What GitHub shows of a base's rules and of the merge queue, as the product's values. Pure."""

from __future__ import annotations

from lifecycle.core import timing
from lifecycle.core.values.merging import Ejection, MergeDemands, MergeMethod, QueueEntry
from lifecycle.github.client.client_common import Json, nodes, part, text, word

_TOLD_ELSEWHERE = {
    *("PULL_REQUEST", "REQUIRED_STATUS_CHECKS", "REQUIRED_REVIEW_THREAD_RESOLUTION", "MERGE_QUEUE"),
    *("CREATION", "UPDATE", "DELETION", "NON_FAST_FORWARD", "MERGE_QUEUE_LOCKED_REF", "TAG"),
    *("BRANCH_NAME_PATTERN", "TAG_NAME_PATTERN", "MAX_REF_UPDATES"),
}
"""Kinds of rules that are read by their parameters, or that hold no merge back.

Source: https://docs.github.com/graphql/reference/enums#repositoryruletype
"""


def method(repository: Json) -> MergeMethod:
    """How a repository merges if nobody chooses."""
    known: dict[str, MergeMethod] = {"SQUASH": "squash", "REBASE": "rebase"}
    return known.get(word(repository.get("viewerDefaultMergeMethod")), "merge")


def demands(node: Json) -> MergeDemands | None:
    """What the base of a pull request demands beside checks; None if that was not asked for or shown.

    Sources: https://docs.github.com/graphql/reference/objects#refupdaterule and
    https://docs.github.com/graphql/reference/objects#pullrequestparameters
    """
    base = part(node, "baseRef")
    if not ({"refUpdateRule", "rules"} & base.keys()):
        return None
    classic, rules = part(base, "refUpdateRule"), nodes(base, "rules")
    given = [part(one, "parameters") for one in rules]
    kinds = {word(one.get("type")) for one in rules}
    others = kinds - _TOLD_ELSEWHERE - {""}
    for field, kind in (
        ("requiresSignatures", "REQUIRED_SIGNATURES"),
        ("requiresLinearHistory", "REQUIRED_LINEAR_HISTORY"),
    ):
        others |= {kind} if classic.get(field) else set()
    counts = [one.get("requiredApprovingReviewCount") for one in (classic, *given)]
    return MergeDemands(
        approvals=max((one for one in counts if isinstance(one, int)), default=0),
        code_owners=bool(classic.get("requiresCodeOwnerReviews"))
        or any(one.get("requireCodeOwnerReview") for one in given),
        last_push=any(one.get("requireLastPushApproval") for one in given),
        conversations=bool(classic.get("requiresConversationResolution"))
        or "REQUIRED_REVIEW_THREAD_RESOLUTION" in kinds
        or any(one.get("requiredReviewThreadResolution") for one in given),
        others=tuple(sorted(one.lower().replace("_", " ") for one in others)),
    )


def queue_entry(node: Json) -> QueueEntry | None:
    """A pull request's entry in the merge queue, None if it has none."""
    entry = part(node, "mergeQueueEntry")
    if not entry:
        return None
    position, commit = entry.get("position"), part(entry, "headCommit")
    return QueueEntry(
        word(entry.get("state")),
        position if isinstance(position, int) else None,
        text(commit, "oid"),
        bool(commit.get("statusCheckRollup")),
    )


def ejection(node: Json) -> Ejection | None:
    """The last time that a pull request left the queue.

    GitHub calls the commit that was tested the one "before" the event; where that is the pull request's
    own head, which commit it was is not known.
    """
    found = [one for one in nodes(node, "timelineItems") if one.get("id")]
    if not found:
        return None
    last = found[-1]
    commit = text(part(last, "beforeCommit"), "oid")
    return Ejection(
        text(last, "id"),
        timing.parse_time(last.get("createdAt")),
        text(last, "reason"),
        commit if commit != text(node, "headRefOid") else "",
    )
