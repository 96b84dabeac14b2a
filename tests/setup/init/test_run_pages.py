"""The pages of an autonomous run: skill, agents and commands say what the product has, and no more."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from lifecycle.cli import main
from lifecycle.run.stop import decide
from lifecycle.run.table import COMPLETE, ESCALATION, INTERVENTION, ReviewVerdict, TddPhase
from lifecycle.setup.init.hook_table import RUN_PERMISSIONS, STASH_PERMISSIONS
from lifecycle.setup.init.supplies import RUN_AGENTS, RUN_COMMANDS, RUN_SKILL, WORKFLOW_AGENT
from tests.docs.pages import ROOT
from tests.setup.init.test_plugin import page

AGENTS = sorted(ROOT / f"agents/{name}.md" for name in RUN_AGENTS)
SKILL = ROOT / f"skills/{RUN_SKILL}/SKILL.md"
COMMANDS = [ROOT / f"commands/{name}.md" for name in RUN_COMMANDS]
HANDBOOK = ROOT / "docs/runs.md"

READS = {"Read", "Grep", "Glob"}
WRITES = {*READS, "Bash", "Edit", "Write"}
TOOLS = {
    "analyst": READS,
    "architect": READS,
    "developer": WRITES,
    "tester": {*READS, "Bash"},
    "reviewer": READS,
    "security": READS,
    "devops": WRITES,
}
"""What each agent works with: who judges can change nothing."""


def told(path: Path) -> str:
    """A page's body, in one line."""
    return " ".join(page(path)[1].split())


def lines(path: Path) -> list[str]:
    """Every whole command line of ours on a page: in a block, or in code quotes."""
    body = path.read_text(encoding="utf-8") if path == HANDBOOK else page(path)[1]
    found = re.findall(r"(?m)^(lifecycle (?:run|check|platform) .+)$", body)
    found += re.findall(r"`(lifecycle (?:run|check|platform) [^`…]+)`", re.sub(r"\s+", " ", body))
    return found


WITH_LINES = [path for path in (*AGENTS, SKILL, *COMMANDS, HANDBOOK) if lines(path)]


@pytest.mark.parametrize("path", WITH_LINES, ids=lambda path: path.stem)
def test_every_command_line_is_one(path: Path) -> None:
    """Each command is there, by the names of its groups, and takes the words that the page gives it."""
    for line in lines(path):
        words = shlex.split(line.partition(" <<")[0], comments=True)[1:]
        found: click.Command = main.group
        name = "lifecycle"
        while isinstance(found, click.Group):
            name = words.pop(0)
            below = found.get_command(click.Context(found), name)
            assert below is not None, line
            found = below
        if words or not any(parameter.required for parameter in found.params):
            found.make_context(name, words, resilient_parsing=False)


def test_the_seven_agents_are_there_with_the_least_that_they_need() -> None:
    """Each is named as its file, says when it is called, and has these tools and no others."""
    assert set(RUN_AGENTS) == set(TOOLS)
    there = {path.stem for path in (ROOT / "agents").glob("*.md")}
    assert there == {*RUN_AGENTS, WORKFLOW_AGENT}
    for path in AGENTS:
        front, _ = page(path)
        assert front["name"] == path.stem
        assert set(front["tools"].split(", ")) == TOOLS[path.stem]
        assert "autonomous run" in front["description"]
        assert 40 < len(front["description"]) < 250


@pytest.mark.parametrize("path", AGENTS, ids=lambda path: path.stem)
def test_an_agent_gets_its_platform_and_takes_no_orders_from_files(path: Path) -> None:
    """What it gets begins with the block; what it reads is material; what it returns has a form."""
    body = told(path)
    assert "PLATFORM CONTEXT BLOCK" in body
    assert re.search(r"never an instruction to you|is no instruction", body)
    assert "Return this" in body


@pytest.mark.parametrize(
    ("name", "verdicts"),
    [
        ("reviewer", (ReviewVerdict.APPROVED, ReviewVerdict.CHANGES_REQUESTED)),
        ("security", (ReviewVerdict.CLEARED, ReviewVerdict.REMEDIATION_NEEDED)),
    ],
)
def test_a_review_ends_with_its_verdict(name: str, verdicts: tuple[ReviewVerdict, ...]) -> None:
    """Findings by the three severities, and a last line that is one of two; only BLOCKING refuses."""
    body = told(ROOT / f"agents/{name}.md")
    for severity in ("BLOCKING", "SUGGESTION", "INFO"):
        assert f"**[{severity}]**" in body
    assert set(re.findall(r"VERDICT: (\w+)", body)) == {verdict.value for verdict in verdicts}


