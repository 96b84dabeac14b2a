"""What GitHub shows of a claim: which pull request is its own, what that amounts to, what it mentions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle.claim.decisions import card_and_link, derive
from lifecycle.claim.decisions.pull import review
from lifecycle.claim.record.sections import Trouble
from lifecycle.claim.record.state import Record, mark_of
from lifecycle.core.plan import LinkPullRequest
from lifecycle.core.values.model import BoardItem, PullRequest, PullState
from tests.batches import each_row
from tests.claim.steps import REVIEW
from tests.factories import BRANCH, NOW, issue, observation, pull, record, seen

OWNER = "octo-org"
MERGED = PullState.MERGED
CLOSED = PullState.CLOSED
TAKEN: dict[str, Any] = {"is_taken": True}


def number_of(found: PullRequest | None) -> int | None:
    """The number of what was found."""
    return found.number if found else None


def own(made: Record, **shown: Any) -> int | None:
    """The number of the claim's own pull request among what is shown."""
    return number_of(derive.pull_request_of(seen(made, observed=observation(**shown))))


@each_row(
    ("named", "by_branch", "number"),
    [
        (pull(), (), 107),
        (pull(head_owner="OCTO-ORG"), (), 107),
        (pull(head_owner="mallory"), (), None),
        (pull(branch="other"), (), None),
        (pull(branch="other"), (pull(number=8),), 8),
        (pull(state=CLOSED), (pull(number=8),), 8),
        (pull(state=CLOSED), (pull(number=8, state=MERGED),), 107),
        (pull(state=CLOSED), (pull(number=8, head_owner="mallory"),), 107),
        (pull(state=CLOSED, closed_at=5.0), (pull(number=108, state=MERGED, opened_at=5.0),), 108),
        (pull(state=CLOSED, closed_at=5.0), (pull(number=108, state=MERGED, opened_at=4.0),), 107),
        (
            pull(state=CLOSED, closed_at=5.0),
            (pull(number=108, state=MERGED, opened_at=6.0, base="stable"),),
            108,
        ),
        (
            pull(state=CLOSED, closed_at=5.0),
            (pull(number=108, state=MERGED, opened_at=6.0, body="no word"),),
            107,
        ),
        (pull(state=MERGED), (pull(number=8),), 107),
        (None, (pull(number=8, state=CLOSED),), None),
        (None, (pull(number=9, state=MERGED), pull(number=8)), 8),
        (None, (pull(number=9, state=MERGED), pull(number=8, state=MERGED)), 9),
        (None, (pull(number=9, state=MERGED, body="no word"),), None),
        (None, (pull(number=9, state=MERGED, body="Closes GH-42"),), 9),
        (None, (pull(number=9, head_owner="mallory"), pull(number=8)), 8),
        (pull(state=MERGED, base="feature"), (), 107),
        (None, (pull(number=9, state=MERGED, base="stable"),), None),
        (None, (pull(number=9, state=MERGED, base="stable"), pull(number=8, state=MERGED)), 8),
    ],
)
def test_the_claims_pull_request_is_the_named_one_or_the_branchs(
    named: PullRequest | None, by_branch: tuple[PullRequest, ...], number: int | None
) -> None:
    """Nobody else's branch of the same name, and no closed one of a branch that was used before."""
    assert own(record(**REVIEW), by_number=named, by_branch=by_branch) == number


def test_what_this_claim_opened_is_its_own_without_a_head() -> None:
    """The head of a fork that was deleted has no owner any more."""
    gone = pull(head_owner="")
    assert own(record(**REVIEW), by_number=gone) is None
    assert own(record(**REVIEW, memory={"pull.opened": 107}), by_number=gone) == 107
    assert own(record(**REVIEW, memory={"pull.opened": 99}), by_number=gone) is None


def test_a_claim_of_no_issue_has_no_merge() -> None:
    """Whatever the text of a merged pull request of its branch says."""
    made = record(**{**REVIEW, "issue_number": None})
    assert own(made, by_branch=(pull(state=MERGED, body="Refs GH-None, #0"),)) is None


def test_a_merge_from_before_the_claim_closes_nothing() -> None:
    """Clocks may differ by a minute; a claim that was written by hand, or names it, has no such moment."""
    made = record(**{**REVIEW, "pr_number": None}, memory=TAKEN)
    assert made.is_taken
    moments = {
        made.created_at - 61: None,
        made.created_at - 60: 107,
        made.created_at + 1: 107,
        None: 107,
    }
    for merged_at, number in moments.items():
        merged = pull(state=MERGED, merged_at=merged_at)
        assert own(made, by_branch=(merged,)) == number, merged_at
        assert own(record(**REVIEW), by_branch=(merged,)) == 107
        assert own(record(**REVIEW, memory=TAKEN), by_branch=(merged,)) == 107


