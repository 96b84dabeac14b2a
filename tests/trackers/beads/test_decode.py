"""What bd's answers come to: every recorded one, and those that nobody recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lifecycle.core.errors import (
    AlreadyClaimed,
    AlreadyExists,
    BlockedBy,
    Busy,
    Invalid,
    LifecycleError,
    NotClaimable,
    NotFound,
    NoWorkspace,
    ProtocolError,
    Rejected,
    VersionUnsupported,
)
from lifecycle.trackers.beads.bd_decode import Ran, payload
from tests.batches import batched, wrong
from tests.trackers.beads import simulated

OBJECTS = ("version", "where", "info", "create", "create2", "create3", "dep_add", "dep_add_dup",
           "dep_cycle", "comments_add", "stats", "delete", "doctor", "hooks_list", "prime_hook_json",
           "readonly_write")  # fmt: skip
"""Steps whose answer is an object; all others show a list."""

OUTCOMES: dict[str, Any] = {
    "no_db": NoWorkspace,
    "init": ProtocolError,
    "version": dict,
    "where": [VersionUnsupported, dict, dict, dict],
    "info": [dict, dict, dict, ProtocolError, dict],
    "ready_empty": 0,
    "create": dict,
    "create2": dict,
    "create3": dict,
    "label_add": 1,
    "label_add_again": 1,
    "label_list": 1,
    "label_list_all": 2,
    "label_remove_absent": 1,
    "label_remove": 1,
    "label_add_readd": 1,
    "dep_add": dict,
    "dep_add_dup": [AlreadyExists, AlreadyExists, AlreadyExists, dict],
    "dep_cycle": Invalid,
    "dep_list": [ProtocolError, 1, 1, 1],
    "comments_add": dict,
    "comments_list": 1,
    "ready": 2,
    "ready_label": 2,
    "ready_label_any": 2,
    "ready_unassigned": 2,
    "ready_limit0": 2,
    "list": 3,
    "list_filters": 1,
    "list_assignee": 0,
    "list_bad_status": [0, 0, 0, Invalid],
    "show": 1,
    "show_two": 2,
    "show_missing": NotFound,
    "show_one_missing": [NotFound, 1, NotFound, 1],
    "update_claim": [VersionUnsupported, 1, 1, 1],
    "update_claim_same_actor": [VersionUnsupported, AlreadyClaimed, AlreadyClaimed, 1],
    "update_claim_other_actor": [
        VersionUnsupported,
        AlreadyClaimed,
        AlreadyClaimed,
        AlreadyClaimed,
    ],
    "ready_after_claim": [2, 1, 1, 1],
    "update_release": 1,
    "update_status": 1,
    "update_bad_status": Invalid,
    "update_missing": NotFound,
    "update_nothing": ProtocolError,
    "list_in_progress": 1,
    "close": 1,
    "close_again": 1,
    "close_missing": NotFound,
    "show_closed": 1,
    "claim_closed": [VersionUnsupported, AlreadyClaimed, AlreadyClaimed, NotClaimable],
    "ready_after_close": 2,
    "reopen": 1,
    "reopen_open": [1, 1, 1, AlreadyExists],
    "blocked": 1,
    "close_blocked": [1, BlockedBy, BlockedBy, BlockedBy],
    "stats": dict,
    "ready_claim": [VersionUnsupported, VersionUnsupported, VersionUnsupported, 1],
    "unknown_cmd": VersionUnsupported,
    "unknown_flag": VersionUnsupported,
    "missing_arg": Rejected,
    "sync": [Rejected, ProtocolError, ProtocolError, VersionUnsupported, ProtocolError],
    "sync_flush": [ProtocolError, ProtocolError, ProtocolError, VersionUnsupported],
    "export": ProtocolError,
    "dolt_push": [VersionUnsupported, VersionUnsupported, VersionUnsupported, ProtocolError],
    "doctor": [dict, dict, dict, ProtocolError],
    "prime": ProtocolError,
    "prime_hook_json": [VersionUnsupported, VersionUnsupported, VersionUnsupported, dict],
    "github_help": [VersionUnsupported, VersionUnsupported, VersionUnsupported, ProtocolError],
    "setup_claude_print": Rejected,
    "hooks_list": dict,
    "delete": dict,
    "show_deleted": [1, NotFound, NotFound, NotFound],
    "env_BD_JSON": 1,
    "env_envelope": 1,
    "readonly_write": Rejected,
}
"""What each step must come to: how many rows, an object, or an error; a list has one for each build."""


Step = tuple[str, dict[str, Any], Any]
"""A recorded step's name, what it printed, and what it must come to."""


