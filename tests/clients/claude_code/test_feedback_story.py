"""What CI and the base answer, in the real client: a runner that broke, a failed test, a conflict."""

from __future__ import annotations

import pytest

from lifecycle.sandbox.checks.state import PlannedCheck
from tests.clients.claude_code.client import TIMEOUT, Client
from tests.clients.claude_code.model import Model, bash, on, writes
from tests.clients.claude_code.wiring import init
from tests.conftest import Place
from tests.e2e.test_failing_ci import LOST, failing, red

pytestmark = pytest.mark.timeout(TIMEOUT)

PUSH = "git add --all && git commit --quiet -m {0} && git push --quiet && git log -1 --format=%s"


@pytest.mark.soak(
    "e2e/test_failing_ci.py::test_what_the_runner_broke_is_run_again_and_the_agent_hears_of_green_alone",
    "e2e/test_waiter.py::test_a_stop_opens_the_pr_and_its_waiter_brings_all_news",
    "feedback/test_merge_story.py::test_a_conflict_comes_with_files_both_sides_commits_and_the_command",
    "clients/claude_code/test_story.py::test_from_claim_to_close",
)
def test_what_comes_back_reaches_the_model_with_what_it_needs(
    client: Client, place: Place, model: Model
) -> None:
    """A full disk makes no turn. A red check comes with the test that fails, a conflict with its file.

    Both are mended by what the wake says, and the check is green at the end.
    """
    init(client)
    (place.root / ".lifecycle.toml").write_text("[checks]\npoll_seconds = 0.2\n")
    work = place.root / "work.txt"
    model.follows(
        on("Take task 42").say("I take it.", bash("lifecycle claim 42")),
        on("Claimed #42").say(
            writes(work, "one = 1\n"), bash("git add --all && git commit -qm Work")
        ),
        on("work.txt").say(bash("lifecycle handoff --summary 'Fix the race'")),
        on("Pushed").say("It is handed off."),
        on("test_adds").say(writes(work, "two = 2\n"), bash(PUSH.format("Mend"))),
        on("Mend").say("It is mended."),
    )
    with client.session() as terminal:
        terminal.types("Take task 42.")
        model.hears("PR #46 created")
        place.control.plan_checks(PlannedCheck(name="test"))
        red(place, LOST)
        model.hears("CI passed!")
        place.control.plan_checks(PlannedCheck(name="test"))
        red(place, failing("adds"))
        model.hears("FAILED tests/test_shop.py::test_adds")
        model.hears("CI passed!", 2)
        place.control.push_commit("main", {"work.txt": "theirs\n"}, "Theirs")
        model.hears("In conflict:")
        terminal.rests()
        assert terminal.leaves() == 0
    assert model.rules == []
    assert model.heard("No space left on device") == 0
    assert model.heard("PR #46 conflicts with main") == 1
