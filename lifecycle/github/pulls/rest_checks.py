"""Read a commit's check runs, statuses and runs of workflows over REST.

For tokens to which GraphQL shows no contexts, and for commits with more than one page of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lifecycle.core import timing
from lifecycle.core.errors import NoPermission
from lifecycle.core.light_dataclass import replace
from lifecycle.core.values.checks import Bucket, Checks
from lifecycle.core.values.model import PullRequest, PullState
from lifecycle.github.client.client_common import part, text, word
from lifecycle.github.client.rest import Calls, Json
from lifecycle.github.pulls import rollup

_ACTIONS = "github-actions"
"""The slug of the app that runs workflows; its id differs between servers."""


_Flow = tuple[rollup.Suite, rollup.RollupEntry]
"""A run of a workflow: as in GraphQL, and as a check of its own."""


def read(calls: Calls, sha: str) -> Checks:
    """Every check run and commit status of a commit, all pages, without superseded ones.

    Runs of Actions are distinguished by their workflow, as in GraphQL. In REST that needs further requests,
    which are sent only if runs of one name are in several check suites.

    Sources: https://docs.github.com/rest/checks/runs#list-check-runs-for-a-git-reference and
    https://docs.github.com/rest/commits/statuses#get-the-combined-status-for-a-specific-reference
    """
    try:
        check_runs, is_complete = _all(calls, sha, f"commits/{sha}/check-runs", "check_runs")
    except NoPermission:
        return _without_check_runs(calls, sha)
    shown, is_whole = _flows_if_shown(calls, sha) if _is_ambiguous(check_runs) else ([], False)
    flows = {suite.id: suite for suite, _ in shown}
    entries = calls.shaped(_subject(sha), lambda: [_run(run, flows) for run in check_runs])
    statuses, unseen = _statuses_if_shown(calls, sha)
    kept = rollup.newest([*entries, *statuses])
    checks = Checks(sha, kept, is_complete and not unseen, unseen=unseen, sees_workflows=False)
    if not is_whole:
        return checks
    return rollup.with_workflows(checks, rollup.judged(sha, flows.values(), kept))


def _without_check_runs(calls: Calls, sha: str) -> Checks:
    """The checks for a fine-grained token, which cannot see check runs: Actions and statuses.

    Checks of other apps stay hidden, so this is never complete. If one of the two is refused, it is hidden,
    too; NoPermission if both are.
    """
    try:
        flows, is_whole = _flows(calls, sha)
        statuses, unseen = _statuses_if_shown(calls, sha)
    except NoPermission:
        flows, is_whole = [], False
        statuses, unseen = _statuses(calls, sha), "runs of GitHub Actions (Actions: read)"
    entries = rollup.newest([*(entry for _, entry in flows), *statuses])
    # A run that waits for an approval has not failed: it has not begun.
    waiting = [check for check in entries if check.workflow and check.word == "ACTION_REQUIRED"]
    begun = tuple(check for check in entries if check not in waiting)
    held = tuple(check.workflow for check in waiting)
    words = " and ".join(filter(None, ("checks of other apps than GitHub Actions", unseen)))
    return Checks(sha, begun, is_complete=False, held=held, unseen=words, sees_workflows=is_whole)


def _flows_if_shown(calls: Calls, sha: str) -> tuple[list[_Flow], bool]:
    try:
        return _flows(calls, sha)
    except NoPermission:
        return [], False  # they are unknown, and do not count as green


def _flows(calls: Calls, sha: str) -> tuple[list[_Flow], bool]:
    """The runs of workflows on a commit, and whether these are all."""
    runs, is_whole = _all(calls, sha, "actions/runs", "workflow_runs", {"head_sha": sha})
    # A redirect may lose the query: then these are the runs of every commit.
    its = [run for run in runs if run.get("head_sha") == sha]
    return calls.shaped(_subject(sha), lambda: [*map(_flow, its)]), is_whole


def _statuses(calls: Calls, sha: str) -> list[rollup.RollupEntry]:
    shown, _ = _all(calls, sha, f"commits/{sha}/status", "statuses")
    return calls.shaped(_subject(sha), lambda: [*map(rollup.commit_status, shown)])


def _statuses_if_shown(calls: Calls, sha: str) -> tuple[list[rollup.RollupEntry], str]:
    """The statuses; for a token that may not read them, an empty list with the name of the hidden part."""
    try:
        return _statuses(calls, sha), ""
    except NoPermission:
        return [], "commit statuses (Commit statuses: read)"


def _is_ambiguous(runs: list[Json]) -> bool:
    """True if runs of Actions with one name are in several check suites."""
    of_actions = (run for run in runs if text(run, "app.slug") == _ACTIONS)
    suites = {(text(run, "name"), part(run, "check_suite").get("id")) for run in of_actions}
    return len(suites) > len({name for name, _ in suites})


def _subject(sha: str) -> str:
    return f"checks of commit {sha[:12]}"


def _all(
    calls: Calls, sha: str, path: str, key: str, query: Json | None = None
) -> tuple[list[Json], bool]:
    """The entries of all pages, and whether their number is the one that GitHub announced."""
    pages = [*calls.bodies(path, _subject(sha), query)]

    def shown() -> tuple[list[Json], bool]:
        entries = [entry for page in pages for entry in page[key]]
        return entries, all(len(entries) >= int(page.get("total_count") or 0) for page in pages)

    return calls.shaped(_subject(sha), shown)


def _run(run: Json, flows: Mapping[object, rollup.Suite]) -> rollup.RollupEntry:
    """A check run; runs of other apps have no workflow, and the newest of a name counts."""
    app, suite_id = part(run, "app").get("id"), part(run, "check_suite").get("id")
    flow = flows.get(suite_id)
    is_anothers = app is not None and text(run, "app.slug") != _ACTIONS
    names = (flow.workflow, flow.event) if flow else ("", "")
    return rollup.check_run(run, names, app, names if flow or is_anothers else (suite_id,))


def _flow(run: Json) -> _Flow:
    """A run of a workflow, from REST's JSON.

    Source: https://docs.github.com/rest/actions/workflow-runs#list-workflow-runs-for-a-repository
    """
    name, event, url = str(run.get("name") or ""), str(run["event"]), str(run["html_url"])
    begun = run.get("run_started_at")
    made_at = timing.parse_time(run.get("created_at") or begun) or float("-inf")
    status, conclusion = word(run["status"]), word(run.get("conclusion"))
    suite = rollup.Suite(name, event, made_at, status, conclusion, url, run.get("check_suite_id"))
    # REST does not say when a run ended; after its end it is seldom updated.
    ended = run.get("updated_at") if status == "COMPLETED" else None
    check = {"name": name, "status": status, "conclusion": conclusion, "details_url": url}
    times = {"started_at": begun, "completed_at": ended}
    entry = rollup.check_run({**check, **times}, (name, event), None, (run["workflow_id"], event))
    return suite, entry


def completed(
    calls: Calls, shown: Iterable[PullRequest], overall: Mapping[str, str]
) -> dict[str, Checks]:
    """The checks of open pull requests that GraphQL did not show completely, by head.

    Args:
        calls: the repository's calls.
        shown: the pull requests as GraphQL showed them.
        overall: GitHub's own verdict on all checks of a head, hidden ones too.
    """
    by_head: dict[str, Checks] = {}
    for pull in shown:
        checks = pull.checks
        if checks is None or pull.state is not PullState.OPEN or pull.head_sha in by_head:
            continue
        if not (checks.is_complete and checks.sees_workflows):
            by_head[pull.head_sha] = _completed(calls, checks, overall.get(pull.head_sha, ""))
    return by_head


def _completed(calls: Calls, shown: Checks, overall: str) -> Checks:
    checks = shown
    if not shown.is_complete:
        try:
            over_rest = read(calls, shown.sha)
        except NoPermission:
            # The rest of the look is still shown: reviews, a conflict, the merge.
            hidden = "any of its checks"
            over_rest = Checks(shown.sha, is_complete=False, unseen=hidden, sees_workflows=False)
        # GitHub's verdict includes hidden checks, so it can say that all of them passed.
        whole = over_rest
        if overall == "SUCCESS":
            runs = over_rest.runs or (rollup.of_all(overall),)
            whole = replace(over_rest, runs=runs, is_complete=True, unseen="")
        checks = rollup.with_demands(whole, shown)
        checks = _judged_by_word(checks, overall) if over_rest.unseen else checks
    if not checks.sees_workflows and _have_passed(checks):
        flows, is_whole = _flows_if_shown(calls, shown.sha)
        if is_whole:
            suites = [suite for suite, _ in flows]
            checks = rollup.with_workflows(checks, rollup.judged(shown.sha, suites, checks.runs))
    return checks


def _have_passed(checks: Checks) -> bool:
    """True if the shown checks would be green, so that the hidden ones matter."""
    return bool(checks.runs) and all(run.bucket is Bucket.PASS for run in checks.runs)


def _judged_by_word(checks: Checks, overall: str) -> Checks:
    """Checks of which only Actions and statuses are shown, judged by GitHub's verdict on all of them.

    Runs of Actions have their workflow's name, but the base demands jobs, so they cannot be compared. If
    all registered checks passed, the demanded ones may still be missing: only a merge that nothing blocks
    shows that they passed.
    """
    statuses = [run for run in checks.runs if not run.workflow]
    met = tuple(demand for demand in checks.required if any(map(demand.is_met_by, statuses)))
    is_unsure = met != checks.required and not checks.is_unblocked
    if overall != "SUCCESS":
        return replace(checks, required=met, overall=overall)
    if is_unsure and _have_passed(checks):
        names = sorted({demand.name for demand in checks.required if demand not in met})
        unseen = f"whether {', '.join(names)} reported"
        return replace(checks, required=met, is_complete=False, unseen=unseen, overall=overall)
    return replace(checks, required=met)
