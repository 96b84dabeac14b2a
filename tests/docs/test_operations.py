"""docs/operations.md says what is so: options, findings, the Action's inputs, and examples that run."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from lifecycle.cli.main import COMMANDS, group
from lifecycle.cli.reconcile import reconcile
from lifecycle.core.values.configured import SILENT_HOURS
from lifecycle.reconcile.finding import KINDS, Finding, State, SweepReport, WaitingPull
from lifecycle.reconcile.repair import LONGEST_WAIT
from lifecycle.reconcile.sweep import RECENT_SECONDS
from tests.conftest import Place
from tests.docs.pages import REFERENCE, ROOT, Page, codes_in

PAGE = Page(ROOT / "docs/operations.md")
ACTION: dict[str, Any] = yaml.safe_load(
    (ROOT / ".github/actions/reconcile/action.yml").read_text(encoding="utf-8")
)
EXAMPLE_FILES = [
    ROOT / ".github/workflows/reconcile.yml",
    ROOT / "docs/examples/reconcile-organisation.yml",
]
(BY_HAND,) = (block.code for block in PAGE.blocks_under("By hand"))
EXAMPLES = [line.partition("#")[0].strip() for line in BY_HAND.splitlines()]


def test_the_table_of_findings_is_the_one_in_code() -> None:
    """Every kind in its order, with its meaning, its fix and the option that allows it."""
    (table,) = [table for table in PAGE.tables if table.header[0] == "finding"]
    assert table.rows == tuple(
        (
            f"`{name}`",
            kind.means,
            kind.fix or "Nothing; it was done on purpose.",
            f"`--{kind.gate}`" if kind.gate else "",
        )
        for name, kind in KINDS.items()
    )


def test_every_state_is_named() -> None:
    """What becomes of a finding is one of the states in code."""
    (sentence,) = re.findall(r"one of five states:(.*?)\n\n", PAGE.text, re.DOTALL)
    assert sorted(codes_in(sentence)) == sorted(State)


def test_every_option_is_in_the_table_and_nothing_else() -> None:
    """The command's options in the order of its help, with their metavars."""
    command = group.get_command(click.Context(group), "reconcile")
    assert command is not None
    wanted = [
        opt for parameter in command.params for opt in (*parameter.opts, *parameter.secondary_opts)
    ]
    shown = [code.split()[0] for code in PAGE.table("By hand").codes()]
    assert sorted(shown) == sorted(wanted)


def test_the_defaults_on_the_page_are_the_defaults() -> None:
    """Minutes, hours, policy."""
    rows = {codes_in(row[0])[0].split()[0]: row[1] for row in PAGE.table("By hand").rows}
    minutes = COMMANDS["reconcile"]["options"]["minutes"]["default"]
    assert f"{minutes} by default" in rows["--minutes"]
    assert f"else {SILENT_HOURS:g}" in rows["--silent-hours"]
    assert codes_in(rows["--fail-on"]) == list(reconcile.FAIL_ON)
    assert "`failed` (the default)" in rows["--fail-on"]
    (policies,) = [table for table in PAGE.tables if table.header[0] == "policy"]
    assert policies.codes() == list(reconcile.FAIL_ON)


def test_the_inputs_and_outputs_are_those_of_the_action() -> None:
    """Each input with its default and description, each output, in the order of action.yml."""
    inputs, outputs = (
        next(table for table in PAGE.tables if table.header[0] == head)
        for head in ("input", "output")
    )
    wanted = []
    for name, given in ACTION["inputs"].items():
        default = f"`{given['default']}`" if given.get("default") else "none"
        wanted.append((f"`{name}`", default, " ".join(given["description"].split())))
    assert list(inputs.rows) == wanted
    assert outputs.codes() == list(ACTION["outputs"])


def test_the_keys_of_the_json_are_those_of_a_report() -> None:
    """What the page names is what `--json` prints, neither more nor less."""
    (text,) = re.findall(r"(?ms)^`--json` prints (.*?)\n\n", PAGE.text)
    inner = {"findings": Finding, "waiting": WaitingPull}
    keys = [
        [key, *(field.name for field in fields(inner[key]))] if key in inner else [key]
        for key in SweepReport().as_json()
    ]
    assert codes_in(text) == [key for several in keys for key in several]


def test_the_exit_codes_are_among_those_of_the_command_line() -> None:
    """The same numbers as in the reference; nothing is held by another here."""
    (table,) = [t for t in Page(REFERENCE).tables if t.header[0] == "exit code"]
    known = [row[0] for row in table.rows]
    shown = [row[0] for row in PAGE.table("Exit codes").rows]
    assert shown == [code for code in known if code != "4"]


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_are_lines_of_the_command(example: str) -> None:
    """The command takes each of them: every option is there, with a value that it may have."""
    command = group.get_command(click.Context(group), "reconcile")
    assert command is not None
    words = shlex.split(example.partition(">")[0])
    assert words[:2] == ["lifecycle", "reconcile"]
    with command.make_context("reconcile", words[2:]) as context:
        assert context.args == []


@pytest.mark.once("what each option does, cli/test_reconcile has; that it is one, the test above")
@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_run(place: Place, example: str) -> None:
    """Each line does what it says, in a clone in which a task is claimed: exit 0, no complaint."""
    assert place.cli("claim", "42").returncode == 0
    assert example.startswith("lifecycle reconcile")
    done = place.run("sh", "-c", example.replace("lifecycle", shlex.quote(str(place.command)), 1))
    assert (done.returncode, done.stderr) == (0, "")
    if "--json" in example:
        assert json.loads(done.stdout)["counts"]["failed"] == 0
    elif ">" in example:
        assert (place.root / "report.md").read_text().startswith("## lifecycle reconcile\n")
    else:
        assert "requests" in done.stdout


