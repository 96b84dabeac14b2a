"""Merging: what was judged, now or by GitHub; and branches brought up to their bases."""

from __future__ import annotations

import pytest

from lifecycle.api import HeadMoved, NotMergeable, Refused, Rejected, Transient
from lifecycle.core.values.model import MergeMethod as Method
from lifecycle.core.values.shapes import PullFacts
from lifecycle.sandbox.control.faults import Fault
from tests.github.operations.ground import Ground


def opened(ground: Ground, branch: str = "work", *, draft: bool = False) -> PullFacts:
    """A pull request of a new branch; the log is empty afterwards."""
    ground.pushed(branch)
    made = ground.hub.pulls.ensure_pull_request(branch, title="Work", draft=draft).now
    ground.asked()
    return made


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
def test_a_pull_request_is_merged_once(ground: Ground, method: Method) -> None:
    """Merged at the head that was judged: 2 requests, then 1."""
    pull = opened(ground)
    now, asked, again = ground.twice(
        lambda: ground.hub.merging.ensure_merged(pull.number, sha=pull.head_sha, method=method)
    )
    path = f"/pulls/{pull.number}"
    assert (asked, again) == ([f"GET {path}", f"PUT {path}/merge"], [f"GET {path}"])
    assert now.is_merged
    assert now.merge_sha == ground.world()["refs"]["refs/heads/main"]


def test_a_lost_merge_is_read_back(ground: Ground) -> None:
    """A 502 after it was merged: it is seen. Before: nobody knows, and the next call merges."""
    one, two = opened(ground, "one"), opened(ground, "two")
    ground.unanswered("after", "PUT", "/merge$")
    assert ground.hub.merging.ensure_merged(one.number).now.is_merged
    ground.unanswered("before", "PUT", "/merge$")
    with pytest.raises(Transient, match="may have been done"):
        ground.hub.merging.ensure_merged(two.number)
    assert ground.hub.merging.ensure_merged(two.number).changed


def test_another_head_is_not_merged(ground: Ground) -> None:
    """Somebody pushed after the judgement: at the look, or between the look and the merge (409)."""
    pull = opened(ground)
    ground.control.push_commit("work", {"more.txt": "more\n"}, "More")
    with pytest.raises(HeadMoved, match="another head"):
        ground.hub.merging.ensure_merged(pull.number, sha=pull.head_sha)
    assert ground.written() == []
    body = '{"message": "Head branch was modified. Review and try the merge again."}'
    ground.control.add_fault(Fault("status", method="PUT", path="/merge$", status=409, body=body))
    with pytest.raises(HeadMoved, match="Somebody pushed"):
        ground.hub.merging.ensure_merged(pull.number)


def test_what_cannot_be_merged(ground: Ground) -> None:
    """A conflict, a draft and a closed one are said with GitHub's words, and stay (405)."""
    pull = opened(ground)
    ground.control.push_commit("main", {"work.txt": "other\n"}, "Other")
    with pytest.raises(NotMergeable, match=f"#{pull.number}") as caught:
        ground.hub.merging.ensure_merged(pull.number)
    assert caught.value.evidence
    draft = opened(ground, "draft", draft=True)
    with pytest.raises(NotMergeable, match="draft"):
        ground.hub.merging.ensure_merged(draft.number)
    ground.control.close_pull(draft.number)
    with pytest.raises(NotMergeable, match="is closed"):
        ground.hub.merging.ensure_merged(draft.number)


def test_a_base_that_moves_is_tried_again(ground: Ground) -> None:
    """405 "Base branch was modified" passes: it is Transient, with a time."""
    pull = opened(ground)
    body = '{"message": "Base branch was modified. Review and try the merge again."}'
    ground.control.add_fault(Fault("status", method="PUT", path="/merge$", status=405, body=body))
    with pytest.raises(Transient, match="moved during") as caught:
        ground.hub.merging.ensure_merged(pull.number)
    assert caught.value.retry_after
    assert ground.hub.merging.ensure_merged(pull.number).changed


def test_a_merge_by_somebody_quicker(ground: Ground) -> None:
    """GitHub refuses since it is merged already: that is as wanted."""
    pull = opened(ground)
    ground.control.merge_pull(pull.number)
    assert not ground.hub.merging.ensure_merged(pull.number).changed


def test_nothing_to_wait_for_is_merged_now(ground: Ground) -> None:
    """Auto-merge is refused where all is clean: it is merged at the head that was seen."""
    pull = opened(ground)
    ground.hub.pulls.ensure_text(pull.number, title="Seen")  # mergeable is known by now
    now, asked, again = ground.twice(lambda: ground.hub.merging.ensure_auto_merge(pull.number))
    path = f"/pulls/{pull.number}"
    assert asked == [f"GET {path}", "EnableAutoMerge", f"PUT {path}/merge"]
    assert again == [f"GET {path}"]
    assert now.is_merged


