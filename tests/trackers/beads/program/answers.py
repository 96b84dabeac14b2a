"""How each build shows an issue, and how it words a refusal."""

from __future__ import annotations

from tests.trackers.beads.program import database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OWNER = "t@example.com"
LEASE = 300.0
"""How long a claim of 1.3 lives without a heartbeat, in seconds."""


class Build:
    """One build's manners. `name` is a recording's; 1.3 has leases."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.version = name.partition("-")[0]
        self.is_old = name == "0.30.7"
        self.is_daemon = name == "0.49.6-daemon"
        self.is_dolt = not name.startswith("0.")
        self.is_leased = name == "1.3.0"
        self.limit = 100 if self.is_dolt else 10
        self.list_limit = 0 if self.is_old else 50

    def issue(
        self, issue: dict[str, Any], *, labels: bool = True, fresh: bool = False
    ) -> dict[str, Any]:
        """An issue's own fields, as this build writes them; `fresh` is right after its creation."""

        def moment(key: str) -> str:
            return (
                database.stamp(issue[key], is_whole=self.is_dolt and not fresh)
                if issue.get(key)
                else ""
            )

        shown: dict[str, Any] = {
            "id": issue["id"],
            "title": issue["title"],
            "description": issue["description"],
            "status": issue["status"],
            "priority": issue["priority"],
            "issue_type": issue["issue_type"],
            "assignee": issue["assignee"],
            "owner": "" if self.is_old else OWNER,
            "created_at": moment("created_at"),
            "created_by": "" if self.is_old else issue["created_by"],
            "updated_at": moment("updated_at"),
            "started_at": moment("started_at") if self.is_dolt else "",
            "closed_at": moment("closed_at"),
            "close_reason": issue["close_reason"],
            "external_ref": issue["external_ref"],
            "labels": issue["labels"] if labels else [],
        }
        if self.is_leased and issue["status"] == "in_progress" and issue.get("beat_at"):
            shown["heartbeat_at"] = moment("beat_at")
            shown["lease_expires_at"] = database.stamp(issue["beat_at"] + LEASE, is_whole=True)
        shown |= issue.get("tombstone", {})
        zero = None if self.is_old else 0
        return {
            key: value
            for key, value in shown.items()
            if value or (key == "priority" and value == zero)
        }

    def detail(self, state: dict[str, Any], issue: dict[str, Any]) -> dict[str, Any]:
        """An issue as `show` gives it."""
        shown = self.issue(issue)
        on, by = (
            _edges(state, issue["id"], "issue", "on"),
            _edges(state, issue["id"], "on", "issue"),
        )
        notes = state["comments"].get(issue["id"], [])
        if on:
            shown["dependencies"] = [self._linked(state, edge["on"], edge["type"]) for edge in on]
        if self.is_leased:
            shown["revision"] = str(int(issue["updated_at"] * 1000))
            shown |= {"comments_omitted": True} if notes else {}
        if self.is_dolt:
            return shown | {
                "dependent_count": len(by),
                "dependency_count": len(on),
                "comment_count": len(notes),
            }
        if by:
            linked = [self._linked(state, edge["issue"], edge["type"]) for edge in by]
            shown["dependents"] = linked
        if notes:
            shown["comments"] = [self.note(note, issue["id"]) for note in notes]
        return shown

    def row(
        self, state: dict[str, Any], issue: dict[str, Any], *, ready: bool = False
    ) -> dict[str, Any]:
        """An issue as `list` and `ready` give it."""
        shown = self.issue(issue)
        on, by = (
            _edges(state, issue["id"], "issue", "on"),
            _edges(state, issue["id"], "on", "issue"),
        )
        if self.is_old:
            return (
                shown
                if ready
                else shown | {"dependency_count": len(on), "dependent_count": len(by)}
            )
        if ready and self.is_daemon:
            return shown
        if ready and not self.is_dolt:
            on, by = [], []
        counts = {"dependency_count": len(on), "dependent_count": len(by)}
        if on:
            shown["dependencies"] = [self._edge(edge) for edge in on]
        return shown | counts | {"comment_count": len(state["comments"].get(issue["id"], []))}

    def note(self, note: dict[str, Any], issue: str, *, fresh: bool = False) -> dict[str, Any]:
        """A comment."""
        moment = database.stamp(note["created_at"], is_whole=not (fresh and self.is_dolt))
        shown = {
            "id": note["id"],
            "issue_id": issue,
            "author": note["author"],
            "text": note["text"],
        }
        return {**shown, "created_at": moment}

    def _edge(self, edge: dict[str, Any]) -> dict[str, Any]:
        moment = database.stamp(edge["created_at"], is_whole=self.is_dolt)
        shown = {"issue_id": edge["issue"], "depends_on_id": edge["on"], "type": edge["type"]}
        more = {"metadata": "{}"} if self.is_dolt else {}
        return {**shown, "created_at": moment, "created_by": edge["by"], **more}

    def _linked(self, state: dict[str, Any], name: str, kind: str) -> dict[str, Any]:
        return {**self.issue(state["issues"][name]), "dependency_type": kind}


