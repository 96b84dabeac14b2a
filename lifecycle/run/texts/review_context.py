"""What a reviewer of a story gets: what was asked for, the diff, and how its tests failed and passed.

How the work came about is not in it: who judges has the files and the logs, and nobody's account.
"""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.run.gates.reviews import standing
from lifecycle.run.state import Story, TestProof
from lifecycle.run.table import StoryCheck
from lifecycle.run.texts.design_blocks import filled

LISTED = 20
"""Tests and files that are named one by one; of more it is said how many there are."""


def review_lines(story: Story, diff: str, stat: str) -> list[str]:
    """The context of one story.

    Args:
        story: it, with its proofs.
        diff: the path of the file that holds the diff since it began, below the worktree.
        stat: how much that is, as git says it; "" if nothing changed.
    """
    criteria = [f"{number}. {one.text}" for number, one in enumerate(story.criteria, start=1)]
    return filled(
        "review",
        story=story,
        marked=" (security-sensitive)" if story.security else "",
        design=story.design or "None was recorded.",
        diff=f"{diff} ({stat})" if stat else "nothing was changed since it began.",
        criteria=criteria or ["None was recorded."],
        red=[*_proof(story, story.red)],
        green=[*_proof(story, story.green)],
        changed=[*_changed(story), *_standing(story)],
    )


def _proof(story: Story, proof: TestProof | None) -> Iterator[str]:
    if proof is None:
        why = story.waived or story.unneeded
        yield f"Waived: {why}" if why else "Nothing was shown."
        return
    yield f"Run: {proof.command}, {_counts(proof)}"
    yield f"Log: {proof.log or 'none was kept'}"
    yield from (f"- {test}" for test in proof.tests[:LISTED])
    if len(proof.tests) > LISTED:
        yield f"- and {len(proof.tests) - LISTED} more"
    if not proof.tests:
        yield "The runner names no tests; the counts decided."
    if proof.note:
        yield f"Note: {proof.note}"


def _counts(proof: TestProof) -> str:
    if proof.total < 0:
        return "nobody counted its tests"
    failed = "" if proof.failed < 0 else f", {proof.failed} failed"
    return f"{proof.total} tests{failed}"


def _changed(story: Story) -> list[str]:
    """The files of the tests that were changed between red and green: is it still the same demand?"""
    changed = story.green.changed if story.green is not None else ()
    head = ["", "### Tests that were changed between RED and GREEN"] if changed else []
    return [*head, *(f"- {path}" for path in changed)]


def _standing(story: Story) -> Iterator[str]:
    """What reviews found BLOCKING before: is it mended?"""
    for check in StoryCheck:
        found = standing(story, check)
        if found:
            yield ""
            yield f"### BLOCKING before, for {check} (mended? then say RESOLVED: NUMBER)"
            yield from (f"{number}. {text}" for number, text in enumerate(found, 1))
