"""Cases of checks as people met them on GitHub, each with the public thread that tells of it.

One row a case: what GraphQL shows of the pull request, and what has to come of it. The facts are the
threads'; names, times and numbers are made up where a thread does not give them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lifecycle.core.values.checks import Verdict

SHA = "a" * 40
OLD_SHA = "b" * 40
GREEN, FAILED, PENDING = Verdict.GREEN, Verdict.FAILED, Verdict.PENDING


@dataclass(frozen=True, slots=True)
class Case:
    """One case.

    Attributes:
        name: what it is about.
        source: the thread.
        contexts: the nodes of `statusCheckRollup.contexts`.
        verdict: what the checks amount to.
        says: what has to be in the sentences; "" if nothing may be said.
        suites: the check suites of the head.
        demands: what the base branch requires.
        pull: what else is different about the pull request.
        more: GitHub has a further page of contexts.
        sha: the commit that the rollup is of.
        looks: at how many looks in a row the same is seen.
    """

    name: str
    source: str
    contexts: tuple[dict[str, Any] | None, ...]
    verdict: Verdict
    says: str = ""
    suites: tuple[dict[str, Any], ...] = ()
    demands: dict[str, Any] = field(default_factory=dict)
    pull: dict[str, Any] = field(default_factory=dict)
    more: bool = False
    sha: str = SHA
    looks: int = 1


def run(
    name: str,
    conclusion: str | None = "SUCCESS",
    *,
    at: str | None = "10:00:00",
    status: str = "COMPLETED",
    workflow: str | None = "CI",
    event: str = "pull_request",
    app: int = 15368,
) -> dict[str, Any]:
    """A CheckRun node; one of Actions unless `workflow` is None."""
    made = {"event": event, "workflow": {"name": workflow}} if workflow else None
    return {
        "__typename": "CheckRun",
        "name": name,
        "status": status,
        "conclusion": conclusion,
        "startedAt": f"2026-01-31T{at}Z" if at else None,
        "completedAt": None,
        "detailsUrl": f"https://github.com/o/r/runs/{name}",
        "checkSuite": {"workflowRun": made, "app": {"databaseId": app}},
    }


def status(name: str, state: str, *, at: str = "10:00:00") -> dict[str, Any]:
    """A StatusContext node."""
    return {
        "__typename": "StatusContext",
        "context": name,
        "statusState": state,
        "createdAt": f"2026-01-31T{at}Z",
        "targetUrl": None,
    }


def suite(
    workflow: str | None,
    status: str = "COMPLETED",
    conclusion: str | None = "SUCCESS",
    *,
    at: str = "10:00:00",
    event: str = "pull_request",
) -> dict[str, Any]:
    """A CheckSuite node; of another app than Actions if `workflow` is None."""
    url = "https://github.com/o/r/actions/runs/1"
    made = {"url": url, "event": event, "workflow": {"name": workflow}} if workflow else None
    return {
        "status": status,
        "conclusion": conclusion,
        "createdAt": f"2026-01-31T{at}Z",
        "workflowRun": made,
    }


def classic(*names: str) -> dict[str, Any]:
    """A base branch with classic protection."""
    return {"refUpdateRule": {"requiredStatusCheckContexts": list(names)}}


def ruleset(*demands: tuple[str, int | None]) -> dict[str, Any]:
    """A base branch with a ruleset, beside rules of other kinds."""
    checks = [{"context": name, "integrationId": app} for name, app in demands]
    rule = {"parameters": {"requiredStatusChecks": checks}}
    return {"refUpdateRule": None, "rules": {"nodes": [{"parameters": None}, {}, None, rule]}}


def removed(reason: str, *, at: str = "11:00:00") -> dict[str, Any]:
    """The timeline of a pull request that left the merge queue."""
    event = {"id": "RFMQE_1", "createdAt": f"2026-01-31T{at}Z", "reason": reason}
    return {"timelineItems": {"nodes": [event]}}


CASES = (
    # Duplicates
    Case(
        "a fail-fast cancellation stays beside the green run that took its place",
        "https://github.com/stablyai/orca/pull/9570",
        (
            run("check-pr-description", "CANCELLED", at="08:54:00"),
            run("check-pr-description", at="09:02:00"),
            run("misc-checks", "CANCELLED", at="08:54:00"),
            run("misc-checks", at="08:56:00"),
        ),
        GREEN,
        "All 2 checks green",
    ),
    Case(
        "the rollup's own state stays FAILURE after a green re-run",
        "https://github.com/rjmurillo/ai-agents/issues/3978",
        (run("Validate PR", "FAILURE", at="05:26:31"), run("Validate PR", at="05:28:16")),
        GREEN,
        "The only check is green",
    ),
    Case(
        "the newer run failed although the older one ended later",
        "https://github.com/kunchenguid/firstmate/pull/4258",
        (
            {**run("build", at="10:00:00"), "completedAt": "2026-01-31T11:00:00Z"},
            {**run("build", "FAILURE", at="10:05:00"), "completedAt": "2026-01-31T10:06:00Z"},
        ),
        FAILED,
        "1 FAILED — build",
    ),
    Case(
        "the same job name in two workflows is two checks",
        "https://github.com/cli/cli/issues/5898",
        (run("test", "FAILURE", workflow="CI"), run("test", at="11:00:00", workflow="CI-Windows")),
        FAILED,
        "1 FAILED — test",
    ),
    Case(
        "the same job for two events is two checks",
        "https://github.com/cli/cli/pull/7618",
        (run("lint", "FAILURE", event="push"), run("lint", at="11:00:00")),
        FAILED,
        "1 FAILED — lint",
    ),
    Case(
        "a green status does not hide a red check run of its name",
        "https://github.com/kunchenguid/firstmate/pull/4258",
        (run("deploy", "FAILURE", workflow=None), status("deploy", "SUCCESS", at="12:00:00")),
        FAILED,
        "1 FAILED — deploy",
    ),
    Case(
        "the newest of many statuses of one context counts, not the top of the list",
        "https://github.com/jenkins-x/updatebot/pull/52",
        (status("ci/jx", "SUCCESS", at="09:00:00"), status("ci/jx", "PENDING", at="09:30:00")),
        PENDING,
    ),
    Case(
        "a cancelled run whose successor is queued waits for the successor",
        "https://github.com/jsboige/CoursIA/pull/17170",
        (
            run("Scripts Tests", "CANCELLED"),
            run("Scripts Tests", None, at=None, status="QUEUED"),
        ),
        PENDING,
    ),
    # Zero checks, and too few of them
    Case(
        "nothing has registered for the new head",
        "https://github.com/reddb-io/red-skills/issues/1793",
        (),
        PENDING,
        pull={"mergeable": "UNKNOWN"},
    ),
    Case(
        "no rollup at all, right after the pull request was opened",
        "https://github.com/berenddeboer/ready-for-agent/pull/103",
        (),
        PENDING,
        pull={"statusCheckRollup": None},
    ),
    Case(
        "an empty rollup of a pull request that could be merged is no pass either",
        "https://github.com/orbi-build/orbi/issues/1243",
        (),
        PENDING,
        pull={"mergeable": "MERGEABLE", "mergeStateStatus": "CLEAN"},
        looks=2,
    ),
    Case(
        "only a fast third-party check has registered while Actions has not made its jobs",
        "https://github.com/gitbutlerapp/gitbutler/pull/4244",
        (run("GitGuardian Security Checks", workflow=None, app=46505),),
        PENDING,
        suites=(suite(None), suite("CI", "QUEUED", None)),
    ),
    Case(
        "four of fourteen checks are listed, since later jobs register when earlier ones end",
        "https://github.com/open-mercato/skills/pull/89",
        (run("plan"), run("lint"), run("types"), run("unit")),
        PENDING,
        suites=(suite("CI", "IN_PROGRESS", None),),
    ),
    Case(
        "an app that opens a check suite and never uses it is not waited for",
        "https://github.com/sourcegraph/sourcegraph-public-snapshot/pull/9058",
        (run("test"),),
        GREEN,
        "The only check is green",
        suites=(suite("CI"), suite(None, "QUEUED", None)),
    ),
    Case(
        "more contexts than a page: what was not read may have failed",
        "https://github.com/rjmurillo/ai-agents/pull/4112",
        tuple(run(f"job-{number:03}") for number in range(100)),
        PENDING,
        more=True,
    ),
    Case(
        "a context that the token may not see",
        "https://github.com/cli/cli/issues/12597",
        (run("test"), None),
        PENDING,
    ),
    Case(
        "a rollup of the head before says nothing of this one",
        "https://github.com/alphaonedev/ai-memory-mcp/issues/2665",
        (run("test"), run("lint")),
        PENDING,
        sha=OLD_SHA,
    ),
    # Conclusions
    Case(
        "skipped and neutral checks pass, as GitHub has it",
        "https://github.com/chdsbd/kodiak/issues/780",
        (run("greetings"), run("deploy", "SKIPPED"), run("coverage", "NEUTRAL")),
        GREEN,
        "All 3 checks green",
    ),
    Case(
        "a matrix in which jobs failed, and the rest was cancelled and skipped",
        "https://github.com/renovatebot/renovate/issues/10365",
        (
            run("Summary"),
            run("test (a)", "FAILURE"),
            run("test (b)", "CANCELLED"),
            run("finish", "SKIPPED"),
        ),
        FAILED,
        '2 FAILED — "test (a)", "test (b)" (cancelled)',
    ),
    Case(
        "a cancelled check still keeps from merging, and is not called a defect",
        "https://github.com/PostHog/posthog/pull/92226",
        (run("gate", "CANCELLED"), run("lint")),
        FAILED,
        "gate (cancelled) on PR #7 at aaaaaaa. Rerun what was cancelled",
    ),
    Case(
        "a commit status can end in ERROR, which is no FAILURE",
        "https://github.com/kurone-kito/idd-skill/pull/1324",
        (status("ci/jenkins", "ERROR"), run("lint")),
        FAILED,
        "1 FAILED — ci/jenkins",
    ),
    Case(
        "startup failure is a failure, although it is not among the usual words",
        "https://github.com/getsentry/sentry/pull/120384",
        (run("CI", "STARTUP_FAILURE"),),
        FAILED,
        "CI (could not start)",
    ),
    Case(
        "a workflow that could not start has no check run at all",
        "https://github.com/pytorch/pytorch/pull/81521",
        (run("lint", workflow="Lint"),),
        FAILED,
        "1 FAILED — pull (could not start)",
        suites=(suite("Lint"), suite("pull", conclusion="STARTUP_FAILURE")),
    ),
    Case(
        "the same, reported under the file's path and as a failure",
        "https://github.com/NousResearch/hermes-agent/pull/90686",
        (run("nix", workflow="Nix flake check"),),
        FAILED,
        ".github/workflows/ci.yaml (could not start)",
        suites=(suite("Nix flake check"), suite(".github/workflows/ci.yaml", conclusion="FAILURE")),
    ),
    Case(
        "stale: GitHub gave up on a check that never ended",
        "https://github.com/zendesk/samson/pull/3830",
        (run("external/scan", "STALE", workflow=None), run("test")),
        PENDING,
        "marked external/scan as stale",
    ),
    Case(
        "completed without a conclusion is not over",
        "https://github.com/jedbjorn/subfloor/pull/957",
        (run("test", None), run("lint")),
        PENDING,
    ),
    Case(
        "a job that waits for an environment's reviewers is pending, and the person is told",
        "https://github.com/runs-on/runs-on/issues/386",
        (run("deploy / production", None, at=None, status="WAITING"), run("test")),
        PENDING,
        "waits for somebody to approve the deployment",
    ),
    Case(
        "a queued job has no start, and is pending",
        "https://github.com/projectnessie/nessie/pull/1311",
        (run("ci", None, at=None, status="QUEUED"),),
        PENDING,
    ),
    Case(
        "an app's check that asks a person to act",
        "https://github.com/Reefact/universal-watcher/issues/28",
        (run("cla", "ACTION_REQUIRED", workflow=None, app=1), run("test")),
        FAILED,
        "cla (needs a person) on PR #7 at aaaaaaa. A person has to act there",
    ),
    Case(
        "a word that nobody knows yet is not a pass",
        "https://github.com/github/docs/issues/10505",
        (run("test", "A_WORD_OF_TOMORROW"),),
        PENDING,
    ),
    # Workflows that wait for an approval
    Case(
        "a first contribution from a fork: runs are made, held, and nothing is listed",
        "https://github.com/thedotmack/claude-mem/pull/3593",
        (),
        PENDING,
        "has not run: CI, Windows wait for somebody with write access",
        suites=(
            suite("CI", conclusion="ACTION_REQUIRED"),
            suite("Windows", conclusion="ACTION_REQUIRED"),
        ),
        pull={"statusCheckRollup": None},
    ),
    Case(
        "bots alone are green while the real workflows are held",
        "https://github.com/apache/magpie/pull/1299",
        (run("WIP", workflow=None, app=2), run("DCO", workflow=None, app=3)),
        PENDING,
        "has not run: Tests waits",
        suites=(suite(None), suite("Tests", conclusion="ACTION_REQUIRED")),
    ),
    Case(
        "held and then approved: the newer suite of the workflow counts",
        "https://github.com/netbox-community/devicetype-library/issues/2257",
        (run("build"),),
        GREEN,
        "The only check is green",
        suites=(
            suite("CI", conclusion="ACTION_REQUIRED", at="09:00:00"),
            suite("CI", at="12:00:00"),
        ),
    ),
    Case(
        "one workflow failed while another is held: the failure is told",
        "https://github.com/NousResearch/hermes-agent/pull/111994",
        (run("lint", "FAILURE", workflow="Lint"),),
        FAILED,
        "1 FAILED — lint",
        suites=(
            suite("Lint", conclusion="FAILURE"),
            suite("Docker Build", conclusion="ACTION_REQUIRED"),
        ),
    ),
    # Required checks
    Case(
        "a required workflow was left out by its path filter, and everything else is green",
        "https://github.com/puritysb/AgentDeck/pull/248",
        (run("test"), run("Token sync + lint regression")),
        PENDING,
        '"ESP32 Sim Compile" is required by main and has not reported',
        demands=classic("test", "ESP32 Sim Compile"),
        pull={"mergeStateStatus": "BLOCKED"},
        looks=2,
    ),
    Case(
        "the same at the first look: checks register late, so nothing is said yet",
        "https://github.com/ImperialAutomation/claude-code-toolkit/issues/32",
        (run("frontend"),),
        PENDING,
        demands=classic("frontend", "backend"),
    ),
    Case(
        "a required job that needs the others has no check run before they end",
        "https://github.com/getsentry/craft/pull/117",
        (run("unit"), run("lint")),
        PENDING,
        suites=(suite("CI", "IN_PROGRESS", None),),
        demands=classic("unit", "all jobs passed"),
        looks=2,
    ),
    Case(
        "required by a ruleset, of which classic protection knows nothing",
        "https://github.com/reitermarkus/automerge/issues/3918",
        (run("lint"),),
        PENDING,
        "helm-build is required",
        demands=ruleset(("lint", None), ("helm-build", None)),
        looks=2,
    ),
    Case(
        "demanded by both, reported once: one check meets both",
        "https://github.com/renovatebot/renovate/issues/1853",
        (run("test"),),
        GREEN,
        "The only check is green",
        demands={**ruleset(("test", 15368)), **classic("test")},
    ),
    Case(
        "a required check that another app reported does not meet the demand",
        "https://github.com/theBGuy/GitDesktop/pull/240",
        (run("build", workflow=None, app=99),),
        PENDING,
        "build is required",
        demands=ruleset(("build", 15368)),
        looks=2,
    ),
    Case(
        "a demand for an app's check is met by the app's commit status",
        "https://github.com/Mergifyio/mergify/issues/5175",
        (status("Vercel", "SUCCESS"), run("pre-commit")),
        GREEN,
        "All 2 checks green",
        demands=ruleset(("Vercel", 8329)),
    ),
    Case(
        "a required check that was skipped by a condition has reported",
        "https://github.com/chdsbd/kodiak/issues/508",
        (run("before"), run("success", "SKIPPED")),
        GREEN,
        "All 2 checks green",
        demands=classic("success"),
    ),
    Case(
        "expected: GitHub itself lists the status that never came",
        "https://github.com/github/branch-deploy/pull/363",
        (run("test"), status("quality_gate", "EXPECTED")),
        PENDING,
        demands=classic("quality_gate"),
    ),
    Case(
        "a check that is not required and fails is told all the same",
        "https://github.com/getmydia/mydia/pull/619",
        (run("required-one"), run("Flatpak / Build", "FAILURE")),
        FAILED,
        '1 FAILED — "Flatpak / Build"',
        demands=classic("required-one"),
    ),
    Case(
        "held workflows explain why thirteen required checks never reported",
        "https://github.com/meridianlabs-ai/inspect_scout/pull/539",
        (),
        PENDING,
        "has not run: Build waits",
        suites=(suite("Build", conclusion="ACTION_REQUIRED"),),
        demands=ruleset(("py-mypy", 15368), ("py-test", 15368)),
        looks=2,
    ),
    # What else stands between green checks and the merge
    Case(
        "mergeable is not computed yet: neither a conflict nor ready for certain",
        "https://github.com/reddb-io/red-skills/pull/2099",
        (run("test"),),
        GREEN,
        "PR #7 is ready to merge, if GitHub finds no conflict.",
        pull={"mergeable": "UNKNOWN", "mergeStateStatus": "UNKNOWN"},
    ),
    Case(
        "a conflict outweighs green checks",
        "https://github.com/reddb-io/red-skills/pull/2099",
        (run("test"),),
        GREEN,
        "PR #7 conflicts with main.",
        pull={"mergeable": "CONFLICTING", "mergeStateStatus": "DIRTY"},
    ),
    Case(
        "green and behind, where the base demands an up-to-date branch",
        "https://github.com/rjmurillo/ai-agents/issues/2157",
        (run("test"),),
        GREEN,
        "main has moved on and demands an up-to-date branch",
        pull={"mergeStateStatus": "BEHIND"},
    ),
    Case(
        "green and blocked by the missing review",
        "https://github.com/chdsbd/kodiak/issues/99",
        (run("test"),),
        GREEN,
        "PR #7 waits for an approving review.",
        pull={"mergeStateStatus": "BLOCKED", "reviewDecision": "REVIEW_REQUIRED"},
    ),
    Case(
        "green and blocked by a rule that no check shows",
        "https://github.com/googleapis/google-cloud-java/pull/12219",
        (run("test"),),
        GREEN,
        "is still blocked by a rule of main",
        pull={"mergeStateStatus": "BLOCKED", "reviewDecision": "APPROVED"},
    ),
    Case(
        "already queued: CLEAN and green, and not to be merged by hand",
        "https://github.com/netresearch/git-workflow-skill/pull/134",
        (run("test"),),
        GREEN,
        "PR #7 is in the merge queue (position 2).",
        pull={
            "mergeStateStatus": "CLEAN",
            "mergeQueueEntry": {"state": "AWAITING_CHECKS", "position": 2},
        },
    ),
    Case(
        "unmergeable in the queue, and without a conflict of its own",
        "https://github.com/AlexanderMattTurner/agent-glovebox/pull/5801",
        (run("test"),),
        GREEN,
        "(position 1), and cannot be merged together with what is queued before it.",
        pull={"mergeQueueEntry": {"state": "UNMERGEABLE", "position": 1}},
    ),
    Case(
        "thrown out of the queue: the pull request's own checks are still green",
        "https://github.com/flowglad/onton/pull/379",
        (run("test"),),
        GREEN,
        "taken out of the merge queue without being merged (failed checks)",
        pull=removed("failed_checks"),
    ),
    Case(
        "removed from the queue a moment ago: so it is reported of a merge as well",
        "https://github.com/objectstack-ai/objectstack/issues/19343",
        (run("test"),),
        GREEN,
        "is ready to merge.",
        pull=removed("merged", at="11:59:45"),
    ),
    Case(
        "thrown out, mended, and checked again: the old news is none",
        "https://github.com/digitaldrywood/detent/issues/2474",
        (run("test", at="11:30:00"),),
        GREEN,
        "is ready to merge.",
        pull=removed("failed_checks"),
    ),
    Case(
        "thrown out and queued again",
        "https://github.com/nexu-io/open-design/pull/7907",
        (run("test"),),
        GREEN,
        "is in the merge queue (position 1).",
        pull={**removed("timeout"), "mergeQueueEntry": {"state": "QUEUED", "position": 1}},
    ),
    Case(
        "auto-merge is on: nobody has to merge it",
        "https://github.com/new-usemame/Calibre-Web-NextGen/pull/1453",
        (run("test"),),
        GREEN,
        "is merged by GitHub once all requirements are met",
        pull={"autoMergeRequest": {"enabledAt": "2026-01-31T09:00:00Z"}},
    ),
    Case(
        "a draft with green checks cannot be merged",
        "https://github.com/kunchenguid/firstmate/issues/4757",
        (run("test"),),
        GREEN,
        "is a draft",
        pull={"isDraft": True},
    ),
)
