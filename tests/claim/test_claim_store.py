"""The claim file and state.json in step, with an agent that writes whenever it likes."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lifecycle.claim.engine import briefing
from lifecycle.claim.record.claim_store import ClaimStore, Listener
from lifecycle.claim.record.sections import Trouble
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import ClaimRefused
from lifecycle.core.plan import Audience, Hooks, Notice
from lifecycle.core.timing import SystemClock
from lifecycle.storage.store import CLAIM_FILE
from tests.factories import EXAMPLE, HAND_WRITTEN, values
from tests.repeated import soaked

"""How often two processes meet; `make soak` has them meet thousands of times."""


def store_at(root: Path) -> ClaimStore:
    """A claim_store on the system clock."""
    return ClaimStore(root, SystemClock())


def write(root: Path, content: dict[str, Any]) -> Path:
    """Write the claim file by hand."""
    path = root / CLAIM_FILE
    path.write_text(json.dumps(content))
    return path


def live(root: Path, content: dict[str, Any]) -> Record:
    """Load and commit a claim, so that state.json knows it."""
    write(root, content)
    claim_store = store_at(root)
    record = claim_store.load().record
    assert record is not None
    return claim_store.commit(record, {}).record


def test_a_hand_written_file_is_not_rewritten_when_nothing_changed(tmp_path: Path) -> None:
    """Formatting, order and mtime of the agent's file stay while there is nothing to write."""
    path = write(tmp_path, HAND_WRITTEN)
    before = path.read_bytes(), path.stat().st_mtime_ns
    claim_store = store_at(tmp_path)
    record = claim_store.load().record
    assert record is not None
    claim_store.commit(record, {})
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_an_agents_edit_between_load_and_commit_wins(tmp_path: Path) -> None:
    """The engine wanted checks_running; the agent wrote done meanwhile: done stays, and is told."""
    live(tmp_path, values(phase="pr_created", pr_number=107))
    claim_store = store_at(tmp_path)
    record = claim_store.load().record
    assert record is not None
    write(tmp_path, values(phase="done"))
    wanted = record.with_values(
        {"phase": "checks_running", "last_check_poll": "2026-01-01T00:00:00Z"}
    )
    committed = claim_store.commit(wanted, {})
    assert committed.changed == {"phase"}
    content = json.loads((tmp_path / CLAIM_FILE).read_text())
    assert content["phase"] == "done"
    assert content["pr_number"] == 107
    assert content["last_check_poll"] == "2026-01-01T00:00:00Z"


def test_what_was_loaded_is_confirmed_only_while_it_is_the_newest(tmp_path: Path) -> None:
    """An edit, a second load, or state.json read again in between: it is loaded anew under the lock."""
    live(tmp_path, EXAMPLE)
    claim_store = store_at(tmp_path)
    first = claim_store.load(repair=False)
    assert claim_store.confirm(first) is first
    write(tmp_path, {**EXAMPLE, "summary": "Edited"})
    second = claim_store.load(repair=False)
    assert claim_store.confirm(first) is not first
    assert claim_store.confirm(second).record == second.record
    third = claim_store.load(repair=False)
    claim_store.file.reload()
    assert claim_store.confirm(third) is not third
    fourth = claim_store.load(repair=False)
    write(tmp_path, {**EXAMPLE, "summary": "Edited again"})
    confirmed = claim_store.confirm(fourth).record
    assert confirmed is not None
    assert confirmed.claim.summary == "Edited again"


def test_an_edit_that_was_loaded_can_be_overruled(tmp_path: Path) -> None:
    """A refused done becomes what GitHub shows: the edit is known by then, and not new."""
    live(tmp_path, values(phase="checks_running", pr_number=107))
    write(tmp_path, values(phase="done"))
    claim_store = store_at(tmp_path)
    record = claim_store.load().record
    assert record is not None
    assert record.claim.phase == "done"
    committed = claim_store.commit(record.with_values({"phase": "checks_running"}), {})
    assert not committed.changed
    assert json.loads((tmp_path / CLAIM_FILE).read_text())["phase"] == "checks_running"


def test_a_hint_stays_in_the_file_until_it_is_judged(tmp_path: Path) -> None:
    """With no look at GitHub, an edited engine field is neither taken nor wiped."""
    live(tmp_path, values())
    write(tmp_path, values(pr_number=99))
    for _ in range(2):
        claim_store = store_at(tmp_path)
        loaded = claim_store.load()
        assert loaded.record is not None
        assert loaded.hints == {"pr_number": 99}
        assert loaded.record.claim.pr_number is None
        claim_store.commit(loaded.record, loaded.hints)
        assert json.loads((tmp_path / CLAIM_FILE).read_text())["pr_number"] == 99


