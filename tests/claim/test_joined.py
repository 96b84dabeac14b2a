"""Several steps in one request: which share it, and what becomes of it where one does not come about."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Literal, cast

import pytest

from lifecycle.api import Rejected, Wake
from lifecycle.claim.decisions.decide import apply_observation
from lifecycle.claim.engine import acting
from lifecycle.claim.record.sections import Trouble
from lifecycle.core import plan
from lifecycle.core.errors import LifecycleError, NoPermission, Transient
from lifecycle.core.light_dataclass import replace
from lifecycle.core.values.model import BoardItem, Look, Observation
from lifecycle.github.operations.joint_writes import JointWrites
from lifecycle.github.pulls.forge import GitHubForge
from lifecycle.sandbox.control.faults import Fault
from tests.batches import each_row
from tests.claim.steps import DONE, MERGED, READY
from tests.conftest import BRANCH, Place
from tests.factories import NOW, issue, observation, record, seen, texts
from tests.repeated import soaked

CARD = BoardItem("PVTI_lADOBx", "In Progress", "edouard-1738000000")
OPENING = {"writable": "R_1", "is_ahead": True, "item": CARD}
ENDING = {"writable": "R_1", "issue": issue(comments=()), "by_number": MERGED, "item": CARD}


def chain(observed: Observation, is_ready: bool = True, **world: Any) -> list[str]:
    """The names of the actions that share the first one's request."""
    is_ending = observed.by_number is not None
    made = record(**DONE | {"status": "Done"} if is_ending else READY)
    made = apply_observation(made, observed, NOW)
    made = replace(made, troubles=world.pop("troubles", {}))
    start = seen(made, observed=observed, wake=Wake.STOP, pushed_head="a" * 40)
    action = (
        plan.PostComment(42, "Done.", "m")
        if is_ending
        else plan.OpenPullRequest(f"octo-org:{BRANCH}", "main", "Fix", 42)
    )
    here = {
        "head": "octo-org/hello",
        "base": "octo-org/hello",
        "cards": SimpleNamespace(is_ready=lambda _: is_ready),
        "cache": SimpleNamespace(get=world.pop("kept", {}).get),
        "access": "me",
        "clock": SimpleNamespace(now=lambda: NOW),
        **world,
    }
    working = cast(
        "Any", SimpleNamespace(seen=start, world=SimpleNamespace(**here), is_apart=False)
    )
    found = acting._chain(working, action)
    return [type(one).__name__ for one in found]


@each_row(
    ("changes", "world", "found"),
    [
        (OPENING, {}, ["OpenPullRequest", "SetBoard"]),
        (OPENING | {"writable": ""}, {}, []),
        (OPENING | {"is_ahead": False}, {}, []),
        (OPENING | {"default_branch": "next"}, {}, []),
        (OPENING, {"head": "someone/hello"}, []),
        (OPENING, {"is_ready": False}, ["OpenPullRequest"]),
        (OPENING | {"item": None}, {}, ["OpenPullRequest"]),
        (OPENING | {"item": BoardItem("PVTI_lADOBx")}, {}, ["OpenPullRequest"]),
        (OPENING, {"kept": {acting._APART: {"until": NOW + 1, "access": "me"}}}, []),
        (
            OPENING,
            {"kept": {acting._APART: {"until": NOW, "access": "me"}}},
            ["OpenPullRequest", "SetBoard"],
        ),
        (
            OPENING,
            {"kept": {acting._APART: {"until": NOW + 1, "access": "other"}}},
            ["OpenPullRequest", "SetBoard"],
        ),
        (ENDING, {}, ["PostComment", "CloseIssue", "SetBoard"]),
        (ENDING | {"writable": ""}, {}, []),
        (ENDING, {"is_ready": False}, ["PostComment", "CloseIssue"]),
        (ENDING | {"issue": issue(comments=(), is_open=False)}, {}, ["PostComment", "SetBoard"]),
    ],
)
def test_what_shares_a_request_is_what_was_just_seen_to_be_taken(
    changes: dict[str, Any], world: dict[str, Any], found: list[str]
) -> None:
    """What `decide` has done next, up to the first that might be refused, or needs something read first."""
    assert chain(observation(**changes), **world) == found