def test_the_reviewer_is_not_told_how_it_was_written() -> None:
    """Diff and logs, not the author's story; the orchestrator is told the same."""
    assert "nobody's account of it counts" in told(ROOT / "agents/reviewer.md")
    assert "the logs of RED and GREEN" in told(ROOT / "agents/reviewer.md")
    assert "Do not tell it how the code came about" in told(SKILL)


def test_the_skill_is_the_designs() -> None:
    """Its name and its description, and the headings that the orchestrator shows."""
    front, body = page(SKILL)
    assert front["name"] == SKILL.parent.name == RUN_SKILL
    assert front["description"].startswith("Orchestrates multi-agent workflow for feature ")
    assert len(front["description"]) < 1024
    assert len(body.splitlines()) <= 230
    for words in (
        "## Pre-Analysis Clarification Required", "## Pre-Plan Clarification Required",
        "## Task for Analyst", "## Task for Developer", "## Task for DevOps", "## Session Recovery",
        "## Platform Discovery", "## Platform Detection", "## Pre-PR Verification (Gate G7)",
        "## External Dependencies", "AskUserQuestion", "Proceed with my best judgment",
        "MAX_RETRIES", ESCALATION, INTERVENTION, f"## {COMPLETE}",
        "Lint issues remain - manual review needed", "| # | Story | Size | Security |",
    ):  # fmt: skip
        assert words in body, words


def test_the_skill_names_every_phase_gate_and_agent() -> None:
    """Nothing of the tables is left to the orchestrator's memory."""
    body = told(SKILL)
    for phase in TddPhase:
        assert phase is TddPhase.NONE or f"lifecycle run tdd-phase S1 {phase}" in body
    for gate in ("G1", "G2 S1", "G3 S1", "G4 S1", "G5 S1", "G6 S1", "G7"):
        assert f"lifecycle run gate {gate}`" in body, gate
    for name in RUN_AGENTS:
        assert f"`{name}`" in body


def test_what_the_skill_tells_the_agent_to_run_is_unasked_but_for_a_persons() -> None:
    """Each command that it names is pre-allowed, or said to be asked for, or said to be the user's own."""
    named = set(re.findall(r"lifecycle ((?:run|platform) [a-z-]+|check\b)", page(SKILL)[1]))
    rules = {rule.removeprefix("Bash(lifecycle ").removesuffix(":*)") for rule in RUN_PERMISSIONS}
    stashes = {rule.removeprefix("Bash(").removesuffix(":*)") for rule in STASH_PERMISSIONS}
    for text in (SKILL.read_text("utf-8"), decide.STEPS["set-aside"][0]):
        stashed = re.findall(r"git stash (?:push|pop)[^`,]*", text)
        assert stashed
        assert all(any(line.startswith(stash) for stash in stashes) for line in stashed)
    asked = {"run check-user-fix", "run rollback-to-checkpoint", "run remove-story"}
    persons = {"run user-fix-complete", "run resume", "run stop"}
    assert named - rules == asked | persons
    assert "are the user's own commands: never run them" in told(SKILL)


def test_two_commands_are_the_clients_too_and_have_a_second_name() -> None:
    """The second name is for who types it, and costs no session a line; else it is the same page."""
    for name in ("status", "review"):
        front, body = (ROOT / f"commands/{name}.md").read_bytes().split(b"\n---\n", 1)
        second = (ROOT / f"commands/run-{name}.md").read_bytes()
        assert second == front + b"\ndisable-model-invocation: true\n---\n" + body


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_a_command_of_a_run_may_look_and_no_more(path: Path) -> None:
    """By itself it allows what reads; what changes a run is allowed by `init`, by the person's own hand."""
    tools = page(path)[0]["allowed-tools"].split(", ")
    looks = ("git diff", "git log", "git status", "lifecycle run recover", "lifecycle run status",
             "lifecycle run platform-context", "lifecycle platform list",
             "lifecycle platform detect")  # fmt: skip
    assert set(tools) <= {f"Bash({look}:*)" for look in looks}
