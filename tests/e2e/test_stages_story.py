"""From coding to the next task and on, through the real hooks: what the agent is told, in order."""

from __future__ import annotations

from lifecycle.core.stage_names import MARKERS, Detected
from tests.e2e.staged import Ground, marker

STAGES = [stage.value for stage in MARKERS]


def test_two_tasks_from_coding_to_the_end(ground: Ground) -> None:
    """Six stages, the loop, six stages again, and one last word: each instruction once, in order."""
    first = ground.task("First", priority=1)
    second = ground.task("Second", priority=2)
    agent = ground.agent()
    agent.prompt(f"/bd-start {first}")
    agent.runs(f"bd update {first} --claim")
    ground.bd("update", first, "--claim")
    agent.edits("code.py", "one = 1\n")
    for task in (first, second):
        told = agent.stops(marker(Detected.CODING_COMPLETE))
        assert "CURRENT STAGE: REQUIREMENTS_REVIEW" in told.model
        assert f"bd show {task}" in told.model
        told = agent.stops(marker(Detected.REQUIREMENTS_REVIEWED))
        assert "CURRENT STAGE: TESTING" in told.model
        told = agent.stops(marker(Detected.TESTS_PASSING))
        assert "CURRENT STAGE: ORACLE_REVIEW" in told.model
        told = agent.stops(marker(Detected.ORACLE_APPROVED))
        assert "CURRENT STAGE: COMMIT_CLOSE" in told.model
        assert f"bd close {task}" in told.model
        ground.bd("close", task)
        agent.runs(f"bd close {task}", f"Closed {task}")
        told = agent.stops(marker(Detected.ISSUE_CLOSED))
        if task == first:
            assert "CURRENT STAGE: NEXT_TASK" in told.model
            told = agent.stops(marker(Detected.SESSION_CLEARED))
            assert "CURRENT STAGE: CODING" in told.model
            assert second in told.model
            ground.bd("update", second, "--claim")
            agent.runs(f"bd update {second} --claim")
            agent.edits("code.py", "one = 2\n")
    assert (told.model, told.person) == ("", "All auto-workflow tasks complete")
    assert agent.stops("Good bye.").is_silent
    # A marker that nobody asked for any more: which task it was is not forgotten by that.
    assert agent.stops(marker(Detected.SESSION_CLEARED)).model == ""
    assert f"the task {second} was led to its end" in ground.place.cli("status").stdout
    assert [target for _, _, target in ground.journal("transition")] == [
        *STAGES[1:],
        *STAGES[:-1],
        "",
    ]