def operations(place: Place) -> list[str]:
    """What GitHub was asked, in order: operations, and paths of REST."""
    return [one.operation or one.path.rsplit("/", 1)[-1] for one in place.requests()]


@pytest.fixture
def emptied(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A branch whose commits go between the look and the write, so that no pull request comes of it."""
    place.knows_board()
    place.ready(status="In Progress", last_synced_status="In Progress")
    place.control.set_field(42, "Status", "In Progress")
    place.control.set_field(42, "Agent", "octocat-1")
    real = GitHubForge.observe

    def looked(forge: GitHubForge, wanted: Look) -> Observation:
        found = real(forge, wanted)
        if wanted.writes:
            place.git("push", "--quiet", "--force", "origin", f"origin/main:{BRANCH}")
        return found

    monkeypatch.setattr(GitHubForge, "observe", looked)
    place.clear()
    return place


def test_a_pull_request_that_is_refused_has_its_card_back(emptied: Place) -> None:
    """Its commits went between look and write: the card was set, and is put back in the same wake."""
    place = emptied
    report = place.tree().tick(Wake.STOP)
    assert operations(place) == ["ObserveClaim", "OpenPullRequest", "pulls", "SetBoardFields"]
    assert place.pulls() == {}
    assert place.card()["Status"] == "In Progress"
    assert "no commit" in texts(report)
    assert "moved" not in texts(report)
    assert place.claim()["status"] == "In Progress"


def test_a_card_that_somebody_removes_meanwhile_is_said_to_be_gone(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token is not blamed, writes go on sharing a request, and later looks do not repeat it."""
    place.knows_board()
    place.ready(status="In Progress", last_synced_status="In Progress")
    place.control.set_field(42, "Status", "In Progress")
    place.control.set_field(42, "Agent", "octocat-1")
    real = JointWrites.send

    def late(self: JointWrites, *given: Any) -> Any:
        place.control.remove_item(42)
        return real(self, *given)

    monkeypatch.setattr(JointWrites, "send", late)
    tree = place.tree()
    said = " ".join(notice.text for notice in tree.tick(Wake.STOP).said)
    assert "PR #46 created" in said
    gone = "GitHub knows no such card or issue for the fields of a card on project 1 of octo-org"
    assert f"The card of #42 was not updated; issue and PR are not affected. {gone}" in said
    assert tree.world.cache.get(acting._APART) is None
    assert "#42 is not on project 1" in place.cli("tick").stdout
    assert "The card of #42 was not updated" not in place.cli("tick").stdout


@pytest.mark.parametrize("phase", ["coding", soaked("ready_for_pr")])
def test_a_card_that_may_have_been_written_is_put_back_at_the_next_stop_whatever_the_agent_does_then(
    emptied: Place, phase: str
) -> None:
    """Also where it goes back to coding, as it is told to: there no other look would come."""
    lost = Fault("status", status=502, when="after")
    emptied.control.add_fault(lost, operation="OpenPullRequest")
    report = emptied.tree().tick(Wake.STOP)
    assert isinstance(report.problem, Transient)
    assert emptied.card()["Status"] == "In Review"
    emptied.write(phase=phase)
    emptied.clear()
    emptied.clock.sleep(70)
    for _ in range(2):
        emptied.tree().tick(Wake.STOP)
    again = ["ObserveClaim", "pulls"] if phase == "ready_for_pr" else []
    assert operations(emptied) == [*again, "SetBoardFields"]
    assert emptied.card()["Status"] == "In Progress"


def test_a_move_while_it_was_unclear_whether_a_pull_request_was_opened_is_a_persons(
    place: Place,
) -> None:
    """The card says neither what it said before the lost request nor what that was to write: it stays."""
    place.knows_board()
    place.ready(status="In Progress", last_synced_status="In Progress")
    place.control.set_field(42, "Status", "In Progress")
    place.control.set_field(42, "Agent", "octocat-1")
    lost = Fault("status", status=502, when="after")
    place.control.add_fault(lost, operation="OpenPullRequest")
    assert isinstance(place.tree().tick(Wake.STOP).problem, Transient)
    place.control.set_field(42, "Status", "Todo")
    place.clock.sleep(70)
    said = texts(place.tree().tick(Wake.STOP))
    assert "PR #46 created" in said
    assert 'was moved to "Todo" (last set here: "In Progress")' in said
    place.tree().tick(Wake.TICK)
    assert place.card()["Status"] == "Todo"
    place.control.set_field(42, "Status", "In Progress")
    place.tree().tick(Wake.TICK)
    assert place.card()["Status"] == "In Review"


REFUSAL = NoPermission("GitHub refused it.")


def refused(
    monkeypatch: pytest.MonkeyPatch, then: Callable[[], None], error: LifecycleError = REFUSAL
) -> None:
    """Have GitHub take the comment and the card of a joint end, and not the closing between them."""
    real = JointWrites.send

    def send(joint: JointWrites, actions: Any, *more: Any) -> Any:
        comment, close, card = actions
        posted, moved = real(joint, (comment, card), *more)
        then()
        return posted, plan.Failed(close, error), moved

    monkeypatch.setattr(JointWrites, "send", send)


def test_a_closing_that_is_refused_has_its_card_back(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the same wake; nothing says "closed", and the end comes later."""
    place.merged()
    place.control.set_field(42, "Agent", "octocat-1")
    place.control.add_fault(
        Fault("status", status=403, method="PATCH", path=r"/issues/42$", count=9)
    )

    def end() -> None:
        assert place.card()["Status"] == "Done"

    with monkeypatch.context() as patch:
        refused(patch, end)
        report = place.tree().tick(Wake.STOP)
    assert isinstance(report.problem, Rejected)
    assert "not closed, and the claim was kept" in texts(report)
    assert (place.card()["Status"], place.card()["Agent"]) == ("In Review", "octocat-1")
    assert len(place.issue()["comments"]) == 1
    place.control.clear_faults()
    place.clock.sleep(601)
    assert "Issue #42 closed. Board → Done." in texts(place.tree().tick(Wake.STOP))
    assert place.card()["Status"] == "Done"
    assert not place.card().get("Agent")
    assert len(place.issue()["comments"]) == 1


@pytest.mark.parametrize("is_lost", [True, False])
def test_a_closing_that_is_refused_after_a_look_without_a_clear_answer_has_its_card_back(
    place: Place, monkeypatch: pytest.MonkeyPatch, *, is_lost: bool
) -> None:
    """The card is read in Done, where only that request can have set it: it is as before once more."""
    place.merged()
    place.control.set_field(42, "Agent", "octocat-1")
    place.control.add_fault(
        Fault("status", status=403, method="PATCH", path=r"/issues/42$", count=9)
    )

    def lose() -> None:
        if is_lost:
            raise Transient("Lost.", is_ambiguous=True)

    with monkeypatch.context() as patch:
        refused(patch, lose, Transient("Limited.", retry_after=60.0))
        assert isinstance(place.tree().tick(Wake.STOP).problem, Transient)
    assert (place.card()["Status"], place.card().get("Agent")) == ("Done", None)
    place.clock.sleep(70)
    assert "not closed, and the claim was kept" in texts(place.tree().tick(Wake.STOP))
    assert (place.card()["Status"], place.card().get("Agent")) == ("In Review", "octocat-1")
    place.control.clear_faults()
    place.clock.sleep(601)
    assert "Issue #42 closed. Board → Done." in texts(place.tree().tick(Wake.STOP))
    assert (place.card()["Status"], len(place.issue()["comments"])) == ("Done", 1)


@pytest.mark.parametrize("kind", ["CloseIssue", "PostComment", "OpenPullRequest"])
@pytest.mark.parametrize("is_final", [True, False])
def test_what_was_refused_once_is_alone_from_then_on(kind: str, *, is_final: bool) -> None:
    """Else its card would go to and fro with every attempt; what only failed may be joined again."""
    observed = observation(**OPENING if kind == "OpenPullRequest" else ENDING)
    whole = chain(observed)
    found = chain(observed, troubles={kind: Trouble("", "No.", 0.0, 1, is_final)})
    assert found == (whole[: whole.index(kind) + 1] if is_final else whole)


@pytest.mark.parametrize(
    "fault",
    [
        Fault("status", status=502, when="after"),
        soaked(Fault("graphql_error", when="after", null_paths=[["comment"]])),
        soaked(
            Fault("graphql_error", when="after", error_type="FORBIDDEN", null_paths=[["closed"]])
        ),
    ],
)
def test_what_may_have_been_done_is_not_sent_again_but_found_by_the_next_look(
    place: Place, fault: Fault
) -> None:
    """FORBIDDEN with a path, an outage of a field, a 502: all of it was done, and is found."""
    place.merged()
    place.control.add_fault(fault, operation="CommentAndClose")
    place.clear()
    assert isinstance(place.tree().tick(Wake.STOP).problem, Transient)
    assert operations(place) == ["ObserveClaim", "CommentAndClose"]
    place.clear()
    place.clock.sleep(70)
    report = place.tree().tick(Wake.STOP)
    assert operations(place) == ["ObserveClaim"]
    assert "Issue #42 closed. Board → Done." in texts(report)
    assert report.problem is None
    assert len(place.issue()["comments"]) == 1


def test_what_a_token_may_not_do_at_once_is_done_one_by_one_for_a_day(place: Place) -> None:
    """Nothing was done, so each is sent alone in the same wake; a day later it is tried together again."""
    place.knows_board()
    lacks = Fault("graphql_error", error_type="INSUFFICIENT_SCOPES", message="scopes: ['project']")
    place.control.add_fault(lacks, operation="OpenPullRequest", count=9)
    split = ["ObserveClaim", "pulls", "SetBoardFields"]
    for later, asked in ((0, ["ObserveClaim", "OpenPullRequest", *split[1:]]), (80_000, split)):
        place.clock.sleep(later)
        place.control.set_field(42, "Status", "Todo")
        place.ready()
        place.clear()
        place.tree().tick(Wake.STOP)
        assert operations(place) == asked
        place.control.close_pull(place.pull())
        place.forget()
    place.control.clear_faults()
    place.clock.sleep(10_000)
    place.control.set_field(42, "Status", "Todo")
    place.ready()
    place.clear()
    place.tree().tick(Wake.STOP)
    assert operations(place) == ["ObserveClaim", "OpenPullRequest"]


@pytest.mark.parametrize("refuses_all", [True, False])
def test_what_was_refused_together_is_not_sent_together_again(
    place: Place, monkeypatch: pytest.MonkeyPatch, *, refuses_all: bool
) -> None:
    """Each write is sent alone behind that, in the same look, and nothing is told of the first refusal."""
    place.merged()
    sent: list[int] = []
    real = JointWrites.send

    def send(joint: JointWrites, actions: Any, *more: Any) -> Any:
        sent.append(len(actions))
        refusals = tuple(plan.Failed(action, Rejected("No.")) for action in actions)
        return refusals if refuses_all else (refusals[0], *real(joint, actions[1:], *more))

    monkeypatch.setattr(JointWrites, "send", send)
    report = place.tree().tick(Wake.STOP)
    assert (sent, report.problem, place.has_claim()) == ([3], None, False)
    assert "Issue #42 closed. Board → Done." in texts(report)
    assert len(place.issue()["comments"]) == 1


@pytest.mark.parametrize("when", ["after", soaked("before")])
def test_what_is_unclear_is_not_sent_again_by_the_same_look(
    place: Place, when: Literal["before", "after"]
) -> None:
    """Not even what could be repeated: the next look reads first, and goes on from what it shows."""
    place.merged()
    place.control.add_fault(Fault("status", status=502, when=when), operation="CommentAndClose")
    place.clear()
    report = place.tree().tick(Wake.STOP)
    assert operations(place) == ["ObserveClaim", "CommentAndClose"]
    assert (isinstance(report.problem, Transient), "closed" in texts(report)) == (True, False)
    for _ in range(3):
        place.clock.sleep(70)
        place.tree().tick(Wake.STOP)
    assert (place.issue()["state"], len(place.issue()["comments"])) == ("closed", 1)
    assert (place.card()["Status"], place.has_claim()) == ("Done", False)


@pytest.mark.parametrize(
    "path", [["comment", "commentEdge"], soaked(["comment", "commentEdge", "node", "body"])]
)
def test_a_comment_of_which_only_the_showing_fails_is_not_posted_again(
    place: Place, path: list[str | int]
) -> None:
    """A problem below the field says that it was done, also where the reads that follow lag."""
    place.merged()
    place.control.set_lag(comments=1)
    hidden = Fault(
        "graphql_error", when="after", error_type="FORBIDDEN", message="No.", null_paths=[path]
    )
    place.control.add_fault(hidden, operation="CommentAndClose")
    for _ in range(3):
        place.tree().tick(Wake.STOP)
        place.clock.sleep(70)
    assert (len(place.issue()["comments"]), place.has_claim()) == (1, False)


@pytest.mark.parametrize("is_whole", [False, True])
def test_a_limit_ends_the_look_and_is_waited_for(
    place: Place, monkeypatch: pytest.MonkeyPatch, *, is_whole: bool
) -> None:
    """Of the whole request or of one field behind another: nothing is asked before its time is over.

    Where nothing was done, no card was written ahead, so that none is read back meanwhile.
    """
    place.merged()
    with monkeypatch.context() as patch:
        if is_whole:
            limit = Fault("status", status=403, headers={"Retry-After": "300"})
            place.control.add_fault(limit, operation="CommentAndClose")
        else:
            refused(patch, lambda: None, Transient("Limited.", retry_after=300.0))
        place.clear()
        place.tree().tick(Wake.STOP)
        assert operations(place) == ["ObserveClaim", "CommentAndClose"]
    assert place.claim()["last_synced_status"] == ("In Review" if is_whole else "Done")
    place.clear()
    place.clock.sleep(200)
    place.tree().tick(Wake.STOP)
    assert operations(place) == []
    place.clock.sleep(101)
    assert "Issue #42 closed. Board → Done." in texts(place.tree().tick(Wake.STOP))
    assert len(place.issue()["comments"]) == 1


@pytest.mark.parametrize("is_whole", [True, soaked(False)])
def test_no_secret_of_the_environment_is_told_with_what_a_joint_write_was_refused_for(
    place: Place, monkeypatch: pytest.MonkeyPatch, *, is_whole: bool
) -> None:
    """As with every other write: neither said nor kept."""
    place.merged()
    secret = "correct-horse-battery"
    error = Transient(f"Not {secret}.", is_ambiguous=not is_whole)

    def send(_: JointWrites, actions: Any, *more: Any) -> Any:
        if is_whole:
            raise error
        return tuple(plan.Failed(action, error) for action in actions)

    monkeypatch.setattr(JointWrites, "send", send)
    report = place.tree(SOME_PASSWORD=secret).tick(Wake.STOP)
    assert report.problem is error
    assert error.sentence == "Not ***."
    assert secret not in (place.root / ".lifecycle/state.json").read_text()
