"""`lifecycle reconcile` as people and GitHub Actions run it, on the embedded GitHub."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace as changed
from pathlib import Path

import pytest
from msgspec.structs import replace

from lifecycle.api import GitHub
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.control.faults import Fault
from lifecycle.sandbox.seed import SeedApp, SeedInstallation, default_seed
from lifecycle.sandbox.server import Sandbox
from tests.cli.outcome import ok, refused
from tests.cli.reconcile_ground import CARD, REPOSITORY, drift, happened, written
from tests.cli.terminal import on_terminal, plain
from tests.conftest import Place
from tests.github.apps import make_key
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "cli/test_reconcile.py::test_a_plan_writes_nothing_and_a_run_does_it_once",
    "reconcile/test_sentences.py::test_each_write_has_its_words",
)

USAGE = [
    (["--repo", "a/b", "--org", "c"], "not both"),
    (["--repo", "a"], "owner/name"),
    (["--shard", "3/2"], "2/3"),
    (["--org", "a", "--issue", "1"], "exactly one repository"),
    (["--repo", "a/b", "--repo", "c/d", "--pull", "1"], "exactly one repository"),
    (["--silent-hours", "0"], "--silent-hours"),
    (["--silent-hours", "nan"], "not a number"),
    (["--minutes", "0"], "0.0 is not in the range above 0 up to 350"),
    (["--minutes", "nan"], "not a number"),
    (["--org", ""], "must be the login"),
    (["--issue", "0"], "--issue"),
    (["--issue", str(2**31)], "--issue"),
    (["--fail-on", "always"], "--fail-on"),
    (["--nonsense"], "--nonsense"),
]


@pytest.mark.parametrize(("arguments", "words"), USAGE)
def test_a_wrong_command_line_exits_2(step: Place, arguments: list[str], words: str) -> None:
    """One sentence, before anything is asked; in a step it is an annotation, and no output is set."""
    done = step.cli("reconcile", *arguments, "--summary")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert words in done.stderr.splitlines()[-1]
    (command,) = done.stdout.splitlines()
    assert command.startswith("::error title=lifecycle reconcile::")
    assert words in command
    assert words in written(step, "GITHUB_STEP_SUMMARY").replace("&#95;", "_")
    assert written(step, "GITHUB_OUTPUT") == ""
    assert step.requests() == []
    silent = step.cli("reconcile", *arguments)
    assert (silent.returncode, silent.stdout) == (2, "")
    data = json.loads(step.cli("reconcile", *arguments, "--json").stdout)
    assert data["error"]["kind"] == "UsageError"


@SOAKED
def test_a_folder_without_a_repository_is_refused(place: Place, tmp_path: Path) -> None:
    """Outside of a worktree somebody has to name one."""
    away = changed(place, root=tmp_path)
    assert "name one with --repo OWNER/NAME" in refused(away.cli("reconcile"))
    data = json.loads(away.cli("reconcile", "--json").stdout)
    assert data["error"]["kind"] == "Refused"


def test_an_owners_run_needs_no_repository_here(place: Place, tmp_path: Path) -> None:
    """Also where a card names no agent, so that the board is asked whether it could."""
    place.tree().claim(42)
    place.control.set_field(42, "Agent", None)
    away = changed(place, root=tmp_path)
    words = ("reconcile", "--org", "octo-org", "--dry-run")
    told = ok(away.cli(*words, LIFECYCLE_PROJECT_OWNER="octo-org"))
    assert f"{REPOSITORY}#42 agent-drift: " in told


@SOAKED
@pytest.mark.parametrize("why", ["token", "setting", "key"])
def test_what_cannot_begin_is_refused_by_name(step: Place, why: str) -> None:
    """No token, a bad setting: one sentence, exit 1 under every policy, an annotation, no outputs."""
    word = {"token": "GH_TOKEN", "setting": "reconcile.close", "key": "app-private-key"}[why]
    if why == "token":
        step.environment.pop("GH_TOKEN")
    elif why == "key":
        step.environment["LIFECYCLE_APP_ID"] = "12"
    else:
        (step.root / ".lifecycle.toml").write_text("[reconcile]\nclose = true\n")
    done = step.cli("reconcile", "--summary", "--fail-on", "never")
    assert word in refused(done)
    assert done.stdout.startswith("::error title=lifecycle reconcile::")
    summary = written(step, "GITHUB_STEP_SUMMARY").replace("&#95;", "_")
    assert summary.startswith("## lifecycle reconcile\n\n**Nothing was done. ")
    assert word in summary
    assert "\n- " not in summary
    assert written(step, "GITHUB_OUTPUT") == ""
    assert step.requests() == []


def test_a_plan_writes_nothing_and_a_run_does_it_once(drifted: Place) -> None:
    """Plan, result, and then nothing drifted: the card is Done and names nobody."""
    before = drifted.card()
    planned = ok(drifted.cli("reconcile", "--dry-run")).splitlines()
    assert planned[0].startswith(f"→ {REPOSITORY}#42 {CARD}: #42 was closed at ")
    assert planned[1] == "1 finding: 1 planned."
    assert planned[2].endswith(" A dry run: nothing was written.")
    assert (drifted.card(), drifted.writes()) == (before, [])
    done = ok(drifted.cli("reconcile")).splitlines()
    assert done[0].startswith(f"✓ {REPOSITORY}#42 {CARD}: ")
    assert done[1] == "1 finding: 1 applied."
    assert (drifted.card()["Status"], drifted.card().get("Agent")) == ("Done", None)
    drifted.clear()
    again = ok(drifted.cli("reconcile")).splitlines()
    assert again[0].startswith("Nothing drifted: ")
    assert drifted.writes() == []


@SOAKED
def test_it_says_what_it_cost(drifted: Place) -> None:
    """The requests that it names are those that GitHub counted."""
    data = json.loads(ok(drifted.cli("reconcile", "--dry-run", "--json")))
    assert data["cost"]["requests"] == len(drifted.requests())
    assert data["cost"]["points"] > 0
    assert (data["dry_run"], data["counts"]["planned"]) == (True, 1)
    (found,) = data["findings"]
    assert (found["kind"], found["issue"], found["repository"]) == (CARD, 42, REPOSITORY)


@SOAKED
@pytest.mark.parametrize("width", [40, soaked(80), 160])
def test_a_terminal_gets_a_bar_and_a_table(drifted: Place, width: int) -> None:
    """The bar is gone at the end; the table fills the terminal and does not overrun it."""
    code, shown = on_terminal(drifted, width, "reconcile", "--dry-run")
    assert code == 0
    assert "\x1b[?25l" in shown  # the bar hides the cursor, and shows it again
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")
    assert re.search(r"tasks .*8/\?", plain(shown))  # nobody knows how many there will be
    table = plain(shown[shown.rindex("\x1b[?25h") :])
    assert "lifecycle reconcile  dry run" in table
    assert max(len(line.rstrip()) for line in table.splitlines()) <= width
    assert CARD in table
    assert "1 finding: 1 planned." in table


@SOAKED
def test_a_pipe_gets_no_bar_and_no_colour(drifted: Place) -> None:
    """Also where something in the environment wants colours."""
    done = drifted.cli("reconcile", "--dry-run", FORCE_COLOR="1")
    assert "\x1b" not in ok(done) + done.stderr


@SOAKED
def test_a_summary_without_a_file_is_markdown_on_stdout(drifted: Place) -> None:
    """For a file of one's own; no annotation outside of GitHub Actions."""
    text = ok(drifted.cli("reconcile", "--dry-run", "--summary"))
    assert text.startswith("## lifecycle reconcile\n\n**1 finding: 1 planned.**")
    assert f"`{CARD}`" in text
    assert "::" not in text.replace("**", "")
    both = drifted.cli("reconcile", "--dry-run", "--summary", "--json")
    assert json.loads(ok(both))["counts"]["findings"] == 1
    assert both.stderr == ""  # whoever reads both outputs as one still gets one object


