"""Each kind of finding, from what GitHub shows to what it shows once it is repaired; then nothing more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from lifecycle.reconcile.finding import KINDS
from lifecycle.reconcile.scope import Policy, Shard
from lifecycle.sandbox.seed import SeedToken
from tests.reconcile.conftest import Make
from tests.reconcile.ground import (
    AGENT,
    ALL,
    HOME,
    Given,
    Ground,
    Shows,
    in_short,
    kinds,
    only,
    scope_of,
    states,
    texts,
)
from tests.worlds import TOKEN

CLOSES, RELEASES, NONE = Policy(closes=True), Policy(releases=True), Policy()
DONE = ("Done", None)
REVIEWED = Given(pull="open", status="In Review", set_at=7.9)
MERGED = replace(REVIEWED, pull="merged")
CLOSED = replace(MERGED, is_open=False, closed=5.0)
OLD = Given(taken=72.0, set_at=71.9)
PERSONS = Given(leased_by="", agent="", assignees=("maria",))
LONG_CLOSED = Given(taken=90.0, is_open=False, closed=60.0, status="Done", agent="", set_at=59.0)
COMPLETED = f"Completed in … <!-- lifecycle:completed issue=42 pr=1042 by={AGENT} -->"


@dataclass(frozen=True)
class Story:
    """One finding on its way: what there is, what may be done, what is found, and what is then.

    `after` are the parts of what GitHub shows that change; nothing else does.
    """

    given: Given
    policy: Policy
    found: dict[str, str]
    after: dict[str, Any]


STORIES: dict[str, Story] = {
    "merged, and closing is configured": Story(
        MERGED,
        CLOSES,
        {"merged-open": "applied"},
        {"is_open": False, "comments": (COMPLETED,), "card": DONE, "lease": ""},
    ),
    "merged, and closing is not configured": Story(MERGED, RELEASES, {"merged-open": "off"}, {}),
    "closed, the card in review": Story(
        replace(CLOSED, leased_by=""), NONE, {"closed-on-board": "applied"}, {"card": DONE}
    ),
    "closed while a hook's look set the card": Story(
        replace(CLOSED, leased_by="", status="In Progress", set_at=4.99),
        NONE,
        {"closed-on-board": "applied"},
        {"card": DONE},
    ),
    "closed as a person's, the card in Todo": Story(
        replace(PERSONS, is_open=False, status="Todo"),
        NONE,
        {"closed-on-board": "applied"},
        {"card": DONE},
    ),
    "closed and done, the card still names an agent": Story(
        replace(CLOSED, leased_by="", status="Done", set_at=4.0),
        NONE,
        {"closed-on-board": "applied"},
        {"card": DONE},
    ),
    "the pull request was closed, the card in review": Story(
        replace(REVIEWED, pull="closed"),
        ALL,
        {"pull-closed": "applied"},
        {"card": ("In Progress", AGENT)},
    ),
    "a pull request, and the card did not follow": Story(
        Given(pull="open"), ALL, {"status-drift": "applied"}, {"card": ("In Review", AGENT)}
    ),
    "a card without a Status": Story(
        Given(status=None), NONE, {"assigned-todo": "applied"}, {"card": ("In Progress", AGENT)}
    ),
    "the card names another agent": Story(
        Given(agent="bob-1"), ALL, {"agent-drift": "applied"}, {"card": ("In Progress", AGENT)}
    ),
    "the card names nobody": Story(
        Given(agent=""), ALL, {"agent-drift": "applied"}, {"card": ("In Progress", AGENT)}
    ),
    "assigned to a person, and still Todo": Story(
        replace(PERSONS, status="Todo", set_at=11.0),
        ALL,
        {"assigned-todo": "applied"},
        {"card": ("In Progress", None)},
    ),
    "taken by an agent, and still Todo": Story(
        Given(status="Todo", agent="", set_at=11.0),
        ALL,
        {"assigned-todo": "applied"},
        {"card": ("In Progress", AGENT)},
    ),
    "claimed, and not on the board": Story(
        Given(has_card=False), ALL, {"off-board": "applied"}, {"card": ("In Progress", AGENT)}
    ),
    "in review, and not on the board": Story(
        replace(REVIEWED, has_card=False),
        ALL,
        {"off-board": "applied"},
        {"card": ("In Review", AGENT)},
    ),
    "a pull request that does not mention the issue": Story(
        replace(REVIEWED, body="It works.\n\n- [ ] tested\n"),
        ALL,
        {"unlinked": "applied"},
        {
            "pulls": (
                (
                    "claude/task-42",
                    "open",
                    False,
                    "It works.\n\n- [ ] tested\n\nRefs #42 <!-- lifecycle:link issue=42 -->",
                ),
            )
        },
    ),
    "without a sign of life, and releasing is configured": Story(
        OLD,
        RELEASES,
        {"silent": "applied"},
        {"assignees": (), "card": ("Todo", None), "lease": ""},
    ),
    "without a sign of life, and releasing is not configured": Story(
        OLD, CLOSES, {"silent": "off"}, {}
    ),
    "only the card names the agent, without a sign of life": Story(
        replace(OLD, leased_by=""),
        RELEASES,
        {"silent": "applied"},
        {"assignees": (), "card": ("Todo", None)},
    ),
    "a closed issue's lease, long after": Story(
        replace(
            CLOSED,
            taken=90.0,
            opened=80.0,
            ended=70.0,
            closed=60.0,
            status="Done",
            agent="",
            set_at=59.0,
        ),
        RELEASES,
        {"lease-left": "applied"},
        {"lease": ""},
    ),
    "a closed issue's lease, and releasing is not configured": Story(
        replace(
            PERSONS,
            leased_by=AGENT,
            taken=90.0,
            is_open=False,
            closed=60.0,
            status="Done",
            set_at=59.0,
        ),
        CLOSES,
        {"lease-left": "off"},
        {},
    ),
    "moved by hand after the pull request was opened": Story(
        replace(REVIEWED, status="Todo", set_at=1.0), ALL, {"moved-by-hand": "left"}, {}
    ),
    "moved by hand after it was closed": Story(
        replace(CLOSED, leased_by="", status="In Progress", set_at=1.0, agent=""),
        ALL,
        {"moved-by-hand": "left"},
        {},
    ),
    "a person's, moved back to Todo": Story(
        replace(PERSONS, status="Todo", set_at=1.0), ALL, {"moved-by-hand": "left"}, {}
    ),
    "a person's, merged and left lying": Story(
        replace(PERSONS, pull="merged", taken=90.0, status="In Review", set_at=5.0), ALL, {}, {}
    ),
    "a person's, without a card": Story(replace(PERSONS, has_card=False), ALL, {}, {}),
    "closed, and its card is archived": Story(
        replace(CLOSED, leased_by="", is_archived=True), ALL, {}, {}
    ),
    "claimed, and its card is archived": Story(
        replace(REVIEWED, status="Todo", set_at=11.0, is_archived=True), ALL, {}, {}
    ),
    "worked on": Story(Given(), ALL, {}, {}),
    "in review": Story(REVIEWED, ALL, {}, {}),
}


@pytest.fixture
def go(make: Make) -> Callable[[Story], tuple[Ground, Shows]]:
    """The story's world, and what it shows."""

    def begin(story: Story) -> tuple[Ground, Shows]:
        one = make(story.given)
        return one, one.shows()

    return begin


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_each_kind_is_repaired_and_not_found_again(
    story: Story, go: Callable[[Story], tuple[Ground, Shows]]
) -> None:
    """A run finds this and no other, changes this and no other, and a second run writes nothing."""
    one, before = go(story)
    assert states(one.run(story.policy)) == story.found
    after = one.shows()
    after = replace(after, comments=tuple(in_short(comment) for comment in after.comments))
    if "silent" in story.found and story.found["silent"] == "applied":
        (comment,) = after.comments
        assert comment == f"Released by … <!-- lifecycle:released issue=42 by={AGENT} -->"
        after = replace(after, comments=())
    assert after == replace(before, **story.after)
    one.clear()
    left = {kind: state for kind, state in story.found.items() if state != "applied"}
    assert states(one.run(story.policy)) == left
    assert one.written() == []


