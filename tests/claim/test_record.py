"""What the engine remembers of a claim, and how each fact changes it: values in, values out."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from lifecycle.claim.record.sections import (
    CardRecord,
    Intent,
    MergeRecord,
    Nudge,
    Releasing,
    Trouble,
)
from lifecycle.claim.record.state import Record, fold, is_same, mark_of
from lifecycle.core import plan
from lifecycle.core.errors import BadCredentials, LifecycleError, NothingToMerge, Transient
from lifecycle.core.tracker import Link
from lifecycle.core.values.model import BoardItem
from tests.batches import wrong
from tests.claim.steps import DONE
from tests.factories import BRANCH, NOW, SHA, pull, record, values


def leaves(value: Any) -> list[Any]:
    """All that stands in JSON values, whatever it stands in."""
    if not isinstance(value, dict):
        return [value]
    return [leaf for inner in value.values() for leaf in leaves(inner)]


def test_what_nobody_remembers_is_nothing() -> None:
    """A claim that was just found has done, said and seen nothing; a failure is the first one."""
    assert [leaf for leaf in leaves(Record(values={}).as_json()) if leaf] == []
    assert Trouble("m", "no", 1.0) == Trouble(
        "m", "no", 1.0, 1, is_final=False, for_agent=False, is_of_access=False
    )
    assert Intent("m", 1.0) == Intent("m", 1.0, 0)
    assert Releasing(1.0) == Releasing(1.0, "", "", "", is_begun=False, by="")


def test_a_claim_is_known_by_what_it_is_about() -> None:
    """Its issue and branch, and when it was made; whose it is by now, and how it will have ended."""
    made = record(memory={"created_at": 7.9, "ownership.session": "one"})
    assert (made.claim_key, made.end) == ("42@7", "closed")
    inherited = [
        replace(made, ownership=replace(made.ownership, inherited=by, session=now)).is_inherited
        for by, now in (("", ""), ("", "one"), ("one", "one"), ("one", "two"))
    ]
    assert inherited == [False, False, True, False]
    assert record(memory={"ending.releasing": Releasing(NOW)}).end == "released"


def test_each_projection_is_a_merge_base_once() -> None:
    """What the file has already is none more; going back to an older one is; the newest are kept."""
    one, two = values(), values(summary="Fix")
    made = record()
    assert made.projected() is made
    assert made.projected(one) is made
    assert made.projected(two).past == (one, two)
    assert made.projected(two).projected().past == (one, two, one)
    assert made.projected(two).values == one
    assert Record(values={}).projected().past == ({},)
    for number in range(30):
        made = made.projected(values(pr_number=number))
    assert [old["pr_number"] for old in made.past] == [*range(6, 30)]


def test_what_failed_is_tried_again_at_the_first_of_its_times() -> None:
    """Nothing is held back while nothing has failed."""
    no = Trouble("m", "no", NOW + 9, is_final=True)
    troubles = {"CloseIssue": no, "Look": Trouble("m", "502", NOW + 7)}
    made = record(memory={"troubles": troubles})
    assert (made.due(), record().due()) == (NOW + 7, None)


def test_a_name_of_before_the_sections_warns_and_one_that_never_was_is_none() -> None:
    """A program that reads it gets the same, and is shown its line."""
    made = record(memory={"ownership.lease": SHA})
    with pytest.warns(DeprecationWarning, match=r"^Record\.lease is ownership\.lease now$") as told:
        assert made.lease == SHA  # type: ignore[attr-defined]
    assert [warning.filename for warning in told] == [__file__]
    with pytest.raises(
        AttributeError, match=r"^'Record' object has no attribute 'leas'$"
    ) as missing:
        made.leas  # type: ignore[attr-defined] # noqa: B018
    assert (missing.value.name, missing.value.obj) == ("leas", made)


def test_a_record_of_a_merge_is_read_as_it_was_and_a_wrong_kind_refused() -> None:
    """Somebody may have written the file by hand: a text is no number, and no number a text."""
    made = record(memory={"pull.merging": MergeRecord(SHA, asked={plan.AUTO_MERGE: SHA})})
    assert Record.from_json(made.as_json()) == made
    why = "^a part of the record is missing, or of another type$"
    for name, value in (("title", 7), ("touched", "7")):
        with pytest.raises(TypeError, match=why):
            Record.from_json({**made.as_json(), name: value})


def test_names_of_options_are_alike_in_any_case() -> None:
    """One that is not set is like an empty one, and like no other."""
    pairs = ((None, ""), ("done", "DONE"), (None, "~"), ("~", ""), ("Done", None))
    assert [is_same(*pair) for pair in pairs] == [True, True, False, False, False]


def test_another_attempt_has_another_mark() -> None:
    """Of a pull request branch, commit and title, whoever owns the branch; of the rest all of it."""
    opening = plan.OpenPullRequest(f"octo-org:{BRANCH}", "main", "Fix it", 42, SHA)
    assert mark_of(opening) == f"{BRANCH}@{SHA}: Fix it"
    assert mark_of(plan.PostComment(42, "Done.", "<!-- m -->")) == "<!-- m -->"
    assert mark_of(plan.CloseIssue(42)) == "CloseIssue(issue=42)"


OTHER = {"SetBoard": Intent("x", 1.0)}
HELD = {"SetBoard": Trouble("x", "no", 1.0)}
OPENING = plan.OpenPullRequest(f"o:{BRANCH}", "main", "Fix", 42, SHA)
MARK = mark_of(OPENING)
BACK = {plan.AUTO_MERGE_OFF: SHA, plan.UPDATE_BRANCH: SHA}
FACTS: tuple[Any, ...] = (
    (
        {"intents": OTHER},
        plan.Intended(OPENING),
        {"intents": {**OTHER, "OpenPullRequest": Intent(MARK, NOW)}},
    ),
    (
        {"pull.checks": {"sha": "old"}, "pull.head": "old", "pull.reopened": 2},
        plan.PullRequestOpened(pull()),
        {
            "values": values(phase="pr_created", status="In Review", pr_number=107),
            "judged": "pr_created",
            "pull.checks": None,
            "pull.url": pull().url,
            "pull.head": SHA,
            "pull.opened": 107,
            "pull.reopened": 0,  # of another pull request nothing stays
        },
    ),
    (
        {"card.is_known": False, "card.moved_to": "Blocked"},
        plan.OnBoard(BoardItem("I_2", "Todo")),
        {"values": values(item_id="I_2"), "card.is_known": True},
    ),
    (
        {"pull.merging": MergeRecord(auto_on="old", asked=BACK)},
        plan.Done(plan.AdvancePullRequest(107, SHA, plan.AUTO_MERGE)),
        {
            "pull.merging": MergeRecord(
                auto_on="old",
                is_ours=True,
                asked={plan.UPDATE_BRANCH: SHA, plan.AUTO_MERGE: SHA},
                asked_at=NOW,
            )
        },
    ),
    (
        {"linked.link": Link("beads", "bd-1", "claimed")},
        plan.LinkedIs("bd-1", "", "It is gone."),
        {"linked.left": "It is gone."},
    ),
    (
        {"linked.link": Link("beads", "bd-1", "claimed"), "linked.left": "It is maria's."},
        plan.LinkedIs("bd-1", "closed"),
        {"linked.link": Link("beads", "bd-1", "closed"), "linked.left": ""},
    ),
)


def differing(row: Any, **changes: Any) -> Record:
    """The record of a row, with what of it is to differ."""
    made = record(**changes, memory=row[0])
    return record(**changes, memory={**row[0], "past": made.past, "judged": made.judged, **row[2]})


def test_a_fact_changes_what_it_is_about_and_nothing_else() -> None:
    """Whatever else was remembered stays."""
    assert wrong(FACTS, str, lambda row: fold(record(memory=row[0]), row[1], NOW), differing) == []


AHEAD = {"ending.board_done": True}
LEAVING = Releasing(NOW, is_begun=True)
CARDS: tuple[Any, ...] = (
    ({}, {}, "In Review", "In Review", False),
    ({}, {}, None, "In Progress", False),
    ({}, {}, "Done", "Done", False),
    (DONE, {}, "done", "done", True),
    (DONE, {}, "In Review", "In Review", False),
    ({}, {"ending.releasing": LEAVING}, "Todo", "Todo", True),
    ({}, {"ending.releasing": LEAVING}, None, "In Progress", True),
    ({}, {"ending.releasing": Releasing(NOW)}, "Todo", "Todo", False),
    (DONE, AHEAD, "In Review", "In Review", False),
    (DONE, AHEAD, "Done", "Done", True),
    ({}, AHEAD, "In Review", "In Review", True),
)


def test_a_card_that_was_written_is_as_it_was_written() -> None:
    """It is a step of the end where it is the end's; what goes back before it is done is none any more."""

    def card(row: Any) -> Record:
        fact = plan.BoardIs(BoardItem("I_2", "x", "y"), row[2], "me")
        return fold(record(**row[0], memory=row[1]), fact, NOW)

    def wanted(row: Any) -> Record:
        made = record(**row[0], memory=row[1])
        made = replace(made, card=CardRecord(is_known=True, agent="me"))
        made = replace(made, ending=replace(made.ending, board_done=row[4]))
        return made.with_values({"item_id": "I_2", "last_synced_status": row[3]})

    assert wrong(CARDS, str, card, wanted) == []
    moved = record(memory={"card.is_known": False, "card.agent": "b", "card.moved_to": "Blocked"})
    for status, agent, kept in ((None, None, ("b", "Blocked")), ("Todo", "", ("", None))):
        now = fold(moved, plan.BoardIs(BoardItem("I_2"), status, agent), NOW)
        assert now.card == CardRecord(True, *kept)