def test_a_step_gets_summary_outputs_and_annotations(place: Place, step: Place) -> None:
    """In an empty workspace, where nothing is written; the log holds no command of a stranger."""
    drift(place)
    done = step.cli("reconcile", "--summary")
    first, *rest = ok(done).splitlines()
    token = first.removeprefix("::stop-commands::")
    end = rest.index(f"::{token}::")
    assert rest[0].startswith(f"✓ {REPOSITORY}#42 {CARD}: ")
    (command,) = rest[end + 1 :]
    assert command.startswith(f"::notice title={REPOSITORY}#42 {CARD}::#42 was closed at ")
    assert written(step, "GITHUB_OUTPUT") == "findings=1\napplied=1\nfailed=0\n"
    assert "**1 finding: 1 applied.**" in written(step, "GITHUB_STEP_SUMMARY")
    assert list(step.root.iterdir()) == []


@SOAKED
def test_json_in_a_step_is_one_object_on_stdout(place: Place, step: Place) -> None:
    """Annotations go to the other output, which the runner reads as well."""
    drift(place)
    done = step.cli("reconcile", "--summary", "--json")
    assert json.loads(ok(done))["counts"]["applied"] == 1
    assert done.stderr.startswith(f"::notice title={REPOSITORY}#42 {CARD}::")


