"""What the commands of a workflow refuse: one sentence, the right exit code, and nothing changed."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from lifecycle.cli.workflow.workflow import command as workflow_group
from tests.cli.outcome import refused
from tests.cli.workflow.workflow_ground import CURRENT, WorkflowGround
from tests.conftest import COMMAND

NEEDS_ONE = (
    ("advance",), ("block", "--reason", "x"), ("skip", "--reason", "x"), ("fail", "--reason", "x"),
    ("retry",), ("complete",), ("phase",), ("show",), ("todos",), ("history",),
)  # fmt: skip

STARTS = {
    "no phase": (("X",), "1 to 100 phases, but this one has 0"),
    "no name": (("", "--phase", "A"), "no letter or digit"),
    "no title": (("X", "--phase", ""), "Phase 1 has no title"),
    "a misspelt type": (("X", "--type", "plannin"), 'Did you mean "planning"?'),
    "a path above": (("X", "--phase", "A", "--reading", "../a"), "leads out of the project"),
    "an absolute path": (("X", "--phase", "A", "--reading", "@/etc/passwd"), "leads out of the"),
    "no fact": (("X", "--phase", "A", "--context", "plan"), "write it as --context KEY=VALUE"),
    "no gate": (("X", "--phase", "A", "--gate", "1=yes"), "A gate is check:NAME"),
    "a gate of no phase": (("X", "--phase", "A", "--gate", "2=person"), 'has no phase "2"'),
    "a gate without a phase": (("X", "--phase", "A", "--gate", "person"), "--gate PHASE=GATE"),
    "a long title": (("X", "--phase", "A" * 1001), "1,001 characters, but 1,000 is the limit"),
}


def test_a_gate_that_is_a_check_is_looked_for_before_anything_begins(
    ground: WorkflowGround,
) -> None:
    """Settings that cannot be read say that nothing was done, and nothing was."""
    ground.write(".lifecycle.toml", "stages = 5 [")
    before = ground.files()
    words = ("start", "Auth", "--phase", "A", "--gate", "1=check:test")
    assert "nothing was done" in refused(ground.run(*words))
    assert ground.files() == before


@pytest.mark.parametrize("words", NEEDS_ONE, ids=lambda words: words[0])
def test_without_a_workflow_each_says_how_one_is_begun(
    ground: WorkflowGround, words: tuple[str, ...]
) -> None:
    """Exit 1, as text and as JSON, and no file is made."""
    assert 'lifecycle workflow start NAME --phase "Title"' in refused(ground.run(*words))
    done = ground.run(*words, "--json")
    assert (done.returncode, done.stderr) == (1, "")
    assert json.loads(done.stdout)["error"]["kind"] == "NoWorkflow"
    assert ground.files() == {}


def test_a_name_that_is_unknown_is_told_with_those_that_are_there(ground: WorkflowGround) -> None:
    """Where there is none at all, that is said once."""
    said = refused(ground.run("advance", "--workflow", "Y"))
    assert said.strip().endswith('There is no workflow "Y" here, and no other.')
    ground.said("start", "X", "--phase", "A")
    said = refused(ground.run("advance", "--workflow", "Y"))
    assert 'There is no workflow "Y" here, so nothing was done; there is "X".' in said


def test_a_workflow_that_is_over_is_gone_on_with_by_no_command(ground: WorkflowGround) -> None:
    """By its name each says that it is over, also once another one lies in its place.

    Whatever the name is, the command that shows it does no more than that.
    """
    ground.begun("A", name="Done")
    ground.said("complete")
    left = "Left $(touch pwned)"
    ground.begun("A", "B", name=left)
    ground.said("complete", "--give-up", "nobody wants it")
    for name, standing, how in (
        ("Done", '"Done" is completed.', "is completed, so nothing was changed"),
        (
            left,
            f'"{left}" is given up ("nobody wants it").',
            "was given up, so nothing was changed",
        ),
    ):
        of_it = ("--workflow", name)
        assert ground.said("guidance", *of_it) == f"{standing}\n"
        head, then = ground.said("phase", *of_it).splitlines()
        assert head == standing
        assert then.startswith("Next: begin another with: lifecycle workflow start")
        assert ground.data("phase", *of_it)["phase"] is None
        before = ground.files()
        for words in (("advance",), ("retry",), ("retry", "1"), ("skip", "--reason", "x")):
            if words != ("retry", "1") or name == left:
                said = refused(ground.run(*words, *of_it))
                assert f'The workflow "{name}" {how}' in said
                command = said.partition("show it with: ")[2]
                assert shlex.split(command) == ["lifecycle", "workflow", "show", name]
                assert '"' not in command  # a shell would carry out what stands between two
        assert ground.files() == before


def test_a_gate_of_a_check_that_nobody_knows_is_told_at_the_start(ground: WorkflowGround) -> None:
    """It may come later, so the workflow begins."""
    ground.write(".lifecycle.toml", '[checks.commands]\nmine = "true"\n')
    words = ("start", "X", "--phase", "A", "--phase", "B", "--gate", "1=check:mine")
    said = ground.said(*words, "--gate", "2=check:nosuch")
    assert 'Note: The gate of phase 2 is "check:nosuch", but the project has no such check;' in said
    assert said.count("Note: ") == 1


def test_what_only_shows_needs_no_workflow(ground: WorkflowGround) -> None:
    """A list that is empty, guidance that says so, and the templates: exit 0."""
    assert ground.said("list") == "There is no unfinished workflow here.\n"
    assert ground.said("guidance") == "There is no unfinished workflow here.\n"
    assert set(ground.data("template")["templates"]) == {
        "planning", "qa-loop", "implementation", "custom",
    }  # fmt: skip


@pytest.mark.parametrize(("words", "sentence"), STARTS.values(), ids=STARTS)
def test_a_start_that_makes_no_sense_is_refused(
    ground: WorkflowGround, words: tuple[str, ...], sentence: str
) -> None:
    """The sentence names what is wrong; nothing is written."""
    assert sentence in refused(ground.run("start", *words))
    assert ground.files() == {}


def test_a_name_is_taken_once(ground: WorkflowGround) -> None:
    """A second unfinished workflow of that name is refused; after its end the name is free again."""
    ground.begun()
    assert "There is already an unfinished workflow" in refused(
        ground.run("start", "user auth", "--phase", "A")
    )
    ground.said("complete", "--give-up", "another way")
    assert ground.begun()["workflow"] == "User Auth"


@pytest.mark.parametrize(
    ("before", "words", "then"),
    [
        ((), ("retry",), "active and cannot become active"),
        (("advance",), ("advance", "1"), None),
        (
            ("advance",),
            ("retry", "1"),
            "completed and cannot become active, so nothing was changed; completed is the end",
        ),
        (("fail", "--reason", "x"), ("advance",), "it can become: active (retry), skipped (skip)"),
        (
            ("skip", "--reason", "x"),
            ("fail", "1", "--reason", "y"),
            "it can become: active (retry)",
        ),
        (("block", "--reason", "x"), ("advance",), "active (retry), failed (fail), skipped (skip)"),
    ],
)
def test_an_illegal_move_names_the_legal_ones(
    ground: WorkflowGround, before: tuple[str, ...], words: tuple[str, ...], then: str | None
) -> None:
    """With the phase, the status that it has, and the command for each it may get; nothing is written."""
    ground.begun("Design", "Build", "Verify")
    if before:
        ground.said(*before)
    files = ground.files()
    if then is None:  # what is completed already may be told again
        assert ground.data(*words)["changed"] is False
    else:
        assert then in refused(ground.run(*words))
    assert ground.files() == files


def test_a_phase_and_a_workflow_that_are_not_there_are_told_the_nearest(
    ground: WorkflowGround,
) -> None:
    """The sentence lists those that there are."""
    ground.begun()
    assert 'Did you mean "Design"?' in refused(ground.run("retry", "Desing"))
    assert "it has 1 Design, 2 Build" in refused(ground.run("skip", "9", "--reason", "x"))
    assert 'Did you mean "User Auth"?' in refused(ground.run("show", "--workflow", "User Aut"))


@pytest.mark.parametrize("verb", ["block", "skip", "fail"])
def test_a_reason_is_needed(ground: WorkflowGround, verb: str) -> None:
    """Without the option it is a usage error, with an empty one a refusal."""
    ground.begun()
    assert ground.run(verb).returncode == 2
    assert "This needs a reason" in refused(ground.run(verb, "--reason", " "))


def test_broken_files_are_named_and_kept(ground: WorkflowGround) -> None:
    """One broken document costs a sentence; two are named by every command, and stay as they are."""
    ground.begun()
    good = (ground.root / CURRENT).read_bytes()
    ground.write(CURRENT, '{"id": "wf_1", ')
    listed = ground.data("list")
    assert [row["workflow"] for row in listed["workflows"]] == ["User Auth"]
    assert listed["unusable"][0]["path"] == CURRENT
    assert "is no JSON" in listed["troubles"][0]
    (checkpoint,) = ground.checkpoints()
    checkpoint.write_text(checkpoint.read_text()[:200])
    before = ground.files()
    assert "2 files cannot be used: lifecycle workflow list" in refused(ground.run("advance"))
    assert "Note: " in ground.said("guidance")
    assert ground.files() == before
    (ground.root / CURRENT).write_bytes(good)
    assert ground.data("advance")["progress"]["done"] == 1
    kept = [name for name in ground.files() if name.endswith(".unreadable")]
    assert len(kept) == 1


def test_a_later_releases_document_is_never_replaced(ground: WorkflowGround) -> None:
    """It stays to the byte, and the sentence says which release to install."""
    ground.begun()
    later = ground.document()
    later["lifecycle"]["version"] = 99
    ground.write(CURRENT, json.dumps(later))
    before = (ground.root / CURRENT).read_bytes()
    ground.said("advance")
    assert (ground.root / CURRENT).read_bytes() == before
    assert "later" in " ".join(ground.data("list")["troubles"])


def test_a_link_in_the_place_of_the_state_is_not_followed(
    ground: WorkflowGround, tmp_path: Path
) -> None:
    """Nothing is written through it, and the sentence names it."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (ground.root / ".claude").mkdir()
    (ground.root / ".claude/state").symlink_to(elsewhere)
    sentence = refused(ground.run("start", "X", "--phase", "A"))
    assert ".claude/state is a link" in sentence
    assert list(elsewhere.iterdir()) == []


