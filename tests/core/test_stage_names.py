"""`core.stage_names`: the six stages, and the words that an agent types."""

from __future__ import annotations

from lifecycle.core.stage_names import COMPLETES, LINE, MARKERS, Detected, Stage

STAGES = {
    "CODING": "CODING_COMPLETE",
    "REQUIREMENTS_REVIEW": "REQUIREMENTS_REVIEWED",
    "TESTING": "TESTS_PASSING",
    "ORACLE_REVIEW": "ORACLE_APPROVED",
    "COMMIT_CLOSE": "ISSUE_CLOSED",
    "NEXT_TASK": "SESSION_CLEARED",
}


def test_each_stage_ends_with_its_marker_in_this_order() -> None:
    """Files, journals and instructions have these words; the whole line is all of the stages."""
    assert [(str(stage), str(marker)) for stage, marker in MARKERS.items()] == list(STAGES.items())
    assert {marker: stage for stage, marker in MARKERS.items()} == COMPLETES
    assert tuple(Stage) == LINE


def test_a_look_finds_a_completion_or_work_under_way_or_nothing() -> None:
    """Each word is exactly one of these; only of the last the agent is asked what it is at."""
    completions = [found for found in Detected if found.is_completion]
    under_way = [found for found in Detected if found.is_under_way]
    assert completions == list(STAGES.values())
    assert under_way == ["IN_PROGRESS", "IN_TESTING", "IN_ORACLE_REVIEW"]
    assert set(Detected) - {*completions, *under_way} == {"UNKNOWN"}
    assert all(found.is_completion is True for found in completions)