def test_every_kind_has_a_story() -> None:
    """No kind of finding is without a world that shows it, but those with a test of their own."""
    told = {kind for story in STORIES.values() for kind in story.found}
    assert told | {"branch-without-pull", "unassigned"} == set(KINDS)


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_a_dry_run_plans_the_same_and_writes_nothing(
    story: Story, go: Callable[[Story], tuple[Ground, Shows]]
) -> None:
    """What a run applies, a dry run names as planned; no request of it changes anything."""
    one, before = go(story)
    planned = {kind: state.replace("applied", "planned") for kind, state in story.found.items()}
    assert states(one.run(story.policy, dry_run=True)) == planned
    assert one.written() == []
    assert one.shows() == before


@pytest.mark.parametrize(
    ("moved", "stays"),
    [({}, "Todo"), ({"status": "In Review"}, "Todo"), ({"status": "Blocked"}, "Blocked")],
    ids=["as it was", "moved", "moved aside"],
)
def test_a_release_behind_anothers_name_is_planned_as_it_is_done(
    make: Make, moved: dict[str, Any], stays: str
) -> None:
    """The card gets the holder's name first, and then loses it: the plan has every step of both.

    One that was moved by hand gets no name first; the one run that ends the lease clears it all the same.
    """
    one = make(replace(OLD, agent="bob-1", **({"set_at": 40.0} | moved if moved else {})))
    planned, done = one.run(ALL, dry_run=True).findings, one.run(ALL).findings
    assert [(f.kind, f.fix) for f in planned] == [(f.kind, f.fix) for f in done]
    assert one.shows().card == (stays, None)
    assert one.run(ALL).findings == ()
    assert len(one.shows().comments) == 1


