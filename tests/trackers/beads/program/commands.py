"""The commands about issues, and all of them by name: from words and flags to what is printed."""

# ruff: noqa: PTH109, PTH118 -- see database.py
from __future__ import annotations

import os

from tests.trackers.beads.program import database, relating
from tests.trackers.beads.program.answers import (
    Build,
    Refusal,
    bad_status,
    blocked,
    not_claimable,
    not_yours,
    taken,
)
from tests.trackers.beads.program.call import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

STATUSES = ("open", "in_progress", "blocked", "deferred", "closed", "pinned", "hooked")
NO_DESCRIPTION = """⚠ Creating issue without description.
  Issues without descriptions lack context for future work.
  Consider adding --description="Why this issue exists and what needs to be done"
"""


def init(call: Call) -> None:
    """Make a workspace here; SIMULATED_IDS names the first issues."""
    folder = os.path.join(os.getcwd(), ".beads")
    ids = [name for name in call.environment.get("SIMULATED_IDS", "").split(",") if name]
    database.Database(folder).create(call.flags.get("prefix") or "demo", ids)


def version(call: Call) -> Any:
    """The build's version."""
    more = {"schema_version": 1} if call.build.is_dolt else {}
    return {"branch": "main", "build": "dev", **more, "version": call.build.version}


def _matches(call: Call, issue: dict[str, Any]) -> bool:
    labels, flags = set(issue["labels"]), call.flags
    return (
        labels.issuperset(flags.get("label", ()))
        and (not flags.get("label-any") or bool(labels.intersection(flags["label-any"])))
        and (not flags.get("assignee") or issue["assignee"] == flags["assignee"])
        and not (issue["assignee"] and (flags.get("unassigned") or flags.get("no-assignee")))
        and flags.get("desc-contains", "").casefold() in issue["description"].casefold()
    )


def _cut(call: Call, rows: list[Any], default: int) -> list[Any]:
    limit = int(call.flags.get("limit") or default) if call.flags.get("limit") != "0" else 0
    if limit and call.build.is_dolt and not call.build.is_leased and len(rows) > limit:
        call.noise += (
            f"\nShowing {limit} issues; more results matched but were hidden by --limit. "
            "Use --limit 0 for all, or --limit N to raise the cap.\n"
        )
    return rows[:limit] if limit else rows


def _ready(call: Call, state: dict[str, Any]) -> list[dict[str, Any]]:
    wanted = ("open", "in_progress") if call.build.is_old else ("open",)
    found = [
        issue
        for issue in state["issues"].values()
        if issue["status"] in wanted
        and not database.blockers(state, issue["id"])
        and _matches(call, issue)
    ]
    return sorted(found, key=lambda issue: (issue["priority"], issue["created_at"]))


def ready(call: Call) -> Any:
    """What could be begun; with --claim the first of it, claimed."""
    if call.flags.get("claim"):
        with call.data.writing() as state:
            free = [issue for issue in _ready(call, state) if not issue["assignee"]]
            for issue in free[:1]:
                _take(call, issue)
            return [call.build.row(state, issue, ready=True) for issue in free[:1]]
    state = call.data.read()
    rows = [call.build.row(state, issue, ready=True) for issue in _ready(call, state)]
    return _cut(call, rows, call.build.limit)


def list_(call: Call) -> Any:
    """All that match; closed ones where the build shows them, or where they are asked for."""
    status = call.flags.get("status", "")
    if status and status not in STATUSES and call.build.is_dolt:
        names = ", ".join(STATUSES)
        if call.build.is_leased:
            raise Refusal(1, stderr=f'Error: invalid status "{status}" (valid: {names})\n')
        error = f'invalid status \\"{status}\\" (valid: {names})'
        raise Refusal(1, stderr=f'{{\n  "error": "{error}",\n  "schema_version": 1\n}}\n')
    state = call.data.read()
    hidden = {"gone", "tombstone"}
    if not status and not call.flags.get("all") and not call.build.is_old:
        hidden |= {"closed", "pinned"} if call.build.is_dolt else {"closed"}
    issues = [
        i for i in state["issues"].values() if i["status"] not in hidden and _matches(call, i)
    ]
    issues = [i for i in issues if not status or i["status"] == status]
    issues.sort(key=lambda issue: (issue["priority"], -issue["created_at"]))
    return _cut(call, [call.build.row(state, issue) for issue in issues], call.build.list_limit)


