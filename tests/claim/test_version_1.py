"""A state.json of before the record had sections (version 1) is read in the middle of a claim."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from lifecycle.claim.record.sections import MergeRecord, Releasing
from lifecycle.claim.record.state import Record
from lifecycle.core.tracker import Link
from lifecycle.core.values.priorities import Status
from tests.conftest import Place

VERSION_1: dict[str, Any] = {
    "values": {"issue_number": 42, "branch": "claude/x-42", "phase": "checks_running"},
    "past": [{"issue_number": 42}],
    "created_at": 10.0,
    "is_item_known": True,
    "synced_agent": "octo-bot-1",
    "moved_to": "Todo",
    "pr_url": "https://github.com/octo-org/hello/pull/107",
    "pr_head": "a" * 40,
    "opened": 107,
    "checks": {"sha": "a" * 40, "failed": []},
    "comment_done": True,
    "issue_closed": True,
    "board_done": True,
    "lease": "b" * 40,
    "lease_done": True,
    "leaves_labels": True,
    "override": "by hand",
    "taken_by": "maria-2",
    "given_back": True,
    "reopened": 3,
    "title": "Fix the race",
    "is_taken": True,
    "touched": 12,
    "intents": {"PostComment": {"mark": "m", "at": 1.0, "clean_reads": 2}},
    "troubles": {"SetBoard": {"mark": "s", "sentence": "No.", "until": 5.0, "is_final": True}},
    "judged": "checks_running",
    "session": "one",
    "session_at": 11.0,
    "inherited": "one",
    "asked_pr": 107,
    "consent": "prompt",
    "changes_by": ["maria"],
    "conflicts_with": "main",
    "told": {"sha": "a" * 40, "failed": ["lint"]},
    "durations": {"lint": 4.5},
    "nudges": [{"at": 1.0, "source": "coding", "target": "done", "reason": "r", "by": "person"}],
    "releasing": {"at": 9.0, "reason": "busy", "is_begun": True},
    "unassigned": True,
    "link": {"tracker": "beads", "id": "demo-1", "synced": "claimed"},
    "is_link_known": True,
    "link_left": "It is maria's.",
    "remote": "origin",
    "repository": "octo-org/hello",
    "outcome": "released",
}
"""A record with every field that version 1 had, none of them as it is by itself."""


def flat(record: dict[str, Any]) -> dict[str, Any]:
    """A record of today as version 1 wrote it."""
    old = {
        "pull": {"url": "pr_url", "head": "pr_head", "announced": "told", "asked": "asked_pr"},
        "card": {"is_known": "is_item_known", "agent": "synced_agent"},
        "ownership": {"is_leaseless": "given_back"},
        "linked": {"is_known": "is_link_known", "left": "link_left"},
        "ending": {},
    }
    content = {name: value for name, value in record.items() if name not in old}
    for section, names in old.items():
        content |= {names.get(name, name): value for name, value in record[section].items()}
    return content


def test_every_field_of_version_1_is_kept() -> None:
    """Each has its place in a section, and what was a value is one again."""
    record = Record.from_json(VERSION_1)
    assert flat(json.loads(json.dumps(record.as_json()))) == VERSION_1 | {
        "troubles": {
            "SetBoard": VERSION_1["troubles"]["SetBoard"]
            | {"tries": 1, "for_agent": False, "is_of_access": False, "is_guessed": False}
        },
        "releasing": VERSION_1["releasing"] | {"progress": "", "holder": "", "by": ""},
        "open_parts": 0,
        "is_reopened": False,
        "unsure": [],
        "is_approved": False,
        "unanswered": 0,
        "left_out": 0,
        "merged_into": "",
        "reverted_by": 0,
        "reviews": {},
        "failures": {},
        "reruns": [],
        "tampering": [],
        "remarked": 0,
        "merging": asdict(MergeRecord()),
        "refs_in": "",
        "conditions": {},
    }
    assert record.linked.link == Link("beads", "demo-1", "claimed")
    assert record.ending.releasing == Releasing(9.0, "busy", is_begun=True)
    assert record.pull.changes_by == ("maria",)
    assert Record.from_json(record.as_json()) == record


def test_a_later_version_is_read_without_what_it_has_more() -> None:
    """Unknown keys are dropped, in a section as well."""
    newer: dict[str, Any] = Record.from_json(VERSION_1).as_json()
    newer["pull"]["colour"] = newer["colour"] = "red"
    newer["troubles"]["SetBoard"]["colour"] = "red"
    assert Record.from_json(newer) == Record.from_json(VERSION_1)


def test_a_claim_goes_on_from_a_file_of_version_1(place: Place) -> None:
    """Updated between two stops: owner, pull request, lease and what was said are what they were."""
    place.ready()
    place.environment["CLAUDE_CODE_SESSION_ID"] = "one"
    place.hook("on-stop", {"hook_event_name": "Stop", "session_id": "one"})
    path = place.root / ".lifecycle/state.json"
    today = json.loads(path.read_text())
    archive = {key: flat(record) for key, record in today.get("archive", {}).items()}
    old = today | {"version": 1, "record": flat(today["record"]), "archive": archive}
    path.write_text(json.dumps(old))
    place.environment["CLAUDE_CODE_SESSION_ID"] = "two"
    assert "held by another session" in place.cli("status").stdout
    place.environment["CLAUDE_CODE_SESSION_ID"] = "one"
    number = place.pull()
    place.control.merge_pull(number)
    said = place.hook("on-idle", {"hook_event_name": "Notification", "session_id": "one"})
    assert f"PR #{number} merged!" in said.stderr
    kept = json.loads(path.read_text())
    assert (kept["version"], kept["record"]["ownership"]["session"]) == (2, "one")
    assert kept["record"]["pull"]["opened"] == number
    assert place.claim()["phase"] == "merged_detected"
    assert place.cli("close").returncode == 0
    assert place.issue()["state"] == "closed"
    assert (place.card()["Status"], place.card().get("Agent")) == (Status.DONE, None)
