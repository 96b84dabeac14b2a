"""A look that is rehearsed: the decisions as they follow each other if every write succeeds."""

from __future__ import annotations

from lifecycle.claim.decisions.decide import foresee
from lifecycle.core.plan import CloseIssue, Done, ForgetClaim, PostComment, SetBoard
from tests.claim.steps import DONE, believed, closing, run
from tests.factories import record, seen

MADE = seen(record(**DONE), observed=closing())


def test_a_rehearsal_takes_the_steps_of_the_look() -> None:
    """In its order, each with the record as it is then; it ends with a decision that wants nothing more."""
    steps = list(foresee(MADE, believed))
    actions = [step.action for _, step in steps if step.action is not None]
    assert actions == run(MADE)
    assert [type(action) for action in actions] == [PostComment, CloseIssue, SetBoard, ForgetClaim]
    assert steps[0][0].record.claim.status == "Done"
    assert len(steps) == 1 + len(actions) + 1
    assert steps[0][1].action is None, "what is accepted is kept before anything is written"
    assert (steps[-1][1].action, steps[-1][0].record.ending.outcome) == (None, "closed")


def test_no_rehearsal_goes_on_for_ever() -> None:
    """Where an action leads to nothing new, it ends after more steps than any look takes."""
    assert len(list(foresee(MADE, lambda _: Done(CloseIssue(7))))) == 24