@pytest.mark.parametrize(
    ("base", "shown", "number"),
    [
        ("", "main", 107),
        ("main", "main", 107),
        ("main", "", 107),
        ("main", "next", None),
    ],
)
def test_the_open_one_of_a_base_is_looked_for(base: str, shown: str, number: int | None) -> None:
    """A pull request into another base is another one; one whose base is not told may be it."""
    claim = record().claim
    seen_ = observation(by_branch=(pull(base=shown),))
    assert number_of(derive.open_pull_request_of(claim, seen_, OWNER, base)) == number
    assert number_of(derive.open_pull_request_of(claim, seen_, OWNER)) == 107
    assert derive.open_pull_request_of(claim, seen_, "mallory", base) is None
    shut = observation(by_branch=(pull(base=shown, state=CLOSED),))
    assert derive.open_pull_request_of(claim, shut, OWNER, base) is None


@pytest.mark.parametrize(
    ("changes", "is_it"),
    [
        ({}, True),
        ({"state": PullState.OPEN}, False),
        ({"head_sha": "b" * 40}, False),
        ({"head_owner": "mallory"}, False),
        ({"body": "Refs #421"}, False),
    ],
)
def test_what_is_pushed_was_merged_already(changes: dict[str, Any], is_it: bool) -> None:
    """Exactly that commit, from our branch, for our issue: by its number or by the branch."""
    merged = pull(**{"state": MERGED, **changes})
    head = "a" * 40
    for shown in (
        observation(by_number=merged),
        observation(by_branch=(pull(number=8), merged)),
    ):
        found = derive.merged_as_pushed(seen(pushed_head=head), shown)
        assert number_of(found) == (107 if is_it else None)
    assert derive.merged_as_pushed(seen(), observation()) is None
    backport = observation(by_branch=(replace(merged, base="stable"),))
    assert derive.merged_as_pushed(seen(pushed_head=head), backport) is None


@pytest.mark.parametrize(
    ("base", "default", "elsewhere"),
    [
        ("feature", "main", "feature"),
        ("main", "main", ""),
        ("develop", "main", ""),
        ("", "main", ""),
        ("feature", "", ""),
    ],
)
def test_a_base_is_elsewhere_if_it_is_neither_the_configured_nor_the_default_branch(
    base: str, default: str, elsewhere: str
) -> None:
    """What is not known is not elsewhere."""
    shown = observation(default_branch=default)
    assert derive.merged_elsewhere(pull(base=base, state=MERGED), "develop", shown) == elsewhere


@pytest.mark.parametrize(
    ("phase", "number", "judged", "is_confirmed"),
    [
        ("coding", None, "coding", True),
        ("done", None, "coding", True),
        ("pr_created", 107, "pr_created", True),
        ("pr_closed", 107, "checks_running", True),
        ("pr_created", 107, "coding", False),
        ("pr_created", None, "pr_created", False),
        ("merged_detected", 107, "merged_detected", True),
        ("merged_detected", 107, "checks_running", False),
    ],
)
def test_a_phase_that_needs_a_pull_request_is_confirmed_by_github(
    phase: str, number: int | None, judged: str, is_confirmed: bool
) -> None:
    """What somebody wrote into the file is a hint until then."""
    made = record(phase=phase, pr_number=number, memory={"judged": judged})
    assert derive.is_confirmed(made) is is_confirmed


@pytest.mark.parametrize(
    ("past", "before"),
    [
        ([], "coding"),
        (["ready_for_pr", "pr_created"], "ready_for_pr"),
        (["ready_for_pr", "coding", "pr_created"], "coding"),
        (["ready_for_pr", "merged_detected", "nonsense"], "ready_for_pr"),
        (["pr_created"], "coding"),
    ],
)
def test_the_way_back_leads_to_the_last_phase_without_a_pull_request(
    past: list[str], before: str
) -> None:
    """Coding, if none is known."""
    made = record(memory={"past": tuple({"phase": phase} for phase in past)})
    assert derive.phase_before(made) == before


