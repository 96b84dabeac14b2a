"""REST's operations on branch protection and rulesets."""

from __future__ import annotations

from typing import Any

from lifecycle.sandbox.base.errors import ApiError, wrong
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.rules import actions as rules
from lifecycle.sandbox.rules import payload as payloads
from lifecycle.sandbox.rules.state import Protection, RuleTables
from lifecycle.sandbox.wire.call import REPO, Call, Reply, route
from lifecycle.sandbox.wire.rest import asking

PROTECTION = "https://docs.github.com/rest/branches/branch-protection"
RULESETS = "https://docs.github.com/rest/repos/rules"
SWITCHES = {"enforce_admins": "enforce_admins", **payloads.SWITCHES}
"""Fields of the body, and their names in the world."""
BRANCH = f"{REPO}/branches/<path:branch>/protection"
RULESET = f"{REPO}/rulesets/<int:ruleset>"
READ, WRITE = "administration:read", "administration:write"


def _branch(repo: Repository, branch: str) -> str:
    """The name of an existing branch, or 404."""
    if f"refs/heads/{branch}" not in repo.heads:
        raise ApiError(404, "Branch not found", documentation=PROTECTION)
    return branch


def _classic(call: Call, repo: Repository, branch: str) -> Protection:
    """The protection of a branch, for administrators of the repository.

    Raises:
        ApiError: 404: no such branch, or it is not protected; for other viewers GitHub hides both.
    """
    if repo.role_of(call.viewer) != "admin":
        raise asking.not_found(f"{PROTECTION}#get-branch-protection")
    rule = rules.classic_of(repo, _branch(repo, branch))
    if rule is None:
        raise ApiError(404, "Branch not protected",
                       documentation=f"{PROTECTION}#get-branch-protection")  # fmt: skip
    return rule


@route("GET", BRANCH, READ)
def get_protection(call: Call, repo: Repository, branch: str) -> Reply:
    rule = _classic(call, repo, branch)
    return Reply(200, payloads.protection(call, repo, branch, rule))


@route("PUT", BRANCH, WRITE)
def put_protection(call: Call, repo: Repository, branch: str) -> Reply:
    """PUT /repos/O/R/branches/B/protection: replaces the whole protection."""
    tables = RuleTables.of(repo)
    asking.fields(
        call, "required_status_checks", "required_pull_request_reviews", "restrictions",
        "lock_branch", "allow_fork_syncing", *SWITCHES,
    )  # fmt: skip
    if repo.role_of(call.viewer) != "admin":
        raise asking.not_found()
    _branch(repo, branch)
    needed = (
        "required_status_checks", "enforce_admins", "required_pull_request_reviews", "restrictions",
    )  # fmt: skip
    missing = [name for name in needed if name not in call.body]
    if missing:
        verb = "wasn't" if len(missing) == 1 else "weren't"
        names = ", ".join(f'"{name}"' for name in missing)
        raise asking.malformed(f"{names} {verb} supplied.")
    for name in ("restrictions", "lock_branch"):
        if call.body.get(name):
            raise ApiError(501, f"The sandbox does not imitate {name!r} of branch protection.")
    rule = Protection(branch)
    for name, ours in SWITCHES.items():
        setattr(rule, ours, bool(call.body.get(name)))
    _set_checks(rule, call.body["required_status_checks"])
    _set_reviews(rule, call.body["required_pull_request_reviews"])
    replaced = [old for old in rules.all_of(repo) if not old.ruleset_id and old.pattern == branch]
    for old in replaced:
        rule.id, rule.created_at = old.id, old.created_at
        tables.protections.remove(old)
        repo.world.forget(rules.global_id(repo, old))
    tables.protections.append(rule)
    repo.touch()
    rules.all_of(repo)
    return Reply(200, payloads.protection(call, repo, branch, rule))


