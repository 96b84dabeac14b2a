"""What each path of a hook or command that does something imports, in a Python of its own."""

from __future__ import annotations

import os
import sys

import pytest

from lifecycle.core.plan import REPLIES
from tests.conftest import Place

LIBRARIES = {
    *("github", "gql", "graphql", "requests", "urllib3", "certifi", "charset_normalizer", "idna"),
    *("tenacity", "filelock", "dateutil", "msgspec", "rich", "jinja2", "yaml", "werkzeug", "jwt"),
}
"""Libraries that no path to GitHub and back needs; GitHub's own answers need none either."""

SLOW = {"asyncio", "logging", "urllib.request"}
"""Parts of the standard library of the same kind."""

OTHERS = tuple(f"lifecycle.{room}" for room in ("claim", "run", "setup", "reconcile", "stages"))
"""Rooms that the help of the command line needs nothing of."""

ELSEWHERE = {"ci-waiter", "on-idle"}
"""Hooks that wake, with stories of their own: the waiter's is in `tests/bench/test_waits.py`."""

DOCUMENTS = {"msgspec"}
"""What keeps the documents of runs and workflows."""

HOOK = "from lifecycle.hooks.wake import run; run({!r}, {{}})"
COMMAND = "import sys; sys.argv[1:] = {!r}; from lifecycle.__main__ import main; main()"


def imported(place: Place, statement: str) -> set[str]:
    """The modules in `sys.modules` once a fresh Python has run the statement."""
    code = f"{statement}\nimport sys\nprint('modules', *sys.modules, file=sys.__stdout__)"
    done = place.run(sys.executable, "-P", "-c", code, CLAUDE_PROJECT_DIR=str(place.root))
    assert (done.returncode, done.stderr) == (0, "")
    return set(done.stdout.rpartition("modules ")[2].split())


@pytest.mark.started  # what is imported is what is tested
def test_what_talks_to_github_is_light(place: Place) -> None:
    """Opening the pull request, a poll, closing and `status`: http.client, ssl, and what is ours."""
    (place.root / ".lifecycle.toml").write_text("[checks]\npoll_seconds = 0.001\n")
    place.ready()
    stop = HOOK.format("on-stop")
    opening = imported(place, stop)
    assert place.claim()["pr_number"] == place.pull()
    place.control.clear_requests()
    polling = imported(place, HOOK.format("on-idle"))
    assert [one.operation for one in place.control.requests()] == ["ObserveClaim"]
    place.control.merge_pull(place.pull())
    place.write(phase="done")
    closing = imported(place, stop)
    assert not place.has_claim()
    status = imported(place, COMMAND.format(["status"]))
    helped = imported(place, COMMAND.format(["--help"]))
    for found in (opening, polling, closing):
        assert "http.client" in found
        assert found & (LIBRARIES | SLOW | {"click"}) == set()
    assert "click" in helped
    assert "click" not in status
    for found in (status, helped):
        assert found & (LIBRARIES | SLOW | {"http.client", "ssl", "dataclasses"}) == set()
    assert "lifecycle.cli.views.quick_status" in status
    assert {name for name in helped if name.startswith(OTHERS)} == set()


@pytest.mark.started  # what is imported is what is tested
def test_a_sweep_imports_what_it_asks_with(place: Place) -> None:
    """Where REST is asked for nothing, no library but click is there, and nothing that repairs take."""
    place.tree().claim(42)  # a lease is shown, so REST is not asked for those that GraphQL hides
    place.control.clear_requests()
    words = ["reconcile", "--org", "octo-org", "--dry-run"]
    found = imported(place, COMMAND.format(words))
    assert {one.kind for one in place.control.requests()} == {"graphql"}
    assert found & (LIBRARIES | SLOW | {"secrets", "tempfile"}) == set()


@pytest.mark.started  # what is imported is what is tested
@pytest.mark.parametrize("is_on", [False, True])
def test_a_stop_imports_the_staged_workflow_where_it_is_on(place: Place, *, is_on: bool) -> None:
    """Settings without it, once they were read, cost a stop that asks GitHub none of its modules."""
    settings = place.root / ".lifecycle.toml"
    settings.write_text(f"[stages]\nuse = {str(is_on).lower()}\n")
    os.utime(settings, (1_000_000_000, 1_000_000_000))
    place.ready(phase="coding", status="Todo")
    stop = HOOK.format("on-stop")
    imported(place, stop)
    place.write(status="In Progress")
    place.control.clear_requests()
    found = imported(place, stop)
    assert place.control.requests()
    assert ("lifecycle.stages.stop.staged_stop" in found) is is_on


@pytest.mark.started
@pytest.mark.parametrize(
    ("arguments", "collects"),
    [
        (["hook", "on-stop"], False),
        (["hook", "session-start"], False),
        (["hook", "ci-waiter"], True),
        (["status"], True),
    ],
)
def test_a_hook_collects_no_garbage(place: Place, arguments: list[str], *, collects: bool) -> None:
    """It ends soon; what stays, a waiter and a command, does."""
    code = f"{COMMAND.format(arguments)}\nimport gc\nprint(gc.isenabled(), file=sys.__stdout__)"
    done = place.run(sys.executable, "-P", "-c", code)
    assert (done.returncode, done.stdout.split()[-1]) == (0, str(collects))


@pytest.mark.started  # what is imported is what is tested
@pytest.mark.parametrize("hook", sorted({*REPLIES} - ELSEWHERE))
def test_every_hook_with_a_claim_is_light(place: Place, hook: str) -> None:
    """With a claim to hand in, whatever the event: no library but the one that keeps runs and workflows."""
    place.ready()
    found = imported(place, HOOK.format(hook))
    assert f"lifecycle.hooks.answers.{hook.replace('-', '_')}" in found
    assert found & (LIBRARIES | SLOW | {"click"}) <= DOCUMENTS
