"""Check runs with annotations, commit statuses, refs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from lifecycle.api import (
    Annotation,
    CheckRunFacts,
    Ensured,
    GitHub,
    HeadMoved,
    NoPermission,
    Refused,
    Rejected,
    Transient,
)
from lifecycle.github.operations.ensure_commits import Conclusion
from tests.github.operations.ground import APP, Ground
from tests.repeated import soaked

PAGE: dict[str, Any] = {"title": "Two remarks", "summary": "See below."}


def remarks(count: int) -> tuple[Annotation, ...]:
    return tuple(
        Annotation("queue.py", line, line, "warning", f"Remark {line}")
        for line in range(1, count + 1)
    )


def runs(ground: Ground) -> list[dict[str, Any]]:
    return [one for one in ground.world()["checks"] if one["name"] == "lint"]


def test_a_check_run_is_made_once(app: Ground) -> None:
    """Made, then found by its name: 2 requests, then 1."""
    sha = app.pushed()
    now, asked, again = app.twice(
        lambda: app.hub.checks.ensure_check_run(
            "lint", sha, conclusion="success", external_id="7", **PAGE
        )
    )
    path = f"/commits/{sha}/check-runs"
    assert (asked, again) == ([f"GET {path}", "POST /check-runs"], [f"GET {path}"])
    assert (now.status, now.conclusion, now.external_id) == ("completed", "success", "7")
    assert (now.title, now.summary, now.sha) == (*PAGE.values(), sha)
    more = {**PAGE, "summary": f"{PAGE['summary']}\r\n"}  # GitHub keeps other ends of texts
    assert not app.hub.checks.ensure_check_run("lint", sha, conclusion="success", **more).changed
    assert len(runs(app)) == 1


def test_a_check_run_goes_on(app: Ground) -> None:
    """Queued, running, done: one run, changed each time by one request."""
    sha = app.pushed()
    ensure = app.hub.checks.ensure_check_run
    first, _, _ = app.twice(lambda: ensure("lint", sha, status="queued"))
    started, asked, _ = app.twice(
        lambda: ensure("lint", sha, status="in_progress", started_at=1_767_225_600.5)
    )
    assert asked[-1] == f"PATCH /check-runs/{first.id}"
    assert started.started_at == 1_767_225_600.0
    done, _, _ = app.twice(lambda: ensure("lint", sha, conclusion="failure", **PAGE))
    assert (done.id, done.status, done.conclusion) == (first.id, "completed", "failure")
    assert len(runs(app)) == 1


def test_external_ids_stand_beside_each_other(app: Ground) -> None:
    """A re-run with an id of its own is another run; without one, the newest is adopted."""
    sha = app.pushed()
    ensure = app.hub.checks.ensure_check_run
    one = ensure("lint", sha, conclusion="failure", external_id="1").now
    two, _, _ = app.twice(lambda: ensure("lint", sha, conclusion="success", external_id="2"))
    assert one.id != two.id
    kept = ensure("lint", sha, conclusion="success")
    assert (kept.changed, kept.now.id) == (False, two.id)


def test_annotations_go_in_batches(app: Ground) -> None:
    """120 annotations: one request to make it, three to annotate; then 3 reads, and none is sent twice."""
    sha = app.pushed()
    ensure = app.hub.checks.ensure_check_run
    now, asked, again = app.twice(
        lambda: ensure("lint", sha, conclusion="neutral", annotations=remarks(120), **PAGE)
    )
    assert [one.split()[0] for one in asked] == ["GET", "POST", "PATCH", "PATCH", "PATCH"]
    assert [one.split()[0] for one in again] == ["GET", "GET", "GET"]
    assert now.annotations == 120
    more, asked, _ = app.twice(
        lambda: ensure("lint", sha, conclusion="neutral", annotations=remarks(121), **PAGE)
    )
    assert (len(asked), more.annotations) == (4, 121)
    assert (more.title, more.summary) == tuple(PAGE.values())


def test_equal_annotations_are_each_sent(app: Ground) -> None:
    """As often as they are wanted, and those that the run has already are not sent again."""
    ensure = partial(app.hub.checks.ensure_check_run, "lint", app.pushed(), conclusion="neutral")
    for count in (1, 3):
        run, _, _ = app.twice(partial(ensure, annotations=remarks(1) * count, **PAGE))
        assert run.annotations == count


@pytest.mark.parametrize("batch", [1, *map(soaked, (0, 2))])
def test_a_lost_batch_is_counted(app: Ground, batch: int) -> None:
    """A 502 after any batch: GitHub's count says that it arrived; before: the next call sends it."""
    sha = app.pushed()

    def ensure() -> int:
        return app.hub.checks.ensure_check_run(
            "lint", sha, conclusion="neutral", annotations=remarks(120), **PAGE
        ).now.annotations

    app.unanswered("before", "PATCH", "/check-runs/", skip=batch)
    with pytest.raises(Transient):
        ensure()
    app.unanswered("after", "PATCH", "/check-runs/")
    assert ensure() == 120
    assert len(runs(app)) == 1


