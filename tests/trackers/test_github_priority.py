"""How urgent an issue is, by the board: one answer for a list and for one task, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from lifecycle.core.tracker import Task
from lifecycle.trackers.github.github_issues import GitHubIssues
from tests.trackers.grounds import GitHubGround, github
from tests.trackers.issues import asked, tracker


@pytest.fixture
def ground() -> Iterator[GitHubGround]:
    """A fresh sandbox and a clone."""
    with github() as made:
        yield made


def _with_board(ground: GitHubGround) -> GitHubIssues:
    return tracker(ground, LIFECYCLE_PROJECT_NUMBER=str(ground.info.project_number))


def test_one_task_has_the_priority_that_the_list_gives_it(ground: GitHubGround) -> None:
    """The board's, for one request more; none where a label says it, and none without a board."""
    issues = _with_board(ground)
    assert {task.id: task.priority for task in issues.list()}["42"] == 1
    assert asked(ground, lambda: issues.get("42")) == ["GET /issues/42", "FindItem"]
    told = issues.get("42"), issues.claim("42"), issues.edit("42", title="Another")
    assert [task.priority for task in told] == [1, 1, 1]
    issues.edit("42", priority=3)
    assert asked(ground, lambda: issues.get("42")) == ["GET /issues/42"]
    alone = tracker(ground)
    assert asked(ground, lambda: alone.get("41")) == ["GET /issues/41"]
    assert alone.get("41").priority is None


def test_a_priority_that_the_board_says_is_not_written_again(ground: GitHubGround) -> None:
    """No label is made or put on where it is so already; another one is a label, which counts first."""
    issues = _with_board(ground)
    edited: list[Task] = []
    requests = asked(ground, lambda: edited.append(issues.edit("42", priority=1)))
    assert requests == ["GET /issues/42", "FindItem"]
    assert (edited[0].priority, edited[0].labels) == (1, ("bug",))
    edited.append(issues.edit("42", priority=3))
    assert (edited[1].priority, set(edited[1].labels)) == (3, {"bug", "P3"})
    assert edited[1] == replace(issues.get("42"), updated_at=edited[1].updated_at)


def test_the_only_one_without_a_label_is_asked_for_alone(ground: GitHubGround) -> None:
    """One card is one request, however many there are on the board."""
    issues = _with_board(ground)
    for number in (38, 39, 41, 43, 44, 45):
        issues.edit(str(number), priority=4)
    found: list[Task] = []
    assert asked(ground, lambda: found.extend(issues.list())) == ["GET /issues", "FindItem"]
    assert (found[0].id, found[0].priority) == ("42", 1)


def test_a_word_that_is_no_priority_is_none_and_still_sorts(ground: GitHubGround) -> None:
    """The list and the single task agree on it, and whoever has no word comes behind it."""
    for name in ("Someday", "Maybe", "High!"):
        ground.control.add_option("Priority", name)
    words = {41: "Someday", 42: None, 43: "Maybe", 44: "High!", 45: None}
    for number, word in words.items():
        ground.control.set_field(number, "Priority", word)
    ground.control.set_field(43, "Dependencies", None)
    issues = _with_board(ground)
    ready = issues.ready()
    assert [task.id for task in ready] == ["44", "43", "41", "42", "45"]
    assert [task.priority for task in ready] == [1, None, None, None, None]
    assert [issues.get(task.id).priority for task in ready] == [1, None, None, None, None]


def test_an_archived_card_says_nothing(ground: GitHubGround) -> None:
    """Neither in a list nor alone: people see it on no board."""
    ground.control.archive_item(42)
    issues = _with_board(ground)
    assert {task.id: task.priority for task in issues.list()}["42"] is None
    assert issues.get("42").priority is None


def test_an_agent_on_a_card_that_was_begun_holds_the_task(ground: GitHubGround) -> None:
    """Nobody is assigned, and there is no lease: the board alone says who is at it."""
    issues = _with_board(ground)
    ground.control.set_field(42, "Agent", "agent-9")
    assert issues.get("42", holders=True).held_by == ()
    ground.control.set_field(42, "Status", "In Progress")
    assert issues.get("42", holders=True).held_by == ("agent-9",)


def test_a_board_that_cannot_be_seen_leaves_the_task(ground: GitHubGround) -> None:
    """The task is shown without a priority, and the log says why."""
    (ground.root / ".lifecycle").mkdir()
    (ground.root / ".lifecycle.toml").write_text('tracker.use = "github"\nlabels.use = "never"\n')
    ground.control.set_scopes(["repo"])
    assert _with_board(ground).get("42").priority is None
    log = (ground.root / ".lifecycle" / "log").read_text()
    assert "tracker: the board's Priority is left out: " in log


def test_labels_that_keep_the_status_say_no_priority(ground: GitHubGround) -> None:
    """They take the board's place, so that it is not asked."""
    (ground.root / ".lifecycle.toml").write_text('tracker.use = "github"\nlabels.use = "always"\n')
    issues = _with_board(ground)
    assert asked(ground, lambda: issues.get("42")) == ["GET /issues/42"]


def test_what_the_board_lets_wait_is_not_ready(ground: GitHubGround) -> None:
    """What `lifecycle claim` refuses is not offered: an open dependency, a card that is not in Todo."""
    issues = _with_board(ground)
    assert "43" not in {task.id for task in issues.ready()}  # it depends on #38, which is open
    assert "43" in {task.id for task in tracker(ground).ready()}  # no board, no such field
    ground.control.set_field(42, "Status", "In Progress")
    ground.control.set_field(44, "Status", None)
    assert [task.id for task in issues.ready()] == ["41", "44", "45"]
    ground.control.close_issue(38)
    assert [task.id for task in issues.ready()] == ["43", "41", "44", "45"]
    taken = issues.claim_next()
    assert taken is not None
    assert taken.id == "43"


def test_a_dependency_without_a_card_is_asked_for(ground: GitHubGround) -> None:
    """Once, however often it is depended on; one that is not there is one to wait for as well."""
    ground.control.remove_item(38)
    ground.control.set_field(45, "Dependencies", "#38")
    issues = _with_board(ground)
    assert asked(ground, issues.ready)[-1] == "GET /issues/38"
    assert asked(ground, issues.ready) == ["GET /issues", "ListBoardItems", "ClosingPulls"]
    assert {task.id for task in issues.ready()} == {"41", "42", "44"}
    ground.control.set_field(44, "Dependencies", "#999")
    assert {task.id for task in issues.ready()} == {"41", "42"}
    ground.control.set_field(44, "Dependencies", "other/repo#38, https://example.org/38")
    assert "44" in {task.id for task in issues.ready()}


def test_a_board_that_cannot_be_seen_keeps_nothing_back(ground: GitHubGround) -> None:
    """Nobody can say what waits, so that GitHub's own word counts; the log says why."""
    (ground.root / ".lifecycle").mkdir()
    (ground.root / ".lifecycle.toml").write_text('tracker.use = "github"\nlabels.use = "never"\n')
    ground.control.set_scopes(["repo"])
    assert "43" in {task.id for task in _with_board(ground).ready()}
    assert "the board's Priority is left out" in (ground.root / ".lifecycle" / "log").read_text()
