"""Whose a workflow is: of several unfinished ones the one that is meant."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lifecycle.git.checked_out import branch_of
from lifecycle.storage import live_process
from lifecycle.storage.store import places_of
from lifecycle.workflow.nearest import adopted_by, rank
from lifecycle.workflow.state import Workflow
from lifecycle.workflow.store.found_workflows import FoundWorkflow, WorktreeWorkflows
from lifecycle.workflow.whose import Asker, asker_of, chosen
from tests.workflow.workflow_ground import WorkflowGround

ME = Asker("me", 7, "mine")


NOWHERE = Path("/nowhere")


def one(name: str, **fields: Any) -> Workflow:
    """An unfinished workflow, of no source."""
    return Workflow(name, name, **fields)


@pytest.mark.parametrize(
    ("there", "meant"),
    [
        ([one("branch", branch="mine"), one("session", session="me")], "session"),
        ([one("branch", branch="mine"), one("client", session="old", client=7)], "client"),
        ([one("tree"), one("branch", branch="mine")], "branch"),
        ([one("newest"), one("older")], "newest"),
        ([one("theirs", session="you", client=1, branch="mine"), one("tree")], "tree"),
        ([one("theirs", session="you", client=1, branch="mine")], ""),
        ([one("dead", session="you", client=2, branch="mine"), one("tree")], "dead"),
        ([], ""),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_nearest_is_meant_and_the_others_are_named(
    there: list[Workflow], meant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Session, then client, then branch, then worktree; what a living session works on is its own."""
    monkeypatch.setattr(live_process, "is_there", lambda client: client == 1)
    choice = chosen(NOWHERE, there, ME)
    assert (choice.workflow.id if choice.workflow is not None else "") == meant
    assert {other.id for other in choice.others} == {other.id for other in there} - {meant}


def test_an_id_is_meant_before_a_name_and_the_same_spelling_before_another() -> None:
    """A workflow whose name is another's id hides it from no step; of several alike the first is meant."""
    names = (("w9", "AUTH"), ("w1", "w2"), ("w2", "Auth"), ("w3", "auth"), ("w4", "Auth"))
    workflows = WorktreeWorkflows(tuple(FoundWorkflow(Workflow(*name), ()) for name in names))
    wanted = {"w2": "w2", "Auth": "w2", "auth": "w3", "aUTH": "w9", "W1": "w1"}
    got = {name: workflows.get(name) for name in (*wanted, "none")}
    assert {name: entry and entry.workflow.id for name, entry in got.items()} == {
        **wanted,
        "none": None,
    }


def test_how_near_a_workflow_is_has_its_number() -> None:
    """What nobody knows of both makes none near; a session that is known and lives keeps others off."""
    me, mine = ("me", 7, "mine"), ("you", 1, "theirs")
    for whose, asker, number in (
        (("me", 0, ""), me, 1),
        (("old", 7, ""), me, 2),
        (("", 0, "mine"), ("", 0, "mine"), 3),
        (("you", 1, "mine"), me, 0),
        (("", 1, "mine"), me, 3),
        (("you", 2, "mine"), me, 3),
        (("you", 1, "mine"), ("", 7, "mine"), 3),
        (("", 0, "other"), me, 4),
    ):
        assert rank(whose, asker, lambda client: client == 1) == number, (whose, asker)
    for asker, then in ((me, me), (("me", 0, ""), ("me", 1, "theirs")), (("", 7, "mine"), mine)):
        assert adopted_by(asker, mine) == then


def test_a_subagent_gets_none_of_its_leaders() -> None:
    """The same session and branch, and an agent's id: nothing is meant."""
    there = [one("session", session="me", branch="mine")]
    assert chosen(NOWHERE, there, Asker("me", 7, "mine", is_subagent=True)).workflow is None


def test_a_person_at_a_terminal_gets_what_a_session_works_on() -> None:
    """Whoever belongs to no session is shown the workflow of a living one."""
    there = [one("theirs", session="you", client=os.getpid())]
    assert chosen(NOWHERE, there, Asker()).workflow is not None


def test_who_asks_is_read_from_event_and_environment(tmp_path: Path) -> None:
    """Session, process and agent by the client's own fields, and the branch without git."""
    ground = WorkflowGround.made(tmp_path / "tree")
    branch = branch_of(ground.root)
    assert branch
    event = {"session_id": "s", "agent_id": "a"}
    asker = asker_of(ground.root, {"CLAUDE_PID": str(os.getpid())}, event)
    assert asker == Asker("s", os.getpid(), branch, is_subagent=True)
    assert asker_of(ground.root, {"CLAUDE_PID": "x"}, {}) == Asker("", 0, branch)
    assert branch_of(tmp_path) == ""


def test_a_branch_is_known_where_refs_are_kept_in_a_reftable(tmp_path: Path) -> None:
    """HEAD is no help there: of a clone and of a linked worktree git says what is checked out."""
    main, linked = tmp_path / "main", tmp_path / "linked"
    made = subprocess.run(
        ["git", "init", "-q", "--ref-format=reftable", "-b", "trunk", main], check=False
    )
    if made.returncode:
        pytest.skip("of reftables: git 2.45 is the first that has them")
    git = ("git", "-C", str(main))
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "First"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", "-b", "topic", linked], check=True)
    assert (branch_of(main), branch_of(linked)) == ("trunk", "topic")
    assert places_of(main, "topic") == [linked]
    subprocess.run([*git, "switch", "-q", "--detach"], check=True)
    assert (branch_of(main), places_of(linked, "trunk")) == ("", [])
