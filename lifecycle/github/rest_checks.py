"""Check runs and commit statuses of a commit, over REST.

For tokens to which GraphQL shows no contexts, and for commits that have more than a page of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lifecycle import times
from lifecycle.errors import NoPermission
from lifecycle.github import rollup
from lifecycle.github.calls import PAGE, Calls, Json
from lifecycle.github.rollup import Entry
from lifecycle.model import Checks


def read(calls: Calls, sha: str) -> Checks:
    """Every check run and commit status of a commit, all pages, superseded ones dropped.

    REST does not name a run's workflow, so runs of one name are told apart by check suite.

    Sources: https://docs.github.com/rest/checks/runs#list-check-runs-for-a-git-reference and
    https://docs.github.com/rest/commits/statuses#get-the-combined-status-for-a-specific-reference
    """
    unseen = ""
    try:
        runs, is_complete = _all(calls, sha, f"commits/{sha}/check-runs", "check_runs", _run)
    except NoPermission:
        # A fine-grained token cannot be given checks; Actions it can. Checks of other apps stay
        # hidden, so this is never all of them.
        query = {"head_sha": sha}
        runs, _ = _all(calls, sha, "actions/runs", "workflow_runs", _workflow_run, query)
        is_complete, unseen = False, "checks of other apps than GitHub Actions"
    statuses, _ = _all(calls, sha, f"commits/{sha}/status", "statuses", _status)
    found = rollup.newest([*runs, *statuses])
    # A run that waits for an approval has not failed: it has not begun.
    held = [one for one in found if one.workflow and one.word == "ACTION_REQUIRED"]
    kept = tuple(one for one in found if one not in held)
    return Checks(sha, kept, is_complete, held=tuple(one.workflow for one in held), unseen=unseen)


def _all(
    calls: Calls,
    sha: str,
    path: str,
    key: str,
    shape: Callable[[Json], Entry],
    query: Json | None = None,
) -> tuple[list[Entry], bool]:
    """The entries of all pages, and whether they are as many as GitHub announced."""
    subject = f"checks of commit {sha[:12]}"
    entries: list[Entry] = []
    number, total = 1, 0
    while True:
        page = {"page": number} if number > 1 else {}
        found = calls.read(path, subject, {"per_page": PAGE, **(query or {}), **page})
        read, announced = calls.translated(subject, partial(_page, key, shape), found)
        entries += read
        total = max(total, announced)
        if not read or len(entries) >= total:
            return entries, len(entries) >= total
        number += 1


def _page(key: str, shape: Callable[[Json], Entry], found: Json) -> tuple[list[Entry], int]:
    """One page, and how many entries all pages have."""
    read = [shape(one) for one in found[key]]
    return read, int(found.get("total_count") or len(read))


def _run(found: Json) -> Entry:
    suite = found.get("check_suite") or {}
    return rollup.check_run(
        name=str(found["name"]),
        status=found["status"],
        conclusion=found.get("conclusion"),
        started_at=times.parse(found.get("started_at")),
        ended_at=times.parse(found.get("completed_at")),
        url=found.get("details_url") or "",
        app=(found.get("app") or {}).get("id"),
        key=(suite.get("id"),),
    )


def _workflow_run(found: Json) -> Entry:
    """One entry for each run of Actions.

    Source: https://docs.github.com/rest/actions/workflow-runs#list-workflow-runs-for-a-repository
    """
    is_over = found["status"] == "completed"
    name, event = found.get("name") or "", str(found["event"])
    return rollup.check_run(
        name=name,
        status=found["status"],
        conclusion=found.get("conclusion"),
        started_at=times.parse(found.get("run_started_at")),
        # There is no word for the end; what is over is seldom touched again.
        ended_at=times.parse(found.get("updated_at")) if is_over else None,
        url=str(found["html_url"]),
        workflow=name,
        event=event,
        key=(found["workflow_id"], event),
    )


def _status(found: Json) -> Entry:
    return rollup.commit_status(
        context=str(found["context"]),
        state=found["state"],
        made_at=times.parse(found.get("created_at")),
        url=found.get("target_url") or "",
    )
