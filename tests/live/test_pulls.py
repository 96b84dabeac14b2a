"""A pull request from branch to merge, checks and statuses, as the real GitHub has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.live.hub import Hub

pytestmark = pytest.mark.xdist_group("live")  # one GitHub, one after the other


def _base(hub: Hub) -> str:
    """A branch of ours that pull requests may be merged into: the default one is left alone."""
    name = hub.name("base")
    hub.made("git/refs", {"ref": f"refs/heads/{name}", "sha": hub.clone()}, undo="git/{ref}")
    return name


def _pull(hub: Hub, **more: Any) -> dict[str, Any]:
    head, _ = hub.branch()
    wanted = {"title": hub.name("pull"), "head": head, "base": _base(hub), "body": "text", **more}
    made = hub.made("pulls", wanted)
    path = f"pulls/{made['number']}"
    hub.bin.append(lambda: hub.rest("PATCH", path, {"state": "closed"}))
    return made


def _judged(hub: Hub, number: int) -> dict[str, Any]:
    """The pull request, once GitHub knows whether it can be merged."""
    found: dict[str, Any] = hub.until(
        lambda: hub.rest("GET", f"pulls/{number}").json(),
        lambda pull: pull["mergeable"] is not None,
    )
    return found


def test_a_pull_request_is_made_once(hub: Hub) -> None:
    """A second one of the same head and base is 422, with words that an adapter may rely on."""
    made = _pull(hub)
    head, base = made["head"]["ref"], made["base"]["ref"]
    again = hub.rest("POST", "pulls", {"title": "t", "head": head, "base": base})
    assert again.status_code == 422
    (error,) = again.json()["errors"]
    owner = hub.place.repository.partition("/")[0]
    assert error["message"] == f"A pull request already exists for {owner}:{head}."
    listed = hub.until(lambda: hub.rest("GET", f"pulls?head={owner}:{head}&state=all").json(), len)
    assert [one["number"] for one in listed] == [made["number"]]


def test_nothing_to_pull_is_refused(hub: Hub) -> None:
    """A head without a commit of its own is 422, and says so."""
    base, head = _base(hub), _base(hub)
    refused = hub.rest("POST", "pulls", {"title": "t", "head": head, "base": base})
    assert refused.status_code == 422
    (error,) = refused.json()["errors"]
    assert error["message"] == f"No commits between {base} and {head}"


def test_a_head_that_is_not_there_is_refused(hub: Hub) -> None:
    """A head without a branch is 422 with the field named."""
    refused = hub.rest(
        "POST", "pulls", {"title": "t", "head": hub.name("none"), "base": _base(hub)}
    )
    assert refused.status_code == 422
    assert [(e["field"], e["code"]) for e in refused.json()["errors"]] == [("head", "invalid")]


def test_a_merge_wants_the_head_that_was_seen(hub: Hub) -> None:
    """Merging with another sha is 409; with the right one it is done, and shown everywhere."""
    made = _pull(hub)
    number, sha = made["number"], made["head"]["sha"]
    pull = _judged(hub, number)
    assert (pull["mergeable"], pull["merged"]) == (True, False)
    path = f"pulls/{number}/merge"
    wrong = hub.rest("PUT", path, {"sha": hub.clone()})
    assert wrong.status_code == 409
    hub.say("merge with another head", wrong.json()["message"])
    merged = hub.rest("PUT", path, {"sha": sha, "merge_method": "squash"})
    assert (merged.status_code, merged.json()["merged"]) == (200, True)
    after = hub.until(lambda: hub.rest("GET", f"pulls/{number}").json(), lambda p: p["merged"])
    assert (after["state"], after["merge_commit_sha"]) == ("closed", merged.json()["sha"])
    assert hub.rest("GET", f"issues/{number}").json()["pull_request"]["merged_at"]
    again = hub.rest("PUT", path, {"sha": sha})
    assert again.status_code == 405
    hub.say("merge what is merged", again.json()["message"])


def test_a_closed_pull_request_is_reopened(hub: Hub) -> None:
    """Closed unmerged, it is no merge; it can be opened again."""
    path = f"pulls/{_pull(hub)['number']}"
    closed = hub.rest("PATCH", path, {"state": "closed"}).json()
    assert (closed["state"], closed["merged"]) == ("closed", False)
    assert hub.rest("PATCH", path, {"state": "open"}).json()["state"] == "open"


def test_the_newest_status_of_a_context_counts(hub: Hub) -> None:
    """Two statuses of one context are one in the combined status, the newer; none is pending."""
    _, sha = hub.branch()
    none = hub.rest("GET", f"commits/{sha}/status").json()
    assert (none["state"], none["total_count"]) == ("pending", 0)
    for state in ("failure", "success"):
        hub.made(f"statuses/{sha}", {"state": state, "context": "lifecycle-live"})
    combined = hub.until(
        lambda: hub.rest("GET", f"commits/{sha}/status").json(), lambda c: c["state"] == "success"
    )
    assert [(one["context"], one["state"]) for one in combined["statuses"]] == [
        ("lifecycle-live", "success")
    ]


def test_a_commit_without_checks_has_none(hub: Hub) -> None:
    """Check runs of a new commit are an empty list, which is no pass."""
    _, sha = hub.branch()
    answer = hub.rest("GET", f"commits/{sha}/check-runs")
    assert answer.status_code == 200
    assert answer.json().keys() == {"total_count", "check_runs"}
    hub.say("check runs of a fresh commit", str(answer.json()["total_count"]))
