"""A claim whose client was killed: whichever hook of another one's is first, that one hears the merge.

What shows whose a claim is lies in several files, and they are written one after the other:
the record (`state.json`), the guards' `owner`, and then `seen`, the one sign of life. Here the hooks that
take a claim over are kept out, killed, or overtaken between any two of them.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace

import pytest

from lifecycle.hooks.answers.call import HookCall
from lifecycle.settings.resources import hook_script
from lifecycle.storage import signs_of_life
from lifecycle.storage.store import Folder
from tests.conftest import Place
from tests.e2e.client import Session, ended, heard
from tests.e2e.test_sessions import ONE, QUESTION, TWO, gone

SOAKED = pytest.mark.soak(
    "e2e/test_taken_over.py::test_a_hook_that_another_one_overtakes_sees_whose_the_claim_is",
    "claim/test_presence.py::test_a_claim_is_held_while_its_session_lives",
)

YOURS = "The claim on #42 is yours now"


@pytest.fixture
def first(place: Place) -> Session:
    """The session of a client that will be killed, in a worktree with an open PR."""
    (place.root / ".lifecycle.toml").write_text("[checks]\npoll_seconds = 0.05\n")
    place.ready()
    session = Session(place, ONE)
    session.prompt()
    session.on_stop()
    return session


@pytest.fixture
def second(first: Session) -> Session:
    """Another session in the same worktree, which was told that the claim is held; the first is gone."""
    session = Session(first.place, TWO)
    assert "held by another" in session.start().model
    gone(first)
    return session


def hears_the_merge(session: Session) -> None:
    """One stop, both hooks at once as the client does it: the waiter brings the merge."""
    waiter = session.waiter()
    with ended(waiter):
        session.on_stop()
        session.place.control.merge_pull(46)
        news = heard(waiter)
    assert news.woke
    assert QUESTION in news.model
    assert YOURS in news.model


@SOAKED
@pytest.mark.parametrize("is_changed", [False, True], ids=["quiet", "changed"])
@pytest.mark.parametrize("hook", ["session-start", "user-prompt-submit"])
def test_who_takes_over_while_the_files_are_busy_hears_the_merge(
    second: Session, hook: str, is_changed: bool
) -> None:
    """What the killed one has left running holds the lock: the stop after that takes the claim over."""
    with Folder(second.place.root).locked(0):
        heard(second.begin(hook))
    if is_changed:
        second.place.write(summary="Fix it well")
    hears_the_merge(second)


@pytest.fixture
def unasked(first: Session) -> Session:
    """The question was put to the first alone; the second wrote while the files were busy."""
    first.place.control.merge_pull(46)
    assert QUESTION in heard(first.waiter()).model
    second = Session(first.place, TWO)
    second.start("resume")
    gone(first)
    with Folder(first.place.root).locked(0):
        assert second.prompt("go on").is_silent
    return second


@SOAKED
@pytest.mark.parametrize("hook", ["ci-waiter", "on-idle"])
def test_a_question_that_the_killed_one_took_is_put_to_the_next(
    unasked: Session, hook: str
) -> None:
    """It was marked as offered to the first: what runs next puts it, once, and the answer counts."""
    news = heard(unasked.begin(hook))
    assert news.woke
    assert YOURS in news.model
    assert QUESTION in news.model
    assert heard(unasked.begin(hook)).is_silent
    assert YOURS in unasked.prompt("yes, close it").model
    unasked.place.write(phase="done")
    assert unasked.on_stop().person.startswith("Issue #42 closed.")


@SOAKED
def test_what_was_written_before_the_question_was_seen_is_no_yes(unasked: Session) -> None:
    """done after "go on" is refused, which puts the question; the prompt after that is the yes."""
    place = unasked.place
    place.write(phase="done")
    assert "was not closed" in unasked.on_stop().model
    assert place.issue()["state"] == "open"
    assert heard(unasked.waiter()).is_silent
    unasked.prompt("yes, close it")
    place.write(phase="done")
    assert unasked.on_stop().person.startswith("Issue #42 closed.")


def test_a_guard_that_another_hook_overtakes_sees_whose_the_claim_is(second: Session) -> None:
    """on-stop takes the claim over right after the waiter's guard has read who owned it: it goes on."""
    place = second.place
    overtaken = """
    . "${0%/*}/common"
    line() {
      ours "$1" && line=$(cat "$1") || return 1
      case $1 in */owner)
        echo "$CLAUDE_CODE_SESSION_ID" >"$1"
        echo "$CLAUDE_CODE_SESSION_ID $$" >$here/seen ;;
      esac
    }
    mine && echo mine
    """
    common = str(hook_script("ci-waiter"))
    done = subprocess.run(
        ["/bin/sh", "-c", overtaken, common],
        cwd=place.root,
        env=second.variables(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("mine\n", "")


def test_a_hook_that_another_one_overtakes_sees_whose_the_claim_is(second: Session) -> None:
    """The same within Python: the record was read before on-stop saved another and signed."""
    with second.place.tree() as tree:
        call = HookCall("ci-waiter", {}, TWO, tree.world, tree.claim_store)
        record = tree.claim_store.load(repair=False).record
        assert record is not None
        assert record.ownership.session == ONE
        tree.claim_store.marks.show_owner(TWO)
        signs_of_life.sign(tree.claim_store.folder, TWO, os.getpid())
        assert not call.is_held(record)
        assert replace(call, session="33333333-aaaa-4bbb-8ccc-000000000003").is_held(record)
