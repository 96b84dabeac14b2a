"""The action as a runner runs it, against the sandbox: what it repairs, writes, says and exits with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from lifecycle.api import GitHub
from lifecycle.sandbox.seed import SeedApp, SeedInstallation, SeedToken, default_seed
from tests.actions.conftest import ACTION, Founded, Shop, lay_traps
from tests.actions.events import dispatched, issue, pull, schedule
from tests.actions.runner import run_action
from tests.e2e.test_degraded import PERMISSIONS
from tests.github.apps import make_key
from tests.repeated import soaked

pytestmark = pytest.mark.timeout(300)  # the libraries are installed, really
NONE = {"findings": "", "applied": "", "failed": ""}
INPUTS = "In a workflow that is the input token, or app-id and app-private-key."


def test_a_schedule_repairs_everything(shop: Shop) -> None:
    """Both drifts are repaired and told: outputs, summary, annotations; the second run has nothing."""
    done = shop.reconcile(schedule())
    assert done.code == 0, done.log
    assert done.outputs == {"findings": "2", "applied": "2", "failed": "0"}
    assert shop.card(38)["Status"] == "Done"
    assert not shop.card(38).get("Agent")
    assert shop.card(42)["Status"] == "In Progress"
    for part in ("closed-on-board", "assigned-todo", "#38", "#42", "| task | finding |"):
        assert part in done.told
    titles = {one.title for one in done.annotations if one.level == "notice"}
    assert {title.rpartition(" ")[2] for title in titles} >= {"closed-on-board", "assigned-todo"}
    assert done.said("error") == []
    again = shop.reconcile(schedule())
    assert again.code == 0, again.log
    assert again.outputs == {"findings": "0", "applied": "0", "failed": "0"}


def test_the_workspace_stays_as_it_was(shop: Shop) -> None:
    """It may be empty, and nothing is put into it; the user's own folder of the runner is not touched."""
    machine = shop.machine(schedule())
    assert run_action(machine, ACTION, project_number=1).code == 0
    assert list(machine.workspace.iterdir()) == []
    assert sorted(path.name for path in machine.home.iterdir()) == ["event.json", "workspace"]


def test_an_event_of_an_issue_has_that_one_looked_at(shop: Shop) -> None:
    """#38 is repaired, #42 waits for the schedule; a title of a stranger is no command and no script."""
    done = shop.reconcile(issue("closed", 38))
    assert done.code == 0, done.log
    assert done.outputs == {"findings": "1", "applied": "1", "failed": "0"}
    assert shop.card(38)["Status"] == "Done"
    assert shop.card(42)["Status"] == "Todo"


def test_scope_all_looks_at_everything_at_an_event(shop: Shop) -> None:
    """Who wants to pay for it has everything looked at each time."""
    assert shop.reconcile(issue("closed", 38), scope="all").outputs["applied"] == "2"


def test_an_event_of_a_pull_request_has_its_issue_looked_at(founded: Founded) -> None:
    """It was merged: closing is only reported, with a warning, until the input says true."""
    shop = founded(None)
    number = shop.merged()
    shop.control.close_issue(38)
    event = pull("closed", number, merged=True)
    done = shop.reconcile(event, fail_on="findings")
    assert done.code == 1, done.log
    assert done.outputs == {"findings": "1", "applied": "0", "failed": "0"}
    assert "merged-open" in done.told
    assert done.said("warning")
    assert shop.issue(42)["state"] == "open"
    done = shop.reconcile(event, close=True)
    assert done.code == 0, done.log
    assert shop.issue(42)["state"] == "closed"
    assert shop.card(42)["Status"] == "Done"
    assert shop.card(38)["Status"] == "In Progress"


