"""Whom the open pull requests of a sweep wait for: values, and runs over a world."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lifecycle.claim.record.sections import Whom
from lifecycle.core.values.survey import Holding
from lifecycle.reconcile.finding import in_order, waiting_pulls
from tests.factories import pull
from tests.reconcile.conftest import Make
from tests.reconcile.ground import AGENT, HOME, Given, scope_of

IN_REVIEW = {"pull": "open", "status": "In Review", "set_at": 7.9}


def holding(*pulls: object) -> Holding:
    """A repository with these pull requests."""
    return Holding("octo-org/r", pulls=tuple(pulls))  # type: ignore[arg-type]  # as given


def test_an_author_is_the_agent_that_holds_the_task() -> None:
    """As far as a task was met that the pull request belongs to; a reviewer stays who is waited for."""
    conflict = {"mergeable": "CONFLICTING", "merge_state": "DIRTY", "author": "sam"}
    asked = pull(number=8, merge_state="CLEAN", requested=("maria",))
    shown = waiting_pulls(holding(pull(number=7, **conflict), asked, pull(number=9, **conflict)))
    found = in_order(shown, {("octo-org/r", n): "octocat-1" for n in (7, 8)})
    assert {one.number: one.names for one in found} == {
        7: ("octocat-1",),
        8: ("maria",),
        9: ("sam",),
    }


def test_of_what_was_not_read_nothing_is_said() -> None:
    """No merge state is no word of GitHub's: such a pull request is left out, and counted elsewhere."""
    (read,) = waiting_pulls(holding(pull(), pull(merge_state="CLEAN", number=7)))
    assert read.number == 7


def test_those_come_first_for_whom_somebody_has_to_act() -> None:
    """Then by repository and number, the newest first."""
    made = [
        pull(number=9, merge_state="CLEAN", is_auto_merge=True),
        pull(number=2, merge_state="CLEAN"),
        pull(number=3, merge_state="CLEAN"),
        pull(number=4, merge_state="DIRTY", mergeable="CONFLICTING"),
    ]
    here = [*waiting_pulls(holding(*made))]
    there = [replace(one, repository="Octo-Org/q") for one in here[1:2]]
    found = in_order([*here, *there], {})
    assert [(one.number, one.repository) for one in found] == [
        (4, "octo-org/r"), (2, "Octo-Org/q"), (3, "octo-org/r"), (2, "octo-org/r"), (9, "octo-org/r"),
    ]  # fmt: skip
    assert [one.whom for one in found][0::4] == [Whom.AUTHOR, Whom.AUTO_MERGE]


def test_a_run_tells_it_and_asks_no_request_more(make: Make) -> None:
    """A run over the repository tells all, one over an issue its own: two requests, as before."""
    tasks = [Given(number=n, **IN_REVIEW) for n in (42, 43)]  # type: ignore[arg-type]  # its fields
    one = make(*tasks)
    one.control.review(1042, "CHANGES_REQUESTED", login="maria", body="No.")
    one.control.clear_requests()
    report = one.run()
    assert [(pull.number, str(pull.whom), pull.names) for pull in report.waiting] == [
        (1042, "author", (AGENT,)),
        (1043, "merge", ()),
    ]
    assert "requested by maria" in report.waiting[0].why
    assert len(one.control.requests()) == report.requests == 2
    assert report.points <= 8
    assert report.notes == ()
    assert [pull["number"] for pull in report.as_json()["waiting"]] == [1042, 1043]
    narrow = one.run(scope=scope_of(HOME, issues=(43,)))
    assert [pull.number for pull in narrow.waiting] == [1043]


def test_nothing_waits_to_be_merged_in_an_archived_repository(make: Make) -> None:
    """GitHub shows it as ready still: only the note on the repository says how things are."""
    given = Given(**IN_REVIEW)  # type: ignore[arg-type]  # its fields
    report = make(given, repositories={HOME: {"archived": True}}).run()
    assert (report.waiting, len(report.notes)) == ((), 1)


@pytest.mark.parametrize("names_agent", [True, False])
def test_a_draft_of_which_only_the_card_tells_waits_for_the_card_s_agent(
    make: Make, *, names_agent: bool
) -> None:
    """A run opened it, so its author is the run's account; that one is named where no card does."""
    agent = AGENT if names_agent else ""
    one = make(Given(pull="draft", leased_by="", agent=agent))
    for scope in (scope_of(HOME), scope_of(HOME, issues=(42,))):
        (pull,) = one.run(scope=scope).waiting
        assert (str(pull.whom), pull.names) == ("author", (agent or "octocat",))


def test_a_pull_request_that_belongs_to_no_issue_waits_where_it_alone_is_asked_for(
    make: Make,
) -> None:
    """Nothing was said of it: only a task that was met let its pull request be told."""
    one = make(Given(**IN_REVIEW))  # type: ignore[arg-type]  # its fields
    one.control.push_commit("typo", {"README.md": "Right\n"}, message="Mend a word")
    number = one.control.open_pull("typo", "Mend a word")
    report = one.run(scope=scope_of(HOME, pulls=(number,)))
    assert [(pull.number, str(pull.whom)) for pull in report.waiting] == [(number, "merge")]
    assert report.findings == ()