def test_a_lost_run_is_found(app: Ground) -> None:
    """A 502 after it was made: it is found; before: nobody knows, and the next call makes it."""
    sha = app.pushed()
    app.unanswered("after", "POST", "/check-runs$")
    assert app.hub.checks.ensure_check_run("lint", sha, conclusion="success").changed
    assert len(runs(app)) == 1
    app.unanswered("before", "POST", "/check-runs$")
    with pytest.raises(Transient, match="may have been done"):
        app.hub.checks.ensure_check_run("lint", sha, conclusion="success", external_id="2")
    assert app.hub.checks.ensure_check_run(
        "lint", sha, conclusion="success", external_id="2"
    ).changed
    assert len(runs(app)) == 2


def test_where_more_is_to_be_seen_is_compared(app: Ground) -> None:
    """Another address is written, and the same one is not written again."""
    sha = app.pushed()
    changes = []
    for url in ("https://ci.example/1", "https://ci.example/1", "https://ci.example/2"):
        run = app.hub.checks.ensure_check_run("lint", sha, conclusion="success", details_url=url)
        assert run.now.details_url == url
        changes.append(run.changed)
    assert changes == [True, False, True]


def test_only_apps_write_check_runs(ground: Ground) -> None:
    """A person's token is refused with GitHub's words."""
    sha = ground.pushed()
    with pytest.raises(NoPermission) as caught:
        ground.hub.checks.ensure_check_run("lint", sha, conclusion="success")
    assert caught.value.evidence


@pytest.mark.parametrize(
    "given",
    [
        {"conclusion": ""},
        {"status": "queued", "conclusion": "success"},
        {"conclusion": "success", "summary": "No title"},
        {"conclusion": "success", "annotations": remarks(1)},
    ],
)
def test_what_makes_no_sense_is_refused(app: Ground, given: dict[str, Any]) -> None:
    """A run is whole or refused, before anything is asked."""
    with pytest.raises(Refused, match="nothing was done"):
        app.hub.checks.ensure_check_run("lint", "0" * 40, **given)
    assert app.asked() == []


def test_a_status_is_added_once(ground: Ground) -> None:
    """Only the newest of a context counts; another state, text or link adds one: 2 requests, then 1."""
    sha = ground.pushed()
    ensure = ground.hub.statuses.ensure_status
    now, asked, again = ground.twice(
        lambda: ensure(sha, "deploy", "pending", description="Under way")
    )
    path = f"/commits/{sha}/status"
    assert (asked, again) == ([f"GET {path}", f"POST /statuses/{sha}"], [f"GET {path}"])
    assert (now.state, now.description, now.sha) == ("pending", "Under way", sha)
    ground.twice(lambda: ensure(sha, "deploy", "success", description="Under way"))
    ground.twice(lambda: ensure(sha, "deploy", "success"))
    ground.twice(lambda: ensure(sha, "deploy", "success", target_url="https://example.com/1"))
    ground.twice(lambda: ensure(sha, "other", "success"))
    kept = ensure(sha, "deploy", "success", target_url="https://example.com/1")
    assert not kept.changed


def test_a_lost_status_is_found(ground: Ground) -> None:
    """A 502 after it was added: it is found, and added once."""
    sha = ground.pushed()
    ground.unanswered("after", "POST", "/statuses/")
    assert ground.hub.statuses.ensure_status(sha, "deploy", "success").changed
    mine = [one for one in ground.world()["statuses"] if one["context"] == "deploy"]
    assert len(mine) == 1


def test_a_long_description_is_refused(ground: Ground) -> None:
    """What GitHub would refuse is refused before anything is asked."""
    with pytest.raises(Refused, match="141 characters"):
        ground.hub.statuses.ensure_status("0" * 40, "deploy", "success", description="x" * 141)
    assert ground.asked() == []


