"""What a program hands to the public operations is published without its secrets, and compared so."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api import GitHub, Refused
from tests.github.operations.ground import Ground

SECRET = "gh" + "p_" + "aB3dE5gH1j" * 4


def test_a_secret_in_a_comment_stays_here(ground: Ground) -> None:
    """GitHub gets `***`, the answer names the argument, and the same call again writes nothing."""
    ensure = ground.hub.comments.ensure_comment
    first = ensure(42, "report", f"It failed with {SECRET}.")
    assert first.changed
    assert first.withheld == ("body",)
    assert first.now.body.startswith("It failed with ***.")
    again = ensure(42, "report", f"It failed with {SECRET}.")
    assert not again.changed
    assert again.withheld == ("body",)
    assert SECRET not in str(ground.world())


def test_texts_without_secrets_are_sent_as_they_are(ground: Ground) -> None:
    """Nothing is withheld, and GitHub has the very words."""
    done = ground.hub.issues.ensure_text(42, title="Größe <b> & \u202eabc", body="0a1b2c3d" * 5)
    assert done.withheld == ()
    assert done.now.title == "Größe <b> & \u202eabc"
    assert done.now.body == "0a1b2c3d" * 5


def test_the_token_of_this_call_is_never_published(ground: Ground) -> None:
    """A token of no known shape, given to this object, is a secret in every text of this process."""
    token = "plain-words-of-a-server"
    with GitHub("octo-org/hello-service", token=token, api_url="http://127.0.0.1:9") as hub:
        hub._clients  # noqa: B018 -- from here on it is known
    done = ground.hub.issues.ensure_text(42, title=f"see {token}")
    assert done.now.title == "see ***"


def test_a_branch_that_is_called_like_a_secret_is_refused(ground: Ground) -> None:
    """Another name would be another branch: nothing is sent."""
    ground.asked()
    for ensure in (
        lambda: ground.hub.refs.ensure_ref(f"refs/heads/{SECRET}", "0" * 40),
        lambda: ground.hub.pulls.ensure_pull_request(head=SECRET, base="main", title="T", body=""),
    ):
        with pytest.raises(Refused, match="name of a branch contains what looks like a secret"):
            ensure()
    assert SECRET not in str(ground.world())


@pytest.mark.parametrize("given", ["42", True, 42.0, None, -1, 0, 2**31])
def test_a_number_that_is_none_is_refused(ground: Ground, given: Any) -> None:
    """GitHub finds issue 42 by the text, too; compared with its number, it was another issue's."""
    what = "number that GitHub gives, so nothing was done; give one like 42"
    if type(given) is not int:
        what = "number, so nothing was done; give an int"
    ground.hub.relations.ensure_blocked_by(42, 39)
    ground.asked()
    for ensure in (
        lambda: ground.hub.issues.ensure_closed(given),
        lambda: ground.hub.comments.ensure_comment(given, "k", "One"),
        lambda: ground.hub.relations.ensure_not_blocked_by(42, given),
        lambda: ground.hub.board(1).ensure_item(given),
        lambda: ground.hub.board(1).item(given),
        lambda: ground.hub.board(given).item(42),
    ):
        with pytest.raises(Refused, match=rf"(number|blocker)=.* is not a {what}\.$"):
            ensure()
    assert ground.asked() == []


@pytest.mark.parametrize("given", [5, None, b"One", ["One"]])
def test_a_text_that_is_none_is_refused(ground: Ground, given: Any) -> None:
    """A text of another kind is refused in a sentence: it failed in the middle, with Python's error."""
    ground.asked()
    for ensure in (
        lambda: ground.hub.comments.ensure_comment(42, "k", given),
        lambda: ground.hub.comments.ensure_comment(42, given, "One"),
        lambda: ground.hub.issues.ensure_issue("k", title=given),
        lambda: ground.hub.board(1).ensure_field(42, given, "One"),
        lambda: ground.hub.merging.ensure_merged(42, sha=given),
        lambda: ground.hub.board(1, owner=given),
    ):
        with pytest.raises(Refused, match="is not a text, so nothing was done; give a str"):
            ensure()
    with pytest.raises(Refused, match="not a full commit SHA"):
        ground.hub.refs.ensure_ref("refs/heads/x", given)
    assert ground.asked() == []
    assert not ground.hub.issues.ensure_text(42, title=None).changed


def test_what_is_refused_is_shown_in_short_and_without_its_secrets(ground: Ground) -> None:
    """A comment that is given as bytes, say: the sentence goes into a log."""
    with pytest.raises(Refused, match=r"^body=b'\*\*\* x+… is not a text") as refused:
        ground.hub.comments.ensure_comment(42, "k", f"{SECRET} {'x' * 500}".encode())  # type: ignore[arg-type]
    assert len(refused.value.sentence) < 300
