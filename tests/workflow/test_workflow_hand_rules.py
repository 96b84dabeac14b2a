"""What one edit by hand makes of a record: field by field, on values alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from lifecycle.workflow.documents.hand_edits import with_edits
from lifecycle.workflow.documents.workflow_documents import (
    DocumentKind,
    content_of,
    fields_of,
    read_document,
)
from lifecycle.workflow.state import PassedGate, Workflow, WorkflowPhase
from lifecycle.workflow.table import PhaseStatus as Is
from tests.workflow.workflow_ground import NOW

DOCUMENT, CHECKPOINT = DocumentKind.DOCUMENT, DocumentKind.CHECKPOINT
BORN = "2025-12-09T14:30:52Z"


def record(*phases: WorkflowPhase, current: int = 0, **more: Any) -> Workflow:
    """A record of a workflow that has begun."""
    told = {"task": "do it", "created_at": BORN, "revision": 3, **more}
    return Workflow("wf_20251209_143052", "Feature", phases=phases, current=current, **told)


def phase(title: str, status: Is = Is.PENDING, **more: Any) -> WorkflowPhase:
    """One phase."""
    return WorkflowPhase(title, status=status, **more)


def three(**more: Any) -> Workflow:
    """Design is being worked on; Build and Ship wait."""
    return record(phase("Design", Is.ACTIVE, since=1.0), phase("Build"), phase("Ship"), **more)


def edited(
    before: Workflow,
    kind: DocumentKind,
    change: Callable[[dict[str, Any]], object],
    *,
    alone: bool = False,
) -> tuple[Workflow, tuple[str, ...]]:
    """The record and the remarks after a change of one document; `alone`: our own part is gone."""
    data = json.loads(content_of(before, kind))
    if alone:
        del data["lifecycle"]
    change(data)
    document = read_document(json.dumps(data).encode(), kind, "a.json", NOW)
    after, told = with_edits(before, document)
    assert all(sentence.startswith("a.json: ") for sentence in told)
    return after, tuple(sentence.removeprefix("a.json: ") for sentence in told)


def setting(*way: str | int, to: object) -> Callable[[dict[str, Any]], None]:
    """A change of one value."""

    def change(data: Any) -> None:
        for step in way[:-1]:
            data = data[step]
        data[way[-1]] = to

    return change


def titles(workflow: Workflow) -> list[str]:
    """Of its phases, in order."""
    return [one.title for one in workflow.phases]


def statuses(workflow: Workflow) -> list[Is]:
    """Of its phases, in order."""
    return [one.status for one in workflow.phases]


# -- lists that a workflow and its current phase share

LISTS = [("reading", "required_reading"), ("reminders", "key_reminders")]


@pytest.mark.parametrize(("ours", "theirs"), LISTS)
@pytest.mark.parametrize(
    ("listed", "shared", "own"),
    [
        (["@s", "@both", "@o", "@new"], ("@s", "@both", "@new"), ("@both", "@o")),
        (["@new", "@both", "@o"], ("@new", "@both"), ("@both", "@o")),
        (["@s", "@both"], ("@s", "@both"), ("@both",)),
        (["@o", "@s"], ("@s",), ("@o",)),
        ([], (), ()),
    ],
    ids=["added", "first", "own gone", "both gone", "empty"],
)
def test_each_entry_of_a_list_goes_back_to_where_it_came_from(
    ours: str, theirs: str, listed: list[str], shared: tuple[str, ...], own: tuple[str, ...]
) -> None:
    """New entries are the workflow's, the current phase's own stay its own, and what was taken out is."""
    at_work = replace(phase("A", Is.ACTIVE), **{ours: ("@both", "@o")})
    other = replace(phase("B"), **{ours: ("@s", "@z")})
    before = replace(record(at_work, other), **{ours: ("@s", "@both")})
    after, told = edited(before, CHECKPOINT, setting(theirs, to=listed))
    assert told == ()
    assert (getattr(after, ours), getattr(after.phases[0], ours)) == (shared, own)
    assert after.phases[1] == other


@pytest.mark.parametrize(("ours", "theirs"), LISTS)
def test_before_a_workflow_begins_all_entries_are_its_own(ours: str, theirs: str) -> None:
    """There is no current phase that could have some."""
    waiting = replace(phase("A"), **{ours: ("@o",)})
    before = replace(record(waiting, current=-1), **{ours: ("@s",)})
    after, _ = edited(before, CHECKPOINT, setting(theirs, to=["@o", "@s"]))
    assert getattr(after, ours) == ("@o", "@s")
    assert after.phases == before.phases


def test_reading_that_leads_out_is_told_and_the_rest_is_taken() -> None:
    """One sentence for each; numbers are written as people write them; what is no text is left out."""
    after, told = edited(
        three(), CHECKPOINT, setting("required_reading", to=["a.md", "/etc/x", 7, None, {}, "../y"])
    )
    assert after.reading == ("@a.md", "@7")
    assert [sentence.partition(" leads out")[0] for sentence in told] == [
        'The required reading "/etc/x"',
        'The required reading "../y"',
    ]


@pytest.mark.parametrize(
    ("field", "value", "what"),
    [
        ("workflow", 7, "text"),
        ("workflow_type", None, "text"),
        ("phase", [], "object"),
        ("context", [], "object"),
        ("required_reading", "@a.md", "list"),
        ("key_reminders", {}, "list"),
    ],
)
def test_a_field_of_a_checkpoint_that_is_of_another_kind_is_told(
    field: str, value: object, what: str
) -> None:
    """What was known of it counts, and nothing else is told."""
    before = three(reading=("@a.md",), reminders=("r",), context={"n": 1})
    after, told = edited(before, CHECKPOINT, setting(field, to=value))
    assert after == before
    assert told == (f'"{field}" is no {what}, so its previous value is kept.',)


@pytest.mark.parametrize(
    ("known", "said", "kept"), [(BORN, "now", BORN), ("", "now", "now"), ("", 7, "")]
)
def test_when_a_workflow_was_created_is_kept_for_ever(known: str, said: object, kept: str) -> None:
    """A checkpoint tells it only of a workflow of which nobody knows it."""
    before = three(created_at=known)
    after, told = edited(before, CHECKPOINT, setting("created_at", to=said))
    assert (after.created_at, told) == (kept, ())


def test_a_checkpoint_renames_a_workflow() -> None:
    """Name and type without white space around them; blank ones are passed over."""
    before = three()
    for field, ours in (("workflow", "name"), ("workflow_type", "type")):
        after, told = edited(before, CHECKPOINT, setting(field, to=" New one "))
        assert (getattr(after, ours), told) == ("New one", ())
        assert replace(after, **{ours: getattr(before, ours)}) == before
        assert edited(before, CHECKPOINT, setting(field, to="  ")) == (before, ())
    assert edited(before, CHECKPOINT, setting("workflow", to="a|b"))[0].name == "a|b"


def test_only_what_differs_from_the_record_beside_it_is_an_edit() -> None:
    """An older document with one edit takes nothing of what is newer back."""
    old = three(task="old")
    newer = replace(old, task="new", name="Newer", revision=9)
    data = json.loads(content_of(old, CHECKPOINT)) | {"context": {"n": 1}}
    document = read_document(json.dumps(data).encode(), CHECKPOINT, "a.json", NOW)
    assert with_edits(newer, document) == (replace(newer, context={"n": 1}), ())


def test_an_unedited_document_moves_no_pointer() -> None:
    """Not even one at a phase that is over."""
    before = record(phase("A", Is.COMPLETED), phase("B"))
    for kind in DocumentKind:
        assert edited(before, kind, lambda data: data) == (before, ())


def test_an_older_checkpoint_by_which_a_phase_is_begun_points_at_it() -> None:
    """Though the workflow is at another one by now."""
    old = record(phase("A"), phase("B"))
    data = json.loads(content_of(old, CHECKPOINT))
    data["phase"]["status"] = "in_progress"
    document = read_document(json.dumps(data).encode(), CHECKPOINT, "a.json", NOW)
    after, told = with_edits(replace(old, current=1, revision=9), document)
    assert (statuses(after), after.current, told) == ([Is.ACTIVE, Is.PENDING], 0, ())


@pytest.mark.parametrize(("field", "what"), [("task", "text"), ("phases", "list")])
def test_a_field_of_a_document_that_is_of_another_kind_is_told(field: str, what: str) -> None:
    """What was known of it counts."""
    told = (f'"{field}" is no {what}, so its previous value is kept.',)
    assert edited(three(), DOCUMENT, setting(field, to=7)) == (three(), told)


# -- gates

GATED = phase("Build", gate="file:x")


@pytest.mark.parametrize("gate_at", [0, 1])
@pytest.mark.parametrize("way", ["status", "current", "checkpoint"])
def test_what_lies_behind_a_gate_does_not_begin(gate_at: int, way: str) -> None:
    """Also after the gate of the very first phase; the sentence names both phases, the gate and a way."""
    first = () if gate_at == 0 else (phase("Plan", Is.COMPLETED),)
    before = record(*first, replace(GATED, status=Is.ACTIVE), phase("Ship"), current=gate_at)
    behind = gate_at + 1
    change = {
        "status": setting("phases", behind, "status", to="active"),
        "current": setting("current_phase", to=f"phase_{behind}"),
        "checkpoint": setting("phase", "current", to=behind + 1),
    }[way]
    kind = CHECKPOINT if way == "checkpoint" else DOCUMENT
    assert edited(before, kind, change) == (
        before,
        (
            (
                f"phase {behind + 1} was begun by hand, but the gate of phase {gate_at + 1}, "
                '"file:x", is not passed: the workflow stays where it was. Pass the gate with: '
                "lifecycle workflow advance"
            ),
        ),
    )


@pytest.mark.parametrize("status", ["active", "completed", "failed"])
def test_a_phase_behind_a_gate_may_wait_and_no_more(status: str) -> None:
    """Active, completed and failed ones have begun."""
    before = record(replace(GATED, status=Is.ACTIVE), phase("Ship"))
    after, told = edited(before, DOCUMENT, setting("phases", 1, "status", to=status))
    assert (after, len(told)) == (before, 1)
    blocked = record(GATED, phase("Ship", Is.BLOCKED), current=1)
    after, told = edited(blocked, DOCUMENT, setting("phases", 1, "status", to="pending"))
    assert (statuses(after), told) == ([Is.PENDING, Is.PENDING], ())


def test_a_gated_phase_is_completed_once_its_gate_was_passed() -> None:
    """Before that, it stays what it is, and the sentence names the gate and the command."""
    before = record(phase("Plan", Is.COMPLETED), replace(GATED, status=Is.ACTIVE), current=1)
    complete = setting("phases", 1, "status", to="completed")
    assert edited(before, DOCUMENT, complete) == (
        before,
        (
            (
                'phase 2 was set to completed by hand, but its gate "file:x" is not passed: it '
                "stays active. Complete it with: lifecycle workflow advance"
            ),
        ),
    )
    passed = before.with_phase(1, replace(before.phases[1], passed=PassedGate(NOW, "file")))
    after, told = edited(passed, DOCUMENT, complete)
    assert (statuses(after), after.current, told) == ([Is.COMPLETED, Is.COMPLETED], -1, ())


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_gated_phase_that_was_taken_out_comes_back_where_it_was(at: int) -> None:
    """Wherever it stood, with all that was known of it, and the sentence says how to skip it."""
    listed = [phase("A"), phase("B")]
    listed.insert(at, GATED)
    before = record(*listed, current=-1)
    after, told = edited(before, DOCUMENT, lambda data: data["phases"].pop(at))
    assert (after, told) == (
        before,
        (
            (
                f'phase {at + 1} was removed, but its gate "file:x" is not passed: it was put back. '
                "Skip it with: lifecycle workflow skip --reason TEXT"
            ),
        ),
    )


@pytest.mark.parametrize("status", [Is.COMPLETED, Is.SKIPPED])
def test_a_phase_whose_gate_is_behind_it_may_be_taken_out(status: Is) -> None:
    """Its gate holds nothing back any more."""
    before = record(replace(GATED, status=status), phase("Ship", Is.ACTIVE), current=1)
    after, told = edited(before, DOCUMENT, lambda data: data["phases"].pop(0))
    assert (titles(after), after.current, told) == (["Ship"], 0, ())


def test_what_was_put_back_may_be_pointed_at() -> None:
    """By its own id, and what comes behind it by its own."""

    def change(data: dict[str, Any]) -> None:
        del data["phases"][1]
        data["current_phase"] = "phase_1"

    before = record(phase("A", Is.COMPLETED), GATED, phase("C"), current=-1)
    after, told = edited(before, DOCUMENT, change)
    assert (titles(after), after.current, len(told)) == (["A", "Build", "C"], 1, 1)


def test_as_many_phases_as_there_may_be_are_not_too_many() -> None:
    """What is told of them is what is wrong with them."""
    listed = [{"title": "x"}] * 99
    for phases, why in (([*listed, 7], "not all objects"), ([*listed, 7, 8], "more than 100")):
        told = edited(three(), DOCUMENT, setting("phases", to=phases))[1]
        assert told == (f'"phases" are {why}, so the previous phases are kept.',)


# -- phases of a document


def test_phases_are_known_by_their_ids() -> None:
    """In another order each keeps its detail, and the pointer follows; without an id, one is new."""
    before = three().with_phase(1, phase("Build", reading=("@b.md",), extra={"note": "n"}))

    def change(data: dict[str, Any]) -> None:
        design, build, ship = data["phases"]
        data["phases"] = [build, {"title": "New", "agent": "x"}, design, {**ship, "id": "other"}]
        data["current_phase"] = "phase_0"

    after, told = edited(before, DOCUMENT, change)
    assert told == ()
    assert after.phases == (
        before.phases[1],
        phase("New", agent="x"),
        before.phases[0],
        phase("Ship"),
    )
    assert after.current == 2
    twice, _ = edited(before, DOCUMENT, lambda data: data["phases"].append(data["phases"][1]))
    assert [one.reading for one in twice.phases] == [(), ("@b.md",), (), ()]


def test_a_current_phase_that_was_taken_out_is_pointed_at_no_more() -> None:
    """The next that is left is."""
    after, told = edited(three(), DOCUMENT, lambda data: data["phases"].pop(0))
    assert (titles(after), after.current, told) == (["Build", "Ship"], -1, ())


def test_texts_and_lists_of_a_phase_are_taken_one_by_one() -> None:
    """One of the wrong kind is told, and the others count."""
    given = {
        "title": 7,
        "agent": "builder",
        "context_for_next": "go",
        "deliverables": [1, 2.5, None],
    }
    after, told = edited(three(), DOCUMENT, lambda data: data["phases"][1].update(given))
    made = phase("Build", agent="builder", context_for_next="go", deliverables=("1", "2.5"))
    assert after.phases[1] == made
    assert told == ('"title" is no text, so its previous value is kept.',)
    after, told = edited(three(), DOCUMENT, setting("phases", 1, "deliverables", to="x"))
    assert (after, told) == (
        three(),
        ('"deliverables" is no list, so its previous value is kept.',),
    )


@pytest.mark.parametrize(
    ("listed", "why"),
    [([{"title": "x"}] * 101, "more than 100"), ([{"title": "x"}, "y"], "not all objects")],
    ids=["many", "text"],
)
def test_a_list_that_is_no_list_of_phases_is_told(listed: list[object], why: str) -> None:
    """The phases that were known count, and the pointer still names one of them."""

    def change(data: dict[str, Any]) -> None:
        data["phases"] = listed
        data["current_phase"] = "phase_1"

    after, told = edited(three(), DOCUMENT, change)
    assert after == replace(three(), current=1)
    assert told == (f'"phases" are {why}, so the previous phases are kept.',)


def test_a_hundred_phases_are_taken() -> None:
    """That is the most."""
    after, told = edited(three(), DOCUMENT, setting("phases", to=[{"title": "x"}] * 100))
    assert (len(after.phases), told) == (100, ())


@pytest.mark.parametrize(
    ("named", "current"),
    [("phase_2", 2), (None, 0), (2, None), ("Ship", None)],
)
def test_the_current_phase_is_named_by_its_id(named: object, current: int | None) -> None:
    """Any other name is told; none at all counts only where nothing is being worked on."""
    before = record(phase("A", Is.ACTIVE), phase("B", Is.ACTIVE), phase("C"), current=0)
    after, told = edited(before, DOCUMENT, setting("current_phase", to=named))
    if current is None:
        assert told == (f'"current_phase" names no phase of it ("{named}"): it was ignored.',)
    else:
        assert told == ()
    assert after == replace(before, current=current or 0)


def test_a_workflow_that_waits_may_point_at_no_phase() -> None:
    """Nothing of it is active, so there need not be a current one."""
    before = record(phase("A"), phase("B"), current=1)
    assert edited(before, DOCUMENT, setting("current_phase", to=None))[0].current == -1


@pytest.mark.parametrize(
    ("word", "status", "current"),
    [("completed", Is.COMPLETED, 1), ("failed", Is.FAILED, 0), ("pending", Is.PENDING, 0)],
)
def test_a_status_by_hand_is_that_of_the_moment_of_writing(
    word: str, status: Is, current: int
) -> None:
    """It holds since the document was written; what is over is pointed at no more."""
    after, told = edited(three(), DOCUMENT, setting("phases", 0, "status", to=word))
    assert told == ()
    assert (after.phases[0].status, after.phases[0].since) == (status, NOW)
    assert (after.phases[1:], after.current) == (three().phases[1:], current)


def test_the_current_phase_stays_while_it_is_not_over() -> None:
    """Another one that is worked on beside it does not become it; once it is over, the active one does."""
    go = setting("phases", 2, "status", to="active")
    after, told = edited(three(), DOCUMENT, go)
    assert (statuses(after), after.current) == ([Is.ACTIVE, Is.PENDING, Is.ACTIVE], 0)
    assert told == ()

    def over(data: dict[str, Any]) -> None:
        go(data)
        data["phases"][0]["status"] = "completed"

    assert edited(three(), DOCUMENT, over)[0].current == 2


def test_a_checkpoint_begins_a_workflow_that_waits() -> None:
    """Its first phase is the one that it tells, and then the current one."""
    before = record(phase("A"), phase("B"), current=-1)
    after, told = edited(before, CHECKPOINT, shown(status="in_progress"))
    assert (statuses(after), after.current, told) == ([Is.ACTIVE, Is.PENDING], 0, ())


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("done", '"done"'),
        (None, '"None"'),
        ("active|failed", '"active|failed"'),
    ],
)
def test_a_word_that_is_no_status_is_told_with_those_that_are(word: object, said: str) -> None:
    """The phase stays what it is."""
    after, told = edited(three(), DOCUMENT, setting("phases", 1, "status", to=word))
    assert (after, told) == (
        three(),
        (
            (
                f"phase 2 has the status {said}, which is not one of pending, active, completed, failed: "
                "it stays pending."
            ),
        ),
    )


def test_a_status_of_the_whole_is_told_only_if_it_is_another_one() -> None:
    """It follows from the phases."""

    def complete(data: dict[str, Any], word: str) -> None:
        data["status"] = word
        for one in data["phases"]:
            one["status"] = "completed"

    assert edited(three(), DOCUMENT, lambda data: complete(data, "completed"))[1] == ()
    assert edited(three(), DOCUMENT, lambda data: complete(data, "failed"))[1] == (
        'its status follows from its phases, and is completed, not "failed".',
    )
    words = "pending|active|completed|failed"
    assert edited(three(), DOCUMENT, setting("status", to=words))[1] == (
        f'its status follows from its phases, and is active, not "{words}".',
    )


# -- the phase of a checkpoint


def shown(**fields: object) -> Callable[[dict[str, Any]], None]:
    """A change of what a checkpoint says of its phase."""
    return lambda data: data["phase"].update(fields)


def test_a_checkpoint_at_a_later_phase_completes_those_before_it() -> None:
    """What waits or is at work is completed; what failed, was skipped or is blocked stays that."""
    begun = [Is.COMPLETED, Is.SKIPPED, Is.FAILED, Is.BLOCKED, Is.ACTIVE, Is.PENDING]
    before = record(*(phase(one.value, one) for one in begun), phase("Last"), current=4)
    after, told = edited(before, CHECKPOINT, shown(current=7, status="in_progress", name="End"))
    assert told == ()
    assert statuses(after) == [*begun[:4], Is.COMPLETED, Is.COMPLETED, Is.ACTIVE]
    assert [one.since for one in after.phases] == [0.0, 0.0, 0.0, 0.0, NOW, NOW, NOW]
    assert (after.current, after.phases[6].title) == (6, "End")


def test_a_checkpoint_goes_back_to_a_phase() -> None:
    """What comes behind it stays as it is."""
    before = record(phase("A"), phase("B", Is.BLOCKED), phase("C"), current=1)
    after, told = edited(before, CHECKPOINT, shown(current=1, status="in_progress", name="A"))
    assert (statuses(after), after.current) == ([Is.ACTIVE, Is.BLOCKED, Is.PENDING], 0)
    assert told == ()
    at_work = before.with_phase(0, phase("A", Is.ACTIVE, since=1.0, attempts=1))
    same, _ = edited(at_work, CHECKPOINT, shown(current=1, status="in_progress", name="A"))
    assert same == replace(at_work, current=0)
    stuck, _ = edited(before, CHECKPOINT, shown(current=1, status="blocked", name="A"))
    assert (statuses(stuck), stuck.current) == ([Is.BLOCKED, Is.BLOCKED, Is.PENDING], 0)


@pytest.mark.parametrize(
    ("word", "status", "current"),
    [
        ("not_started", Is.PENDING, -1),
        ("in_progress", Is.ACTIVE, 0),
        ("blocked", Is.BLOCKED, 0),
        ("completed", Is.COMPLETED, 1),
    ],
)
def test_a_checkpoint_of_a_new_workflow_says_where_it_is(
    word: str, status: Is, current: int
) -> None:
    """One that has not started is at no phase; any other word is that of its phase."""
    before = replace(three(), phases=(), current=-1, revision=0)
    told = {"current": 1, "total": 3, "name": "Design", "status": word}
    after, remarks = edited(before, CHECKPOINT, setting("phase", to=told), alone=True)
    assert remarks == ()
    assert (statuses(after), after.current) == ([status, Is.PENDING, Is.PENDING], current)
    assert titles(after) == ["Design", "", ""]


def test_a_checkpoint_at_the_phase_that_is_known_moves_nothing() -> None:
    """Only a new number moves; a first record, even one without a revision, is not moved by its own."""
    for before in (three(revision=0), record(GATED, phase("B", Is.BLOCKED), current=1)):
        after, told = edited(before, CHECKPOINT, shown(name="New"))
        renamed = replace(before.phases[before.current], title="New")
        assert (after, told) == (before.with_phase(before.current, renamed), ())
    known = record(phase("A"), phase("B"), current=1)
    after, told = edited(known, CHECKPOINT, shown(name="New"), alone=True)
    assert (titles(after), statuses(after), told) == (["A", "New"], [Is.PENDING, Is.PENDING], ())
    waiting = record(phase("A"), phase("B"), current=1, revision=0)
    after, told = edited(waiting, CHECKPOINT, shown(name="New"))
    assert (statuses(after), told) == ([Is.PENDING, Is.PENDING], ())


def test_a_checkpoint_that_names_no_status_changes_none() -> None:
    """Nor does one that leaves its word as it is; also where it goes to another phase."""
    before = three()

    def onward(data: dict[str, Any]) -> None:
        data["phase"]["current"] = 2
        del data["phase"]["status"]

    after, told = edited(before, CHECKPOINT, onward)
    assert (statuses(after), told) == ([Is.COMPLETED, Is.PENDING, Is.PENDING], ())
    not_begun = shown(current=2, status="not_started")
    after, told = edited(before, CHECKPOINT, not_begun)
    assert (statuses(after), after.current, told) == (
        [Is.COMPLETED, Is.PENDING, Is.PENDING],
        1,
        (),
    )
    after, told = edited(before, CHECKPOINT, lambda data: data["phase"].pop("status"))
    assert (after, told) == (before, ())
    failed = record(phase("A", Is.FAILED))
    after, told = edited(failed, CHECKPOINT, shown(name="B"))
    assert (after, told) == (record(phase("B", Is.FAILED)), ())
    after, told = edited(before, CHECKPOINT, shown(status="stuck"))
    assert (after, told) == (
        before,
        (
            (
                'phase 1 has the status "stuck", which is not one of not_started, in_progress, completed, '
                "blocked: it stays active."
            ),
        ),
    )


@pytest.mark.parametrize("number", [0, -1, 4, "2", True, None, 1.0])
def test_a_number_that_is_of_no_phase_is_told(number: object) -> None:
    """Numbers count from one; the rest of the phase is passed over with it."""
    after, told = edited(three(), CHECKPOINT, shown(current=number, name="X", status="blocked"))
    assert (after, told) == (
        three(),
        (f'"phase.current" is "{number}" of 3: it was ignored.',),
    )


@pytest.mark.parametrize("total", [3, 5, 100])
def test_a_total_makes_more_phases(total: int) -> None:
    """New ones have no title."""
    after, told = edited(three(), CHECKPOINT, shown(total=total))
    assert (len(after.phases), told) == (total, ())
    assert after.phases[:3] == three().phases
    assert all(one == phase("") for one in after.phases[3:])


@pytest.mark.parametrize("total", [101, 2, 0, -1])
def test_a_total_that_cannot_be_is_told(total: int) -> None:
    """The phases stay: a checkpoint takes none out, whatever gate or beginning they have."""
    assert edited(three(), CHECKPOINT, shown(total=total)) == (
        three(),
        (f'"phase.total" is "{total}", which is no number from 3 to 100: it was ignored.',),
    )


def test_a_number_that_no_workflow_has_makes_no_phases() -> None:
    """A hundred phases are the most: beyond them a number says nothing of how many there are."""
    assert edited(three(), CHECKPOINT, shown(current=101, total=300)) == (
        three(),
        (
            '"phase.total" is "300", which is no number from 3 to 100: it was ignored.',
            '"phase.current" is "101" of 3: it was ignored.',
        ),
    )


def test_a_workflow_keeps_a_phase_where_neither_number_nor_total_make_sense() -> None:
    """Both are told, and nothing of it is taken out."""
    after, told = edited(three(), CHECKPOINT, shown(current="x", total=0))
    assert (after, len(told)) == (three(), 2)


@pytest.mark.parametrize("total", ["4", True, None])
def test_a_total_that_is_no_number_is_told(total: object) -> None:
    """The phases stay."""
    assert edited(three(), CHECKPOINT, shown(total=total)) == (
        three(),
        ('"total" is no number, so its previous value is kept.',),
    )


# -- fields of others


def test_fields_of_others_are_kept_where_they_stood() -> None:
    """Of a document, a checkpoint, its phase, and each phase; what is taken out again is gone."""
    before = three(extra={"checkpoint": {"z": 1}, "document": {"y": 1}})
    after, _ = edited(before, CHECKPOINT, shown(mine=2))
    assert list(after.extra) == ["checkpoint", "checkpoint.phase", "document"]
    assert after.extra["checkpoint.phase"] == {"mine": 2}
    assert edited(after, CHECKPOINT, lambda data: data["phase"].pop("mine"))[0] == before
    gone, _ = edited(before, DOCUMENT, lambda data: data.pop("y"))
    assert gone.extra == {"checkpoint": {"z": 1}}
    other, _ = edited(before, DOCUMENT, setting("x", to=[1]))
    assert other.extra == {"checkpoint": {"z": 1}, "document": {"y": 1, "x": [1]}}
    noted, _ = edited(before, DOCUMENT, setting("phases", 2, "note", to="n"))
    assert noted.phases[2].extra == {"note": "n"}
    assert "note" not in fields_of(before, DOCUMENT)["phases"][2]


# -- what is odd in an edit


def fresh(**shown: Any) -> tuple[Workflow, tuple[str, ...]]:
    """What a checkpoint of somebody else's makes of a workflow that nobody knew, and what is told."""
    return edited(
        record(current=-1, revision=0), CHECKPOINT, setting("phase", to=shown), alone=True
    )