def lease_of(place: Place) -> str:
    """The commit that `refs/agent-claims/42` points to, "" if there is no such ref."""
    return place.git("ls-remote", "origin", "refs/agent-claims/42").partition("\t")[0]


@pytest.mark.soak(
    "docs/test_operations.py::test_a_lease_alone_mends_nothing_else",
    "cli/test_claim_again.py::test_claim_takes_it_again_and_the_work_goes_on",
)
def test_a_task_that_was_given_back_can_be_taken_again(place: Place) -> None:
    """By the command on the page, in the worktree that had it: all four things are back."""
    assert "`lifecycle claim 42`, in the worktree that had it" in PAGE.section("How to undo")
    assert place.cli("claim", "42").returncode == 0
    before = lease_of(place)
    done = place.cli("reconcile", "--release", "--silent-hours", "1e-9", "--issue", "42")
    assert done.returncode == 0, done.stderr
    assert lease_of(place) == ""
    assert place.card(42)["Status"] == "Todo"
    assert not place.card(42).get("Agent")
    assert place.issue(42)["assignees"] == []
    place.clear()
    told = place.cli("tick")
    assert "lifecycle claim 42" in told.stdout
    assert place.writes() == []
    done = place.cli("claim", "42")
    assert done.returncode == 0, done.stderr
    assert lease_of(place) not in ("", before)
    assert place.card(42)["Status"] == "In Progress"
    assert place.card(42)["Agent"] == place.claim()["agent_id"]
    assert place.issue(42)["assignees"] != []


def test_a_lease_alone_mends_nothing_else(place: Place) -> None:
    """Pushed back, it keeps others out; Status and assignee stay as the giving back left them."""
    assert place.cli("claim", "42").returncode == 0
    lease = lease_of(place)
    release = ("reconcile", "--release", "--silent-hours", "1e-9", "--issue", "42")
    place.control.advance(
        3_600
    )  # the card is no new one, which a board's own workflow sets to Todo
    assert place.cli(*release).returncode == 0
    place.git("push", "--quiet", "origin", f"{lease}:refs/agent-claims/42")
    assert lease_of(place) == lease
    assert place.cli("reconcile", "--issue", "42").returncode == 0
    assert place.card(42)["Status"] == "Todo"
    assert not place.card(42).get("Agent")
    assert place.issue(42)["assignees"] == []
    assert place.cli(*release).returncode == 0
    assert lease_of(place) == ""


def test_the_steps_begin_with_the_trial() -> None:
    """The first step is what keeps the copied workflow from writing; the last but none takes it away."""
    steps = re.findall(r"(?m)^(\d)\. (.*)", PAGE.section("On a repository"))
    assert [number for number, _ in steps] == [str(1 + at) for at in range(len(steps))]
    first, *_, last = (text for _, text in steps)
    assert codes_in(first)[:2] == ["LIFECYCLE_DRY_RUN", "true"]
    assert codes_in(last)[0] == "LIFECYCLE_DRY_RUN"


@pytest.mark.parametrize("file", EXAMPLE_FILES, ids=lambda file: file.name)
def test_what_the_examples_ask_for_is_explained(file: Path) -> None:
    """Each variable and secret that an example reads stands on the page."""
    read = set(re.findall(r"\b(?:vars|secrets)\.([A-Z_]+)", file.read_text(encoding="utf-8")))
    assert "LIFECYCLE_DRY_RUN" in read
    assert read <= set(re.findall(r"`([A-Z_]+)`", PAGE.text))


def test_the_app_gets_what_the_example_gives_to_its_job() -> None:
    """The permissions of the table, of the App's second step and of the job are the same."""
    names = {"Commit statuses": "statuses", "Pull requests": "pull-requests"}
    (table,) = [table for table in PAGE.tables if table.header[0] == "permission"]
    shown = {}
    for row in table.rows:
        who, _, level = row[0].partition(": ")
        for one in who.split(", "):
            shown[names.get(one, one.casefold())] = "write" if "write" in level else "read"
    given = yaml.safe_load(EXAMPLE_FILES[0].read_text(encoding="utf-8"))["jobs"]["reconcile"]
    assert shown == {**given["permissions"], "projects": "write"}
    (step,) = re.findall(r"(?s)\n2\. (.*?)\n3\. ", PAGE.section("The App"))
    step = " ".join(step.split())
    read_only = re.search(r"; (.*?), read-only", step)
    assert read_only is not None
    for one, level in shown.items():
        name = {new: old for old, new in names.items()}.get(one, one.capitalize())
        assert name in step
        assert (name in read_only[1]) is (level == "read")


def test_the_private_copy_is_used_as_the_examples_are() -> None:
    """The lines on the page are steps: pinned as in the examples, no token stays, the action's folder."""
    (text,) = PAGE.blocks_in("yaml")
    checkout, action = yaml.safe_load(text)
    pinned = re.findall(r"actions/checkout@.*", text)
    assert pinned[0] in EXAMPLE_FILES[0].read_text(encoding="utf-8")
    assert checkout["with"]["persist-credentials"] is False
    assert action["uses"] == f"./{checkout['with']['path']}/.github/actions/reconcile"


def test_the_numbers_of_the_page_are_those_in_code() -> None:
    """How long a limit is waited out, and how far back closed issues are read."""
    assert LONGEST_WAIT == 10
    assert "If GitHub asks a run to wait ten seconds or less, it waits." in PAGE.text
    assert f"the last {RECENT_SECONDS // 86_400} days" in PAGE.text
