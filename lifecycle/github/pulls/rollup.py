"""Turn GitHub's lists of checks into `Checks`: one result for each, and the demanded and held ones.

Pure functions. An unknown word never breaks a look: a check that is not known to have passed is pending,
and a hidden one never counts as passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lifecycle.core import timing
from lifecycle.core.light_dataclass import dataclass, fields_of, replace
from lifecycle.core.values.checks import ENDED_BADLY, Bucket, Check, Checks, Required
from lifecycle.github.client.client_common import Json, nodes, number, part, text, word

# Sources: https://docs.github.com/graphql/reference/enums#checkconclusionstate and
# https://docs.github.com/graphql/reference/enums#statusstate. STALE, which needs a re-run, is pending
# like everything that is not listed.
_BUCKETS = {
    **dict.fromkeys(("SUCCESS", "SKIPPED", "NEUTRAL"), Bucket.PASS),
    **dict.fromkeys((*ENDED_BADLY, "ERROR"), Bucket.FAIL),
    "CANCELLED": Bucket.CANCELLED,
}
_SEVERITY = (Bucket.PASS, Bucket.PENDING, Bucket.CANCELLED, Bucket.FAIL)


Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class RollupEntry:
    """One check as GitHub lists it, superseded or not.

    Attributes:
        key: equal for two entries that are runs of the same check.
        check: its value.
        has_begun: False for a run that still waits; it counts as newer than all that have begun.
    """

    key: Key
    check: Check
    has_begun: bool = True


def run_bucket(status: object, conclusion: object) -> Bucket:
    """The bucket of a check run; both words in GraphQL's or REST's spelling."""
    is_over = word(status) == "COMPLETED"
    return _BUCKETS.get(word(conclusion), Bucket.PENDING) if is_over else Bucket.PENDING


def status_bucket(state: object) -> Bucket:
    """The bucket of a commit status: its states are a part of the same words."""
    name = word(state)
    return _BUCKETS[name] if name in {"SUCCESS", "FAILURE", "ERROR"} else Bucket.PENDING


def newest(entries: Iterable[RollupEntry]) -> tuple[Check, ...]:
    """One check for each key: the one that began last, ordered by name.

    A re-run leaves the superseded entry in the list, so the newest counts. If two began in the same second,
    the worse one counts: green must not depend on an order that nobody promised.
    """
    by_key: dict[Key, RollupEntry] = {}
    for entry in sorted(entries, key=_age, reverse=True):
        by_key.setdefault(entry.key, entry)
    checks = [entry.check for entry in by_key.values()]
    return tuple(sorted(checks, key=lambda run: (run.name, run.workflow, run.event, run.bucket)))


def _age(entry: RollupEntry) -> tuple[bool, float, int]:
    started = entry.check.started_at
    moment = float("-inf") if started is None else started
    return (not entry.has_begun, moment, _SEVERITY.index(entry.check.bucket))


def required(base: Json) -> tuple[Required, ...]:
    """The checks that a base branch demands: by classic protection, and by rulesets.

    A rule that names an app is a separate demand from the same name without an app. `sees_demands` says
    whether all rules were shown.
    Sources: https://docs.github.com/graphql/reference/objects#refupdaterule and
    https://docs.github.com/graphql/reference/objects#requiredstatuschecksparameters
    """
    classic = part(base, "refUpdateRule").get("requiredStatusCheckContexts") or []
    names = {Required(str(name)) for name in classic if name}
    for rule in nodes(base, "rules"):
        for check in part(rule, "parameters").get("requiredStatusChecks") or []:
            names.add(Required(text(check, "context"), number(check.get("integrationId"))))
    return tuple(sorted(names, key=lambda demand: (demand.name, demand.app or float("-inf"))))


def sees_demands(node: Json) -> bool:
    """False if a pull request's base was hidden, or had more rules than a page; True if not requested."""
    base = node.get("baseRef", {})
    return isinstance(base, Mapping) and ("rules" not in base or _is_whole(base["rules"]))