FAILED: tuple[tuple[plan.Action, LifecycleError, Trouble, bool], ...] = (
    (OPENING, Transient("502"), Trouble(MARK, "502", NOW + 60, 2), False),
    (OPENING, Transient("429", retry_after=7.0), Trouble(MARK, "429", NOW + 7, 2), False),
    (OPENING, Transient("?", is_ambiguous=True), Trouble(MARK, "?", NOW + 60, 2), True),
    (
        replace(OPENING, title="Another"),
        NothingToMerge("no"),
        Trouble(f"{BRANCH}@{SHA}: Another", "no", NOW + 120, 1, is_final=True, for_agent=True),
        False,
    ),
    (
        OPENING,
        BadCredentials("no"),
        Trouble(MARK, "no", NOW + 240, 2, is_final=True, is_of_access=True),
        False,
    ),
)


def test_what_failed_is_remembered_with_when_it_may_be_tried_again() -> None:
    """How often in a row; only where nobody knows whether it was made it is still looked for."""
    for action, error, trouble, is_looked_for in FAILED:
        before = record(
            memory={
                "intents": {**OTHER, "OpenPullRequest": Intent(MARK, NOW)},
                "troubles": {**HELD, "OpenPullRequest": Trouble(MARK, "x", NOW)},
            }
        )
        after = fold(before, plan.Failed(action, error), NOW)
        intents = before.intents if is_looked_for else OTHER
        troubles = {**HELD, "OpenPullRequest": trouble}
        assert after == replace(before, intents=intents, troubles=troubles), error
    closing = plan.CloseIssue(42)
    refused = fold(record(), plan.Failed(closing, BadCredentials("no")), NOW)
    assert refused.due() == NOW + 600


def test_a_record_comes_back_from_its_json_as_it_was() -> None:
    """Values within values are values again, and lists are tuples, as the record has them."""
    whole = record(
        memory={
            "troubles": {"Look": Trouble("mark", "No answer.", 9.0)},
            "intents": {"PostComment": Intent("mark", 7.0)},
            "nudges": (Nudge(5.0, "coding", "done", "by hand", "person"),),
            "pull.reruns": ((7, 1),),
            "pull.changes_by": ("maria",),
            "pull.tampering": ("a test",),
            "pull.merging": MergeRecord(head="abc", asked={"auto-merge": "abc"}),
            "ending.releasing": Releasing(3.0, "late"),
            "linked.link": Link("beads", "bd-1"),
        }
    )
    assert Record.from_json(json.loads(json.dumps(whole.as_json()))) == whole
    plain = record()
    assert Record.from_json(json.loads(json.dumps(plain.as_json()))) == plain