def test_a_dry_run_writes_nothing(shop: Shop) -> None:
    """The plan is told, with whom the open pull request waits for, and every request only read."""
    shop.control.push_commit("work", {"work.txt": "done\n"}, "Work")
    number = shop.control.open_pull("work", "Do @octocat's <b>work</b>", by="maria")
    shop.control.review(number, "CHANGES_REQUESTED", login="sam", body="Not so.")
    shop.control.clear_requests()
    done = shop.reconcile(dispatched(), dry_run=True)
    assert done.code == 0, done.log
    assert done.outputs == {"findings": "2", "applied": "0", "failed": "0"}
    assert "planned" in done.summary
    told = done.summary.partition("### Whom pull requests wait for")[2]
    assert "1 open pull request waits: 1 for author." in told
    assert f"hello-service&#35;{number}](" in told.replace("\u200b", "")
    assert (
        "| author: maria | has changes to be made that were requested by sam in a review |" in told
    )
    assert "<b>" not in told
    assert "@octocat" not in told
    assert shop.card(38)["Status"] == "In Progress"
    assert {one.method for one in shop.control.requests() if one.kind == "rest"} <= {"GET"}
    assert shop.reconcile(dispatched(), dry_run=True, fail_on="findings").code == 1


def test_the_token_of_the_workflow_keeps_labels(founded: Founded) -> None:
    """GITHUB_TOKEN sees no board: a label keeps the Status, and the summary says so.

    An issue without such a label is on no board, as one without a card is. Todo may have been put on by
    a person after the assignment: without a lease it is left.
    """
    rights = [f"{name}:{level}" for name, level in PERMISSIONS.items()]
    token = SeedToken("ghs_" + "a" * 36, "octocat", rights, "actions", limit=1000)
    seed = default_seed()
    shop = founded(replace(seed, tokens=[token, *seed.tokens]))
    hub = GitHub(
        shop.info.repository,
        token=seed.tokens[0].token,
        api_url=shop.info.api_url,
        graphql_url=shop.info.graphql_url,
    )
    hub.labels.ensure_labels(38, add=("status: in progress",), create=True)
    hub.labels.ensure_labels(42, add=("status: todo",), create=True)
    hub.disconnect()
    shop.control.close_issue(38)
    shop.control.assign(41, "octocat")
    shop.control.assign(42, "octocat")
    done = shop.reconcile(schedule())
    assert done.code == 0, done.log
    assert shop.labels(38) == ["status: done"]
    assert shop.labels(41) == []
    assert shop.labels(42) == ["status: todo"]
    assert shop.card(38)["Status"] == "In Progress"
    assert "the Status is kept as a label on the issue" in done.told
    again = shop.reconcile(schedule())
    assert again.outputs["applied"] == "0", again.log
    assert token.token not in again.raw + done.raw


@pytest.mark.once(
    "whose event it was, the workflow's condition asks: test_which_events_start_the_job"
)
@pytest.mark.parametrize("sender", ["maria", "robot[bot]"])
def test_an_app_acts(founded: Founded, sender: str) -> None:
    """It writes the organization's board; what it caused itself, it does not look at again."""
    key = make_key()
    app = SeedApp(
        "robot", 12, "octo-org", public_key=key.public,
        permissions={**PERMISSIONS, "organization_projects": "write"},
    )  # fmt: skip
    seed = replace(
        default_seed(), apps=[app], installations=[SeedInstallation(34, "robot", "octo-org")]
    )
    shop = founded(seed)
    shop.control.close_issue(38)
    event = issue("closed", 38, sender=sender)
    machine = shop.machine(event, token="", secrets={"KEY": key.private})
    done = run_action(
        machine, ACTION, project_number=1, app_id=12, app_private_key=key.private, token=""
    )
    assert done.code == 0, done.log
    is_own = sender != "maria"
    assert done.outputs["applied"] == ("0" if is_own else "1")
    assert shop.card(38)["Status"] == ("In Progress" if is_own else "Done")
    if is_own:
        assert "robot[bot]" in done.told
    for line in key.private.splitlines()[1:-1]:
        assert line not in done.raw
    assert "ghs_" not in done.raw


