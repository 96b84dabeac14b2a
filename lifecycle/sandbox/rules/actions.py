"""Find what a branch requires by protections and rulesets, and what of that a pull request lacks.

Of the classic protection rules, one applies to a branch: one with its exact name, else one with a pattern.
Of the rulesets, all that match apply. Administrators of the repository need not obey a classic rule
unless it says so; a ruleset applies to everybody.

Sources:
https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/about-protected-branches
and
https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/about-rulesets
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.ids import node_id
from lifecycle.sandbox.checks import actions as checks
from lifecycle.sandbox.pulls.reviews import actions as reviews
from lifecycle.sandbox.pulls.state import PullRequest, PullTables
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.rules.state import Protection, RuleTables

Decision = Literal["APPROVED", "CHANGES_REQUESTED", "REVIEW_REQUIRED"]
PASSED = {"success", "neutral", "skipped"}
QUEUE = "Changes must be made through the merge queue"
QUEUED = (
    "A pull request for this branch has been added to a merge queue. Branches that are queued for "
    "merging cannot be updated. To modify this branch, dequeue the associated pull request."
)


@dataclass(frozen=True, slots=True)
class Unmet:
    """A rule that is not met, and what is missing, in GitHub's sentences."""

    rule: Protection
    sentences: tuple[str, ...]

    def message(self) -> str:
        """The message of an API call that is refused because of it.

        Sources: https://github.com/Reviewable/Reviewable/issues/561 (classic) and
        https://github.com/satisfactory-factories/application/issues/67 (ruleset)
        """
        if self.rule.ruleset_id is None:
            return " ".join(self.sentences)
        return "Repository rule violations found\n\n" + "".join(f"{s}\n\n" for s in self.sentences)


@lru_cache(maxsize=256)
def _expression(pattern: str) -> re.Pattern[str]:
    """A pattern with GitHub's meaning: `*` stops at a slash, `**/` does not.

    Source:
    https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-protected-branches/managing-a-branch-protection-rule#about-branch-protection-rules
    """
    parts = re.split(r"(\*\*/|\*|\?|\[[^\]]*\])", pattern)
    meaning = {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}
    expressions = [
        meaning.get(part) or (part.replace("[!", "[^") if part.startswith("[") else re.escape(part))
        for part in parts
    ]
    return re.compile("".join(expressions))


def matches(repo: Repository, rule: Protection, branch: str) -> bool:
    """Whether a rule applies to a branch."""
    if not rule.includes:
        return _expression(rule.pattern).fullmatch(branch) is not None
    return _names(repo, rule.includes, branch) and not _names(repo, rule.excludes, branch)


def _names(repo: Repository, patterns: Iterable[str], branch: str) -> bool:
    for pattern in patterns:
        if pattern == "~ALL" or (pattern == "~DEFAULT_BRANCH" and branch == repo.default_branch):
            return True
        if _expression(pattern.removeprefix("refs/heads/")).fullmatch(branch):
            return True
    return False


def all_of(repo: Repository) -> list[Protection]:
    """Every rule of a repository; a seed's number of approvals becomes a rule at the first call."""
    tables = RuleTables.of(repo)
    if tables.required_approvals:
        wanted, tables.required_approvals = tables.required_approvals, 0
        demand_reviews(repo, wanted)
    for rule in tables.protections:
        if not rule.id:
            rule.id = rule.ruleset_id or repo.new_id("BPR")[0]
        repo.world.nodes.setdefault(global_id(repo, rule), rule)
    return tables.protections


def global_id(repo: Repository, rule: Protection) -> str:
    """The global id of a rule: `BPR_…` or `RRS_…`."""
    return node_id("BPR" if rule.ruleset_id is None else "RRS", repo.id, rule.id)


def classic_of(repo: Repository, branch: str) -> Protection | None:
    """The classic rule of a branch: one with its name, else the oldest that matches."""
    classic = [rule for rule in all_of(repo) if rule.ruleset_id is None]
    exact = [rule for rule in classic if rule.pattern == branch]
    return next((rule for rule in [*exact, *classic] if matches(repo, rule, branch)), None)


def rulesets_of(repo: Repository, branch: str) -> list[Protection]:
    """The active rulesets of a branch."""
    active = (rule for rule in all_of(repo) if rule.ruleset_id and rule.enforcement == "active")
    return [rule for rule in active if matches(repo, rule, branch)]