def _set_checks(rule: Protection, checks: Any) -> None:
    """Read the required checks in either form: names, or names with their apps."""
    if checks is None:
        return
    if not isinstance(checks, dict) or not ({"contexts", "checks"} & checks.keys()):
        raise asking.malformed('"contexts" wasn\'t supplied.')
    wanted = checks.get("checks") or [{"context": name} for name in checks.get("contexts") or ()]
    rule.contexts = tuple(dict.fromkeys(check["context"] for check in wanted))
    rule.app_ids = {
        check["context"]: check["app_id"]
        for check in wanted
        if check.get("app_id") not in {None, -1}
    }
    rule.has_checks, rule.strict = True, bool(checks.get("strict"))


def _set_reviews(rule: Protection, reviews: Any) -> None:
    if reviews is None:
        return
    rule.requires_pull = True
    rule.approvals = int(reviews.get("required_approving_review_count", 1))
    for name, ours in payloads.REVIEWS.items():
        setattr(rule, ours, bool(reviews.get(name)))


@route("DELETE", BRANCH, WRITE)
def delete_protection(call: Call, repo: Repository, branch: str) -> Reply:
    rule = _classic(call, repo, branch)
    RuleTables.of(repo).protections.remove(rule)
    repo.world.forget(rules.global_id(repo, rule))
    repo.touch()
    return Reply(204, None)


@route(
    "GET",
    f"{BRANCH}/required_status_checks",
    READ,
)
def get_checks(call: Call, repo: Repository, branch: str) -> Reply:
    rule = _classic(call, repo, branch)
    if not rule.demands_checks:
        raise ApiError(404, "Required status checks not enabled")
    return Reply(200, payloads.checks_of(call, repo, branch, rule))


@route(
    "PATCH",
    f"{BRANCH}/required_status_checks",
    WRITE,
)
def patch_checks(call: Call, repo: Repository, branch: str) -> Reply:
    asking.fields(call, "strict", "contexts", "checks")
    rule = _classic(call, repo, branch)
    strict = bool(call.body.get("strict", rule.strict))
    if {"contexts", "checks"} & call.body.keys():
        _set_checks(rule, dict(call.body))
    rule.strict, rule.has_checks = strict, True
    repo.touch()
    return Reply(200, payloads.checks_of(call, repo, branch, rule))


@route("DELETE", f"{BRANCH}/required_status_checks", WRITE)
def delete_checks(call: Call, repo: Repository, branch: str) -> Reply:
    rule = _classic(call, repo, branch)
    rule.contexts, rule.strict, rule.has_checks, rule.app_ids = (), False, False, {}
    repo.touch()
    return Reply(204, None)


@route("GET", f"{REPO}/rules/branches/<path:branch>")
def list_branch_rules(call: Call, repo: Repository, branch: str) -> Reply:
    """GET /repos/O/R/rules/branches/B: the rules of the active rulesets, for every reader."""
    asking.only(call)
    shown, headers = call.page(payloads.active_rules(repo, branch))
    return Reply(200, shown, headers)


def _ruleset(repo: Repository, ruleset: int) -> Protection:
    rule = next((entry for entry in rules.all_of(repo) if entry.ruleset_id == ruleset), None)
    if rule is None:
        raise asking.not_found(f"{RULESETS}#get-a-repository-ruleset")
    return rule


@route("GET", f"{REPO}/rulesets")
def list_rulesets(call: Call, repo: Repository) -> Reply:
    asking.only(call, "includes_parents", "targets")
    rulesets = [rule for rule in rules.all_of(repo) if rule.ruleset_id is not None]
    shown, headers = call.page(rulesets)
    return Reply(200, [payloads.ruleset(call, repo, rule, whole=False) for rule in shown], headers)


@route("GET", RULESET)
def get_ruleset(call: Call, repo: Repository, ruleset: int) -> Reply:
    asking.only(call, "includes_parents")
    return Reply(200, payloads.ruleset(call, repo, _ruleset(repo, ruleset), whole=True))


