"""GraphQL's fields of branch protection, rulesets and the merge queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lifecycle.sandbox.base.ids import named_id
from lifecycle.sandbox.git.graph import HEADS, RefAt, commit_at
from lifecycle.sandbox.pulls.state import PullRequest, PullTables, QueueEntry
from lifecycle.sandbox.repositories.payload import page_url
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.rules import actions as rules
from lifecycle.sandbox.rules import payload as payloads
from lifecycle.sandbox.rules.state import Protection
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.pages import camel, connection


@dataclass(frozen=True, slots=True)
class Queue:
    """The merge queue of a branch."""

    repository: Repository
    branch: str


@dataclass(frozen=True, slots=True)
class Classic:
    """A classic rule with its repository."""

    repository: Repository
    rule: Protection


@dataclass(frozen=True, slots=True)
class Ruleset:
    """A ruleset with its repository."""

    repository: Repository
    rule: Protection


def _branch(ref: RefAt) -> str | None:
    """The branch of a ref, None for another kind of ref."""
    return ref.name if ref.prefix == HEADS else None


def queue_of(repo: Repository, branch: str) -> Queue | None:
    """The queue of a branch, None if there is none."""
    return Queue(repo, branch) if rules.has_queue(repo, branch) else None


def _update_rule(call: Call, ref: RefAt) -> dict[str, Any] | None:
    """The public part of a branch's classic protection, without rulesets."""
    branch = _branch(ref)
    rule = rules.classic_of(ref.repository, branch) if branch else None
    if rule is None:
        return None
    is_bound = rules.binds(ref.repository, rule, call.viewer)
    return {
        "pattern": rule.pattern,
        "allowsDeletions": rule.allow_deletions,
        "allowsForcePushes": rule.allow_force_pushes,
        "blocksCreations": rule.block_creations,
        "requiredApprovingReviewCount": rule.approvals if rule.demands_pull else None,
        "requiredStatusCheckContexts": list(rule.contexts) if rule.demands_checks else None,
        "requiresCodeOwnerReviews": rule.code_owners,
        "requiresConversationResolution": rule.conversation_resolution,
        "requiresLinearHistory": rule.linear_history,
        "requiresSignatures": False,
        "viewerAllowedToDismissReviews": ref.repository.can_push(call.viewer),
        "viewerCanPush": ref.repository.can_push(call.viewer)
        and not (is_bound and rule.demands_pull),
    }


def _classic_rule(call: Call, ref: RefAt) -> Classic | None:
    """The classic rule of a branch, for administrators of the repository; None for others."""
    repo, branch = ref.repository, _branch(ref)
    if branch is None or repo.role_of(call.viewer) != "admin":
        return None
    rule = rules.classic_of(repo, branch)
    return Classic(repo, rule) if rule else None


def _all_classic(call: Call, repo: Repository, **arguments: Any) -> dict[str, Any]:
    classic = [rule for rule in rules.all_of(repo) if rule.ruleset_id is None]
    is_admin = repo.role_of(call.viewer) == "admin"
    return connection([Classic(repo, rule) for rule in classic if is_admin], **arguments)


def _rulesets(_call: Call, repo: Repository, **arguments: Any) -> dict[str, Any]:
    rulesets = [rule for rule in rules.all_of(repo) if rule.ruleset_id is not None]
    return connection([Ruleset(repo, rule) for rule in rulesets], **arguments)


def _ref_rules(_call: Call, ref: RefAt, **arguments: Any) -> dict[str, Any]:
    branch = _branch(ref)
    rulesets = rules.rulesets_of(ref.repository, branch) if branch else []
    listed = [rule for ruleset in rulesets for rule in _rules_of(Ruleset(ref.repository, ruleset))]
    return connection(listed, **arguments)


def _rules_of(ruleset: Ruleset) -> list[dict[str, Any]]:
    return [
        {
            "id": named_id("RUR", ruleset.rule.id, rule["type"]),
            "type": rule["type"].upper(),
            "parameters": _parameters(rule),
            "repositoryRuleset": ruleset,
        }
        for rule in payloads.rules_of(ruleset.rule)
    ]


def _parameters(rule: dict[str, Any]) -> dict[str, Any] | None:
    parameters = rule.get("parameters", {})
    if rule["type"] == "required_status_checks":
        checks = [
            {"context": check["context"], "integrationId": check.get("integration_id")}
            for check in parameters["required_status_checks"]
        ]
        return {
            "__typename": "RequiredStatusChecksParameters",
            "requiredStatusChecks": checks,
            "strictRequiredStatusChecksPolicy": parameters["strict_required_status_checks_policy"],
        }
    if rule["type"] == "pull_request":
        parts = {camel(name): parameters[name] for name in payloads.PULL_REQUEST}
        return {"__typename": "PullRequestParameters", **parts}
    return None


def _entries(_call: Call, queue: Queue, **arguments: Any) -> dict[str, Any]:
    return connection(PullTables.of(queue.repository).queues.get(queue.branch, []), **arguments)


def _position(entry: QueueEntry) -> int:
    return PullTables.of(entry.pull.repository).queues[entry.pull.base].index(entry) + 1


