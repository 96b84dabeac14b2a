"""What a claim or a taking leaves to do in the other tracker: later looks do it, or say they cannot."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from lifecycle.api import HeldByAnother, Wake
from lifecycle.claim.commands import taking
from lifecycle.claim.linked import linked_writes
from lifecycle.core.errors import BlockedBy, LifecycleError, NotInstalled
from lifecycle.git import lease
from lifecycle.storage import journal
from lifecycle.storage.signs_of_life import STOP_DUE
from lifecycle.storage.store import Folder
from tests.claim.linked_ground import (
    busy,
    claim,
    failing,
    give_back,
    inside,
    look,
    merged,
    tracker_of,
)
from tests.claim.test_crashes import CrashError
from tests.cli.outcome import ok
from tests.conftest import Place
from tests.factories import texts
from tests.repeated import soaked

DAY = 86_400


def left(place: Place) -> tuple[linked_writes.Left, ...]:
    """What state.json has of it."""
    return linked_writes.waiting(place.tree().claim_store.file.reload(repair=False))


def killed(place: Place, issue: int, before: str = "_Taking._issue") -> None:
    """Somebody claims the issue and is killed between the two claims, or `before` another step."""

    def dies(*_: object, **__: object) -> None:
        raise CrashError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{taking.__name__}.{before}", dies)
        with pytest.raises(CrashError):
            place.tree().claim(issue)


def test_what_a_killed_taking_had_is_free_once_another_task_is_taken(both: Place) -> None:
    """Killed with the task of 42, then 41 is claimed: nobody would ever give the first one back."""
    killed(both, 42)
    assert inside(both).assignee
    both.tree().claim(41)
    assert inside(both).is_ready
    assert left(both) == ()


def test_a_busy_tracker_gets_it_back_beside_the_next_claim(both: Place) -> None:
    """It cannot be given back at that moment: a look of the new claim does it, and leaves that alone."""
    killed(both, 42)
    with failing("release", busy):
        taken = both.tree().claim(41)
    assert any("released by a later look" in note for note in taken.notes)
    assert inside(both).assignee
    look(both)
    assert inside(both).is_ready
    assert both.claim()["issue_number"] == 41
    assert left(both) == ()


def test_the_same_task_again_goes_on_with_it(both: Place) -> None:
    """Its own name is still on the task, and could not be taken off: that keeps nobody from claiming."""
    killed(both, 42)
    with failing("get", busy):
        both.tree().tick(Wake.STOP)
    (one,) = left(both)
    assert one.wanted == "released"
    claim(both)
    assert inside(both).assignee == both.claim()["agent_id"] != one.actor
    assert left(both) == ()


REFUSALS = [
    lambda: NotInstalled("It is not on PATH."),
    lambda: BlockedBy("mem-2 stands before it."),
]


def test_what_one_name_left_is_not_forgotten_with_anothers(both: Place) -> None:
    """An earlier claim's release turns out to be needless: that of the name that has the task stays."""
    claim(both)
    with failing("release", REFUSALS[0]):
        give_back(both)
    both.clock.sleep(460)
    killed(both, 42)
    earlier, own = left(both)
    assert inside(both).assignee == own.actor != earlier.actor
    with failing("release", busy):
        look(both)
    earlier, own = left(both)
    assert earlier.until < own.until
    both.clock.sleep(earlier.until - both.clock.now())
    both.tree().tick(Wake.STOP)
    assert left(both) == (own,)
    both.clock.sleep(own.until - both.clock.now())
    both.tree().tick(Wake.STOP)
    assert inside(both).is_ready
    assert left(both) == ()


@pytest.mark.once("test_linked.py closes without a task whatever its tracker refuses")
@pytest.mark.parametrize("refusal", REFUSALS, ids=["not installed", "blocked"])
def test_a_task_that_could_not_be_closed_is_closed_by_a_later_look(
    both: Place, refusal: Callable[[], LifecycleError]
) -> None:
    """The issue closes without it, a sentence says so; later it is closed by a hook, in silence before."""
    merged(both)
    with failing("close", refusal):
        said = texts(both.tree().tick(Wake.STOP))
        assert "The linked task mem-1 is still open; a later look closes it" in said
        assert both.issue()["state"] == "closed"
        assert not both.has_claim()
        assert both.tree().claim_store.folder.has("due")
        both.clock.sleep(601)
        assert texts(both.tree().tick(Wake.STOP)) == ""
    both.clock.sleep(1300)
    assert "mem-1 of #42 is closed now" in texts(both.tree().tick(Wake.STOP))
    assert inside(both).close_reason.startswith("Fix the race (PR #")
    assert left(both) == ()
    assert not both.tree().claim_store.folder.has("due")
    (entry,) = [
        one
        for one in journal.read(both.root)
        if one.target == "linked task" and one.detail["wanted"] == "closed"
    ]
    assert entry.task == "#42"


