"""`lifecycle nudge`: the whole phase table by hand, each move with its reason."""

from __future__ import annotations

import json

import pytest

from lifecycle.api import CLAIM, IllegalMove, Phase
from lifecycle.claim.commands.task_worktree import SESSION
from lifecycle.claim.record.state import NUDGES_KEPT, Record
from tests.cli.outcome import ok, refused
from tests.conftest import BRANCH, Place

SOAKED = pytest.mark.soak(
    "cli/test_nudge.py::test_the_command_wants_a_reason_and_records_it",
    "claim/test_walk.py::test_a_command_walks_the_cell",
)

ALL = [(one, other) for one in Phase for other in Phase if one is not other]
LEGAL = [(one, other) for one, other in ALL if other in CLAIM.legal(one)]


def by_hand(place: Place, phase: Phase) -> None:
    """A claim that somebody wrote, in a repository where nothing of it was pushed."""
    place.write(
        schema_version=1,
        item_id=place.item_id(),
        issue_number=42,
        branch=BRANCH,
        agent_id="octocat-1",
        phase=phase.value,
        summary="Fix it",
        status="In Progress",
        pr_number=None,
        last_check_poll=None,
        last_synced_status=None,
    )


def recorded(place: Place) -> Record:
    """The claim as the engine remembers it."""
    record = place.tree().status()
    assert record is not None
    return record


def test_every_legal_move_is_made_and_recorded_and_no_other_is(place: Place) -> None:
    """The whole table: what it has is moved and kept with its reason; the rest leaves no trace."""
    assert len(LEGAL) > 15
    path = place.root / ".agent-claim.json"
    state = place.root / ".lifecycle/state.json"
    for source, target in ALL:
        state.unlink(missing_ok=True)
        by_hand(place, source)
        before = path.read_bytes()
        if (source, target) in LEGAL:
            place.tree().move(target, reason=f"from {source}\n to {target}")
            (nudge,) = recorded(place).nudges
            assert (nudge.source, nudge.target) == (source, target)
            assert nudge.reason == f"from {source} to {target}"
            assert nudge.by == "person"
            assert abs(nudge.at - place.clock.now()) < 60
            assert place.claim()["phase"] == target
            log = (place.root / ".lifecycle/log").read_text()
            assert f"nudge by person: {source} to {target}: from {source} to {target}" in log
        else:
            with pytest.raises(IllegalMove) as caught:
                place.tree().move(target, reason="no")
            assert all(legal in caught.value.sentence for legal in CLAIM.legal(source))
            assert path.read_bytes() == before
            assert recorded(place).nudges == ()


def test_a_program_may_name_a_phase_by_its_word(place: Place) -> None:
    """A phase is a text, and the text alone moves the claim as the phase does."""
    by_hand(place, Phase.READY_FOR_PR)
    assert place.tree().move("coding", reason="no").claim.phase == "coding"  # type: ignore[arg-type]
    for is_forced in (False, True):
        with pytest.raises(IllegalMove, match="no phase nope, so the claim was left unchanged"):
            place.tree().move("nope", force=is_forced)  # type: ignore[arg-type]


def test_the_command_wants_a_reason_and_records_it(place: Place) -> None:
    """Without one it is a usage error that names it; with one the move, its reason and the look."""
    by_hand(place, Phase.READY_FOR_PR)
    before = (place.root / ".agent-claim.json").read_bytes()
    for arguments in ([], ["--reason", "  "]):
        done = place.cli("nudge", "coding", *arguments)
        assert done.returncode == 2
        assert "--reason" in done.stderr
    assert (place.root / ".agent-claim.json").read_bytes() == before
    assert "would move #42" in ok(place.cli("nudge", "coding", "--dry-run"))
    ok(place.cli("nudge", "coding", "--reason", "more to do", **{SESSION: "s-1"}))
    (nudge,) = recorded(place).nudges
    assert (nudge.reason, nudge.by) == ("more to do", "agent")
    sentence = refused(place.cli("nudge", "done", "--reason", "try"))
    assert "ready_for_pr" in sentence
    assert len(recorded(place).nudges) == 1


@SOAKED
def test_a_nudge_to_where_it_is_already_is_no_nudge(place: Place) -> None:
    """Refused in a sentence, dry or not; no reason is recorded and nothing is written."""
    by_hand(place, Phase.CODING)
    for arguments in (["--reason", "again"], ["--dry-run"]):
        assert "#42 is already in coding" in refused(place.cli("nudge", "coding", *arguments))
    assert recorded(place).nudges == ()


@SOAKED
def test_the_newest_reasons_are_kept(place: Place) -> None:
    """Twenty moves are remembered; the oldest go first."""
    by_hand(place, Phase.CODING)
    for number in range(NUDGES_KEPT + 5):
        tree = place.tree()
        target = Phase.READY_FOR_PR if number % 2 == 0 else Phase.CODING
        tree.move(target, reason=f"move {number}")
    reasons = [nudge.reason for nudge in recorded(place).nudges]
    assert reasons == [f"move {number}" for number in range(5, NUDGES_KEPT + 5)]


@SOAKED
def test_what_github_contradicts_is_said_by_the_look_that_follows(place: Place) -> None:
    """A nudge to merged_detected without a merge: the phase goes back, with the reason why."""
    by_hand(place, Phase.READY_FOR_PR)
    done = place.cli("nudge", "merged_detected", "--reason", "I think it merged", "--json")
    data = json.loads(done.stdout)
    assert data["claim"]["phase"] == "coding"
    text = data["said"][0]["text"]
    assert "no merged PR" in text
    assert "not closed" not in text, "nobody asked to close"
    assert [nudge.target for nudge in recorded(place).nudges] == ["merged_detected"]