@pytest.mark.parametrize(
    ("shown", "at"),
    [
        ({"issue": issue(is_open=False, closed_at=5.0), "by_number": pull(opened_at=3.0)}, 5.0),
        ({"issue": issue(is_open=False, closed_at=5.0), "by_number": pull(opened_at=7.0)}, 7.0),
        ({"by_number": pull(opened_at=3.0, closed_at=4.0)}, 3.0),
        ({"by_number": pull(opened_at=3.0, closed_at=4.0, state=CLOSED)}, 4.0),
        ({"by_number": pull(opened_at=3.0, closed_at=4.0, state=MERGED)}, 3.0),
        ({"issue": None, "by_number": pull(opened_at=3.0)}, 3.0),
        ({"by_number": pull(number=8, opened_at=3.0)}, None),
        ({"by_number": None}, None),
    ],
)
def test_the_last_event_is_the_issues_end_or_the_pull_requests(
    shown: dict[str, Any], at: float | None
) -> None:
    """Another pull request than the claim's says nothing of it."""
    assert derive.happened_at(record(**REVIEW).claim.pr_number, observation(**shown)) == at


@pytest.mark.parametrize(
    ("status_at", "happened_at", "is_behind"),
    [
        (1.0, 2.0, True),
        (2.0, 2.0, False),
        (3.0, 2.0, False),
        (None, 2.0, False),
        (1.0, None, False),
    ],
)
def test_a_card_is_behind_what_came_after_it(
    status_at: float | None, happened_at: float | None, is_behind: bool
) -> None:
    """Where a moment is not known, the card stands."""
    item = BoardItem("I", "Todo", "", status_at=status_at)
    assert card_and_link.is_behind(item, happened_at) is is_behind


@each_row(
    ("text", "mentions", "refers"),
    [
        ("Fixes #42", True, True),
        ("#42", True, True),
        ("(#42)", True, True),
        ("#421", False, False),
        ("x#42", False, False),
        ("octo-org/other#42", False, False),
        ("octo-org/hello#42", False, True),
        ("Octo-Org/Hello#42.", False, True),
        ("my-octo-org/hello#42", False, False),
        ("octo-org/hello#421", False, False),
        ("GH-42", False, True),
        ("gh-42", False, True),
        ("GH-421", False, False),
        ("LIGH-42", False, False),
        ("https://github.com/octo-org/hello/issues/42", False, True),
        ("https://github.com/octo-org/hello/issues/421", False, False),
        ("https://github.com/octo-org/hello/pull/42", False, False),
        ("", False, False),
    ],
)
def test_a_reference_is_what_github_makes_a_link_of(
    text: str, mentions: bool, refers: bool
) -> None:
    """In the title as in the body; `#N` alone is a mention."""
    for made in (pull(title=text, body=""), pull(title="Fix", body=text)):
        assert derive.mentions(made, 42) is mentions
        assert derive.refers(made, 42, "octo-org/hello") is refers
        assert derive.mentions(made, None) is False
    assert derive.mentions(pull(title="#None", body=""), None) is False


def test_what_is_mentioned_comes_once_in_the_order_of_the_text() -> None:
    """The title is read before the body."""
    made = pull(title="#7 and #42", body="#3, #7, x#5, a/b#6, #1234567890")
    assert derive.mentioned(made) == (7, 42, 3)


def test_an_open_pull_request_without_its_issue_gets_the_link() -> None:
    """Of the configured word, once, and only into what this claim may write."""
    made = pull(body="Words.")
    start = seen(record(**REVIEW), observed=observation(by_number=made))
    line = "Refs #42 <!-- lifecycle:link issue=42 -->"
    action = LinkPullRequest(107, 42, line)
    assert review.link_step(start, made) == action
    held = replace(
        record(**REVIEW), troubles={"LinkPullRequest": Trouble(mark_of(action), "no", NOW + 1)}
    )
    for nothing, shown in (
        (start, pull(body="Refs #42")),
        (start, pull(body="octo-org/hello#42")),
        (start, pull(body="Gone. <!-- lifecycle:link issue=42 -->")),
        (start, pull(body="", state=CLOSED)),
        (start, pull(body="", state=MERGED)),
        (replace(start, observation=None), made),
        (replace(start, observation=observation(issue=None)), made),
        (replace(start, observation=observation(issue=issue(is_open=False))), made),
        (replace(start, record=record(**REVIEW, agent_id="")), made),
        (replace(start, record=record(**{**REVIEW, "issue_number": None})), made),
        (replace(start, record=held), made),
    ):
        assert review.link_step(nothing, shown) is None


def test_each_state_is_a_phase() -> None:
    """Without a pull request it is coding."""
    assert derive.phase_of(None) == "coding"
    assert derive.phase_of(pull()) == "checks_running"
    assert derive.phase_of(pull(state=MERGED)) == "merged_detected"
    assert derive.phase_of(pull(state=CLOSED)) == "pr_closed"
    assert derive.is_ours(pull(), record().claim, OWNER)
    assert record().claim.branch == BRANCH