def test_a_branch_that_lies_there_becomes_a_draft(make: Make) -> None:
    """Pushed work without a pull request is shown as a draft with the issue's title, once."""
    one = make(replace(OLD, pushed=48.0))
    assert states(one.run()) == {"branch-without-pull": "applied", "silent": "off"}
    shows = one.shows()
    ((head, state, is_draft, body),) = shows.pulls
    assert (head, state, is_draft) == ("claude/task-42", "open", True)
    assert "Refs #42" in body
    assert shows.card == ("In Review", AGENT)
    assert shows.lease
    one.clear()
    assert one.run().findings == ()
    assert one.written() == []


@pytest.mark.parametrize(
    ("column", "stays"), [("In Review", "Todo"), ("Done", "Done")], ids=["at work", "aside"]
)
def test_a_card_that_says_that_somebody_works_is_free_after_a_release(
    make: Make, column: str, stays: str
) -> None:
    """Whoever put it there; one that a person moved aside stays, and the run says so."""
    one = make(replace(OLD, status=column, set_at=40.0))
    found = (
        {"silent": "applied"} if stays == "Todo" else {"silent": "applied", "moved-by-hand": "left"}
    )
    assert states(one.run(ALL)) == found
    assert one.shows().card == (stays, None)


def test_a_draft_that_nobody_touches_is_given_back_with_its_pull_request_kept(make: Make) -> None:
    """A silent draft's task is free again; the draft stays open, and the comment names it."""
    one = make(replace(OLD, pull="draft", opened=70.0, status="In Review", set_at=69.9))
    assert states(one.run(ALL)) == {"silent": "applied"}
    shows = one.shows()
    assert shows.card == ("Todo", None)
    assert shows.lease == ""
    assert "PR #1042 stays open." in shows.comments[0]
    assert shows.pulls[0][1] == "open"
    one.clear()
    again = one.run(ALL)
    assert one.written() == []
    assert "silent" not in kinds(again)


