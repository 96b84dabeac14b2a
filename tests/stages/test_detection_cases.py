"""Every case of the project's own table, and that the table is one."""

from __future__ import annotations

from tests.batches import batched, wrong
from tests.stages.detection_cases import STAYS, TIERS, Case, all_cases, detected, named

CASES = all_cases()


@batched(CASES)
def test_a_case_comes_to_what_it_says(batch: list[Case]) -> None:
    """The product's detection finds the completed stage, or none, as the case's line says."""
    failed = wrong(batch, named, detected, lambda case: case.found)
    assert not failed, "\n".join(failed)


def test_few_completions_are_missed() -> None:
    """What is given up for safety is words alone, at most a fifth of those that complete a stage."""
    every = [case for case in CASES if case.expected != STAYS and case.tier == "words"]
    missed = [case for case in CASES if case.missed]
    assert 0 < len(missed) <= len(every) / 5
    assert {(case.tier, case.expected == STAYS) for case in missed} == {("words", False)}


def test_the_table_is_large_and_no_case_stands_twice() -> None:
    """At least 400, of every tier both those that advance and those that do not, each with its reason."""
    assert len(CASES) >= 400
    assert len({(case.asked, str([vars_of(s) for s in case.steps])) for case in CASES}) == len(
        CASES
    )
    for tier in TIERS:
        assert {case.expected == STAYS for case in CASES if case.tier == tier} == {True, False}
    assert {case.tier for case in CASES} == set(TIERS)
    assert all(case.why for case in CASES)


def vars_of(step: object) -> str:
    """A step as text, calls by all that they have."""
    if isinstance(step, str):
        return step
    return str(
        [getattr(step, name) for name in ("tool", "text", "outcome", "output", "is_background")]
    )