def _edges(state: dict[str, Any], name: str, end: str, other: str) -> list[dict[str, Any]]:
    there = state["issues"]
    edges: list[dict[str, Any]] = state["deps"]
    return [e for e in edges if e[end] == name and there[e[other]]["status"] != "gone"]


class Refusal(Exception):
    """What a command says when it does not do it: exit code, stdout (an error object) and stderr."""

    def __init__(self, code: int, *, error: str = "", stderr: str = "", hint: str = "") -> None:
        super().__init__(error or stderr)
        self.hint = hint
        self.code = code
        self.error = error
        self.stderr = stderr


NO_DATABASE_OLD = """Error: no beads database found
Hint: run 'bd init' to create a database in the current directory
      or use 'bd --no-db' to work with JSONL only (no SQLite)
      or set BEADS_DIR to point to your .beads directory
"""
NO_DATABASE_DOLT = """Error: no beads database found
Hint: run 'bd where' to inspect the resolved workspace, or 'bd init' to create a new database
      or set BEADS_DIR to point to your .beads directory
"""


def missing(build: Build, name: str, verb: str) -> Refusal:
    """There is no such issue; `verb` is what was to be done with it."""
    plain = f'no issue found matching "{name}"'
    if build.is_old:
        begin = f"Error resolving {name}: " if verb in ("comment", "label") else "Error: "
        return Refusal(1, stderr=f"{begin}{plain}\n")
    if build.is_daemon:
        return Refusal(
            1, error=f"resolving ID {name}: operation failed: failed to resolve ID: {plain}"
        )
    if verb == "close":
        return Refusal(1, error=f"resolving ID {name}: {plain}")
    if verb == "show" and build.is_leased:
        text = "reference deleted/purged records with no trace left in the live database — try 'bd history"
        return Refusal(
            1,
            error="no issues found matching the provided IDs",
            hint=f"some IDs may {text} <id>' to check",
            stderr=f"Issue {name} not found\nHint: this ID may have never existed, or may "
            f"{text.replace('records', 'record', 1).replace('reference', 'reference a', 1)} {name}'\n",
        )
    if verb == "show":
        error = "no issues found matching the provided IDs" if build.is_dolt else ""
        return Refusal(int(build.is_dolt), error=error, stderr=f"Error fetching {name}: {plain}\n")
    if verb == "comment":
        return Refusal(1, error=f"resolving {name}: {plain}")
    if verb == "dep":
        return Refusal(1, error=f"resolving issue ID {name}: {plain}")
    if verb == "heartbeat":
        return Refusal(1, error=f"resolving {name}: {plain}")
    if build.is_leased and verb == "update":
        return Refusal(1, stderr=_failed_update("resolving", name, "resolving issue", plain))
    return Refusal(int(build.is_dolt), stderr=f"Error resolving {name}: {plain}\n")


