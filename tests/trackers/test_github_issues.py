"""GitHub's issues as a tracker: what each verb asks and writes, and what a lost step comes to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.core.errors import BlockedBy, Invalid, Lacking, NotFound, NoToken, Rejected
from lifecycle.core.tracker import Capability
from lifecycle.sandbox.control.faults import Fault
from tests.github.operations.ground import hub_on
from tests.trackers.grounds import VISITOR, GitHubGround, github
from tests.trackers.issues import asked, issue, tracker


@pytest.fixture
def ground() -> Iterator[GitHubGround]:
    """A fresh sandbox and a clone."""
    with github() as made:
        yield made


PULLS = "ClosingPulls"
"""What is asked besides where a task may be ready."""

# What is ready.


def test_ready_is_open_and_nobodys(ground: GitHubGround) -> None:
    """Closed issues, assigned ones and pull requests are left out, in one request for a label."""
    ground.control.push_commit("work", {"work.txt": "x"}, "Work")
    ground.control.open_pull("work", title="A pull request")
    issues = tracker(ground)
    assert [task.id for task in issues.ready()] == ["41", "42", "43", "44", "45"]
    ground.control.assign(42, "sam")
    ground.control.close_issue(45)
    assert [task.id for task in issues.ready()] == ["41", "43", "44"]
    assert asked(ground, lambda: issues.ready(labels=("enhancement",))) == ["GET /issues", PULLS]


def test_what_an_open_pull_request_closes_is_not_ready(ground: GitHubGround) -> None:
    """One of a branch that a claim of the issue makes is gone on with; a mention alone closes nothing."""
    issues = tracker(ground)
    for branch, body in (
        ("sams-try", "Closes #41, fixes #42"),
        ("claude/think-44", "Closes #44"),
        ("claude/think-45", "Closes #43"),
        ("docs", "Refs #45"),
    ):
        ground.control.push_commit(branch, {f"{branch}.txt": "x"}, "Work")
        number = ground.control.open_pull(branch, title="A pull request", body=body)
    assert [task.id for task in issues.ready()] == ["44", "45"]
    ground.control.close_pull(number - 3)
    assert [task.id for task in issues.ready()] == ["41", "42", "44", "45"]
    ground.control.add_fault(
        Fault("graphql_error", operation=PULLS, error_type="FORBIDDEN", message="No")
    )
    assert [task.id for task in issues.ready()] == ["41", "42", "43", "44", "45"]


def test_what_waits_for_others_is_not_ready(ground: GitHubGround) -> None:
    """A dependency and an open sub-issue both block, until they are closed; nothing more is asked."""
    issues = tracker(ground)
    with hub_on(ground.info, ground.info.token) as hub:
        hub.relations.ensure_blocked_by(41, 38)
        hub.relations.ensure_sub_issue(42, 43)
    assert asked(ground, issues.ready) == ["GET /issues", PULLS]
    assert [task.id for task in issues.ready()] == ["43", "44", "45"]
    assert issues.get("41").blocked_by == ("38",)
    assert issues.get("42").blocked_by == ("43",)
    with pytest.raises(BlockedBy) as refused:
        issues.claim("42")
    assert refused.value.ids == ("43",)
    assert refused.value.sentence == (
        "#42 waits for #43, so it was not claimed; finish that first."
    )
    ground.control.close_issue(38)
    ground.control.close_issue(43)
    assert [task.id for task in issues.ready()] == ["41", "42", "44", "45"]


def test_a_page_of_a_hundred_is_one_request(ground: GitHubGround) -> None:
    """The floor: as many requests as there are pages, whatever blocks the issues."""
    issues = tracker(ground)
    for number in range(101):
        issues.create(f"many/{number}", title=f"Number {number}", labels=("many",))
    found = asked(ground, lambda: issues.ready(labels=("many",)))
    assert found == ["GET /issues", "GET /issues", PULLS]
    assert len(issues.ready(labels=("many",))) == 101


def test_a_family_costs_the_labels_and_each_of_its_members(ground: GitHubGround) -> None:
    """One request for the repository's labels, one for each that fits, and one for the label itself."""
    issues = tracker(ground)
    for number, name in enumerate(("auto-workflow", "auto-workflow:docs", "Auto-Workflow:Tests")):
        issues.create(f"family/{number}", title=name, labels=(name,))
    found = asked(ground, lambda: issues.ready(labels=("auto-workflow", "auto-workflow:*")))
    assert found == ["GET /labels", "GET /issues", "GET /issues", "GET /issues", PULLS]
    assert len(issues.ready(labels=("auto-workflow", "auto-workflow:*"))) == 3
    assert asked(ground, lambda: issues.ready(labels=("nobody:*",))) == ["GET /labels"]