def test_a_checkpoint_that_nobody_knew_has_the_phases_that_it_counts() -> None:
    """One at least; what is no number is told, and the phase that it is at is pointed at."""
    blank = phase("")
    for shown, phases, at, told in (
        ({"current": 1, "total": 1, "name": "A"}, (phase("A"),), 0, ()),
        ({"current": 1, "total": 2}, (blank, blank), 0, ()),
        (
            {"current": "x", "total": 1},
            (blank,),
            -1,
            ('"phase.current" is "x" of 1: it was ignored.',),
        ),
        (
            {"current": "x", "total": 0},
            (blank,),
            -1,
            (
                '"phase.total" is "0", which is no number from 1 to 100: it was ignored.',
                '"phase.current" is "x" of 1: it was ignored.',
            ),
        ),
        (
            {"current": 1, "total": "x"},
            (blank,),
            0,
            ('"phase.total" is "x", which is no number from 1 to 100: it was ignored.',),
        ),
        (
            {"current": 1, "total": 1, "name": 7},
            (blank,),
            0,
            ('"name" is no text, so its previous value is kept.',),
        ),
    ):
        after, remarks = fresh(**shown)
        assert (after.phases, after.current, remarks) == (phases, at, told), shown


def test_a_phase_that_is_told_nothing_of_has_no_title() -> None:
    """It is one more phase, and waits."""
    after, told = edited(three(), DOCUMENT, lambda data: data["phases"].append({}))
    assert (after.phases[3], told) == (phase(""), ())


