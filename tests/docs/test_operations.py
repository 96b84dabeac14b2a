"""docs/operations.md says what is so: options, findings, the Action's inputs, and examples that run."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import fields
from typing import Any

import click
import pytest
import yaml

from lifecycle.cli import reconcile
from lifecycle.cli.main import group
from lifecycle.config import SILENT_HOURS
from lifecycle.reconcile.finding import KINDS, Finding, State
from lifecycle.reconcile.report import Report
from tests.conftest import COMMAND, Place
from tests.docs.pages import ROOT, Page, codes_in

PAGE = Page(ROOT / "docs/operations.md")
ACTION: dict[str, Any] = yaml.safe_load(
    (ROOT / ".github/actions/reconcile/action.yml").read_text(encoding="utf-8")
)
(BY_HAND,) = (block.code for block in PAGE.blocks_under("By hand"))
EXAMPLES = [line.partition("#")[0].strip() for line in BY_HAND.splitlines()]


def test_the_table_of_findings_is_the_one_in_code() -> None:
    """Every kind in its order, with its meaning, its fix and the option that allows it."""
    (table,) = [table for table in PAGE.tables if table.header[0] == "finding"]
    assert table.rows == tuple(
        (
            f"`{name}`",
            kind.means,
            kind.fix or "It is left.",
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
    assert f"{reconcile.MINUTES} by default" in rows["--minutes"]
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
    keys = [field.name for field in fields(Finding)]
    assert codes_in(text) == ["findings", *keys, *list(Report().as_json())[1:]]


def test_the_exit_codes_are_among_those_of_the_command_line() -> None:
    """The same numbers as in the README; nothing is held by another here."""
    (readme,) = [t for t in Page(ROOT / "README.md").tables if t.header[0] == "exit code"]
    known = [row[0] for row in readme.rows]
    shown = [row[0] for row in PAGE.table("Exit codes").rows]
    assert shown == [code for code in known if code != "4"]


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_run(place: Place, example: str) -> None:
    """Each line does what it says, in a clone in which a task is claimed: exit 0, no complaint."""
    assert place.cli("claim", "42").returncode == 0
    assert example.startswith("lifecycle reconcile")
    done = place.run("sh", "-c", example.replace("lifecycle", shlex.quote(str(COMMAND)), 1))
    assert (done.returncode, done.stderr) == (0, "")
    if "--json" in example:
        assert json.loads(done.stdout)["counts"]["failed"] == 0
    elif ">" in example:
        assert (place.root / "report.md").read_text().startswith("## lifecycle reconcile\n")
    else:
        assert "requests" in done.stdout


def test_a_lease_can_be_pushed_back(place: Place) -> None:
    """The line on the page, in the clone that held it, makes the ref as it was."""
    (line,) = [block.code for block in PAGE.blocks_under("How to undo")]
    assert place.cli("claim", "42").returncode == 0
    ref = "refs/agent-claims/42"
    lease = place.git("ls-remote", "origin", ref).split()[0]
    assert f'"lease": "{lease}"' in (place.root / ".lifecycle/state.json").read_text()
    place.git("push", "--quiet", "origin", f":{ref}")
    assert place.git("ls-remote", "origin", ref) == ""
    done = place.run("sh", "-c", line, LEASE=lease)
    assert done.returncode == 0, done.stderr
    assert place.git("ls-remote", "origin", ref).split()[0] == lease