def of_branch(repo: Repository, branch: str) -> list[Protection]:
    """Every rule of a branch."""
    classic = classic_of(repo, branch)
    return [*([classic] if classic else []), *rulesets_of(repo, branch)]


def demand_reviews(repo: Repository, approvals: int) -> None:
    """Make classic protection of the default branch require this many approvals; 0 requires none."""
    tables = RuleTables.of(repo)
    branch = repo.default_branch
    own = (
        rule for rule in tables.protections if rule.ruleset_id is None and rule.pattern == branch
    )
    protection = next(own, None)
    if protection is None and approvals:
        tables.protections.append(Protection(branch, approvals=approvals))
    elif protection is not None:
        protection.approvals = approvals
        protection.requires_pull = protection.requires_pull and approvals > 0
        if not (protection.demands_checks or protection.demands_pull or protection.merge_queue):
            tables.protections.remove(protection)


def binds(repo: Repository, rule: Protection, user: User) -> bool:
    """Whether a rule applies to this user."""
    is_admin = repo.role_of(user) == "admin"
    return rule.ruleset_id is not None or rule.enforce_admins or not is_admin


def approvals_of(repo: Repository, branch: str) -> int:
    """How many approvals a branch requires."""
    return max((rule.approvals for rule in of_branch(repo, branch)), default=0)


def contexts_of(repo: Repository, branch: str) -> list[str]:
    """The names of the required checks, without duplicates."""
    return list(dict.fromkeys(name for rule in of_branch(repo, branch) for name in rule.contexts))


def has_queue(repo: Repository, branch: str) -> bool:
    """Whether a branch accepts changes only through its merge queue."""
    return any(rule.merge_queue for rule in of_branch(repo, branch))


def standing(repo: Repository, sha: str, rule: Protection, context: str) -> str:
    """The state of a required check: `expected`, `in progress`, `pending`, `failing` or `passed`.

    If several checks have its name, the worst counts.
    """
    wanted = rule.app_ids.get(context, -1)
    states = []
    for run in checks.latest_runs_of(repo, sha):
        if run.name == context and wanted in {-1, run.suite.app.id}:
            over = "passed" if run.conclusion in PASSED else "failing"
            states.append(over if run.status == "completed" else "in progress")
    for status in checks.statuses_of(repo, sha):
        if status.context == context and wanted == -1:
            words = {"success": "passed", "pending": "pending"}
            states.append(words.get(status.state, "failing"))
    order = ("failing", "pending", "in progress", "passed")
    return next((word for word in order if word in states), "expected")


def check_sentence(repo: Repository, sha: str, rule: Protection) -> str | None:
    """Which checks of a commit a rule still requires, in a sentence; None if none.

    Sources: https://github.com/kubeflow/pipelines/issues/4384,
    https://github.com/supportpal/github-gh-cli/issues/47,
    https://github.com/RFD-FHEM/RFFHEM/issues/1144
    """
    states = {name: standing(repo, sha, rule, name) for name in rule.contexts}
    unpassed = {name: how for name, how in states.items() if how != "passed"}
    if not unpassed:
        return None
    kinds = {how: list(unpassed.values()).count(how) for how in unpassed.values()}
    if len(rule.contexts) == 1:
        ((name, how),) = unpassed.items()
        return f'Required status check "{name}" is {how}.'
    counted = f"{len(unpassed)} of {len(rule.contexts)} required status checks"
    if len(kinds) == 1:
        return f"{counted} are {next(iter(kinds))}."
    listed = [f"{number} {how}" for how, number in kinds.items()]
    return f"{counted} have not succeeded: {', '.join(listed[:-1])} and {listed[-1]}."


def review_sentence(pull: PullRequest, rule: Protection) -> str | None:
    """Which reviews by people who may write a rule still requires, in a sentence; None if none."""
    if not rule.approvals:
        return None
    states = [opinion.state for opinion in reviews.opinions(pull, writers_only=True)]
    if "CHANGES_REQUESTED" not in states and states.count("APPROVED") >= rule.approvals:
        return None
    many = "review is" if rule.approvals == 1 else "reviews are"
    return f"At least {rule.approvals} approving {many} required by reviewers with write access."