def _pull_queue(_call: Call, pull: PullRequest) -> Queue | None:
    return queue_of(pull.repository, pull.base)


TYPES = {
    Queue: "MergeQueue",
    QueueEntry: "MergeQueueEntry",
    Classic: "BranchProtectionRule",
    Ruleset: "RepositoryRuleset",
}
PLAIN = {
    "RefUpdateRule": "pattern allowsDeletions allowsForcePushes blocksCreations "
    "requiredApprovingReviewCount requiredStatusCheckContexts requiresCodeOwnerReviews "
    "requiresConversationResolution requiresLinearHistory requiresSignatures "
    "viewerAllowedToDismissReviews viewerCanPush",
    "BranchProtectionRule": "repository pattern",
    "RepositoryRuleset": "name enforcement createdAt updatedAt",
    "RepositoryRule": "id type parameters repositoryRuleset",
    "RequiredStatusChecksParameters": "requiredStatusChecks strictRequiredStatusChecksPolicy",
    "StatusCheckConfiguration": "context integrationId",
    "PullRequestParameters": "requiredApprovingReviewCount dismissStaleReviewsOnPush "
    "requireCodeOwnerReview requireLastPushApproval requiredReviewThreadResolution",
    "MergeQueue": "repository",
    "MergeQueueEntry": "enqueuer state id enqueuedAt",
}
RESOLVERS: dict[str, dict[str, Any]] = {
    "Ref": {
        "refUpdateRule": _update_rule,
        "branchProtectionRule": _classic_rule,
        "rules": _ref_rules,
    },
    "Repository": {
        "branchProtectionRules": _all_classic,
        "rulesets": _rulesets,
        "mergeQueue": lambda _, repo, branch=None: queue_of(repo, branch or repo.default_branch),
    },
    "PullRequest": {
        "isMergeQueueEnabled": lambda c, pull: _pull_queue(c, pull) is not None,
        "isInMergeQueue": lambda _, pull: pull.queue_entry is not None,
        "mergeQueue": _pull_queue,
        "mergeQueueEntry": lambda _, pull: pull.queue_entry,
    },
    "BranchProtectionRule": {
        "id": lambda _, classic: rules.global_id(classic.repository, classic.rule),
        "databaseId": lambda _, classic: classic.rule.id,
        "allowsDeletions": lambda _, classic: classic.rule.allow_deletions,
        "allowsForcePushes": lambda _, classic: classic.rule.allow_force_pushes,
        "blocksCreations": lambda _, classic: classic.rule.block_creations,
        "dismissesStaleReviews": lambda _, classic: classic.rule.dismiss_stale,
        "isAdminEnforced": lambda _, classic: classic.rule.enforce_admins,
        "requireLastPushApproval": lambda _, classic: classic.rule.last_push_approval,
        "requiredApprovingReviewCount": lambda _, classic: (
            classic.rule.approvals if classic.rule.demands_pull else None
        ),
        "requiredStatusCheckContexts": lambda _, classic: list(classic.rule.contexts),
        "requiresApprovingReviews": lambda _, classic: classic.rule.demands_pull,
        "requiresCodeOwnerReviews": lambda _, classic: classic.rule.code_owners,
        "requiresCommitSignatures": lambda *_: False,
        "requiresConversationResolution": lambda _, classic: classic.rule.conversation_resolution,
        "requiresLinearHistory": lambda _, classic: classic.rule.linear_history,
        "requiresStatusChecks": lambda _, classic: classic.rule.demands_checks,
        "requiresStrictStatusChecks": lambda _, classic: classic.rule.strict,
        "restrictsPushes": lambda *_: False,
        "restrictsReviewDismissals": lambda *_: False,
    },
    "RepositoryRuleset": {
        "id": lambda _, ruleset: rules.global_id(ruleset.repository, ruleset.rule),
        "databaseId": lambda _, ruleset: ruleset.rule.id,
        "target": lambda *_: "BRANCH",
        "rules": lambda _, ruleset, **arguments: connection(_rules_of(ruleset), **arguments),
    },
    "MergeQueue": {
        "id": lambda _, queue: named_id("MQ", queue.repository.id, queue.branch),
        "url": lambda c, queue: f"{page_url(c, queue.repository)}/queue/{queue.branch}",
        "resourcePath": lambda _, queue: f"/{queue.repository.full_name}/queue/{queue.branch}",
        "entries": _entries,
        "nextEntryEstimatedTimeToMerge": lambda *_: None,
    },
    "MergeQueueEntry": {
        "position": lambda _, entry: _position(entry),
        "estimatedTimeToMerge": lambda *_: None,
        "jump": lambda *_: False,
        "solo": lambda *_: False,
        "baseCommit": lambda _, entry: commit_at(entry.pull.repository, entry.base_sha),
        "headCommit": lambda _, entry: commit_at(entry.pull.repository, entry.head_sha),
        "mergeQueue": lambda _, entry: Queue(entry.pull.repository, entry.pull.base),
        "pullRequest": lambda _, entry: entry.pull,
    },
}