@pytest.mark.parametrize("pull", ["", "draft", "closed"])
def test_a_card_that_was_in_todo_all_the_time_stays_there_after_a_release(
    make: Make, pull: str
) -> None:
    """Somebody else is still assigned: the comment of the release says that the task is free."""
    never = replace(OLD, status="Todo", agent="", set_at=90.0, assignees=("octocat", "sam"))
    one = make(replace(never, pull=pull, opened=70.0, ended=60.0))
    assert states(one.run(ALL))["silent"] == "applied"
    assert one.shows().assignees == ("sam",)
    one.clear()
    assert set(states(one.run(ALL)).values()) <= {"left"}
    assert one.written() == []
    assert one.shows().card == ("Todo", None)


def test_left_work_is_shown_before_it_is_given_back(make: Make) -> None:
    """With releasing on, one run opens the draft of lost work; whatever follows, the work is named."""
    one = make(replace(OLD, pushed=48.0))
    one.run(ALL)
    assert one.shows().pulls
    one.later(30)
    one.run(ALL)
    shows = one.shows()
    assert shows.card == ("Todo", None)
    assert shows.lease == ""
    assert len(shows.comments) == 1
    one.clear()
    one.run(ALL)
    assert one.written() == []


def test_several_repositories_share_one_board(make: Make) -> None:
    """Every repository's tasks are found by one reading of the board, and repaired in their own."""
    tasks = [
        Given(
            number=1,
            repository=f"octo-org/service-{n}",
            pull="merged",
            status="In Review",
            set_at=7.9,
        )
        for n in range(3)
    ]
    one = make(*tasks, Given(number=7, agent=""))
    names = [HOME, *(task.repository for task in tasks)]
    report = one.run(CLOSES, scope=scope_of(*names))
    assert report.repositories == 4
    assert [(f.repository, f.issue) for f in report.findings] == [
        (HOME, 7), ("octo-org/service-0", 1), ("octo-org/service-1", 1), ("octo-org/service-2", 1)
    ]  # fmt: skip
    for task in tasks:
        shows = one.shows(1, task.repository)
        assert (shows.is_open, shows.card, shows.lease) == (False, DONE, "")
    one.clear()
    assert one.run(CLOSES, scope=scope_of(*names)).findings == ()
    assert one.written() == []


def test_a_repository_outside_of_the_scope_is_left_alone(make: Make) -> None:
    """A card of a repository that was not asked for is neither judged nor counted."""
    other = Given(number=1, repository="octo-org/other", agent="")
    one = make(Given(), other)
    report = one.run(ALL)
    assert report.findings == ()
    assert report.tasks == 1
    assert one.written() == []


def test_all_of_an_owner(make: Make) -> None:
    """`--org`: every repository of the owner, none that is archived, and none of anybody else."""
    tasks = [Given(number=1, repository=f"octo-org/service-{n}", agent="") for n in range(2)]
    strange = Given(number=1, repository="maria/own", agent="")
    one = make(*tasks, strange)
    report = one.run(scope=scope_of(owner="octo-org"))
    assert [f.repository for f in report.findings] == [task.repository for task in tasks]
    assert report.repositories == 3
    assert one.shows(1, "maria/own").card == ("In Progress", None)


def test_shards_look_at_everything_once(make: Make) -> None:
    """Three runs that share the work find together what one run finds, and each thing once."""
    tasks = [Given(number=1, repository=f"octo-org/service-{n}", agent="") for n in range(6)]
    one = make(*tasks)
    names = [task.repository for task in tasks]
    whole = one.run(scope=scope_of(*names), dry_run=True)
    parts = [
        one.run(scope=scope_of(*names, shard=Shard(index, 3)), dry_run=True) for index in (1, 2, 3)
    ]
    found = [finding for part in parts for finding in part.findings]
    assert sorted(found, key=lambda f: f.repository) == list(whole.findings)
    assert sum(part.repositories for part in parts) == 6