@SOAKED
@pytest.mark.parametrize(
    ("policy", "code"), [("never", 0), ("failed", 1), ("findings", 1), (None, 1)]
)
def test_a_failed_repair_is_an_exit_code_by_policy(
    place: Place, step: Place, policy: str | None, code: int
) -> None:
    """The step's files are written whatever the code; the error is an annotation."""
    drift(place)
    place.control.add_fault(Fault(kind="status", status=502, operation="SetBoardFields", count=99))
    done = step.cli("reconcile", "--summary", *(["--fail-on", policy] if policy else []))
    assert done.returncode == code, done.stderr
    assert written(step, "GITHUB_OUTPUT") == "findings=1\napplied=0\nfailed=1\n"
    assert "::error title=" in done.stdout
    assert "1 finding: 1 failed." in written(step, "GITHUB_STEP_SUMMARY")


@SOAKED
@pytest.mark.parametrize(("policy", "code"), [("failed", 0), ("findings", 1)])
def test_what_was_not_repaired_is_an_exit_code_by_policy(
    drifted: Place, policy: str, code: int
) -> None:
    """A dry run with a finding fails under "findings" only."""
    assert drifted.cli("reconcile", "--dry-run", "--fail-on", policy).returncode == code


@SOAKED
def test_an_event_has_only_its_issue_looked_at(place: Place, step: Place) -> None:
    """The issue of the event is repaired; another event's is not even looked at."""
    drift(place)
    other = {"issue": {"number": 43}, "sender": {"login": "octocat", "type": "User"}}
    happened(step, "issues", repository={"full_name": REPOSITORY}, **other)
    assert ok(step.cli("reconcile", "--event")).splitlines()[1].startswith("Nothing drifted: ")
    happened(
        step, "issues", repository={"full_name": REPOSITORY}, **(other | {"issue": {"number": 42}})
    )
    assert CARD in ok(step.cli("reconcile", "--event"))


@SOAKED
def test_an_event_that_cannot_be_read_narrows_nothing(place: Place, step: Place) -> None:
    """Everything is looked at, and the note says why."""
    drift(place)
    step.environment["GITHUB_EVENT_NAME"] = "issues"
    shown = ok(step.cli("reconcile", "--event"))
    assert CARD in shown
    assert "Note: The event issues was not used, because its payload cannot be read" in shown