def test_a_ref_is_made_and_moved(ground: Ground) -> None:
    """Made, moved forward, each once: 2 requests, then 1."""
    one = ground.pushed()
    two = ground.control.push_commit("work", {"more.txt": "more\n"}, "More")
    name = "refs/heads/copy"
    now, asked, again = ground.twice(lambda: ground.hub.refs.ensure_ref(name, one))
    assert (asked, again) == (
        ["GET /git/ref/heads/copy", "POST /git/refs"],
        ["GET /git/ref/heads/copy"],
    )
    now, asked, _ = ground.twice(lambda: ground.hub.refs.ensure_ref(name, two, expected=one))
    assert asked[-1] == "PATCH /git/refs/heads/copy"
    assert (now.ref, now.sha) == (name, two)
    with pytest.raises(HeadMoved, match="instead of"):
        ground.hub.refs.ensure_ref(name, one, expected=one)
    with pytest.raises(HeadMoved, match="lacks"):
        ground.hub.refs.ensure_ref(name, one)
    now, _, _ = ground.twice(lambda: ground.hub.refs.ensure_ref(name, one, force=True))
    assert now.sha == one
    with pytest.raises(Rejected):
        ground.hub.refs.ensure_ref("refs/heads/none", "0" * 40)


def test_a_branch_is_deleted_once(ground: Ground) -> None:
    """Deleted unless somebody pushed: 2 requests, then 1; a lost answer is read back."""
    sha = ground.pushed()
    with pytest.raises(HeadMoved):
        ground.hub.refs.ensure_branch_deleted("work", expected="0" * 40)
    _, asked, again = ground.twice(
        lambda: ground.hub.refs.ensure_branch_deleted("work", expected=sha)
    )
    assert (asked, again) == (
        ["GET /git/ref/heads/work", "DELETE /git/refs/heads/work"],
        ["GET /git/ref/heads/work"],
    )
    ground.pushed("other")
    ground.unanswered("after", "DELETE", "/git/refs/")
    assert ground.hub.refs.ensure_branch_deleted("other").changed
    assert "refs/heads/other" not in ground.world()["refs"]


def test_another_apps_run_is_left_alone(app: Ground) -> None:
    """Only its own app may change a run: beside that of Actions stands one of ours, made once."""
    sha = app.pushed()
    theirs = app.control.set_check(sha, "lint", conclusion="success")

    def ensure(hub: GitHub, conclusion: Conclusion) -> Ensured[CheckRunFacts]:
        return hub.checks.ensure_check_run("lint", sha, conclusion=conclusion, **PAGE)

    now, _, again = app.twice(lambda: ensure(app.hub, "success"))
    assert (now.id != theirs, now.app) == (True, "checker")
    assert again == [f"GET /commits/{sha}/check-runs"]
    app.control.set_check(sha, "lint", conclusion="success", rerun=True)
    with app.other(APP) as other:  # one that has made none finds ours, though theirs is newer
        kept = ensure(other, "success")
        assert (kept.changed, kept.now.id) == (False, now.id)
        assert ensure(other, "failure").now.id == now.id
    assert {one["conclusion"] for one in runs(app)} == {"success", "failure"}


WRONG = ["main", "", "abc", "../../hello-service/statuses/" + "0" * 40, "0" * 41, "0" * 40 + "?a=b"]


@pytest.mark.parametrize("sha", WRONG)
def test_a_commit_is_named_whole(app: Ground, sha: str) -> None:
    """What is no commit's whole name is refused before anything is asked."""
    acts: list[Callable[[], object]] = [
        lambda: app.hub.statuses.ensure_status(sha, "deploy", "success"),
        lambda: app.hub.checks.ensure_check_run("lint", sha, conclusion="success"),
        lambda: app.hub.refs.ensure_ref("refs/heads/copy", sha),
    ]
    for act in acts:
        with pytest.raises(Refused, match="40 digits"):
            act()
    assert app.asked() == []


def test_capital_digits_are_the_same_commit(ground: Ground) -> None:
    """A name in capitals is that of GitHub's: nothing is written twice."""
    sha = ground.pushed().upper()
    ground.twice(lambda: ground.hub.refs.ensure_ref("refs/heads/copy", sha))
    ground.twice(lambda: ground.hub.statuses.ensure_status(sha, "deploy", "success"))


@pytest.mark.parametrize("name", ["refs/heads/../tags/v1", "refs/heads/.", "refs/heads/", ".."])
def test_a_ref_of_dots_leads_nowhere_else(ground: Ground, name: str) -> None:
    """A part that is empty or dots would name something else: it is refused before anything is asked."""
    with pytest.raises(Refused, match="No API address can contain"):
        ground.hub.refs.ensure_no_ref(name)
    with pytest.raises(Refused, match="No API address can contain"):
        ground.hub.refs.ensure_ref(name, "0" * 40)
    assert ground.asked() == []