@pytest.mark.parametrize("scope", ["issues", "pulls"])
def test_one_issue_or_one_pull_request(make: Make, scope: str) -> None:
    """A run that is told one issue, or one pull request, looks at that task alone."""
    one = make(replace(MERGED, number=5), replace(MERGED, number=6))
    number = {"issues": 5, "pulls": 1005}[scope]
    report = one.run(CLOSES, scope=scope_of(HOME, **{scope: (number,)}))
    assert [(f.kind, f.issue, f.state.value) for f in report.findings] == [
        ("merged-open", 5, "applied")
    ]
    assert not one.shows(5).is_open
    assert one.shows(6).is_open


BLIND = {"tokens": [SeedToken(TOKEN, "octocat", ["repo"])]}


def test_labels_where_the_token_cannot_see_the_board(make: Make) -> None:
    """The Status goes to the issue's labels, the report says so, and the board is not touched."""
    tasks = (
        Given(number=1),
        replace(REVIEWED, number=2),
        replace(MERGED, number=3),
        replace(CLOSED, number=4, leased_by="", labels=("status: in review",)),
        Given(number=5, labels=("status: in progress", "bug")),
        replace(CLOSED, number=6, leased_by=""),
    )
    one = make(*tasks, **BLIND)
    report = one.run(CLOSES)
    assert any("labels" in note for note in report.notes)
    labels = {number: one.shows(number).labels for number in range(1, 7)}
    assert labels == {
        1: ("status: in progress",),
        2: ("status: in review",),
        3: ("status: done",),
        4: ("status: done",),
        5: ("bug", "status: in progress"),
        6: (),
    }
    assert not one.shows(3).is_open
    assert one.shows(1).card == ("In Progress", AGENT)
    one.clear()
    assert one.run(CLOSES).findings == ()
    assert one.written() == []


def test_a_persons_task_gets_no_label(make: Make) -> None:
    """Labels are where an agent's Status is kept; an assigned person's issue stays without one."""
    one = make(replace(PERSONS, has_card=False), **BLIND)
    assert one.run(ALL).findings == ()
    assert one.shows().labels == ()


def test_labels_can_be_refused(make: Make) -> None:
    """With `labels.use = "never"` a board that cannot be seen is left out, and that is said."""
    one = make(Given(), **BLIND)
    (one.folder / ".lifecycle.toml").write_text('[labels]\nuse = "never"\n')
    report = one.run(ALL)
    assert one.written() == []
    said = [*report.notes, *(problem.sentence for problem in report.problems)]
    assert any("project" in sentence for sentence in said)
    assert report.findings == ()


def test_without_a_board_issues_pull_requests_and_leases_are_repaired(make: Make) -> None:
    """No project is configured: what drifted besides the board is found all the same."""
    one = make(
        replace(MERGED, number=1), replace(REVIEWED, number=2, body="hm"), Given(number=3, agent="")
    )
    report = one.run(ALL, LIFECYCLE_PROJECT_NUMBER="")
    assert [(f.issue, f.kind, f.state.value) for f in report.findings] == [
        (1, "merged-open", "applied"),
        (2, "unlinked", "applied"),
    ]
    assert one.shows(1).card == ("In Review", AGENT)
    assert one.shows(1).lease == ""


def test_evidence_names_what_was_seen(make: Make) -> None:
    """A finding carries where, what was seen with numbers and times, and what repairs it."""
    one = make(MERGED)
    finding = only(one.run(CLOSES))
    assert finding.url.endswith(f"/{HOME}/issues/42")
    assert finding.evidence.startswith("PR #1042 (claude/task-42) merged at 20")
    assert finding.title == "Task 42"
    assert finding.fix.endswith(".")


def test_a_report_holds_no_token(make: Make) -> None:
    """Whatever is written about a run, the token is not in it."""
    one = make(*(replace(story.given, number=n) for n, story in enumerate(STORIES.values(), 1)))
    assert TOKEN not in texts(one.run(ALL))