@route("POST", f"{REPO}/rulesets", WRITE)
def create_ruleset(call: Call, repo: Repository) -> Reply:
    """POST /repos/O/R/rulesets, for administrators of the repository."""
    tables = RuleTables.of(repo)
    if repo.role_of(call.viewer) != "admin":
        raise asking.not_found()
    asking.fields(call, "name", "target", "enforcement", "bypass_actors", "conditions", "rules")
    name = asking.needed(call, "name", str)
    if any(protection.name == name for protection in tables.protections if protection.ruleset_id):
        raise wrong("RepositoryRuleset", "custom", "name", "Name must be unique")
    number, _ = repo.new_id("RRS")
    rule = Protection("", ruleset_id=number, name=name, id=number)
    _write_ruleset(call, rule)
    tables.protections.append(rule)
    repo.touch()
    rules.all_of(repo)
    return Reply(201, payloads.ruleset(call, repo, rule, whole=True))


@route("PUT", RULESET, WRITE)
def put_ruleset(call: Call, repo: Repository, ruleset: int) -> Reply:
    """PUT /repos/O/R/rulesets/ID: replaces the parts that the body has."""
    rule = _ruleset(repo, ruleset)
    if repo.role_of(call.viewer) != "admin":
        raise asking.not_found()
    asking.fields(call, "name", "target", "enforcement", "bypass_actors", "conditions", "rules")
    rule.name = asking.typed(call, "name", str) or rule.name
    _write_ruleset(call, rule)
    rule.updated_at = now()
    repo.touch()
    return Reply(200, payloads.ruleset(call, repo, rule, whole=True))


@route("DELETE", RULESET, WRITE)
def delete_ruleset(call: Call, repo: Repository, ruleset: int) -> Reply:
    rule = _ruleset(repo, ruleset)
    if repo.role_of(call.viewer) != "admin":
        raise asking.not_found()
    RuleTables.of(repo).protections.remove(rule)
    repo.world.forget(rules.global_id(repo, rule))
    repo.touch()
    return Reply(204, None)


def _write_ruleset(call: Call, rule: Protection) -> None:
    if call.body.get("target", "branch") != "branch" or call.body.get("bypass_actors"):
        raise ApiError(501, "The sandbox imitates rulesets of branches without bypass actors only.")
    enforcement = call.body.get("enforcement", rule.enforcement)
    if enforcement not in {"active", "evaluate", "disabled"}:
        raise asking.malformed(f"{enforcement!r} is no enforcement.")
    rule.enforcement = enforcement
    if "conditions" in call.body:
        named = (call.body["conditions"] or {}).get("ref_name", {})
        rule.includes, rule.excludes = (
            tuple(named.get("include", ())),
            tuple(named.get("exclude", ())),
        )
    if "rules" in call.body:
        _write_rules(rule, call.body["rules"] or [])


def _write_rules(rule: Protection, values: list[dict[str, Any]]) -> None:
    by_type = {str(value.get("type")): value.get("parameters") or {} for value in values}
    known = {
        "deletion", "non_fast_forward", "creation", "required_linear_history", "pull_request",
        "required_status_checks", "merge_queue",
    }  # fmt: skip
    if unknown := by_type.keys() - known:
        raise ApiError(501, f"The sandbox does not imitate the rule {min(unknown)!r}.")
    rule.allow_deletions = "deletion" not in by_type
    rule.allow_force_pushes = "non_fast_forward" not in by_type
    rule.block_creations = "creation" in by_type
    rule.linear_history = "required_linear_history" in by_type
    rule.merge_queue = "merge_queue" in by_type
    pull = by_type.get("pull_request")
    rule.requires_pull, wanted = pull is not None, pull or {}
    for name, ours in payloads.PULL_REQUEST.items():
        setattr(rule, ours, bool(wanted.get(name)))
    rule.approvals = int(wanted.get("required_approving_review_count", 0))
    rule.contexts, rule.has_checks, rule.app_ids = (), False, {}
    if "required_status_checks" in by_type:
        checks = by_type["required_status_checks"]
        listed = checks.get("required_status_checks", [])
        _set_checks(
            rule,
            {
                "strict": checks.get("strict_required_status_checks_policy"),
                "checks": [{**check, "app_id": check.get("integration_id")} for check in listed],
            },
        )