def _steps() -> list[Step]:
    found = []
    for place, profile in enumerate(simulated.RECORDINGS):
        for line in (simulated.RECORDED / f"{profile}.jsonl").read_text().splitlines():
            step = json.loads(line)
            wanted = OUTCOMES[step["name"]]
            wanted = (*wanted, *wanted[-1:])[place] if isinstance(wanted, list) else wanted
            found.append((f"{profile}-{step['name']}", step, wanted))
    return found


def came_to(row: Step) -> Any:
    """How many rows a step gave, where that is asked; else the kind of what it gave."""
    _, step, wanted = row
    ran = Ran(step["rc"], step["stdout"], step["stderr"])
    due = dict if step["name"] in OBJECTS else list
    found: Any
    try:
        found = payload(ran, due=due, doing=step["name"])
    except LifecycleError as error:
        found = error
    if isinstance(found, LifecycleError):
        assert str(found).endswith(".")
        assert "\n" not in str(found)
    return len(found) if isinstance(wanted, int) and isinstance(found, list) else type(found)


@batched(_steps())
def test_every_recorded_answer_is_understood(batch: list[Step]) -> None:
    """All 375: rows where there are rows, and the right error whatever the exit code says."""
    failed = wrong(batch, lambda row: row[0], came_to, lambda row: row[2])
    assert not failed, "\n".join(failed)


def test_who_has_it_and_what_is_before_it_are_told() -> None:
    """The errors carry the holder, the status and the blockers."""
    with pytest.raises(AlreadyClaimed) as taken:
        payload(
            Ran(0, "", "Error claiming a-1: issue already claimed by O'Neil 2\n"),
            due=list,
            doing="x",
        )
    assert taken.value.by == "O'Neil 2"
    with pytest.raises(NotClaimable) as closed:
        payload(
            Ran(1, "", "Error claiming a-1: issue not claimable: status closed\n"),
            due=list,
            doing="x",
        )
    assert closed.value.status == "closed"
    text = "cannot close a-1: blocked by open issues [a-2 a-3] (use --force to override)\n"
    with pytest.raises(BlockedBy) as blocked:
        payload(Ran(1, "", text), due=list, doing="x")
    assert blocked.value.ids == ("a-2", "a-3")


def test_a_title_does_not_pass_for_an_error() -> None:
    """Words count from a line's beginning: what stands within a message is somebody's text."""
    said = 'Error: cannot use "no beads database found": issue already claimed by me\n'
    with pytest.raises(Rejected) as refused:
        payload(Ran(1, "", said), due=list, doing="update")
    assert type(refused.value) is Rejected
    with pytest.raises(Rejected) as amid:
        payload(Ran(1, "", "(Error: a-1 is already open"), due=list, doing="update")
    assert type(amid.value) is Rejected


def test_noise_on_stderr_is_no_failure() -> None:
    """An answer counts, whatever stands beside it."""
    noise = "Warning: issue already claimed by x\nError: something about a daemon\n"
    assert payload(Ran(0, "[]", noise), due=list, doing="ready") == []


def test_an_empty_answer_with_noise_says_nothing() -> None:
    """Exit code 0, no output, words of no meaning: nobody knows what was done."""
    with pytest.raises(ProtocolError):
        payload(Ran(0, "", "Warning: a newer version is available\n"), due=list, doing="update")


@pytest.mark.parametrize(
    "out", ["[" * 100_000, '[{"id": "a', "null", '"text"', "[]", "{}x", "\x00"]
)
def test_what_cannot_be_understood_is_a_protocol_error(out: str) -> None:
    """Half JSON, other JSON, JSON without end: one sentence, no traceback, nothing of it used."""
    with pytest.raises(ProtocolError):
        payload(Ran(0, out, ""), due=dict, doing="create")


def test_nothing_where_a_list_is_due_is_an_empty_list() -> None:
    """Go writes an empty list as null here and there."""
    assert payload(Ran(0, "null\n", ""), due=list, doing="ready") == []


def test_a_locked_database_is_busy() -> None:
    """In all its words; nothing was done, and it is tried again."""
    for words in (
        "Error: database is locked (5) (SQLITE_BUSY)\n",
        "Error updating a-1: failed to begin: sqlite3: database is locked\n",
        '{"error": "lock busy: held by another process"}',
        '{"error": "a maintenance operation is running: x.lock held by another bd: workspace gate busy"}',
    ):
        with pytest.raises(Busy):
            payload(Ran(1, "", words), due=list, doing="update")