def test_outside_of_a_worktree_there_is_one_sentence(tmp_path: Path) -> None:
    """Each command says where it has to be run; no folder is made."""
    outside = tmp_path / "outside"
    outside.mkdir()
    words = ("start", "X", "--phase", "A")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "GIT_CEILING_DIRECTORIES": "/",
    }
    done = subprocess.run(
        [COMMAND, "workflow", *words],
        cwd=outside,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "is in no git worktree" in refused(done)
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("stdin", ["x", "[]", '{"arguments": 1}', '{"named": []}'])
def test_a_call_that_makes_no_sense_is_refused(ground: WorkflowGround, stdin: str) -> None:
    """What stands on stdin has a form, and a function has its arguments."""
    done = ground.run("call", "get_workflow_state", "--json", stdin=stdin)
    assert done.returncode == 1
    assert "so nothing was done" in json.loads(done.stdout)["error"]["sentence"]
    done = ground.run("call", "create_workflow_state", "--json", stdin='{"named": {"x": 1}}')
    assert "was called wrongly" in json.loads(done.stdout)["error"]["sentence"]
    assert ground.run("call", "rm").returncode == 2
    assert ground.files() == {}


def test_every_command_has_help_that_names_no_other_system(ground: WorkflowGround) -> None:
    """Each has a --help; the group's says what /workflow is."""
    for name in workflow_group.table:
        assert f"lifecycle workflow {name}" in ground.said(name, "--help")
    assert "/workflow is something else" in " ".join(ground.said("--help").split())