def _is_whole(connection: object) -> bool:
    """True if a connection was shown, and all of it fits its first page."""
    if not isinstance(connection, Mapping) or connection.get("nodes") is None:
        return False
    return not part(connection, "pageInfo").get("hasNextPage")


@dataclass(frozen=True, slots=True)
class Suite:
    """A run of a workflow, of either API: its newest attempt.

    Attributes:
        made_at: when it was made, before all times if GitHub did not say.
        id: the check suite's, None in GraphQL.
    """

    workflow: str
    event: str
    made_at: float
    status: str
    conclusion: str
    url: str
    id: object = None


_NO_START = {"STARTUP_FAILURE", "FAILURE"}


def workflows(sha: str, node: Json, checks: Iterable[Check]) -> Checks:
    """The Checks from the Actions check suites on the head `sha`; empty if they were not requested.

    Suites of other apps count only by their check runs: GitHub opens one for each installed app, whether
    the app uses it or not.
    Source: https://docs.github.com/actions/how-tos/manage-workflow-runs/approve-runs-from-forks

    Args:
        sha: the head.
        node: a pull request with its last commit.
        checks: the check runs in the rollup.
    """
    if "commits" not in node:
        return Checks(sha)
    last = next(iter(nodes(node, "commits")), None)
    commit = part(last or {}, "commit")
    is_late = last is not None and text(commit, "oid") != sha
    shown = [] if is_late else nodes(commit, "checkSuites")
    suites = [_suite(suite, run) for suite in shown if (run := part(suite, "workflowRun"))]
    is_seen = is_late or _is_whole(commit.get("checkSuites"))
    return replace(judged(sha, suites, checks), sees_workflows=is_seen, is_late=is_late)


def _suite(suite: Json, run: Json) -> Suite:
    flow = text(run, "workflow.name"), text(run, "event")
    made_at = timing.parse_time(suite.get("createdAt")) or float("-inf")
    outcome = word(suite.get("status")), word(suite.get("conclusion"))
    return Suite(*flow, made_at, *outcome, text(run, "url"))


def judged(sha: str, suites: Iterable[Suite], checks: Iterable[Check]) -> Checks:
    """The results of the newest run of each workflow and event, besides the shown checks.

    Held: those that somebody has to approve before they run. GitHub ends their check suite at once with
    ACTION_REQUIRED and puts no check run into it. Unfinished: those that are still running; their jobs
    register one after the other, so for a moment all listed ones may have passed. Runs: those that did not
    pass although none of their jobs says so: a workflow file that cannot be read, or a run that was
    cancelled or timed out before its jobs began. If a run did not pass while all its jobs did, it did not
    pass: its other jobs never began.
    """
    by_age = sorted(suites, key=lambda suite: suite.made_at)
    newest_of = {(suite.workflow, suite.event): suite for suite in by_age}
    listed: dict[tuple[str, str], set[Bucket]] = {}
    for check in checks:
        listed.setdefault((check.workflow, check.event), set()).add(check.bucket)
    held, unfinished, ended = set(), set(), []
    for (name, event), suite in newest_of.items():
        jobs, bucket = listed.get((name, event), set()), run_bucket(suite.status, suite.conclusion)
        if suite.status != "COMPLETED":
            unfinished.add(name)
        elif suite.conclusion == "ACTION_REQUIRED":
            held.add(name)
        elif bucket is not Bucket.PASS and jobs <= {Bucket.PASS}:  # its own result, under its name
            is_unread = suite.conclusion in _NO_START and not jobs
            outcome = "STARTUP_FAILURE" if is_unread else suite.conclusion
            ended.append(Check(name, bucket, name, event, url=suite.url, word=outcome))
    return Checks(sha, tuple(ended), held=tuple(sorted(held)), unfinished=tuple(sorted(unfinished)))


def with_workflows(checks: Checks, beside: Checks) -> Checks:
    """Checks, combined with the results of workflows."""
    runs = tuple(dict.fromkeys((*checks.runs, *beside.runs)))
    held = tuple(sorted({*checks.held, *beside.held}))
    unfinished = tuple(sorted({*checks.unfinished, *beside.unfinished}))
    seen = fields_of(beside, "sees_workflows", "is_late")
    return replace(checks, runs=runs, held=held, unfinished=unfinished, **seen)


