"""The four functions of the design, in every form in which the design calls them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lifecycle import api
from lifecycle.core.errors import IllegalMove, Refused
from tests.at_once import at_once
from tests.workflow.workflow_ground import WorkflowGround

TASK = "Create calculator.py with tests and verify they pass"
PAIRS = [("Create calculator module", "general-purpose"), ("Write and run tests", "verifier")]


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkflowGround:
    """A worktree, in which the program runs."""
    made = WorkflowGround.made(tmp_path / "tree")
    monkeypatch.chdir(made.root)
    return made


@pytest.mark.parametrize(
    "phases",
    [
        PAIRS,
        [{"title": title, "agent": agent} for title, agent in PAIRS],
        [
            ["Create calculator module", "general-purpose"],
            {"title": "Write and run tests", "agent": "verifier"},
        ],
    ],
    ids=["tuples", "objects", "mixed"],
)
def test_a_sequential_workflow_goes_from_pending_to_completed(
    ground: WorkflowGround, phases: Any
) -> None:
    """The design's second test: created, completed, activated with its context, completed as a whole."""
    id_ = api.create_workflow_state(TASK, phases)
    state = json.loads(ground.document().read_text())
    assert {name: state[name] for name in ("id", "task", "status", "current_phase")} == {
        "id": id_,
        "task": TASK,
        "status": "pending",
        "current_phase": None,
    }
    assert [(phase["title"], phase["agent"]) for phase in state["phases"]] == PAIRS
    api.update_phase_status(id_, "phase_0", "active")
    results = (["calculator.py"], "has 4 functions")
    state = api.update_phase_status(id_, "phase_0", "completed", *results)
    assert state["phases"][1]["status"] == "pending"  # the program begins it by itself
    api.update_phase_status(id_, "phase_1", status="active")
    state = api.get_workflow_state(id_)
    assert (state["status"], state["current_phase"]) == ("active", "phase_1")
    assert state["phases"][0]["deliverables"] == ["calculator.py"]
    assert state["phases"][0]["context_for_next"] == "has 4 functions"
    done = api.update_phase_status(
        id_, "phase_1", status="completed", deliverables=["tests"], context="bye"
    )
    assert (done["status"], done["current_phase"]) == ("completed", None)
    assert api.get_workflow_state(id_) == done
    assert ground.view().startswith(f"# Workflow Status: {TASK}\n\nStatus: completed")


def test_the_view_is_given_and_written(ground: WorkflowGround) -> None:
    """`generate_markdown(workflow)` gives the view; with a path before it, that is written as well."""
    id_ = api.create_workflow_state(TASK, ["One"])
    state = api.get_workflow_state(id_)
    assert api.generate_markdown(state) == ground.view()
    assert api.generate_markdown("state.md", state) == (ground.root / "state.md").read_text()
    assert api.generate_markdown(json.loads(ground.document().read_text())) == ground.view()


def test_functions_refuse_as_commands_do(ground: WorkflowGround) -> None:
    """Unknown words, phases and workflows, illegal moves and gates: one sentence, and nothing changed."""
    gated: Any = [{"title": "A", "gate": "file:x"}, "B"]
    id_ = api.create_workflow_state("t", gated)
    before = ground.documents()
    for arguments, words in (
        ((id_, "phase_0", "finished"), "is not a status"),
        ((id_, "phase_7", "active"), "has no phase"),
        (("wf_none", "phase_0", "active"), "no workflow"),
        ((id_, "phase_0", "completed"), "the project does not have"),
        ((id_, "phase_1", "active"), "after the gate"),
    ):
        with pytest.raises(Refused, match=words):
            api.update_phase_status(*arguments)
    with pytest.raises(Refused, match="1 to 100 phases"):
        api.create_workflow_state("t", [])
    assert ground.documents() == before
    api.update_phase_status(id_, "phase_0", "failed", reason="broken")
    with pytest.raises(IllegalMove, match="is failed and cannot become completed"):
        api.update_phase_status(id_, "phase_0", "completed")