def test_a_pointer_at_no_phase_is_told() -> None:
    """By a name or a number, or where the field was taken out; the phase at work stays the current one."""
    for change, words in (
        (setting("current_phase", to=3), '"3"'),
        (setting("current_phase", to=-1), '"-1"'),
        (setting("current_phase", to="phase_3"), '"phase_3"'),
        (lambda data: data.pop("current_phase"), '""'),
    ):
        after, told = edited(three(), DOCUMENT, change)
        assert told == (f'"current_phase" names no phase of it ({words}): it was ignored.',)
        assert after.current == 0


def test_a_document_that_is_broken_is_told_once() -> None:
    """Where its phases are no list and it points at none, the one sentence says what is to be mended."""

    def broken(data: dict[str, Any]) -> None:
        data.clear()
        data["phases"] = 3

    told = edited(three(), DOCUMENT, broken)[1]
    assert told == ('"phases" is no list, so its previous value is kept.',)


def test_a_gate_holds_back_the_end_of_its_phase_and_not_its_beginning() -> None:
    """By hand as by a command."""
    gated = record(phase("A", gate="person"), current=-1)
    after, told = edited(gated, DOCUMENT, setting("phases", 0, "status", to="active"))
    assert (statuses(after), told) == ([Is.ACTIVE], ())