def _failed_update(verb: str, name: str, step: str, text: str) -> str:
    """How 1.3 says on stderr that an update failed: in a line of words, and in one of JSON."""
    inner = text.replace('"', '\\"')
    failed = f'[{{"id":"{name}","error":"{step}: {inner}"}}]'
    json = f'{{"error":"1 of 1 issues failed to update","failed":{failed},"schema_version":1}}'
    return f"Error {verb} {name}: {text}\n{json}\n"


def not_claimable(build: Build, name: str, status: str) -> Refusal:
    """It is not open."""
    text = f"issue not claimable: status {status}"
    if build.is_leased:
        return Refusal(1, stderr=_failed_update("updating", name, "updating issue", text))
    return Refusal(1, stderr=f"Error claiming {name}: {text}\n")


def not_yours(name: str, by: str, actor: str) -> Refusal:
    """1.3 closes what somebody has only for whom it is."""
    words = f'assignee is "{by}", actor is "{actor}"; reclaim or use --force to override'
    return Refusal(1, stderr=f"cannot close {name}: {words}\n")


def taken(build: Build, name: str, by: str) -> Refusal:
    """Somebody has the issue."""
    if build.is_leased:
        text = f"issue already claimed by {by}"
        return Refusal(1, stderr=_failed_update("updating", name, "updating issue", text))
    begin = (
        f"Error updating {name}: operation failed: "
        if build.is_daemon
        else f"Error claiming {name}: "
    )
    return Refusal(int(build.is_dolt), stderr=f"{begin}issue already claimed by {by}\n")


def bad_status(build: Build, name: str, status: str) -> Refusal:
    """There is no such status."""
    if build.is_dolt:
        names = "open, in_progress, blocked, deferred, closed, pinned, hooked"
        hint = "or configure custom statuses via 'bd config set status.custom'"
        return Refusal(1, error=f'invalid status "{status}" (built-in: {names}; {hint})')
    middle = "operation failed: failed to update issue: " if build.is_daemon else ""
    return Refusal(
        0,
        stderr=f"Error updating {name}: {middle}validate field update: invalid status: {status}\n",
    )


def blocked(build: Build, name: str, by: list[str]) -> Refusal:
    """Open issues stand before it."""
    if build.is_leased:
        text = f"cannot close blocked issue: {name} is blocked by [{' '.join(by)}]"
        return Refusal(1, stderr=f"{text} (use --force to override)\n")
    begin = f"Error closing {name}: operation failed: " if build.is_daemon else ""
    text = (
        f"cannot close {name}: blocked by open issues [{' '.join(by)}] (use --force to override)\n"
    )
    return Refusal(int(build.is_dolt), stderr=f"{begin}{text}")


def circle(build: Build, name: str, on: str) -> Refusal:
    """The issues would wait for each other."""
    if build.is_dolt:
        return Refusal(1, error="adding dependency would create a cycle")
    text = f"cannot add dependency: would create a cycle ({name} → {on} → ... → {name})"
    if build.is_old:
        return Refusal(1, stderr=f"Error: {text}\n")
    return Refusal(
        1, error=("operation failed: failed to add dependency: " if build.is_daemon else "") + text
    )


def linked_already(build: Build) -> Refusal:
    """The dependency is there."""
    text = "failed to add dependency: sqlite3: constraint failed: UNIQUE constraint failed: "
    columns = "dependencies.issue_id, dependencies.depends_on_id"
    if build.is_old:
        return Refusal(1, stderr=f"Error: {text}{columns}\n")
    begin = "operation failed: failed to add dependency: " if build.is_daemon else ""
    return Refusal(1, error=f"{begin}{text}{columns}, dependencies.type")