@pytest.fixture
def robots(step: Place, tmp_path: Path) -> Iterator[Place]:
    """The same step with an App's token, in a world of its own."""
    key = make_key()
    file = tmp_path / "app.pem"
    file.write_text(key.private)
    rights = {"issues": "write", "pull_requests": "write", "contents": "write"}
    app = SeedApp("sweeper", 12, "octo-org", public_key=key.public, permissions=rights)
    seed = replace(
        default_seed(), apps=[app], installations=[SeedInstallation(34, "sweeper", "octo-org")]
    )
    with Sandbox(seed) as sandbox:
        info = sandbox.info
        own = {
            "GITHUB_API_URL": info.api_url,
            "GITHUB_GRAPHQL_URL": info.graphql_url,
            "LIFECYCLE_APP_ID": "12",
            "LIFECYCLE_APP_PRIVATE_KEY_FILE": str(file),
        }
        environment = {k: v for k, v in step.environment.items() if k != "GH_TOKEN"} | own
        yield changed(step, info=info, control=Control(info.control_url), environment=environment)


@SOAKED
@pytest.mark.parametrize(
    ("sender", "is_own"),
    [
        ({"login": "sweeper[bot]", "type": "Bot"}, True),
        ({"login": "other[bot]", "type": "Bot"}, False),
        ({"login": "sweeper", "type": "User"}, False),
    ],
)
def test_an_apps_own_event_is_passed_over(
    robots: Place, sender: dict[str, str], *, is_own: bool
) -> None:
    """One line, zeros as outputs, exit 0 under every policy; another's event is looked at."""
    happened(
        robots,
        "issues",
        repository={"full_name": REPOSITORY},
        issue={"number": 42},
        sender=sender,
    )
    done = robots.cli("reconcile", "--event", "--summary", "--fail-on", "findings")
    said = (
        "Nothing was looked at: the event issues was caused by sweeper[bot], whose token this is."
    )
    assert (said in ok(done)) is is_own
    assert (
        said in written(robots, "GITHUB_STEP_SUMMARY").replace("&#91;", "[").replace("&#93;", "]")
    ) is is_own
    assert written(robots, "GITHUB_OUTPUT") == "findings=0\napplied=0\nfailed=0\n"
    assert "Nothing drifted" in done.stdout or is_own
    asked_who = [one for one in robots.requests() if one.operation == "Viewer"]
    assert len(asked_who) == (sender["type"] == "Bot")


@SOAKED
def test_a_repository_that_is_not_there_is_a_problem_of_its_own(place: Place, step: Place) -> None:
    """The others are repaired; the problem is counted, named and annotated."""
    drift(place)
    done = step.cli("reconcile", "--repo", REPOSITORY, "--repo", "octo-org/none", "--summary")
    assert done.returncode == 1
    assert written(step, "GITHUB_OUTPUT") == "findings=1\napplied=1\nfailed=1\n"
    (line,) = [
        line for line in done.stdout.splitlines() if "octo-org/none" in line and line[0] != ":"
    ]
    assert line.startswith("GitHub shows no repository octo-org/none ")  # and its name once
    assert "::error title=octo-org/none::" in done.stdout


@SOAKED
def test_a_fix_says_what_this_one_does(place: Place, drifted: Place) -> None:
    """From which Status to which, whose name goes; alike in the plan and after it was done."""
    agent = drifted.card()["Agent"]
    said = f'Set the Status from "In Progress" to "Done", clear the Agent "{agent}".'
    for arguments, state in ((("--dry-run",), "planned"), ((), "applied")):
        (one,) = json.loads(ok(place.cli("reconcile", "--json", *arguments)))["findings"]
        assert (one["state"], one["fix"]) == (state, said)


@SOAKED
def test_an_account_that_was_taken_off_is_seen_and_left(place: Place) -> None:
    """Somebody takes the agent's account off a leased issue: it is reported with the ways out, and left."""
    ok(place.cli("claim", "42"))
    with GitHub(REPOSITORY, environment=place.environment) as hub:
        hub.issues.ensure_assignees(42, only=[])
    (found,) = json.loads(ok(place.cli("reconcile", "--issue", "42", "--json")))["findings"]
    assert (found["kind"], found["state"]) == ("unassigned", "left")
    assert "assigned: nobody" in found["evidence"]
    assert "lifecycle release" in found["problem"]
    assert place.control.world()["issues"]["42"]["assignees"] == []