def unmet(pull: PullRequest) -> list[Unmet]:
    """The rules that prevent a pull request's merge by anybody, except a merge queue."""
    repo = pull.repository
    unmet_rules = []
    for rule in of_branch(repo, pull.base):
        missing = [review_sentence(pull, rule), check_sentence(repo, pull.head_sha, rule)]
        if rule.conversation_resolution and any(not thread.resolved_by for thread in pull.threads):
            missing.append(
                "A conversation must be resolved before this pull request can be merged."
            )
        sentences = tuple(filter(None, missing))
        if sentences:
            unmet_rules.append(Unmet(rule, sentences))
    return unmet_rules


def is_behind(pull: PullRequest) -> bool:
    """Whether a rule requires an up-to-date head, and the base has commits that it lacks."""
    repo = pull.repository
    if not any(rule.strict and rule.contexts for rule in of_branch(repo, pull.base)):
        return False
    base = repo.heads.get(f"refs/heads/{pull.base}")
    return base is not None and not repo.git.is_ancestor(base, pull.head_sha)


@dataclass(frozen=True, slots=True)
class Push:
    """A ref that somebody wants to move; `new` None deletes it, `old` None creates it."""

    ref: str
    old: str | None
    new: str | None
    forced: bool = False


def push_refusal(repo: Repository, user: User, push: Push) -> Unmet | None:
    """The first rule that a push breaks, None if none.

    The head branch of a pull request in a merge queue cannot be pushed to, either, unless it is a fork's.

    Sources: https://github.com/netresearch/git-workflow-skill/pull/118,
    https://github.com/kgateway-dev/kgateway/issues/10802 (a fork's),
    https://github.com/foundry-rs/block-explorers/pull/110,
    https://github.com/henne49/dbus-opendtu/issues/235,
    https://github.com/hexojs/hexo/issues/2817
    """
    branch = push.ref.removeprefix("refs/heads/")
    if branch == push.ref:
        return None
    pulls = (entry.pull for line in PullTables.of(repo).queues.values() for entry in line)
    if any(pull.head == branch and pull.head_repository is repo for pull in pulls):
        return Unmet(Protection(branch), (QUEUED,))
    for rule in of_branch(repo, branch):
        sentences = _push_sentences(repo, user, rule, push)
        if sentences:
            return Unmet(rule, sentences)
    return None


def _push_sentences(repo: Repository, user: User, rule: Protection, push: Push) -> tuple[str, ...]:
    if push.new is None:
        return () if rule.allow_deletions else ("Cannot delete this branch",)
    if push.old is None and not rule.block_creations:
        return ()
    if push.forced and not rule.allow_force_pushes:
        return ("Cannot force-push to this branch",)
    if not binds(repo, rule, user):
        return ()
    missing = [
        "Cannot create ref due to creations being restricted." if push.old is None else None,
        "Changes must be made through a pull request." if rule.demands_pull else None,
        f"{QUEUE}" if rule.merge_queue else None,
        check_sentence(repo, push.new, rule),
    ]
    return tuple(filter(None, missing))


def push_message(ref: str, refused: Unmet, page: str) -> tuple[str, str]:
    """A git client's messages about a refused push: lines for the person, and the ref's reason."""
    bullets = "".join(f"- {sentence}\n\n" for sentence in refused.sentences)
    if refused.rule.ruleset_id is None:
        text = f"error: GH006: Protected branch update failed for {ref}.\n\n{bullets.rstrip()}\n"
        return text, "protected branch hook declined"
    place = ref.replace("/", "%2F")
    text = (
        f"error: GH013: Repository rule violations found for {ref}.\n"
        f"Review all repository rules at {page}/rules?ref={place}\n\n{bullets}"
    )
    return text, "push declined due to repository rule violations"


def decision(pull: PullRequest) -> Decision | None:
    """GitHub's verdict; None if no review is required, whatever the reviews are.

    Sources: https://github.com/orgs/community/discussions/24375 and
    https://github.com/abcxyz/github-metrics-aggregator/pull/224
    """
    wanted = approvals_of(pull.repository, pull.base)
    if not wanted:
        return None
    states = [opinion.state for opinion in reviews.opinions(pull, writers_only=True)]
    if "CHANGES_REQUESTED" in states:
        return "CHANGES_REQUESTED"
    enough = states.count("APPROVED") >= wanted
    return "APPROVED" if enough else "REVIEW_REQUIRED"