def test_the_boards_priority_sorts_where_no_label_does(ground: GitHubGround) -> None:
    """Labels come first; a list asks the board only where one has none, and only if there is one."""
    board = {"LIFECYCLE_PROJECT_NUMBER": str(ground.info.project_number)}
    issues = tracker(ground, **board)
    ready = issues.ready()
    assert [task.id for task in ready] == ["42", "41", "44", "45"]
    assert [task.priority for task in ready] == [1, 2, 3, 3]
    issues.edit("45", priority=1)
    assert [task.id for task in issues.ready()][:2] == ["42", "45"]
    for number in (38, 39, 41, 42, 43, 44):
        issues.edit(str(number), priority=4)
    assert asked(ground, issues.list) == ["GET /issues"]
    assert asked(ground, tracker(ground).ready) == ["GET /issues", PULLS]


def test_a_board_that_cannot_be_seen_is_no_obstacle(ground: GitHubGround) -> None:
    """The order is that of the labels then, and the log says why."""
    (ground.root / ".lifecycle").mkdir()
    ground.control.set_scopes(["repo"])
    (ground.root / ".lifecycle.toml").write_text('tracker.use = "github"\nlabels.use = "never"\n')
    board = {"LIFECYCLE_PROJECT_NUMBER": str(ground.info.project_number)}
    issues = tracker(ground, **board)
    issues.edit("44", priority=1)
    assert [task.id for task in issues.ready()] == ["44", "41", "42", "43", "45"]
    log = (ground.root / ".lifecycle" / "log").read_text()
    assert "tracker: the board's Priority is left out: " in log


def test_labels_that_keep_the_status_are_no_board(ground: GitHubGround) -> None:
    """They say no Priority, so nothing is asked for them."""
    (ground.root / ".lifecycle.toml").write_text('tracker.use = "github"\nlabels.use = "always"\n')
    assert asked(ground, tracker(ground).ready) == ["GET /issues", PULLS]


@pytest.mark.parametrize(
    ("name", "priority"),
    [
        ("P0", 0), ("p3", 3), ("P1: High", 1), ("priority: high", 1), ("priority/critical", 0),
        ("Priority - Low", 3), ("low priority", 3), ("prio=2", 2), ("priority: p4", 4),
        ("P9", None), ("help", None), ("performance", None), ("priority: someday", None),
    ],
)  # fmt: skip
def test_priorities_as_people_write_them(
    ground: GitHubGround, name: str, priority: int | None
) -> None:
    """Labels of any of these forms are understood; others are labels."""
    issues = tracker(ground)
    assert issues.edit_labels("44", add=(name,)).priority == priority


def test_a_new_priority_takes_the_old_ones_place(ground: GitHubGround) -> None:
    """One label of the kind is left, and all others stay."""
    issues = tracker(ground)
    issues.edit_labels("42", add=("priority: low", "P3"))
    assert set(issues.edit("42", priority=1).labels) == {"bug", "P1"}


@pytest.mark.parametrize("wanted", [1, 2])
def test_of_two_priorities_the_one_that_is_said_stays(ground: GitHubGround, wanted: int) -> None:
    """Whichever is more urgent the other goes, and nothing is written the second time."""
    issues = tracker(ground)
    issues.edit_labels("42", add=("P1", "P2"))
    for _ in range(2):
        assert set(issues.edit("42", priority=wanted).labels) == {"bug", f"P{wanted}"}
    assert not [
        one for one in asked(ground, lambda: issues.edit("42", priority=wanted)) if "GET" not in one
    ]


# What is read.


def test_one_issue_is_one_request(ground: GitHubGround) -> None:
    """Its blockers cost one more only if it has some, and the reason one if it is closed."""
    issues = tracker(ground)
    assert asked(ground, lambda: issues.get("42")) == ["GET /issues/42"]
    issues.add_dependency("42", "41")
    assert asked(ground, lambda: issues.get("#42")) == [
        "GET /issues/42", "GET /issues/42/dependencies/blocked_by"
    ]  # fmt: skip
    assert asked(ground, lambda: issues.get("36")) == [
        "GET /issues/36", "GET /issues/36/comments"
    ]  # fmt: skip
    assert issues.get("36").close_reason == "completed"


def test_a_pull_request_is_no_task(ground: GitHubGround) -> None:
    """Its number is an issue's to GitHub, and not to us."""
    ground.control.push_commit("work", {"work.txt": "x"}, "Work")
    number = ground.control.open_pull("work", title="A pull request")
    issues = tracker(ground)
    with pytest.raises(NotFound, match=f"#{number} is a pull request, not a task"):
        issues.get(str(number))
    with pytest.raises(NotFound):
        issues.close(str(number))


