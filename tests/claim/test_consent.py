"""The user's yes: when `done` in the file counts, and what counts instead."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.claim.decide import decide, look
from lifecycle.model import PullState
from lifecycle.plan import CloseIssue, PostComment, Tone
from tests.claim.steps import DONE, REVIEW, closing, rest, rules_with
from tests.factories import observation, pull, record, seen, texts

ASKED: dict[str, Any] = {"hears_prompts": True}
DONE_ASKED: dict[str, Any] = {"memory": {"asked_pr": 107}, **DONE}


def acts(**changes: Any) -> list[str]:
    """What closing does, by kind."""
    made = seen(record(**DONE_ASKED), observed=closing(), **changes)
    return [type(action).__name__ for action in rest(made)[0]]


def test_done_after_the_question_needs_a_later_prompt() -> None:
    """A session that was woken with the question cannot answer it itself: phase and issue stay."""
    made = seen(record(**DONE_ASKED), **ASKED)
    step = decide(made)
    assert step.fields == {"phase": "merged_detected"}
    assert step.action is None
    assert [say.tone for say in step.says] == [Tone.ACT]
    assert "the user has written nothing since" in texts(step)
    assert look(made) is None  # not one request


def test_a_prompt_after_the_question_is_an_answer() -> None:
    """Only what the user wrote after the question was put counts."""
    assert acts(**ASKED) == []
    assert "CloseIssue" in acts(**ASKED, is_answered=True)


def test_an_answer_is_to_one_question() -> None:
    """Asked for another pull request's merge: that question says nothing of this one."""
    made = seen(record(**DONE, memory={"asked_pr": 99}), observed=closing(), **ASKED)
    assert CloseIssue(42) in rest(made)[0]  # nobody was asked of this one, as without any question


def test_where_no_answer_can_be_heard_done_counts() -> None:
    """Without the hook on prompts, or before any question, the agent's word stands, as designed."""
    assert "CloseIssue" in acts(hears_prompts=False)
    unasked = seen(record(**DONE), observed=closing(), **ASKED)
    assert CloseIssue(42) in rest(unasked)[0]


@pytest.mark.parametrize("consent", ["close", "auto", "nudge: released by hand"])
def test_a_command_is_a_yes_by_itself(consent: str) -> None:
    """`lifecycle close`, a nudge and `close = "auto"` do not wait for a prompt."""
    made = seen(
        record(**DONE, memory={"asked_pr": 107, "consent": consent}), observed=closing(), **ASKED
    )
    assert CloseIssue(42) in rest(made)[0]


def test_auto_closes_at_the_merge_without_a_question() -> None:
    """`close = "auto"`: the merge leads to done in one look, and the comment says why."""
    shown = observation(**{**_fields(closing()), "by_number": pull(state=PullState.MERGED)})
    made = seen(record(**REVIEW), observed=shown)
    made = seen(record(**REVIEW), observed=shown, rules=rules_with(made, closes_itself=True))
    first = decide(made)
    assert first.fields["phase"] == "merged_detected"
    assert [(say.tone, "Should I" in say.text) for say in first.says] == [(Tone.NEWS, False)]
    actions, end = rest(made)
    assert end.consent == "auto"
    (comment,) = [action for action in actions if isinstance(action, PostComment)]
    assert comment.body.startswith("Completed in #107")
    assert "auto" in comment.body
    assert CloseIssue(42) in actions


def _fields(observed: Any) -> dict[str, Any]:
    return {name: getattr(observed, name) for name in observed.__dataclass_fields__}
