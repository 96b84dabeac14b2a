"""What is written because checks failed, and what of it holds the end."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from lifecycle.claim.decisions.decide import apply_fact, decide, imagine, still_wanted
from lifecycle.claim.decisions.pull import review
from lifecycle.claim.record import journalling
from lifecycle.claim.record.claim_file import complaint
from lifecycle.claim.record.sections import Intent, Trouble
from lifecycle.claim.record.state import Record, fold, kind_of, mark_of
from lifecycle.core import plan
from lifecycle.core.messages import review_messages
from lifecycle.core.plan import Wake
from lifecycle.core.values.model import BoardItem, PullRequest, PullState
from lifecycle.feedback.waiting import endings
from lifecycle.storage import journal
from tests.claim.steps import ITEM, REVIEW
from tests.factories import NOW, SHA, observation, pull, record, seen, texts

WANTED = {"pull.reruns": ((7, 1), (8, 2)), "pull.tampering": ("skips a test in a.py", "b")}
MARK = f"<!-- lifecycle:weakened head={SHA[:12]} count=2 -->"
REMARK = plan.RemarkOnPull(107, review_messages.weakened(WANTED["pull.tampering"]), MARK)  # type: ignore[arg-type]
LINK = plan.LinkPullRequest(7, 42, "Refs #42")


def wanting(**more: object) -> Record:
    """A claim in review with jobs to be run again, and two remarks to be made."""
    return record(**REVIEW, memory={**WANTED, **more})


def test_jobs_are_run_again_and_then_the_remark_is_made() -> None:
    """One write after the other, each until it is a fact; then nothing is left."""
    snapshot = seen(wanting(), observed=observation(by_number=pull(), item=ITEM))
    done = []
    while (action := decide(snapshot).action) is not None:
        done.append(action)
        snapshot = apply_fact(snapshot, imagine(action))
    assert done == [plan.RerunJobs(7, 1), plan.RerunJobs(8, 2), REMARK]
    assert (snapshot.record.pull.reruns, snapshot.record.pull.remarked) == ((), 2)
    assert snapshot.record.pull.tampering == WANTED["pull.tampering"]


def test_a_remark_mentions_nobody_and_closes_nothing() -> None:
    """A line of the diff in the pull request's text is data: `@Disabled` is a person's name to GitHub."""
    remark = review_messages.weakened(['skips a test in T.java: "@Disabled // fixes #7"'])
    assert remark.endswith('- skips a test in T.java: "@ Disabled // fixes # 7"')


def test_what_was_remarked_is_not_remarked_again() -> None:
    """What comes later is a remark of its own, without what stands there."""
    known = wanting(**{"pull.reruns": (), "pull.remarked": 1})
    action = review.failing_step(seen(known), pull())
    assert action == replace(REMARK, remark=review_messages.weakened(["b"]))
    assert "skips" not in review_messages.weakened(["b"])
    assert (
        review.failing_step(seen(wanting(**{"pull.reruns": (), "pull.remarked": 2})), pull())
        is None
    )


def test_a_refused_rerun_is_a_question_and_keeps_nothing_else_back() -> None:
    """It is not sent again at each look; the remark is made, and a wait ends: somebody is needed.

    That jobs are run again is not said any more; a refusal that the agent can mend is its own.
    """
    action = plan.RerunJobs(7, 1)
    refused = wanting(**{"pull.reruns": ((7, 1),)})
    trouble = Trouble(mark_of(action), "no right.", NOW + 60, is_final=True)
    refused = replace(refused, troubles={kind_of(action): trouble})
    shown = seen(refused, observed=observation(by_number=pull(), item=ITEM))
    assert review.failing_step(shown, pull()) == REMARK
    (told,) = decide(shown).notices
    assert (told.audience, told.ends) == (plan.Audience.ASK, ("rerun",))
    assert told.text.startswith(
        "CI jobs that failed because of their runner were not run again: no right."
    )
    assert "ask the user to run them again" in told.text
    assert endings.news_ends([told], endings.WaitFor.CI) is endings.Ending.PERSON
    mine = replace(refused, troubles={"RerunJobs": replace(trouble, for_agent=True)})
    (told,) = decide(replace(shown, record=mine)).notices
    assert told.audience is plan.Audience.ACT
    asked = replace(shown, wake=Wake.TICK)
    assert review.failing_step(asked, pull()) == action
    for kind in ("RerunJobs", "RemarkOnPull"):
        assert still_wanted(shown, kind)
        assert not still_wanted(seen(record()), kind)
        assert "Why." in complaint(kind, "Why.", 42)


def test_facts_settle_what_was_tried() -> None:
    """A rerun takes its run off, whatever the attempt; another one stays."""
    before = wanting(**{"pull.checks": {"sha": SHA}})
    before = replace(before, troubles={"RerunJobs": Trouble("x", "y", 0.0)})
    after = fold(before, plan.Done(plan.RerunJobs(7, 1)), NOW)
    assert (after.pull.reruns, after.troubles) == (((8, 2),), {})
    assert before.pull.checks is not None
    assert after.pull.checks is None  # what the last look read of them does not hold any more
    before = replace(wanting(), troubles={"RemarkOnPull": Trouble("x", "y", 0.0)})
    after = fold(before, plan.Done(REMARK), NOW)
    assert (after.pull.remarked, after.troubles) == (2, {})
    before = replace(wanting(), troubles={"LinkPullRequest": Trouble("x", "y", 0.0)})
    assert fold(before, plan.Done(LINK), NOW).troubles == {}


def test_a_record_comes_back_as_it_was_kept() -> None:
    """Pairs and texts are tuples again, so that nothing seems to have changed."""
    made = wanting(**{"pull.failures": {"number": 107, "reds": []}, "pull.remarked": 1})
    assert Record.from_json(made.as_json()) == made


def test_weakened_checks_are_in_the_question_about_closing() -> None:
    """And only then; all of them up to a few."""
    merged = observation(by_number=pull(state=PullState.MERGED, merged_at=NOW - 5), item=ITEM)
    held = texts(decide(seen(wanting(), observed=merged)))
    assert "Its checks were weakened after they failed: skips a test in a.py; b." in held
    plain = texts(decide(seen(record(**REVIEW), observed=merged)))
    assert "weakened" not in plain
    assert "Should I close issue #42?" in plain
    assert review_messages.holds([str(n) for n in range(7)]).endswith("0; 1; 2; 3; 4 (+2 more).")


def test_the_journal_has_flakes_and_both_writes() -> None:
    """A flake once for the check, what failed in it and the commit."""
    made = wanting(**{"pull.head": SHA})
    one, other = journalling.flaked(made, [("test", "test_adds"), ("lint", "")], NOW)
    assert (one.system, one.kind, one.source, one.target) == (
        journal.CLAIM,
        journal.FLAKE,
        "test",
        "test_adds",
    )
    assert (one.at, one.task, one.detail) == (NOW, "#42", {"pull": 107, "head": SHA})
    assert one.key == f"{made.claim_key}/flake/{SHA}/test/test_adds" != other.key
    (rerun,) = journalling.wrote(plan.RerunJobs(7, 1), plan.Done(plan.RerunJobs(7, 1)), made, NOW)
    assert (rerun.target, rerun.detail) == ("failed jobs run again", {"run": 7})
    assert rerun.key.endswith("/RerunJobs/RerunJobs(run=7, attempt=1)")
    (remark,) = journalling.wrote(REMARK, plan.Done(REMARK), made, NOW)
    assert (remark.target, remark.detail) == ("remark in the pull request", {"pull": 107})


ALL_KINDS = (
    *("OpenPullRequest", "LinkPullRequest", "RemarkOnPull", "RerunJobs", "AddToBoard", "SetBoard"),
    *("PostComment", "CloseIssue", "Unassign", "ReleaseLease", "LeadLease", "SetLinked"),
)


@pytest.mark.parametrize(
    ("kind", "fact"),
    [
        ("OpenPullRequest", plan.PullRequestOpened(pull())),
        ("LinkPullRequest", plan.Done(LINK)),
        ("RemarkOnPull", plan.Done(REMARK)),
        ("RerunJobs", plan.Done(plan.RerunJobs(7, 1))),
        ("AddToBoard", plan.OnBoard(ITEM)),
        ("SetBoard", plan.BoardIs(ITEM, None, None)),
        ("PostComment", plan.Done(plan.PostComment(42, "b", "<!-- m -->"))),
        ("CloseIssue", plan.Done(plan.CloseIssue(42))),
        ("Unassign", plan.Done(plan.Unassign(42, "maria"))),
        ("ReleaseLease", plan.Done(plan.ReleaseLease(42, SHA))),
        ("LeadLease", plan.LeaseIs(SHA)),
        ("SetLinked", plan.LinkedIs("demo-1", "closed")),
    ],
)
def test_a_fact_settles_what_was_tried_of_its_own_kind_alone(kind: str, fact: plan.Fact) -> None:
    """What is done was not refused and need not be looked for; what else was tried still has to be."""
    before = replace(
        wanting(),
        troubles={name: Trouble("x", "y", 0.0) for name in ALL_KINDS},
        intents={name: Intent("x", NOW) for name in ALL_KINDS},
    )
    after = fold(before, fact, NOW)
    others = [name for name in ALL_KINDS if name != kind]
    assert [*after.troubles] == [*after.intents] == others


@pytest.mark.parametrize(
    ("action", "fact"),
    [
        (
            plan.OpenPullRequest("octo-org:b:c", "main", "Fix", 42, SHA),
            plan.PullRequestOpened(
                PullRequest(
                    *(0, "(new)", "Fix", PullState.OPEN, "b:c", "octo-org", ""),
                    body="#42",
                    opened_at=inf,
                )
            ),
        ),
        (LINK, plan.Done(LINK)),
        (
            plan.AdvancePullRequest(7, SHA, plan.AUTO_MERGE),
            plan.Done(plan.AdvancePullRequest(7, SHA, plan.AUTO_MERGE)),
        ),
        (
            plan.RemarkOnPull(7, "r", "<!-- m -->"),
            plan.Done(plan.RemarkOnPull(7, "r", "<!-- m -->")),
        ),
        (plan.RerunJobs(7, 2), plan.Done(plan.RerunJobs(7, 2))),
        (plan.AddToBoard(42, "I_1"), plan.OnBoard(BoardItem("(new)"))),
        (
            plan.PostComment(42, "b", "<!-- m -->"),
            plan.Done(plan.PostComment(42, "b", "<!-- m -->")),
        ),
        (plan.SetLinked("beads", "bd-1", "closed"), plan.LinkedIs("bd-1", "closed")),
        (plan.CloseIssue(42), plan.Done(plan.CloseIssue(42))),
        (plan.Unassign(42, "maria"), plan.Done(plan.Unassign(42, "maria"))),
        (plan.ReleaseLease(42, SHA), plan.Done(plan.ReleaseLease(42, SHA))),
        (plan.LeadLease(42, SHA, "b"), plan.LeaseIs("(new)")),
        (plan.ForgetClaim(), plan.Done(plan.ForgetClaim())),
        (
            plan.SetBoard("I", "Done", "x"),
            plan.BoardIs(BoardItem("I", "Done", "x"), "Done", "x"),
        ),
        (
            plan.SetBoard("I", "Done", None, clear_agent=True),
            plan.BoardIs(BoardItem("I", "Done", None), "Done", ""),
        ),
    ],
)
def test_a_dry_run_imagines_that_what_is_wanted_came_true(
    action: plan.Action, fact: plan.Fact
) -> None:
    """Of the same issue, pull request, run and person, and nothing else."""
    assert imagine(action) == fact
