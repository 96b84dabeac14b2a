"""Checks as GitHub lists them, sorted: one verdict for each, and what is demanded or held besides.

Pure functions. An unknown word never breaks a look: what is not known to have passed is pending.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lifecycle import times
from lifecycle.github.nodes import Json, nodes, part, text, word
from lifecycle.model import Bucket, Check, Checks, Required

# Sources: https://docs.github.com/graphql/reference/enums#checkconclusionstate and
# https://docs.github.com/graphql/reference/enums#statusstate. STALE, which wants a re-run, is pending
# like everything that is not listed.
_BUCKETS = {
    "SUCCESS": Bucket.PASS,
    "SKIPPED": Bucket.PASS,
    "NEUTRAL": Bucket.PASS,
    "FAILURE": Bucket.FAIL,
    "ERROR": Bucket.FAIL,
    "TIMED_OUT": Bucket.FAIL,
    "ACTION_REQUIRED": Bucket.FAIL,
    "STARTUP_FAILURE": Bucket.FAIL,
    "CANCELLED": Bucket.CANCELLED,
}
_SEVERITY = (Bucket.PASS, Bucket.PENDING, Bucket.CANCELLED, Bucket.FAIL)


@dataclass(frozen=True, slots=True)
class Entry:
    """One check as GitHub lists it, superseded or not.

    Attributes:
        key: what makes two entries runs of the same check.
        check: its value.
        has_begun: False for a run that still waits, which is newer than all that have begun.
    """

    key: tuple[object, ...]
    check: Check
    has_begun: bool = True


def run_bucket(status: object, conclusion: object) -> Bucket:
    """The bucket of a check run; both words in GraphQL's or REST's spelling."""
    is_over = word(status) == "COMPLETED"
    return _BUCKETS.get(word(conclusion), Bucket.PENDING) if is_over else Bucket.PENDING


def status_bucket(state: object) -> Bucket:
    """The bucket of a commit status: its states are a part of the same words."""
    found = word(state)
    known = {"SUCCESS", "FAILURE", "ERROR"}
    return _BUCKETS[found] if found in known else Bucket.PENDING


def newest(entries: Iterable[Entry]) -> tuple[Check, ...]:
    """One check for each key: the one that began last, in order of name.

    A re-run leaves the superseded entry in the list, so the newest counts. Where two began in the
    same second the worse one does: green must not hang on an order that nobody promised.
    """
    found: dict[tuple[object, ...], Entry] = {}
    for entry in entries:
        known = found.get(entry.key)
        if known is None or _age(entry) > _age(known):
            found[entry.key] = entry
    checks = [entry.check for entry in found.values()]
    return tuple(sorted(checks, key=lambda one: (one.name, one.workflow, one.event, one.bucket)))


def _age(entry: Entry) -> tuple[bool, float, int]:
    started = entry.check.started_at
    moment = float("-inf") if started is None else started
    return (not entry.has_begun, moment, _SEVERITY.index(entry.check.bucket))


def required(base: Json) -> tuple[Required, ...]:
    """The checks that a base branch demands: by classic protection, and by rulesets.

    A rule that names an app is one more demand than the same name without.
    Sources: https://docs.github.com/graphql/reference/objects#refupdaterule and
    https://docs.github.com/graphql/reference/objects#requiredstatuschecksparameters
    """
    classic = part(base, "refUpdateRule").get("requiredStatusCheckContexts") or []
    found = {Required(str(name)) for name in classic if name}
    for rule in nodes(base, "rules"):
        for one in part(rule, "parameters").get("requiredStatusChecks") or []:
            app = one.get("integrationId")
            found.add(Required(text(one, "context"), app if isinstance(app, int) else None))
    return tuple(sorted(found, key=lambda one: (one.name, one.app or 0)))


@dataclass(frozen=True, slots=True)
class Workflows:
    """What the workflows of a commit say that the rollup does not show.

    Attributes:
        held: those that somebody has to approve before they run. GitHub ends their check suite at
            once with ACTION_REQUIRED and puts no check run into it.
        unfinished: those that still run: their jobs register one after the other, so that for a
            moment all that is listed may have passed.
        failed: those that ended badly without one job: a workflow file that cannot be read.
    """

    held: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    failed: tuple[Check, ...] = ()


_BAD_START = {"STARTUP_FAILURE", "FAILURE"}


def workflows(sha: str, node: Json, known: Iterable[Check]) -> Workflows:
    """The check suites of Actions on the head `sha`, the newest of each workflow and event.

    Suites of other apps count by their check runs alone: GitHub opens one for each installed app,
    whether the app uses it or not.
    Source: https://docs.github.com/actions/how-tos/manage-workflow-runs/approve-runs-from-forks

    Args:
        sha: the head.
        node: a pull request with its last commit.
        known: the check runs that the rollup shows.
    """
    newest_of: dict[tuple[str, str], tuple[float, Json]] = {}
    for one in nodes(node, "commits"):
        commit = part(one, "commit")
        for suite in nodes(commit, "checkSuites") if text(commit, "oid") == sha else []:
            run = part(suite, "workflowRun")
            key = (text(part(run, "workflow"), "name"), text(run, "event"))
            made = times.parse(suite.get("createdAt")) or 0.0
            if run and (key not in newest_of or made >= newest_of[key][0]):
                newest_of[key] = (made, suite)
    listed = {(check.workflow, check.event) for check in known}
    held, unfinished, failed = set(), set(), []
    for key, (_, suite) in newest_of.items():
        ended = word(suite.get("conclusion"))
        if word(suite.get("status")) != "COMPLETED":
            unfinished.add(key[0])
        elif ended == "ACTION_REQUIRED":
            held.add(key[0])
        elif ended in _BAD_START and key not in listed:
            url = text(part(suite, "workflowRun"), "url")
            failed.append(Check(key[0], Bucket.FAIL, *key, url=url, word="STARTUP_FAILURE"))
    return Workflows(tuple(sorted(held)), tuple(sorted(unfinished)), tuple(failed))


def rollup(sha: str, found: Json | None) -> Checks:
    """A StatusCheckRollup as the checks of the head `sha`.

    No rollup, or one of another commit, means that nothing has registered on this head yet.
    """
    if not found or text(part(found, "commit"), "oid") not in {"", sha}:
        return Checks(sha)
    contexts = part(found, "contexts")
    listed = contexts.get("nodes")
    if listed is None:
        return Checks(sha, is_complete=False)
    entries = [_context(node) for node in listed if node]
    is_complete = not part(contexts, "pageInfo").get("hasNextPage") and all(listed)
    return Checks(sha, newest(entries), is_complete)


def with_demands(checks: Checks, seen: Checks) -> Checks:
    """Checks that were read elsewhere, with what GraphQL showed of the base and of workflows."""
    held = tuple(sorted({*checks.held, *seen.held}))
    runs = (*checks.runs, *(run for run in seen.runs if run.word == "STARTUP_FAILURE"))
    unfinished = tuple(sorted({*checks.unfinished, *seen.unfinished}))
    return replace(
        checks, runs=tuple(dict.fromkeys(runs)), required=seen.required, held=held,
        unfinished=unfinished,
    )  # fmt: skip


def overall(node: Json) -> str:
    """GitHub's own word over every check of a pull request's head, hidden ones too; "" if none.

    Source: https://docs.github.com/graphql/reference/enums#statusstate
    """
    found = part(node, "statusCheckRollup")
    is_of_head = text(part(found, "commit"), "oid") == node.get("headRefOid")
    return text(found, "state") if is_of_head else ""


def _context(node: Json) -> Entry:
    if "context" in node:
        name = text(node, "context")
        state = node.get("statusState", node.get("state"))
        made = times.parse(node.get("createdAt"))
        url = text(node, "targetUrl")
        return commit_status(context=name, state=state, made_at=made, url=url)
    run = part(part(node, "checkSuite"), "workflowRun")
    workflow, event = text(part(run, "workflow"), "name"), text(run, "event")
    return check_run(
        name=text(node, "name"),
        status=node.get("status"),
        conclusion=node.get("conclusion"),
        started_at=times.parse(node.get("startedAt")),
        ended_at=times.parse(node.get("completedAt")),
        url=text(node, "detailsUrl"),
        workflow=workflow,
        event=event,
        app=part(part(node, "checkSuite"), "app").get("databaseId"),
        key=(workflow, event),
    )


def check_run(
    *,
    name: str,
    status: object,
    conclusion: object,
    started_at: float | None,
    url: str,
    ended_at: float | None = None,
    workflow: str = "",
    event: str = "",
    app: object = None,
    key: tuple[object, ...] = (),
) -> Entry:
    """A check run of either API; `key` is what, beside the name, tells two runs apart."""
    is_over = word(status) == "COMPLETED"
    check = Check(
        name,
        run_bucket(status, conclusion),
        workflow,
        event,
        started_at,
        url,
        ended_at,
        word=(word(conclusion) if is_over else "") or word(status),
        app=app if isinstance(app, int) else None,
    )
    has_begun = started_at is not None or is_over
    return Entry(("run", name, *key), check, has_begun)


def commit_status(*, context: str, state: object, made_at: float | None, url: str) -> Entry:
    """A commit status of the REST API."""
    bucket = status_bucket(state)
    check = Check(context, bucket, started_at=made_at, url=url, word=word(state))
    return Entry(("status", context), check)