def test_hidden_lines_are_no_part_of_a_text(ground: GitHubGround) -> None:
    """The key and the link to another tracker stay in the body, whatever is edited above them."""
    issues = tracker(ground)
    external = "https://example.com/a--b?c=1#d>"
    made = issues.create("hidden", title="T", description="Text", external=external)
    assert (made.description, made.external) == ("Text", external)
    same = asked(ground, lambda: issues.edit(made.id, title="T", description="Text "))
    assert same == [f"GET /issues/{made.id}"], (
        "what it has already is neither read twice nor written"
    )
    issues.edit(made.id, description="Other\n\ntext")
    found = issues.get(made.id)
    assert (found.description, found.external) == ("Other\n\ntext", external)
    assert issues.create("hidden", title="T").id == made.id
    body = str(issue(ground, int(made.id))["body"])
    assert body.splitlines()[-1] == "<!-- lifecycle:task:hidden -->"
    assert issues.get("42").external == ""


def test_a_reason_that_a_stranger_wrote_is_none(ground: GitHubGround) -> None:
    """Only the word of whoever closed the issue counts, however the comment is marked."""
    ground.control.comment(42, "Fake\n\n<!-- lifecycle:close-reason -->", by="visitor")
    issues = tracker(ground)
    issues.close("42")
    assert issues.get("42").close_reason == "completed"
    ground.control.comment(41, "By hand\n\n<!-- lifecycle:close-reason -->", by="maria")
    ground.control.close_issue(41, by="maria")
    assert issues.get("41").close_reason == "By hand"


def test_githubs_own_reasons_need_no_comment(ground: GitHubGround) -> None:
    """`not_planned` and `duplicate` are its words; another reason is a comment."""
    issues = tracker(ground)
    assert issues.close("42", reason="not_planned").close_reason == "not_planned"
    assert issue(ground, 42)["state_reason"] == "not_planned"
    assert issues.list_comments("42") == ()
    issues.close("41", reason="Fixed by hand")
    assert [note.text for note in issues.list_comments("41")] == ["Fixed by hand"]


# What it refuses.


def test_a_circle_over_others_is_seen_before_it_is_written(ground: GitHubGround) -> None:
    """One request for each issue in between; GitHub's own refusal of a known one is Invalid, too."""
    issues = tracker(ground)
    issues.add_dependency("41", "42")
    issues.add_dependency("42", "43")
    ground.control.clear_requests()
    with pytest.raises(Invalid, match="#43 cannot wait for #41, which waits for #43 itself"):
        issues.add_dependency("43", "41")
    with pytest.raises(Invalid, match="#41 cannot wait for itself"):
        issues.add_dependency("41", "41")
    assert not [one for one in ground.control.requests() if one.method == "POST"]
    words = json.dumps({
        "message": "An error occurred while adding the blocked by: Validation failed",
        "documentation_url": "https://docs.github.com/rest/issues/issue-dependencies",
        "status": "422",
    })  # fmt: skip
    ground.control.add_fault(
        Fault("status", method="POST", path="blocked_by$", status=422, body=words)
    )
    with pytest.raises(Invalid):
        issues.add_dependency("44", "45")


def test_a_server_without_dependencies_lacks_them(ground: GitHubGround) -> None:
    """An older server's issues say nothing of them, so nothing is tried."""
    found = issue(ground, 42)
    with hub_on(ground.info, ground.info.token) as hub:
        real = hub._calls.read("issues/42", "x", dict)
    body = json.dumps({k: v for k, v in real.items() if k != "issue_dependencies_summary"})
    ground.control.add_fault(
        Fault("status", method="GET", path="/issues/42$", status=200, body=body)
    )
    with pytest.raises(Lacking) as refused:
        tracker(ground).add_dependency("42", "41")
    assert refused.value.capability == Capability.DEPENDENCIES
    assert issue(ground, 42) == found


def test_labels_that_github_would_drop_are_asked_for(ground: GitHubGround) -> None:
    """Who may not label is told so, instead of having a task without its label."""
    issues = tracker(ground, GH_TOKEN=VISITOR)
    with pytest.raises(Rejected):
        issues.create("dropped", title="T", labels=("bug",))


def test_without_a_token_each_verb_says_so(tmp_path: Path, ground: GitHubGround) -> None:
    """Opening it asks nothing; the first verb says what is missing."""
    issues = tracker(ground, GH_TOKEN="", PATH="/usr/bin:/bin", HOME=str(tmp_path))
    assert issues.wording().publish == ""
    with pytest.raises(NoToken, match="neither GH_TOKEN nor GITHUB_TOKEN is set"):
        issues.get("42")