def test_fault_18_a_corrupt_file_is_set_aside_restored_and_reported(tmp_path: Path) -> None:
    """Nothing is lost; the bad bytes are kept, the claim returns, the agent hears of it."""
    record = live(tmp_path, values(phase="coding"))
    (tmp_path / CLAIM_FILE).write_text('{"phase": "done",')
    os.utime(tmp_path / CLAIM_FILE, (time.time() - 10, time.time() - 10))
    claim_store = store_at(tmp_path)
    loaded = claim_store.load()
    assert loaded.record is not None
    assert loaded.record.values == record.values
    assert json.loads((tmp_path / CLAIM_FILE).read_text()) == record.values
    (kept,) = tmp_path.glob(f"{CLAIM_FILE}.corrupt-*")
    assert kept.read_text() == '{"phase": "done",'
    (notice,) = claim_store.ledger.waiting()
    assert kept.name in notice.text
    assert notice.audience is Audience.ACT


@pytest.mark.parametrize("has_ended", [False, True])
def test_a_corrupt_file_that_nobody_knew_is_set_aside_and_reported(
    tmp_path: Path, *, has_ended: bool
) -> None:
    """Without a record there is nothing to restore, or after its end; the sentence says how to go on."""
    if has_ended:
        store_at(tmp_path).forget(live(tmp_path, values()).with_ending(outcome="closed"))
    (tmp_path / CLAIM_FILE).write_bytes(b"\x00\x01")
    claim_store = store_at(tmp_path)
    assert claim_store.load().record is None
    assert "claim again" in claim_store.ledger.waiting()[0].text
    assert not (tmp_path / CLAIM_FILE).exists()


def test_fault_8_an_unknown_version_leaves_the_file_untouched(tmp_path: Path) -> None:
    """schema_version 99: refused, and not a byte changed."""
    path = write(tmp_path, values(schema_version=99))
    before = path.read_bytes()
    with pytest.raises(ClaimRefused):
        store_at(tmp_path).load()
    assert path.read_bytes() == before


def test_the_next_claim_is_not_mistaken_for_an_edit(tmp_path: Path) -> None:
    """Another issue on another branch is a new claim, and so is the first one when it comes back."""
    live(tmp_path, values(pr_number=107))
    write(tmp_path, {**EXAMPLE, "issue_number": 50, "branch": "claude/next-50"})
    claim_store = store_at(tmp_path)
    second = claim_store.load().record
    assert second is not None
    assert second.claim.pr_number is None
    claim_store.commit(second, {})
    write(tmp_path, values())
    back = store_at(tmp_path).load().record
    assert back is not None
    assert (back.claim.issue_number, back.claim.pr_number) == (42, None)


def test_a_claim_that_was_taken_is_not_displaced_by_another_ones_file(tmp_path: Path) -> None:
    """Another agent's file, copied here: it is kept beside, what is held stays, until that has ended."""
    record = replace(live(tmp_path, values(phase="coding")), is_taken=True)
    store_at(tmp_path).commit(record, {})
    copied = values(issue_number=100, branch="claude/other-100", agent_id="maria-1")
    write(tmp_path, copied)
    with pytest.raises(
        ClaimRefused, match=r"a claim on #100, but this worktree holds #42.* lifecycle tick"
    ):
        store_at(tmp_path).load(repair=False)
    claim_store = store_at(tmp_path)
    assert claim_store.load().record == record
    (kept,) = tmp_path.glob(f"{CLAIM_FILE}.corrupt-*")
    assert json.loads(kept.read_text()) == copied
    assert kept.name in claim_store.ledger.waiting()[0].text
    write(tmp_path, copied)
    assert claim_store.commit(record, {}).record == record, "copied during a look"
    claim_store.remember(record.with_ending(outcome="closed"))
    claim_store.save()
    begun = store_at(tmp_path).load().record
    assert begun is not None
    assert begun.claim.issue_number == 100


def test_forgetting_does_not_delete_the_next_claim(tmp_path: Path) -> None:
    """If the agent has written its next claim by then, that file stays."""
    record = live(tmp_path, values(phase="done"))
    write(tmp_path, {**EXAMPLE, "issue_number": 50, "branch": "claude/next-50"})
    store_at(tmp_path).forget(record)
    assert json.loads((tmp_path / CLAIM_FILE).read_text())["issue_number"] == 50
    write(tmp_path, values(phase="done"))
    store_at(tmp_path).forget(record)
    assert not (tmp_path / CLAIM_FILE).exists()