def create(call: Call) -> Any:
    """A new issue."""
    flags, build, moment = call.flags, call.build, database.now()
    title = flags.get("title") or next(iter(call.words), "")
    if flags.get("readonly"):
        text = "operation 'create' is not allowed in read-only mode"
        old = f"Error: {text}\n"
        raise Refusal(
            1,
            stderr=f'{{\n  "error": "{text}",\n  "schema_version": 1\n}}\n'
            if build.is_dolt and not build.is_leased
            else old,
        )
    if not title:
        raise Refusal(1, stderr="Error: title required (or use --file to create from markdown)\n")
    with call.data.writing() as state:
        issue = {
            "id": database.new_id(state),
            "title": title,
            "description": flags.get("description", ""),
            "status": "open",
            "priority": int(flags.get("priority", "2").removeprefix("P")),
            "issue_type": flags.get("type", "task"),
            "assignee": flags.get("assignee", ""),
            "created_at": moment,
            "created_by": call.actor,
            "updated_at": moment,
            "close_reason": "",
            "external_ref": flags.get("external-ref", ""),
            "labels": sorted(flags.get("labels", [])),
        }
        state["issues"][issue["id"]] = issue
    if not issue["description"] and not build.is_dolt and "test" not in title.casefold():
        call.noise += NO_DESCRIPTION
    return build.issue(issue, labels=build.is_dolt, fresh=True)


def show(call: Call) -> Any:
    """Issues in full; what is missing is said on stderr, where the build goes on."""
    state = call.data.read()
    shown = []
    for name in call.words:
        try:
            shown.append(call.build.detail(state, call.found(state, name, "show")))
        except Refusal as refusal:
            if call.build.is_old or call.build.is_daemon or (name == call.words[-1] and not shown):
                raise
            call.noise += refusal.stderr
    return shown


def _take(call: Call, issue: dict[str, Any]) -> None:
    is_mine = issue["assignee"] == call.actor
    if call.build.is_dolt:
        if is_mine and issue["status"] == "in_progress":
            return
        if issue["assignee"] and not is_mine:
            raise taken(call.build, issue["id"], issue["assignee"])
        if issue["status"] != "open":
            raise not_claimable(call.build, issue["id"], issue["status"])
        issue.setdefault("started_at", database.now())
        issue["beat_at"] = database.now()
    elif issue["assignee"]:
        raise taken(call.build, issue["id"], issue["assignee"])
    issue.update(assignee=call.actor, status="in_progress", updated_at=database.now())


def update(call: Call) -> Any:
    """Fields of one issue."""
    flags = call.flags
    named = [key for key in flags if key not in ("json", "actor", "quiet")]
    if not named:
        call.data.read()
        call.plain = "No updates specified\n"
        return None
    with call.data.writing() as state:
        issue = call.found(state, call.words[0], "update")
        status = flags.get("status", issue["status"])
        if status not in STATUSES:
            raise bad_status(call.build, issue["id"], status)
        if flags.get("claim"):
            _take(call, issue)
        elif "status" in flags:
            _set_status(call.build, issue, status)
        for flag, key in (
            ("title", "title"),
            ("description", "description"),
            ("assignee", "assignee"),
        ):
            if flag in flags:
                issue[key] = flags[flag]
        if "priority" in flags:
            issue["priority"] = int(flags["priority"])
        if "external-ref" in flags:
            issue["external_ref"] = flags["external-ref"]
        kept = {*issue["labels"], *flags.get("add-label", ())} - set(flags.get("remove-label", ()))
        issue.update(labels=sorted(kept), updated_at=database.now())
        return [call.build.issue(issue)]