def test_no_secret_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """bd's words are shown without tokens, control characters and without end."""
    monkeypatch.setenv("SOME_TOKEN", "abcdefghijkl")
    with pytest.raises(Rejected) as refused:
        payload(Ran(1, "", f"fatal: abcdefghijkl \x1b[2J{'x' * 5000}"), due=list, doing="update")
    assert "abcdefghijkl" not in str(refused.value)
    assert "\x1b" not in str(refused.value)
    assert len(str(refused.value)) < 500


HELD = {
    "claim": "Error updating demo-1: issue already claimed by maria\n{}\n",
    "close": 'cannot close demo-1: assignee is "maria", actor is "me"; reclaim or use --force\n',
    "release": 'cannot reassign demo-1: held by "maria" (in_progress); coordinate with the holder\n',
}
"""How 1.3.0 refuses, on stderr, what somebody else has: taken from its answers."""


@pytest.mark.parametrize("verb", HELD)
def test_what_somebody_has_is_theirs_in_the_words_of_1_3(verb: str) -> None:
    """It says who, for each verb in other words, and goes on behind it."""
    with pytest.raises(AlreadyClaimed) as refused:
        payload(Ran(1, "", HELD[verb]), due=list, doing=verb)
    assert refused.value.by == "maria"
    assert "nothing was done" in str(refused.value)


def test_a_heartbeat_is_refused_in_two_ways() -> None:
    """As 1.3.0 words it: another one has the task, or nobody."""
    taken = '{"error": "heartbeat demo-1: issue already claimed by maria", "schema_version": 1}'
    with pytest.raises(AlreadyClaimed) as refused:
        payload(Ran(1, taken, ""), due=dict, doing="heartbeat")
    assert refused.value.by == "maria"
    free = '{"error": "heartbeat demo-1: issue not claimable: demo-1 status open"}'
    with pytest.raises(NotClaimable) as unclaimed:
        payload(Ran(1, free, ""), due=dict, doing="heartbeat")
    assert unclaimed.value.status == "open"


UNUSED = "none of it was used. Run it by hand to see what it prints."
ANSWERS: list[tuple[Ran, type, Any]] = [
    # An answer out of its envelope; what only looks like one is none.
    (Ran(0, '{"data": [1], "schema_version": 1}', ""), list, [1]),
    (Ran(0, '{"data": [1]}', ""), dict, {"data": [1]}),
    (Ran(0, '{"schema_version": 1}', ""), dict, {"schema_version": 1}),
    (Ran(0, '{"error": "", "id": "a-1"}', ""), dict, {"error": "", "id": "a-1"}),
    # What cannot be used, with what came.
    *(
        (Ran(0, out, ""), due, (ProtocolError, f"bd show a-1 answered {what}; {UNUSED}", out))
        for out, due, what in (
            ("null", dict, "something other than what was asked"),
            ("[1]", dict, "something other than what was asked"),
            ("hello", list, "something that cannot be understood"),
        )
    ),
    (Ran(0, "", "\n  \n new one \nmore"), list,
     (ProtocolError, "bd show a-1 printed nothing; what it did is not known. Run it by hand to see why.",
      "new one")),
    # A refusal, in the words of whoever said it: stderr first, then stdout, or an answer with an exit code.
    *(
        (ran, list, (Rejected, f"bd show a-1 was refused ({shown}); correct that and try again.", said))
        for ran, said, shown in (
            (Ran(1, "some text", "it broke"), "it broke", "it broke"),
            (Ran(1, "it broke", ""), "it broke", "it broke"),
            (Ran(1, "[]", "it broke"), "it broke", "it broke"),
            (Ran(1, "", "it broke"), "it broke", "it broke"),
            (Ran(1, "", ""), "", "no word"),
        )
    ),
    # Words of the table; those of them that say what is wrong are kept.
    (Ran(1, "", "cannot close a-1: blocked by open issues [a-2 a-3]\n"), list,
     (BlockedBy, "The task waits for a-2, a-3, so it was not closed; finish that first.", "")),
    (Ran(1, "", "Error: invalid status x\n"), list,
     (Invalid, "bd does not take this (invalid status x), so nothing was done; correct it.",
      "invalid status x")),
    (Ran(1, "", '{"error": "a-1 is already open"}'), list,
     (AlreadyExists, "It is so already; nothing was done.", "a-1 is already open")),
]  # fmt: skip
"""(what bd did, what was due, the answer or the error: its kind, its sentence, bd's own words)."""


def test_an_answer_is_taken_whole_or_refused_in_a_sentence() -> None:
    """With bd's own words as evidence, where it said any."""

    def told(ran: Ran, due: type) -> Any:
        try:
            return payload(ran, due=due, doing="show a-1")
        except LifecycleError as error:
            return type(error), error.sentence, error.evidence

    assert [(ran, due, told(ran, due)) for ran, due, _ in ANSWERS] == ANSWERS