def test_whoever_is_killed_behind_the_deletion_has_saved_the_end_and_what_tells_of_it(
    tmp_path: Path,
) -> None:
    """No later step of the look saves it for that: nobody could tell the end from a file that is lost."""
    record = live(tmp_path, values(phase="done"))
    claim_store = store_at(tmp_path)
    claim_store.load()
    told = Notice("42@7/issue-closed:107", "Issue #42 closed.", Audience.NOTE)
    claim_store.ledger.queue(told)
    claim_store.forget(record.with_ending(outcome="closed"))
    later = store_at(tmp_path)
    assert later.load().record is None
    ended = later.remembered()
    assert (ended and ended.ending.outcome, later.ledger.waiting()) == ("closed", [told])


def test_what_was_taken_is_marked_on_disk_before_it_is_printed(tmp_path: Path) -> None:
    """A process that is killed behind `take` has lost a nudge; the next one does not repeat it."""
    claim_store = store_at(tmp_path)
    say = Notice("merged:107", "PR #107 merged!", Audience.ASK)
    claim_store.ledger.queue(say)
    claim_store.save()
    assert (tmp_path / ".lifecycle/waiting").exists()
    assert claim_store.take(Listener("on-idle", [Audience.ASK], "s1")) == (say,)
    later = store_at(tmp_path)
    later.load()
    later.ledger.queue(say)
    assert later.ledger.waiting() == []
    assert not (tmp_path / ".lifecycle/waiting").exists()


def test_the_guards_read_who_owns_the_claim(tmp_path: Path) -> None:
    """The owner's session lies in a file of its own while the claim lives, and goes with it."""
    write(tmp_path, values())
    claim_store = store_at(tmp_path)
    record = claim_store.load().record
    assert record is not None
    claim_store.remember(replace(record, ownership=replace(record.ownership, session="one")))
    claim_store.save()
    assert (tmp_path / ".lifecycle/owner").read_text() == "one\n"
    claim_store.remember(
        replace(
            record,
            ownership=replace(record.ownership, session="one"),
            ending=replace(record.ending, outcome="closed"),
        )
    )
    claim_store.save()
    assert not (tmp_path / ".lifecycle/owner").exists()


def test_what_a_killed_process_left_half_written_goes_with_the_next_look(tmp_path: Path) -> None:
    """At once under the claim's own lock; a file of another lock may be renamed yet while it is young."""
    live(tmp_path, values())
    left = {"state.json": 0.0, "recovery.json": 0.0, ".gitignore": 700.0}
    for name, age in left.items():
        path = tmp_path / f".lifecycle/{name}.1f.lifecycle.tmp"
        path.write_text("half")
        os.utime(path, (time.time() - age,) * 2)
    store_at(tmp_path).load()
    (kept,) = (tmp_path / ".lifecycle").glob("*.lifecycle.tmp")
    assert kept.name.startswith("recovery.json")


def test_a_prompt_is_worth_pythons_start_until_the_question_is_answered(tmp_path: Path) -> None:
    """The mark lies there once the question was put, and goes with the first prompt after it.

    A prompt that came before the question is no answer to it.
    """
    write(tmp_path, values(phase="merged_detected", pr_number=107))
    claim_store = store_at(tmp_path)
    record = claim_store.load().record
    assert record is not None
    claim_store.remember(record)
    claim_store.folder.set_due("answered", claim_store.clock.now())
    mark = tmp_path / ".lifecycle/waiting"
    claim_store.ledger.queue(Notice(f"{record.claim_key}/merged:107", "merged!", Audience.ASK))
    claim_store.take(Listener("ci-waiter", [Audience.ASK]))
    assert mark.exists()
    answers = [claim_store.marks.answered_at is not None]
    claim_store.folder.set_due("answered", claim_store.clock.now())
    claim_store.save()
    answers.append(claim_store.marks.answered_at is not None)
    assert answers == [False, True]
    assert not mark.exists()