def test_a_text_is_no_list_and_a_folder_has_to_be_there(ground: WorkflowGround) -> None:
    """Python would read a text as the list of its letters; nothing is written, nor a folder made.

    A word that a phase cannot have says so, too: it was dropped, and a gate that was misspelt with it.
    """
    create, root = api.create_workflow_state, ground.root
    words: Any = ({"phases": "AB"}, {"reading": "a.md"}, {"reminders": "Be kind"})
    lists: Any = (*words, {"phases": None}, {"phases": 5}, {"reading": 5})
    for given in lists:
        with pytest.raises(Refused, match="is not a list, so nothing was done; write"):
            create("T", **{"phases": ["A"], **given}, root=root)
    with pytest.raises(Refused, match=r"^reading='a.md' is not a list"):
        create("T", [{"title": "A", "reading": "a.md"}], root=root)
    with pytest.raises(
        Refused, match=r'^A phase has no "gates", .* it may have title, name, agent,'
    ):
        create("T", [{"title": "A", "gates": "person"}], root=root)
    with pytest.raises(Refused, match="A phase is a title"):
        create("T", [3], root=root)  # type: ignore[list-item]  # that is the point
    with pytest.raises(Refused, match="does not exist"):
        create("T", ["A"], root=root / "none")
    assert not (root / "none").exists()
    flow = create("T", ["A"], root=root)
    with pytest.raises(Refused, match=r"^deliverables=.* is not a list"):
        api.update_phase_status(flow, "phase_0", "active", "a.py", root=root)
    (phase,) = api.get_workflow_state(flow, root=root)["phases"]
    assert (phase["status"], phase["deliverables"]) == ("pending", [])


def test_a_text_without_an_encoding_is_kept_as_far_as_it_has_one(ground: WorkflowGround) -> None:
    """Half a pair of surrogates, or a byte of another encoding on the command line, ended in an error."""
    flow = api.create_workflow_state("T\ud800", [("A\udcff", "b")], root=ground.root)
    shown = api.update_phase_status(flow, "phase_0", "completed", ["\udcffile"], root=ground.root)
    assert shown["status"] == "completed"
    kept = api.get_workflow_state(flow, root=ground.root)
    (phase,) = kept["phases"]
    assert (kept["task"], phase["title"], phase["deliverables"]) == ("T?", "A?", ["?ile"])


def test_a_text_of_another_kind_is_refused(ground: WorkflowGround) -> None:
    """It is named in a sentence, where Python's own error came out of the middle."""
    functions: Any = api
    create, update = functions.create_workflow_state, functions.update_phase_status
    flow = create("T", ["A"], root=ground.root)
    wrong: Any = (
        lambda: create(5, ["A"], root=ground.root),
        lambda: functions.get_workflow_state(5, root=ground.root),
        lambda: update(flow, 5, "completed", root=ground.root),
        lambda: update(flow, "phase_0", "completed", context_for_next=5, root=ground.root),
        lambda: update(None, "phase_0", "completed", root=ground.root),
    )
    for call in wrong:
        with pytest.raises(Refused, match=r"=(5|None) is not a text, so nothing was done"):
            call()
    assert api.get_workflow_state(flow, root=ground.root)["status"] == "pending"


def test_the_phases_of_one_workflow_begin_another(ground: WorkflowGround) -> None:
    """As the documents have them, with ids and progress: the new ones are pending."""
    first = api.create_workflow_state(TASK, PAIRS)
    api.update_phase_status(first, "phase_0", "active")
    given = api.get_workflow_state(first)["phases"]
    again = api.get_workflow_state(api.create_workflow_state(TASK, given))["phases"]
    assert [(new["title"], new["agent"]) for new in again] == [*PAIRS]
    assert {new["status"] for new in again} == {"pending"}


def test_two_tasks_of_one_name_are_two_workflows(ground: WorkflowGround) -> None:
    """An orchestrator that is asked the same twice gets two ids, and loses neither."""
    ids = {api.create_workflow_state(TASK, PAIRS) for _ in range(2)}
    assert len(ids) == len(ground.checkpoints()) == 2
    assert all(api.get_workflow_state(id_)["task"] == TASK for id_ in ids)


def test_each_call_begins_a_workflow_of_its_own_even_at_the_same_moment(
    ground: WorkflowGround,
) -> None:
    """The free name was looked for before the lock was taken: most of those at once were refused."""
    imports = "from lifecycle.app.workflow_functions import create_workflow_state"
    work = "print(create_workflow_state('Same task', ['a'], root=sys.argv[1]))"
    begun = at_once(8, imports, work, str(ground.root))
    assert len({api.get_workflow_state(id_)["id"] for id_ in begun}) == 8