@pytest.mark.parametrize(
    ("fault", "operation", "left"),
    [
        ("graphql-rate-limited", None, "octo-org/hello-service."),
        soaked("primary-limit", None, "octo-org/hello-service."),
        (
            "primary-limit",
            "SetBoardFields",
            "octo-org/hello-service#38, octo-org/hello-service#42.",
        ),
    ],
)
def test_a_rate_limit_ends_it_cleanly(
    shop: Shop, fault: str, operation: str | None, left: str
) -> None:
    """What is left is named, the step fails unless `never` is said, and the next run goes on."""
    shop.control.add_fault(fault, operation=operation, count=99)
    done = shop.reconcile(schedule(), minutes="0.5")
    assert done.code == 1
    assert "Traceback" not in done.raw
    (said,) = done.said("error")
    assert "GitHub takes no more requests of this token" in said, said
    assert left in done.told
    assert done.outputs["applied"] == "0"
    assert done.outputs["failed"] != "0"
    assert shop.reconcile(schedule(), fail_on="never", minutes="0.5").code == 0
    shop.control.clear_faults()
    assert shop.reconcile(schedule()).outputs["applied"] == "2"


@pytest.mark.usefixtures("interruptible")
def test_a_cancelled_job_tells_what_it_did(shop: Shop) -> None:
    """The step's own process hears it, and that is the command: #38 is told as done, #42 as left."""
    python = shop.temp / "lifecycle/venv/bin/python"  # not forked: it has to hear the signal itself
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    shop.control.add_fault("never-answers", operation="SetBoardFields", skip=1)

    def cancel(step: int) -> None:
        seen = shop.control.requests()
        while [one.operation for one in seen].count("SetBoardFields") < 2:
            seen = shop.control.wait_for_requests(len(seen) + 1, seconds=60)
        os.kill(step, signal.SIGINT)

    machine = shop.machine(schedule(), during={"Reconcile": cancel})
    done = run_action(machine, ACTION, project_number=1)
    assert done.code == 130, done.log
    assert done.outputs == {"findings": "2", "applied": "1", "failed": "1"}
    assert done.said("error") == ["It was interrupted. The next run continues with the rest."]
    assert "Left for the next run: octo-org/hello-service#42." in done.told


@pytest.mark.parametrize(
    "given",
    [
        {"dry_run": "maybe"},
        {"app_id": "12", "app_private_key": ""},
        {"close": "yes"},
        {"release": "1"},
        {"scope": "some"},
        {"shard": "3/2"},
        {"silent_hours": "0"},
        {"fail_on": "always"},
        {"minutes": "soon"},
        {"issues": "x"},
        {"issues": "38", "organization": "octo-org"},
        {"repositories": "octo-org/hello-service", "organization": "octo-org"},
        {"repositories": "$(touch pwned) `touch pwned` *"},
        {"organization": "--help; touch pwned"},
        {"shard": "1/2\n::error::pwned"},
    ],
    ids=str,
)
def test_a_wrong_input_is_said_in_one_sentence(shop: Shop, given: dict[str, str]) -> None:
    """Nothing is asked of GitHub, nothing of the input is run, and the fault has an annotation."""
    machine = shop.machine(schedule())
    done = run_action(machine, ACTION, **{"project_number": "1", **given})
    assert done.code == 2, done.log
    assert len(done.said("error")) == 1
    assert done.said("error") != ["pwned"]
    assert done.outputs == NONE
    assert shop.control.requests() == ()
    assert list(machine.workspace.iterdir()) == []


def test_a_token_that_is_not_accepted(shop: Shop) -> None:
    """One sentence, no traceback, and the token is in no output."""
    done = run_action(shop.machine(schedule(), token="ghp_" + "x" * 36), ACTION, project_number=1)
    assert done.code == 1
    (error,) = done.said("error")
    assert error.endswith(f"nothing was changed; give another one. {INPUTS}")
    assert "the input token" in done.told
    assert "Traceback" not in done.raw
    assert "ghp_" not in done.raw + done.summary