def test_the_stamp_carries_the_mtime_that_was_read_and_only_of_a_settled_file(
    tmp_path: Path,
) -> None:
    """A file younger than two seconds may change within one mtime tick, so it is not stamped."""
    path = write(tmp_path, values())
    claim_store = store_at(tmp_path)
    claim_store.folder.make()
    stamp = tmp_path / ".lifecycle" / "stamp"
    claim_store.stamp(path.stat().st_mtime_ns)
    assert not stamp.exists()
    old = time.time_ns() - 5_000_000_000
    os.utime(path, ns=(old, old))
    claim_store.stamp(claim_store.load().mtime_ns)
    assert stamp.stat().st_mtime_ns == old


AGENT = """
import json, os, sys
path = sys.argv[1]

def reached(moment):
    if moment == wanted:
        print("held", flush=True)
        sys.stdin.readline()

for line in iter(sys.stdin.readline, ""):
    style, spin, wanted = line.split()
    text = ""
    while not text:
        try:
            with open(path) as file:
                text = file.read()
            content = json.loads(text)
        except (OSError, ValueError):
            text = ""
    reached("read")
    for _ in range(int(spin)):
        pass
    content["phase"] = "done"
    content["summary"] = style + spin
    with open(path if style == "inplace" else path + ".agent", "w") as file:
        reached("opened")
        json.dump(content, file)
    if style == "rename":
        os.replace(path + ".agent", path)
    print("written", flush=True)
"""


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that reads the claim, thinks a moment, and writes all of it with phase done."""
    process = subprocess.Popen(
        [sys.executable, "-c", AGENT, str(tmp_path / CLAIM_FILE)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    with process:
        yield process
        if process.stdin:
            process.stdin.close()


HELD = ("read", "opened")
ORDERS = ("written", *HELD, "told", *("at-once",) * 16)
"""Where the agent is when the poll writes: it has written; it has read; it has opened its file; it is told
afterwards; or nobody says who comes first."""


def seen_by_the_poll(order: str, style: str) -> list[set[str]]:
    """What the poll may find changed: all, nothing, or a file that stays empty, which may be anything."""
    whole, nothing, empty = {"phase", "summary"}, set[str](), {"phase"}
    if order == "at-once":
        return [whole, nothing, empty]
    if order == "written":
        return [whole]
    return [empty if (order, style) == ("opened", "inplace") else nothing]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("rounds", [20, soaked(760, id="760")])
@pytest.mark.parametrize("style", ["rename", "inplace"])
def test_fault_4_done_is_never_lost_to_a_poll(
    tmp_path: Path, agent: subprocess.Popen[str], style: str, rounds: int
) -> None:
    """The agent writes done while a poll runs, again and again, in two real processes.

    Whoever comes first: done stands in the end, with its summary, and the poll's fields too. That they meet
    is not left to chance: in four rounds of twenty the agent is held, and what the poll finds is certain.
    In the others nothing is asserted of who came first, and of the time nothing at all.

    Nothing of what docs/states.md says can still be lost can happen here, however busy the machine is. Only
    a look deletes a file that was taken out, or sets one aside that is half written, and none comes before
    the agent has written; and what the agent reads lacks no edit of its own.
    """
    assert agent.stdin
    assert agent.stdout
    chance = random.Random(7)
    live(tmp_path, values(phase="pr_created", pr_number=107))
    for number in range(rounds):
        claim_store = store_at(tmp_path)
        record = claim_store.load().record
        assert record is not None
        again = record.with_values({"phase": "pr_created", "summary": ""})
        record = claim_store.commit(again, {}).record
        order, spin = (
            ORDERS[number % len(ORDERS)],
            chance.choice([0, 10, 100, 1000, 3000, 10_000, 30_000]),
        )
        poll = {"phase": "checks_running", "last_check_poll": f"2026-01-01T00:00:00Z #{number}"}
        told = f"{style} {spin} {order}\n"
        agent.stdin.write(told if order != "told" else "")
        if order in (*HELD, "written"):
            assert agent.stdout.readline() == ("held\n" if order in HELD else "written\n")
        for _ in range(chance.choice([0, 100, 1000, 10_000])):
            pass
        committed = claim_store.commit(record.with_values(poll), {})
        agent.stdin.write({"told": told, "read": "go on\n", "opened": "go on\n"}.get(order, ""))
        if order != "written":
            assert agent.stdout.readline() == "written\n"
        after = store_at(tmp_path)
        final = after.load().record
        assert final is not None
        final = after.commit(final, {}).record
        content = json.loads((tmp_path / CLAIM_FILE).read_text())
        assert content == final.values
        assert (content["phase"], content["summary"]) == ("done", f"{style}{spin}"), number
        assert content["last_check_poll"] == poll["last_check_poll"], number
        assert content["pr_number"] == 107
        assert committed.changed in seen_by_the_poll(order, style), number
    assert not list(tmp_path.glob(f"{CLAIM_FILE}.corrupt-*"))


@pytest.mark.parametrize(
    ("phase", "kept"),
    [("pr_created", ["Look"]), ("checks_running", []), ("", ["CloseIssue", "Look"])],
)
def test_an_edit_of_the_claim_tries_again_what_was_refused(
    tmp_path: Path, phase: str, kept: list[str]
) -> None:
    """What may pass by itself waits on, unless the phase is another; without an edit all of it waits."""
    record = live(tmp_path, values(phase="pr_created", pr_number=107))
    no = Trouble("m", "no", 9.0, is_final=True)
    troubles = {"CloseIssue": no, "Look": Trouble("m", "502", 7.0)}
    claim_store = store_at(tmp_path)
    record = replace(record, troubles=troubles, touched=claim_store.mtime_ns())
    claim_store.commit(record, {})
    if phase:
        path = write(tmp_path, values(phase=phase, pr_number=107))
        os.utime(path, ns=(1, 1))
    loaded = store_at(tmp_path).load().record
    assert loaded is not None
    assert [*loaded.troubles] == kept


@pytest.mark.parametrize(
    "cut",
    [
        {"values": {"issue_number": 42, "phase": "coding"}},
        {"values": [1]},
        {"past": [7]},
        {"created_at": "today"},
        {"pull": [1]},
        {"ownership": {"session": [1]}},
        {"ending": {"releasing": 7}},
        {"ending": {"outcome": {}}},
        {"linked": {"link": {"id": "x"}}},
        {"troubles": {"Look": 7}},
        {"intents": [1]},
        {"conditions": None},
        {"conditions": ["No PR yet."]},
        {"nudges": [{}]},
    ],
    ids=str,
)
def test_a_record_that_was_written_by_hand_is_learned_again(
    tmp_path: Path, cut: dict[str, Any]
) -> None:
    """Whatever lies in state.json, the claim file is looked at, and commits as it is."""
    kept = live(tmp_path, EXAMPLE)
    path = tmp_path / ".lifecycle/state.json"
    state = json.loads(path.read_text())
    state["record"] |= {"touched": (tmp_path / CLAIM_FILE).stat().st_mtime_ns} | cut
    path.write_text(json.dumps(state))
    loaded = store_at(tmp_path).load()
    assert loaded.record is not None
    assert loaded.record.claim == kept.claim
    assert briefing.claim_lines(loaded.record)
    assert store_at(tmp_path).load(repair=False).record is not None
    again = store_at(tmp_path)
    assert again.commit(loaded.record, loaded.hints).record.claim == kept.claim
    assert json.loads(path.read_text())["record"]["values"] == EXAMPLE


def test_an_unreadable_state_makes_no_claim_of_the_engines_a_hand_written_one(
    tmp_path: Path,
) -> None:
    """Who only reads refuses it as a broken claim file; who has the lock sets it aside and says so."""
    live(tmp_path, values(phase="checks_running", pr_number=107))
    path = tmp_path / ".lifecycle/state.json"
    path.write_bytes(b"\xff{oops")
    with pytest.raises(ClaimRefused, match=r"state\.json cannot be read; .* lifecycle tick"):
        store_at(tmp_path).load(repair=False)
    assert path.read_bytes() == b"\xff{oops"
    claim_store = store_at(tmp_path)
    assert claim_store.load().record is not None
    (notice,) = claim_store.ledger.waiting()
    assert "kept as state.json.unreadable" in notice.text


def test_nothing_is_watched_for_a_session_whose_token_is_refused(tmp_path: Path) -> None:
    """No look gets through until the token is another: what is told of the claim promises none."""
    claim_store = ClaimStore(tmp_path, SystemClock())
    claim_store.folder.make()
    (claim_store.folder.path / "hooks-s-1").touch()
    asking = {"CLAUDE_CODE_SESSION_ID": "s-1", "CLAUDE_CODE_SESSION_ATTENDED": "1"}
    for is_of_access, hooks in ((False, Hooks.WATCH), (True, Hooks.OVER)):
        look = Trouble("", "Refused.", 0.0, is_final=True, is_of_access=is_of_access)
        record = Record(values()).with_trouble("Look", look)
        assert claim_store.hooks_for(record, asking, waits=True) is hooks
