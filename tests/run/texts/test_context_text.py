"""What a session keeps of a run: by the length of the run, the current story always whole."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from lifecycle.run import state
from lifecycle.run.table import TIERS, Gate
from lifecycle.run.texts.report_text import compacted, context
from lifecycle.run.texts.standing import checks_of
from tests.run.texts.texts_ground import FACTS, NOW, TREE, a_run, done

HOURS_1, HOURS_4 = NOW + TIERS[0].until, NOW + TIERS[1].until


@pytest.mark.parametrize(("now", "is_full"), [(NOW, True), (HOURS_1, True), (HOURS_4, False)])
def test_the_current_story_is_whole_and_completed_ones_are_by_tier(
    now: float, is_full: bool
) -> None:
    """Goal, answers and the story at work are never dropped; designs of completed ones are, in the end."""
    lines, data = context(a_run(), FACTS, now)
    text = "\n".join(lines)
    for part in (
        "**Goal:** Implement payment processing",
        '- "What provider?" "Stripe"',
        '- Criterion 1 (pending): "a payment is kept"',
        '- Design: "A table and a service"',
        "- Files: pay.py, card.py",
        "- RED shown by: tests/test_pay.py::test_kept",
        '- Failed (F2, infra): "Connection refused"',
        "- S1: Story 1 (2 iterations, commit dddddddddddd)",
        "- S4 (pending): Reports",
        "B2",
    ):
        assert part in text
    assert ('design: "A class"' in text) is is_full
    assert "an error of long ago" not in text
    assert data["current_story"]["id"] == "S2"


def test_of_very_many_stories_the_context_stays_short() -> None:
    """The last ones are named, of the others the number."""
    run = replace(a_run(), stories=(*(done(n) for n in range(5, 500)), *a_run().stories))
    text = "\n".join(context(run, FACTS, HOURS_4)[0])
    assert "… and 476 more" in text
    assert len(text) < 6_000


def test_only_the_longest_runs_drop_something_from_the_file() -> None:
    """Before that nothing goes, and of a story that is open nothing ever does."""
    assert compacted(a_run(), HOURS_4 - 1) == a_run()
    slim = compacted(a_run(), HOURS_4)
    assert slim.stories[1:] == a_run().stories[1:]
    assert len(state.encoded(slim)) < len(state.encoded(a_run()))
    assert compacted(slim, HOURS_4) == slim


def test_what_is_dropped_proves_nothing_that_is_asked_later() -> None:
    """Of a completed story the newest gates and reviews stay, its criteria, and its red and green tests."""
    said = {"check": "testsPass", "passed": True}
    run = a_run().with_story(a_run().story("S1").but(words=(said,)))
    before, after = run.story("S1"), compacted(run, HOURS_4).story("S1")
    assert checks_of(after, TREE) == checks_of(before, TREE)
    assert [one.gate for one in after.gates] == [Gate.G4, Gate.G5]
    assert after.criteria == before.criteria
    assert (after.commit, after.iteration, after.design) == (
        before.commit,
        before.iteration,
        before.design,
    )
    assert before.red is not None
    assert (after.red, after.green) == (before.red.but(files={}), before.red.but(files={}))
    assert [one.text for one in after.reviews[0].findings] == ["a name"]
    assert (after.failures, after.words) == ((), ())
    assert {(part.log, part.failures) for one in after.gates for part in one.parts} == {("", ())}
    unproven = replace(a_run(), stories=(done(1).but(red=None, green=None),))
    bare = compacted(unproven, HOURS_4).story("S1")
    assert (bare.red, bare.green) == (None, None)