def test_auto_merge_waits(ground: Ground) -> None:
    """What is missing is waited for by GitHub: 2 requests, then 1; switched off: 2, then 1."""
    ground.control.require_reviews(1)
    pull = opened(ground)
    path = f"GET /pulls/{pull.number}"
    switch = ground.hub.merging.ensure_auto_merge
    now, asked, again = ground.twice(lambda: switch(pull.number, method="squash"))
    assert (asked, again) == ([path, "EnableAutoMerge"], [path])
    assert (now.auto_merge, now.is_open) == ("squash", True)
    now, asked, _ = ground.twice(lambda: switch(pull.number, method="rebase"))
    assert asked == [path, "DisableAutoMerge", "EnableAutoMerge"]
    assert now.auto_merge == "rebase"
    now, asked, again = ground.twice(lambda: ground.hub.merging.ensure_no_auto_merge(pull.number))
    assert (asked, again, now.auto_merge) == ([path, "DisableAutoMerge"], [path], "")
    switch(pull.number, method="squash")
    ground.control.review(pull.number, "APPROVED", login="maria")
    kept = switch(pull.number, method="squash")
    assert (kept.changed, kept.now.is_merged) == (False, True)


def test_auto_merge_of_another_head(ground: Ground) -> None:
    """Only what was judged: another head is refused before anything is sent."""
    pull = opened(ground)
    with pytest.raises(HeadMoved):
        ground.hub.merging.ensure_auto_merge(pull.number, sha="0" * 40)
    ground.control.close_pull(pull.number)
    with pytest.raises(NotMergeable, match="is closed"):
        ground.hub.merging.ensure_auto_merge(pull.number)
    assert ground.written() == []


def test_a_branch_is_brought_up_to_its_base(ground: Ground) -> None:
    """GitHub merges the base into the branch: 3 requests, then 2; nothing to do: 2."""
    pull = opened(ground)
    path = f"/pulls/{pull.number}"
    assert not ground.hub.merging.ensure_branch_updated(pull.number).changed
    assert len(ground.asked()) == 2
    ground.control.push_commit("main", {"base.txt": "base\n"}, "Base")
    done = ground.hub.merging.ensure_branch_updated(pull.number, sha=pull.head_sha)
    asked = ground.asked()
    assert done.changed
    assert asked[0] == f"GET {path}"
    assert asked[2] == f"PUT {path}/update-branch"
    assert not ground.hub.merging.ensure_branch_updated(pull.number).changed
    with pytest.raises(HeadMoved):
        ground.hub.merging.ensure_branch_updated(pull.number, sha=pull.head_sha)
    ground.control.close_pull(pull.number)
    with pytest.raises(NotMergeable, match="is closed"):
        ground.hub.merging.ensure_branch_updated(pull.number)


def test_a_branch_that_conflicts_is_not_updated(ground: Ground) -> None:
    """A conflict needs somebody who resolves it, and is said."""
    pull = opened(ground)
    ground.control.push_commit("main", {"work.txt": "other\n"}, "Other")
    with pytest.raises(Rejected, match=f"#{pull.number}"):
        ground.hub.merging.ensure_branch_updated(pull.number)


REFUSED = "Merge method rebase merging is not allowed on this repository"


def refusing(ground: Ground, count: int) -> PullFacts:
    """A pull request on which auto-merge is on, and GitHub refuses the next switches."""
    ground.control.require_reviews(1)
    pull = opened(ground)
    ground.hub.merging.ensure_auto_merge(pull.number, method="squash")
    fault = Fault("graphql_error", operation="EnableAutoMerge", count=count,
                  error_type="UNPROCESSABLE", message=REFUSED)  # fmt: skip
    ground.control.add_fault(fault)
    return pull


def test_the_old_method_is_put_back(ground: Ground) -> None:
    """Another method is refused after the old one was switched off: the old one is on again."""
    pull = refusing(ground, 1)
    with pytest.raises(Rejected, match="nothing was changed") as caught:
        ground.hub.merging.ensure_auto_merge(pull.number, method="rebase")
    assert REFUSED in caught.value.evidence
    assert not ground.hub.merging.ensure_auto_merge(pull.number, method="squash").changed


def test_what_cannot_be_put_back_is_said(ground: Ground) -> None:
    """The old method is refused, too: the sentence says that auto-merge is off, and not the contrary."""
    pull = refusing(ground, 2)
    with pytest.raises(
        Rejected, match=f"switched off auto-merge of #{pull.number} by squash"
    ) as no:
        ground.hub.merging.ensure_auto_merge(pull.number, method="rebase")
    assert "nothing was changed" not in str(no.value)
    assert REFUSED in no.value.evidence
    assert ground.hub.merging.ensure_auto_merge(pull.number, method="rebase").changed


def test_an_unknown_switch_is_not_undone(ground: Ground) -> None:
    """No answer to the other method: nothing more is sent, and the sentence says what is off."""
    ground.control.require_reviews(1)
    pull = opened(ground)
    ground.hub.merging.ensure_auto_merge(pull.number, method="squash")
    ground.control.add_fault(Fault("status", operation="EnableAutoMerge", count=3))
    ground.asked()
    with pytest.raises(Transient, match="by squash") as caught:
        ground.hub.merging.ensure_auto_merge(pull.number, method="rebase")
    assert caught.value.is_ambiguous
    assert ground.asked().count("EnableAutoMerge") == 3
    assert ground.hub.merging.ensure_auto_merge(pull.number, method="rebase").changed


@pytest.mark.parametrize("name", ["ensure_merged", "ensure_auto_merge", "ensure_branch_updated"])
def test_a_head_is_named_whole(ground: Ground, name: str) -> None:
    """A short commit is refused before anything is asked; the digits may be capitals."""
    pull = opened(ground)
    with pytest.raises(Refused, match="40 digits"):
        getattr(ground.hub.merging, name)(pull.number, sha=pull.head_sha[:12])
    assert ground.asked() == []
    getattr(ground.hub.merging, name)(pull.number, sha=pull.head_sha.upper())