def test_a_pull_request_that_is_open_is_not_denied_once_the_claim_is_back_in_coding(
    place: Place,
) -> None:
    """What waits for it, hands off or looks says that it is open, or merged; it is opened once."""
    place.ready()
    for command in (["tick"], ["nudge", "coding", "--reason", "more"]):
        ok(place.cli(*command))
    assert "is back in coding, so PR #46 is not watched" in refused(place.cli("wait"))
    place.work()
    said = ok(place.cli("handoff", "--summary", "Fix")) + ok(place.cli("status"))
    assert said.count("PR #46 has the pushed commits; to look at it: lifecycle tick") == 2
    assert ok(place.cli("tick")).count("was already open") == 0

    ok(place.cli("nudge", "coding", "--reason", "more"))
    place.control.merge_pull(46)
    place.work()
    ok(place.cli("handoff", "--summary", "More"))
    said = ok(place.cli("tick"))
    assert "PR #46 has been merged in the meantime; later commits go into another PR." in said
    assert "PR #47 created" in said

    ok(place.cli("nudge", "coding", "--reason", "more"))
    place.control.merge_pull(47)
    assert "PR #47 merged! Should I close issue #42?" in ok(place.cli("tick"))
    place.write(phase="coding")  # no: there is more to do
    ok(place.cli("tick"))
    assert place.claim()["phase"] == "coding"


@SOAKED
def test_a_nudge_to_done_is_told_on_the_issue(place: Place) -> None:
    """The design's line first, then who said yes and why."""
    number = place.merged()
    place.write(phase="merged_detected")
    ok(place.cli("nudge", "done", "--reason", "the user said yes by mail"))
    (comment,) = place.issue()["comments"]
    assert comment["body"].splitlines()[:2] == [
        f"Completed in #{number}",
        "Nudged to done: the user said yes by mail",
    ]


@SOAKED
def test_a_forced_done_without_a_merge_is_an_override_with_the_reason(place: Place) -> None:
    """--force skips the table; the issue says that nothing was merged, and why."""
    by_hand(place, Phase.CODING)
    ok(place.cli("nudge", "done", "--force", "--reason", "done elsewhere"))
    (comment,) = place.issue()["comments"]
    assert "by explicit override: done elsewhere" in comment["body"]
    assert comment["body"].count("done elsewhere") == 1


@SOAKED
def test_close_is_told_on_the_issue_as_the_yes(place: Place) -> None:
    """`lifecycle close` is a yes by itself, and the comment says so."""
    number = place.merged()
    ok(place.cli("close"))
    (comment,) = place.issue()["comments"]
    assert comment["body"].splitlines()[:2] == [
        f"Completed in #{number}",
        "Confirmed with `lifecycle close`.",
    ]


@SOAKED
def test_a_secret_in_a_reason_goes_nowhere(place: Place) -> None:
    """The token's value is replaced in record, log and comment."""
    place.merged()
    place.write(phase="merged_detected")
    token = place.environment["GH_TOKEN"]
    ok(place.cli("nudge", "done", "--reason", f"ran with {token}"))
    (comment,) = place.issue()["comments"]
    kept = "".join(
        path.read_text() for path in (place.root / ".lifecycle").iterdir() if path.is_file()
    )
    assert "Nudged to done: ran with ***" in comment["body"]
    assert token not in kept + comment["body"]


@SOAKED
def test_the_session_that_claims_or_hands_off_is_recorded(place: Place) -> None:
    """By claim, by claiming again, by handing off; a person's command changes nothing."""
    ok(place.cli("claim", "42", **{SESSION: "s-1"}))
    assert recorded(place).ownership.session == "s-1"
    ok(place.cli("claim", "42"))
    assert recorded(place).ownership.session == "s-1"
    ok(place.cli("claim", "42", **{SESSION: "s-2"}))
    assert recorded(place).ownership.session == "s-2"
    place.work(place.claim()["branch"])
    ok(place.cli("handoff", "--summary", "Fix", **{SESSION: "s-3"}))
    assert recorded(place).ownership.session == "s-3"
    ok(place.cli("tick"))
    ok(place.cli("handoff", "--summary", "Fix", **{SESSION: " s-4\x1b "}))
    assert recorded(place).ownership.session == "s-4", "as a hook cleans the id"


def test_what_ends_is_not_handed_off(place: Place) -> None:
    """One sentence: what is so, that nothing was pushed, and which command says what is next."""
    by_hand(place, Phase.DONE)
    before = (place.root / ".agent-claim.json").read_bytes()
    said = refused(place.cli("handoff", "--summary", "More"))
    assert said.endswith(
        "#42 is in phase done, which is too late for a hand-off, so nothing was pushed; see what is next: "
        "lifecycle status\n"
    )
    assert (place.root / ".agent-claim.json").read_bytes() == before
    with pytest.raises(IllegalMove):
        place.tree().hand_off("More")


def test_who_goes_on_after_the_merge_is_not_asked_to_close(place: Place) -> None:
    """A forced move back ends the question: the next looks do not put it beside the work that goes on."""
    place.ready()
    tree = place.tree()
    tree.tick()
    place.control.merge_pull(place.pull())
    assert "Should I close issue #42?" in place.cli("tick").stdout
    for words in (("nudge", "coding", "--reason", "more", "--force"), ("tick",), ("status",)):
        assert "Should I close" not in ok(place.cli(*words)), words
    assert place.claim()["phase"] == "coding"
