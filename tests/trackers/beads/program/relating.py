"""The commands about what issues have: labels, dependencies, comments; and the ends of them."""

from __future__ import annotations

from tests.trackers.beads.program import database
from tests.trackers.beads.program.answers import Refusal, circle, linked_already
from tests.trackers.beads.program.call import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def label(call: Call, *, adds: bool) -> Any:
    """One label of one issue, put there or taken away; again is no error."""
    *names, wanted = call.words
    with call.data.writing() as state:
        issue = call.found(state, names[0], "label")
        rest = {*issue["labels"]} - {wanted}
        issue.update(labels=sorted(rest | {wanted} if adds else rest), updated_at=database.now())
        return [
            {"issue_id": issue["id"], "label": wanted, "status": "added" if adds else "removed"}
        ]


def label_list(call: Call) -> Any:
    """The labels of one issue."""
    return call.found(call.data.read(), call.words[0], "label")["labels"]


def label_list_all(call: Call) -> Any:
    """Every label, and how many issues have it."""
    counts: dict[str, int] = {}
    for issue in call.data.read()["issues"].values():
        for name in issue["labels"]:
            counts[name] = counts.get(name, 0) + 1
    return [{"label": name, "count": counts[name]} for name in sorted(counts)]


def dep_add(call: Call) -> Any:
    """The first waits for the second."""
    with call.data.writing() as state:
        issue, on = (call.found(state, name, "dep")["id"] for name in call.words[:2])
        is_there = any((edge["issue"], edge["on"]) == (issue, on) for edge in state["deps"])
        if is_there and not call.build.is_dolt:
            raise linked_already(call.build)
        if not is_there and database.is_circle(state, issue, on):
            raise circle(call.build, issue, on)
        kind = call.flags.get("type", "blocks")
        if not is_there:
            edge = {
                "issue": issue,
                "on": on,
                "type": kind,
                "created_at": database.now(),
                "by": call.actor,
            }
            state["deps"].append(edge)
    more = {"schema_version": 1} if call.build.is_dolt else {}
    return {"depends_on_id": on, "issue_id": issue, **more, "status": "added", "type": kind}


def dep_list(call: Call) -> Any:
    """What an issue waits for."""
    state = call.data.read()
    return call.build.detail(state, call.found(state, call.words[0], "show")).get(
        "dependencies", []
    )


def comments(call: Call) -> Any:
    """The comments of an issue."""
    state = call.data.read()
    issue = call.found(state, call.words[0], "comment")["id"]
    return [call.build.note(note, issue) for note in state["comments"].get(issue, [])]


def comments_add(call: Call) -> Any:
    """One more comment."""
    with call.data.writing() as state:
        issue = call.found(state, call.words[0], "comment")["id"]
        number = sum(map(len, state["comments"].values())) + 1
        id_: Any = f"01a1f901-71d5-7338-8509-{number:012x}" if call.build.is_dolt else number
        note = {
            "id": id_,
            "author": call.actor,
            "text": call.words[1],
            "created_at": database.now(),
        }
        state["comments"].setdefault(issue, []).append(note)
    more = {"schema_version": 1} if call.build.is_dolt else {}
    return call.build.note(note, issue, fresh=True) | more


def delete(call: Call) -> Any:
    """Gone; the oldest build keeps a tombstone."""
    with call.data.writing() as state:
        issue = call.found(state, call.words[0], "show")
        state["deps"] = [e for e in state["deps"] if issue["id"] not in (e["issue"], e["on"])]
        labels = len(issue["labels"])
        issue["status"] = "tombstone" if call.build.is_old else "gone"
        if call.build.is_old:
            moment = database.now()
            told = {"deleted_at": database.stamp(moment), "deleted_by": call.actor}
            issue["tombstone"] = {
                **told,
                "delete_reason": "manual delete",
                "original_type": issue["issue_type"],
            }
            issue["updated_at"] = moment
            call.noise += (
                "⚠️  WARNING: JSONL file hash mismatch detected (bd-160)\n"
                "  This indicates JSONL and export_hashes are out of sync.\n"
                "  Clearing export_hashes to force full re-export.\n"
            )
    if call.build.is_daemon:
        return {"deleted_count": 1, "events_removed": 4, "labels_removed": labels, "total_count": 1}
    more = {"schema_version": 1} if call.build.is_dolt else {}
    return {"deleted": issue["id"], "dependencies_removed": 0, "references_updated": 0, **more}


def sync(call: Call) -> None:
    """Written out, and where a remote is, sent."""
    call.data.read()
    call.plain = "" if call.flags.get("flush-only") else "✓ Sync complete\n"


def dolt_push(call: Call) -> None:
    """Sent, if there is a remote."""
    remotes = call.data.read().get("remotes", [])
    call.plain = "Pushing to Dolt remote...\n"
    call.plain += "Push complete.\n" if remotes else "No remote is configured — skipping.\n"


def dolt_remote_list(call: Call) -> Any:
    """The remotes."""
    return [{"name": name, "status": "ok"} for name in call.data.read().get("remotes", [])]


def heartbeat(call: Call) -> Any:
    """The lease of a claim lives on; no update of the issue."""
    with call.data.writing() as state:
        issue = call.found(state, call.words[0], "heartbeat")
        name, has = issue["id"], issue["assignee"]
        if has and has != call.actor:
            raise Refusal(1, error=f"heartbeat {name}: issue already claimed by {has}")
        if issue["status"] != "in_progress":
            text = f"issue not claimable: {name} status {issue['status']}"
            raise Refusal(1, error=f"heartbeat {name}: {text}")
        issue["beat_at"] = database.now()
        return {"id": name, "owner": has, "schema_version": 1, "status": "heartbeat"}