def test_whoever_is_killed_at_the_end_of_a_claim_leaves_the_guard_open(
    both: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between any two marks that are written once the claim file is gone, a stop is still let through."""
    set_due = Folder.set_due
    seen = []

    def watched(folder: Folder, name: str, moment: float | None) -> None:
        set_due(folder, name, moment)
        if not both.has_claim():
            seen.append(folder.has(STOP_DUE))

    merged(both)
    monkeypatch.setattr(Folder, "set_due", watched)
    with failing("close", REFUSALS[0]):
        both.tree().tick(Wake.STOP)
        both.tree().tick(Wake.STOP)
    assert left(both)
    assert seen
    assert all(seen)


def test_whoever_looks_by_command_waits_for_nothing(both: Place) -> None:
    """A tick tries it at once, and a hook not before its time; until then the status tells of it."""
    merged(both)
    with failing("close", REFUSALS[0]):
        both.tree().tick(Wake.STOP)
    both.tree().tick(Wake.STOP)
    assert inside(both).is_open
    line = "The linked task mem-1 of #42 is still to be closed: a later look does that"
    assert line in ok(both.cli("status"))
    both.tree().tick()
    assert not inside(both).is_open
    assert line not in ok(both.cli("status"))


def test_it_is_tried_more_and_more_rarely_and_then_given_up_with_a_word(both: Place) -> None:
    """Each wait is as long as all before, a day at most; after two weeks one sentence, and no more."""
    merged(both)
    with failing("close", REFUSALS[0]) as asked:
        both.tree().tick(Wake.STOP)
        tries = []
        said = ""
        while left(both):
            (one,) = left(both)
            tries.append(one.until)
            both.clock.offset += one.until - both.clock.now() + 1
            said += texts(both.tree().tick(Wake.STOP))
        waits = [later - sooner for sooner, later in itertools.pairwise(tries)]
        assert waits[0] < waits[3] < waits[6]
        assert max(waits) < DAY + 60
        assert len(tries) < 30
        assert said.count("mem-1 could not be closed for two weeks") == 1
        before = len(asked)
        both.tree().tick(Wake.STOP)
        assert len(asked) == before
    assert not both.tree().claim_store.folder.has("due")


@pytest.mark.parametrize("by", ["person", soaked("maria")])
def test_what_somebody_did_with_it_meanwhile_is_theirs(both: Place, by: str) -> None:
    """Reopened or taken since then: it is left open, and nothing is said or tried again."""
    merged(both)
    agent = both.claim()["agent_id"]
    with failing("close", REFUSALS[0]):
        both.tree().tick(Wake.STOP)
    tracker_of(both, agent).release("mem-1")
    if by == "maria":
        tracker_of(both, by).claim("mem-1")
    else:
        both.control.reopen_issue(42)
    assert texts(both.tree().tick()).count("mem-1") == 0
    assert inside(both).is_open
    assert left(both) == ()


def test_a_new_claim_of_the_same_task_ends_what_the_old_one_wanted(both: Place) -> None:
    """The issue was reopened and claimed again: its task is not closed behind that claim's back."""
    merged(both)
    with failing("close", REFUSALS[0]):
        both.tree().tick(Wake.STOP)
    both.control.reopen_issue(42)
    both.control.set_field(42, "Status", "Todo")
    both.control.set_field(42, "Agent", "")
    claim(both)
    assert left(both) == ()
    both.tree().tick()
    assert inside(both).assignee == both.claim()["agent_id"]
    assert inside(both).is_open


def test_a_link_that_could_not_be_asked_for_is_closed_later(both: Place) -> None:
    """The tracker was busy until the issue closed: it is asked which task that was once it answers."""
    both.merged()
    with failing("list", busy):
        for _ in range(3):
            both.tree().tick(Wake.STOP)
            both.clock.sleep(61)
    assert both.issue()["state"] == "closed"
    both.tree().tick()
    assert not inside(both).is_open
    assert left(both) == ()


def test_a_link_that_cannot_be_asked_for_without_the_remote_waits_for_it(both: Place) -> None:
    """Renamed for a while: which issues the tasks name is unknown, so none is taken for needless."""
    both.merged()
    with failing("list", busy):
        for _ in range(3):
            both.tree().tick(Wake.STOP)
            both.clock.sleep(61)
    both.git("remote", "rename", "origin", "elsewhere")
    both.tree().tick()
    assert len(left(both)) == 1
    both.git("remote", "rename", "elsewhere", "origin")
    both.tree().tick()
    assert not inside(both).is_open
    assert left(both) == ()


def test_a_settings_file_that_names_another_tracker_changes_no_link(both: Place) -> None:
    """The link lies where it was made, whatever `tracker.use` says by now."""
    merged(both)
    (both.root / ".lifecycle.toml").write_text('[tracker]\nuse = "github"\n')
    both.tree().tick(Wake.STOP)
    assert both.issue()["state"] == "closed"
    (both.root / ".lifecycle.toml").write_text('[tracker]\nuse = "memory"\n')
    assert not inside(both).is_open


def test_a_refusal_of_github_leaves_a_note_that_outlives_the_next_claim(both: Place) -> None:
    """Held by another outside while the tracker is away: the task is free as soon as it is back."""
    lease.take(both.tree().world.git, "origin", 42, "maria-1")
    with failing("release", REFUSALS[0]), pytest.raises(HeldByAnother):
        claim(both)
    both.tree().claim(41)
    both.tree().tick()
    assert inside(both).is_ready
