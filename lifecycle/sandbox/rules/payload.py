"""The JSON of branch protection and rulesets in REST's answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from lifecycle.sandbox.base.times import attributes
from lifecycle.sandbox.repositories import payload as repositories
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.rules import actions as rules
from lifecycle.sandbox.rules.state import Protection
from lifecycle.sandbox.wire.call import Call

QUEUE = {
    "check_response_timeout_minutes": 60,
    "grouping_strategy": "ALLGREEN",
    "max_entries_to_build": 5,
    "max_entries_to_merge": 5,
    "merge_method": "MERGE",
    "min_entries_to_merge": 1,
    "min_entries_to_merge_wait_minutes": 5,
}
SWITCHES = {
    "required_linear_history": "linear_history",
    "allow_force_pushes": "allow_force_pushes",
    "allow_deletions": "allow_deletions",
    "block_creations": "block_creations",
    "required_conversation_resolution": "conversation_resolution",
}
"""The switches of classic protection, and their names in the world."""
REVIEWS = {
    "dismiss_stale_reviews": "dismiss_stale",
    "require_code_owner_reviews": "code_owners",
    "require_last_push_approval": "last_push_approval",
}
"""Classic protection's requirements for reviews, and their names in the world."""
PULL_REQUEST = {
    "required_approving_review_count": "approvals",
    "dismiss_stale_reviews_on_push": "dismiss_stale",
    "require_code_owner_review": "code_owners",
    "require_last_push_approval": "last_push_approval",
    "required_review_thread_resolution": "conversation_resolution",
}
"""The requirements of a ruleset's rule for pull requests, and their names in the world."""


def called(rule: Protection, names: Mapping[str, str]) -> dict[str, Any]:
    """A rule's values by GitHub's names, which `names` maps to the rule's attributes."""
    return {name: getattr(rule, ours) for name, ours in names.items()}


def protection_url(call: Call, repo: Repository, branch: str) -> str:
    """The address of a branch's protection in the API."""
    place = quote(branch, safe="")
    return f"{repositories.api_url(call, repo)}/branches/{place}/protection"


def checks_of(call: Call, repo: Repository, branch: str, rule: Protection) -> dict[str, Any]:
    """The JSON of the checks that a branch's classic rule requires."""
    url = f"{protection_url(call, repo, branch)}/required_status_checks"
    return {
        "url": url,
        "strict": rule.strict,
        "contexts": list(rule.contexts),
        "contexts_url": f"{url}/contexts",
        "checks": [{"context": c, "app_id": rule.app_ids.get(c)} for c in rule.contexts],
    }


def protection(call: Call, repo: Repository, branch: str, rule: Protection) -> dict[str, Any]:
    """The JSON of a branch's classic protection."""
    url = protection_url(call, repo, branch)
    answer: dict[str, Any] = {"url": url}
    if rule.demands_checks:
        answer["required_status_checks"] = checks_of(call, repo, branch, rule)
    if rule.demands_pull:
        answer["required_pull_request_reviews"] = {
            "url": f"{url}/required_pull_request_reviews",
            **called(rule, REVIEWS),
            "required_approving_review_count": rule.approvals,
        }
    switches = {**called(rule, SWITCHES), "lock_branch": False, "allow_fork_syncing": False}
    return {
        **answer,
        "required_signatures": {"url": f"{url}/required_signatures", "enabled": False},
        "enforce_admins": {"url": f"{url}/enforce_admins", "enabled": rule.enforce_admins},
        **{name: {"enabled": enabled} for name, enabled in switches.items()},
    }


def rules_of(rule: Protection) -> list[dict[str, Any]]:
    """The JSON of a ruleset's rules."""
    answer: list[dict[str, Any]] = []
    if not rule.allow_deletions:
        answer.append({"type": "deletion"})
    if not rule.allow_force_pushes:
        answer.append({"type": "non_fast_forward"})
    if rule.block_creations:
        answer.append({"type": "creation"})
    if rule.linear_history:
        answer.append({"type": "required_linear_history"})
    if rule.demands_pull or rule.conversation_resolution:
        methods = {"allowed_merge_methods": ["merge", "squash", "rebase"]}
        parameters = {**called(rule, PULL_REQUEST), **methods}
        answer.append({"type": "pull_request", "parameters": parameters})
    if rule.demands_checks:
        wanted = [
            {
                "context": context,
                **({"integration_id": rule.app_ids[context]} if context in rule.app_ids else {}),
            }
            for context in rule.contexts
        ]
        checks = {
            "strict_required_status_checks_policy": rule.strict,
            "do_not_enforce_on_create": False,
            "required_status_checks": wanted,
        }
        answer.append({"type": "required_status_checks", "parameters": checks})
    if rule.merge_queue:
        answer.append({"type": "merge_queue", "parameters": dict(QUEUE)})
    return answer


def ruleset(call: Call, repo: Repository, rule: Protection, *, whole: bool) -> dict[str, Any]:
    """The JSON of a ruleset; unless `whole`, as in lists, without conditions and rules."""
    url = f"{repositories.api_url(call, repo)}/rulesets/{rule.ruleset_id}"
    page = f"{repositories.page_url(call, repo)}/rules/{rule.ruleset_id}"
    answer: dict[str, Any] = {
        "id": rule.ruleset_id,
        "name": rule.name,
        "target": "branch",
        "source_type": "Repository",
        "source": repo.full_name,
        "enforcement": rule.enforcement,
        "node_id": rules.global_id(repo, rule),
        "_links": {"self": {"href": url}, "html": {"href": page}},
        **attributes(rule, "created_at updated_at"),
    }
    if whole:
        includes = rule.includes or (f"refs/heads/{rule.pattern}",)
        answer["conditions"] = {
            "ref_name": {"include": list(includes), "exclude": list(rule.excludes)}
        }
        answer["rules"] = rules_of(rule)
        answer["current_user_can_bypass"] = "never"
        if repo.role_of(call.viewer) == "admin":
            answer["bypass_actors"] = []
    return answer


def active_rules(repo: Repository, branch: str) -> list[dict[str, Any]]:
    """The JSON of every rule of a branch's active rulesets."""
    return [
        {
            **part,
            "ruleset_source_type": "Repository",
            "ruleset_source": repo.full_name,
            "ruleset_id": rule.ruleset_id,
        }
        for rule in rules.rulesets_of(repo, branch)
        for part in rules_of(rule)
    ]
