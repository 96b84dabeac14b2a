"""Phases that somebody wrote into the claim: GitHub says what they are, at the next wake of any kind."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.claim.decisions.decide import decide, look
from lifecycle.claim.engine import briefing
from lifecycle.core.plan import Audience, Wake
from lifecycle.core.values.model import PullState
from tests.claim.steps import rest, set_by
from tests.conftest import Place
from tests.factories import observation, pull, record, seen, texts, values

WRITTEN = ["pr_created", "checks_running", "pr_closed"]


def by_hand(phase: str, before: str = "coding", **changes: Any) -> Any:
    """A claim without a pull request, whose phase somebody wrote over another one."""
    content = values(phase=phase, **changes)
    memory = {"past": (values(phase=before), content), "judged": before}
    return record(memory=memory, phase=phase, **changes)


@pytest.mark.parametrize("wake", [Wake.STOP, Wake.IDLE, Wake.TICK])
@pytest.mark.parametrize("phase", [*WRITTEN, "merged_detected"])
def test_a_phase_that_github_was_not_asked_about_is_looked_at(phase: str, wake: Wake) -> None:
    """Whoever wakes us asks GitHub; one that GitHub has confirmed costs a stop nothing."""
    assert look(seen(by_hand(phase), wake=wake)) is not None
    known = record(phase=phase, pr_number=107, memory={"judged": phase})
    assert look(seen(known, wake=Wake.STOP)) is None


@pytest.mark.parametrize("wake", [Wake.STOP, Wake.IDLE, Wake.TICK])
@pytest.mark.parametrize("phase", WRITTEN)
def test_without_a_pull_request_it_goes_back_with_a_word(phase: str, wake: Wake) -> None:
    """No PR: coding again, the Status with it, one sentence to the agent, and no "PR #0"."""
    made = seen(by_hand(phase, status="In Review"), observed=observation(), wake=wake)
    step = decide(made)
    assert set_by(step) == {"phase": "coding", "status": "In Progress"}
    assert [say.audience for say in step.notices] == [Audience.ACT]
    assert f"cannot be in phase {phase}; it is coding again" in texts(step)
    assert "#0" not in texts(step)
    assert rest(made)[1].claim.phase == "coding"


def test_it_goes_back_to_where_it_was() -> None:
    """A hand-off that somebody overwrote is one again, and keeps its Status, also if it has none."""
    for status in ("In Review", None):
        made = by_hand("pr_created", "ready_for_pr", status=status)
        step = decide(seen(made, observed=observation()))
        assert set_by(step) == {"phase": "ready_for_pr"}


@pytest.mark.parametrize(
    ("state", "phase"),
    [
        (PullState.OPEN, "pr_created"),
        (PullState.MERGED, "merged_detected"),
        (PullState.CLOSED, "pr_closed"),
    ],
)
def test_with_a_pull_request_it_is_that_ones(state: PullState, phase: str) -> None:
    """The branch's PR is the claim's, in the phase of its state, also at a stop."""
    shown = observation(by_branch=(pull(state=state),))
    if state is PullState.CLOSED:
        shown = observation(by_number=pull(state=state))
    step = decide(seen(by_hand("pr_created"), observed=shown, wake=Wake.STOP))
    assert set_by(step)["pr_number"] == 107
    assert set_by(step).get("phase", "pr_created") == phase
    assert "PR #0" not in texts(step)


def test_what_was_confirmed_and_is_not_shown_now_stays() -> None:
    """A read that lags behind takes no claim back: the PR is missed with a word, as ever."""
    known = record(phase="checks_running", pr_number=107, memory={"judged": "checks_running"})
    step = decide(seen(known, observed=observation()))
    assert "phase" not in set_by(step)
    assert "GitHub shows no pull request" in texts(step)


@pytest.mark.parametrize("phase", [*WRITTEN, "merged_detected"])
def test_until_then_nobody_says_that_it_is_so(phase: str) -> None:
    """Neither "is watched" nor the question: `status` says what is written and who asks GitHub."""
    lines = " ".join(briefing.claim_lines(by_hand(phase, pr_number=107)))
    assert "the next stop asks GitHub" in lines
    assert "watched" not in lines
    assert "Should I" not in lines


def test_the_whole_story_of_a_phase_by_hand(place: Place) -> None:
    """Written, judged at the stop, worked on, handed off: the PR is made, and the claim goes on."""
    place.ready(phase="coding", status="In Progress", last_synced_status="In Progress")
    place.tree().tick(Wake.STOP)
    place.write(phase="checks_running")
    report = place.tree().tick(Wake.STOP)
    assert "it is coding again" in texts(report)
    assert place.claim()["phase"] == "coding"
    place.clear()
    assert not place.tree().tick(Wake.STOP).said
    assert place.requests() == []
    place.write(phase="pr_created")
    handed = place.cli("handoff", "--summary", "Fix race condition")
    assert handed.returncode == 0, handed.stderr
    assert "None" not in handed.stdout
    assert place.claim()["phase"] == "ready_for_pr"
    assert "PR #46 created" in texts(place.tree().tick(Wake.STOP))


def test_a_task_whose_lease_somebody_pushed_again_is_handed_off_as_before(place: Place) -> None:
    """Without its lease a hand-off refuses and notes the loss; the next one sees that it is over."""
    ref, branch = "refs/agent-claims/42", place.tree().claim(42).record.claim.branch
    place.work(branch, push=False)
    sha = place.git("ls-remote", "origin", ref).split()[0]
    place.git("push", "origin", f":{ref}")
    assert place.cli("handoff", "--summary", "Fix race condition").returncode == 1
    place.git("push", "origin", f"{sha}:{ref}")
    handed = place.cli("handoff", "--summary", "Fix race condition")
    assert handed.returncode == 0, handed.stderr
    record = place.tree().claim_store.load().record
    assert record is not None
    assert not record.is_lost


def test_a_closed_pull_request_gets_a_second_one_only_by_command(place: Place) -> None:
    """Same commits, the closing unseen or told: another hand-off opens none; `handoff` then opens one."""
    place.ready(phase="ready_for_pr")
    place.tree().tick(Wake.STOP)
    place.control.close_pull(46)
    for _ in range(2):
        place.write(phase="ready_for_pr")
        assert "PR #46 was closed without being merged" in texts(place.tree().tick(Wake.STOP))
        assert (place.claim()["phase"], [*place.pulls()]) == ("pr_closed", [46])
    assert place.cli("handoff", "--summary", "Again").returncode == 0
    assert "PR #47 created" in texts(place.tree().tick(Wake.STOP))
    place.control.close_pull(47)
    place.tree().tick(Wake.TICK)
    place.work(place.claim()["branch"])
    place.write(phase="ready_for_pr")
    assert "PR #48 created" in texts(place.tree().tick(Wake.STOP))