def test_a_token_that_no_header_can_hold(shop: Shop) -> None:
    """The advice for a shell ends before that for a workflow begins."""
    done = run_action(shop.machine(schedule(), token="ghp_\u00e9"), ACTION, project_number=1)
    (error,) = done.said("error")
    assert error.endswith(f"). {INPUTS}")


@pytest.mark.parametrize(
    ("scopes", "level"), [(["repo"], "notice"), (["repo", "read:project"], "error")]
)
def test_of_a_token_without_the_scope_the_input_is_named(
    founded: Founded, scopes: list[str], level: str
) -> None:
    """A workflow has no shell to export one in: a note says so, and a finding that failed for it."""
    seed, token = default_seed(), SeedToken("ghp_" + "a" * 36, "octocat", scopes)
    shop = founded(replace(seed, tokens=[token, *seed.tokens]))
    shop.control.close_issue(39)
    done = run_action(shop.machine(schedule(), token=token.token), ACTION, project_number=1)
    (sentence,) = done.said(level)
    assert "lacks the project scope" in sentence
    assert "give another one, or use" in sentence
    assert sentence.endswith(f". {INPUTS}")
    assert "Claude Code" not in done.summary
    assert "the input token" in done.summary


def test_lists_may_be_written_in_any_way(shop: Shop) -> None:
    """Commas, spaces and line breaks separate; the same repository twice is one."""
    names = "octo-org/hello-service, octo-org/hello-service\nOcto-Org/Hello-Service"
    done = shop.reconcile(schedule(), repositories=names)
    assert done.code == 0, done.log
    assert done.outputs["applied"] == "2"
    done = shop.reconcile(schedule(), issues="38, #42")
    assert done.code == 0, done.log


@pytest.mark.soak("actions/test_action.py::test_a_schedule_repairs_everything")
@pytest.mark.started
def test_nothing_of_the_workspace_is_run(shop: Shop) -> None:
    """A checkout may hold files that are named as modules are: neither pip nor Python takes them.

    The libraries were installed beside such files as well (`libraries`).
    """
    machine = shop.machine(schedule())
    lay_traps(machine.workspace)
    done = run_action(machine, ACTION, project_number=1)
    assert done.code == 0, done.log
    assert not (machine.workspace / "pwned").exists()


def test_the_settings_are_those_of_the_checkout(founded: Founded) -> None:
    """`.lifecycle.toml` in the workspace names the board, and what may be done."""
    shop = founded(None)
    machine = shop.machine(pull("closed", shop.merged(), merged=True))
    settings = 'close = "auto"\n[project]\nnumber = 1\n'
    (machine.workspace / ".lifecycle.toml").write_text(settings)
    done = run_action(machine, ACTION)
    assert done.code == 0, done.log
    assert shop.issue(42)["state"] == "closed"
    assert shop.card(42)["Status"] == "Done"


@pytest.mark.soak("actions/test_action.py::test_a_schedule_repairs_everything")
@pytest.mark.started
def test_the_libraries_are_installed_once(shop: Shop) -> None:
    """A job that uses the action twice installs once, from the lock alone, into its own folder."""
    first = shop.reconcile(schedule())
    installed = shop.temp / "lifecycle/installed.txt"
    before = installed.stat().st_mtime_ns
    assert shop.reconcile(schedule()).code == first.code == 0
    assert installed.stat().st_mtime_ns == before
    assert installed.read_bytes() == (ACTION.parents[2] / "requirements/action.txt").read_bytes()


def test_a_windows_runner_is_told(tmp_path: Path) -> None:
    """Before anything is installed: one sentence, which says what to do."""
    done = subprocess.run(
        ["bash", ACTION / "install.sh"],
        env={"PATH": os.environ["PATH"], "RUNNER_OS": "Windows", "RUNNER_TEMP": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stdout.startswith("::error title=lifecycle reconcile::Nothing was looked at:")
    assert "ubuntu-latest" in done.stdout
    assert list(tmp_path.iterdir()) == []