def _set_status(build: Build, issue: dict[str, Any], status: str) -> None:
    issue["status"] = status
    issue.pop("beat_at", None)  # only a claim has a lease
    if status == "closed":
        issue["closed_at"] = database.now()
        return
    issue.update(close_reason="")
    issue.pop("closed_at", None)
    if status == "in_progress" and build.is_dolt:
        issue.setdefault("started_at", database.now())


def close(call: Call) -> Any:
    """Closed; again: with the new reason, before 1.3. The oldest build does not look at blockers."""
    with call.data.writing() as state:
        issue = call.found(state, call.words[0], "close")
        before = database.blockers(state, issue["id"])
        if before and not call.build.is_old and not call.flags.get("force"):
            raise blocked(call.build, issue["id"], before)
        if call.build.is_leased and issue["status"] == "closed":
            return [call.build.issue(issue)]
        if call.build.is_leased and issue["assignee"] not in ("", call.actor):
            raise not_yours(issue["id"], issue["assignee"], call.actor)
        _set_status(call.build, issue, "closed")
        issue.update(close_reason=call.flags.get("reason", "Closed"), updated_at=database.now())
        return [call.build.issue(issue)]


def reopen(call: Call) -> Any:
    """Open again; the assignee stays."""
    with call.data.writing() as state:
        issue = call.found(state, call.words[0], "update")
        if issue["status"] == "open" and call.build.is_dolt:
            raise Refusal(0, stderr=f"{issue['id']} is already open\n")
        _set_status(call.build, issue, "open")
        issue.update(updated_at=database.now())
        return [call.build.issue(issue)]


def blocked_(call: Call) -> Any:
    """What waits, and for what."""
    state = call.data.read()
    shown = []
    for issue in state["issues"].values():
        by = (
            database.blockers(state, issue["id"])
            if issue["status"] not in ("closed", "gone")
            else []
        )
        if by:
            row = call.build.issue(issue, labels=call.build.is_dolt)
            if not call.build.is_dolt:
                row.pop("owner", None)
            shown.append({**row, "blocked_by_count": len(by), "blocked_by": by})
    return shown


def status(call: Call) -> Any:
    """Numbers."""
    state = call.data.read()
    there = [
        issue for issue in state["issues"].values() if issue["status"] not in ("gone", "tombstone")
    ]
    waiting = [i for i in there if i["status"] != "closed" and database.blockers(state, i["id"])]
    call.flags = {}
    counts = {
        f"{key}_issues": sum(i["status"] == key for i in there)
        for key in ("open", "in_progress", "closed")
    }
    counts |= {
        "total_issues": len(there),
        "blocked_issues": len(waiting),
        "ready_issues": len(_ready(call, state)),
    }
    if call.build.is_old:
        return {"summary": counts, **_ACTIVITY}
    counts |= dict.fromkeys(("deferred_issues", "pinned_issues", "epics_eligible_for_closure"), 0)
    counts["average_lead_time_hours"] = 0
    if call.build.is_dolt:
        return {"schema_version": 1, "summary": counts}
    return {"summary": counts | {"tombstone_issues": 0}, **_ACTIVITY}


_QUIET = ("commit_count", "issues_created", "issues_closed", "issues_updated", "issues_reopened")
_ACTIVITY = {
    "recent_activity": {"hours_tracked": 24, **dict.fromkeys(_QUIET, 0), "total_changes": 0}
}


RUN: dict[str, Callable[[Call], Any]] = {
    "init": init,
    "version": version,
    "ready": ready,
    "list": list_,
    "create": create,
    "show": show,
    "update": update,
    "close": close,
    "reopen": reopen,
    "blocked": blocked_,
    "status": status,
    "label add": lambda call: relating.label(call, adds=True),
    "label remove": lambda call: relating.label(call, adds=False),
    "label list": relating.label_list,
    "label list-all": relating.label_list_all,
    "dep add": relating.dep_add,
    "dep list": relating.dep_list,
    "comments": relating.comments,
    "comments add": relating.comments_add,
    "delete": relating.delete,
    "sync": relating.sync,
    "dolt push": relating.dolt_push,
    "dolt remote list": relating.dolt_remote_list,
    "heartbeat": relating.heartbeat,
}