def of_all(state: str) -> Check:
    """GitHub's own verdict on all checks, as one check."""
    return Check("all checks", status_bucket(state), word=word(state))


def rollup(sha: str, shown: Json | None) -> Checks:
    """A StatusCheckRollup as the checks of the head `sha`.

    No rollup, or one of another commit, means that nothing has registered on this head yet. If only its
    state was requested, it is one check for all.
    """
    if not shown or text(shown, "commit.oid") not in {"", sha}:
        return Checks(sha)
    if shown.keys() == {"state"}:
        return Checks(sha, (of_all(shown["state"]),))
    contexts = part(shown, "contexts")
    listed = contexts.get("nodes")
    if listed is None:
        return Checks(sha, is_complete=False)
    entries = [_context(node) for node in listed if node]
    is_complete = not part(contexts, "pageInfo").get("hasNextPage") and all(listed)
    return Checks(sha, newest(entries), is_complete)


def with_demands(checks: Checks, shown: Checks) -> Checks:
    """Checks that were read elsewhere, with the demands and workflows that GraphQL showed."""
    # If a job's failure is listed, the result of its workflow is not a second one.
    own = [] if checks.failed else [run for run in shown.runs if run.name == run.workflow]
    ended = tuple(run for run in own if run.started_at is run.ended_at is None)
    if checks.unseen and not checks.sees_workflows:  # hidden jobs may have begun
        ended = tuple(replace(run, word="FAILURE") for run in ended)
    is_seen = checks.sees_workflows or shown.sees_workflows
    beside = replace(shown, runs=ended, sees_workflows=is_seen)
    demands = fields_of(shown, "required", "sees_demands", "is_unblocked")
    return replace(with_workflows(checks, beside), **demands)


def overall(node: Json) -> str:
    """GitHub's own verdict on every check of a pull request's head, hidden ones too; "" if none.

    Source: https://docs.github.com/graphql/reference/enums#statusstate
    """
    verdict = part(node, "statusCheckRollup")
    is_of_head = text(verdict, "commit.oid") == node.get("headRefOid")
    return text(verdict, "state") if is_of_head else ""


def _context(node: Json) -> RollupEntry:
    if "context" in node:
        return commit_status(node)
    suite = part(node, "checkSuite")
    run = part(suite, "workflowRun")
    flow = text(run, "workflow.name"), text(run, "event")
    return check_run(node, flow, part(suite, "app").get("databaseId"), flow)


def check_run(run: Json, flow: tuple[str, str], app: object, key: Key) -> RollupEntry:
    """A check run of either API.

    Args:
        run: its JSON.
        flow: its workflow and event; empty for runs of other apps.
        app: the id of the app that made it, if it is known.
        key: distinguishes two runs with the same name and app.
    """
    status, conclusion = run["status"], run.get("conclusion")
    is_over = word(status) == "COMPLETED"
    began = timing.parse_time(run.get("startedAt", run.get("started_at")))
    ended = timing.parse_time(run.get("completedAt", run.get("completed_at")))
    url = str(run.get("detailsUrl") or run.get("details_url") or "")
    outcome = (word(conclusion) if is_over else "") or word(status)
    name, bucket = str(run["name"]), run_bucket(status, conclusion)
    check = Check(name, bucket, *flow, began, url, ended, outcome, number(app))
    return RollupEntry(("run", check.name, check.app, *key), check, began is not None or is_over)


def commit_status(status: Json) -> RollupEntry:
    """A commit status of either API."""
    name, state = str(status["context"]), status.get("statusState") or status["state"]
    made_at = timing.parse_time(status.get("createdAt", status.get("created_at")))
    url = str(status.get("targetUrl") or status.get("target_url") or "")
    check = Check(name, status_bucket(state), started_at=made_at, url=url, word=word(state))
    return RollupEntry(("status", name), check)
