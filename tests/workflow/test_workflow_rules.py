"""The rules that hold for every move of a workflow, on values alone; each refusal word by word."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from lifecycle.core.errors import IllegalMove, Refused
from lifecycle.core.redact import visible
from lifecycle.workflow import decide, state, table
from lifecycle.workflow.documents.workflow_documents import (
    MOST_BYTES,
    DocumentKind,
    ReadDocument,
    UnusableDocument,
    content_of,
    fields_of,
    read_document,
    view_of,
)
from lifecycle.workflow.state import PassedGate, Workflow, WorkflowPhase, checked_gate, reading_path
from lifecycle.workflow.table import PhaseStatus as Is
from tests.workflow.workflow_ground import NOW


def completed(
    workflow: Workflow,
    index: int,
    now: float,
    *,
    passed: PassedGate | None = None,
    and_begin: bool = False,
) -> Workflow:
    """How a phase is completed, unless a test has the next one begun, too."""
    about = (Is.COMPLETED, now, "", lambda: passed)
    return decide.in_phase(workflow, index, *about, and_begin=and_begin)


def made(*statuses: Is, current: int = 0, **more: Any) -> Workflow:
    """A workflow whose phases A, B, C … have these statuses."""
    phases = tuple(WorkflowPhase(chr(65 + n % 26), status=one) for n, one in enumerate(statuses))
    return Workflow("wf_1", "Feature", phases=phases, current=current, **more)


def gated(workflow: Workflow, index: int, gate: str = "file:x") -> Workflow:
    """The workflow with a gate."""
    return workflow.with_changes(index, gate=gate)


def statuses(workflow: Workflow) -> list[Is]:
    """Of its phases."""
    return [one.status for one in workflow.phases]


def refusal(call: Any, *arguments: Any, **named: Any) -> str:
    """The sentence with which something is refused."""
    with pytest.raises(Refused) as caught:
        call(*arguments, **named)
    return caught.value.sentence


DEEP: list[Any] = []
for _ in range(100_000):  # Python 3.13 writes 5,000 levels
    DEEP = [DEEP]
TOO_DEEP = ("maximum recursion depth", "Stack overflow")
"""How Python says so: until 3.13, and from 3.14 on."""

# -- how a workflow begins


@pytest.mark.parametrize(
    ("field", "most", "what"),
    [
        ("name", 200, "The name"),
        ("task", 20_000, "The task"),
        ("title", 1_000, "The title of a phase"),
        ("agent", 200, "The name of an agent"),
        ("context_for_next", 8_000, "The context for the next phase"),
    ],
)
def test_a_text_has_its_limit(field: str, most: int, what: str) -> None:
    """One of just that length is kept; a longer one is refused, with both numbers and a way out."""
    of_phase = field in WorkflowPhase.__struct_fields__

    def beginning(size: int) -> Workflow:
        text: dict[str, Any] = {field: "a" * size}
        phase = replace(WorkflowPhase("A"), **text if of_phase else {})
        return replace(Workflow("wf_1", "n", phases=(phase,)), **{} if of_phase else text)

    begun = decide.begun(beginning(most), NOW)
    assert len(getattr(begun.phases[0] if of_phase else begun, field)) == most
    assert refusal(decide.begun, beginning(most + 1), NOW) == (
        f"{what} has {most + 1:,} characters, but {most:,} is the limit; nothing was changed. Put it in a "
        "file, and name the file."
    )


@pytest.mark.parametrize(
    ("field", "kind", "entry"),
    [
        ("reading", "reading", "@a"),
        ("reminders", "reminder", "r"),
        ("criteria", "criterion or constraint", "c"),
        ("constraints", "criterion or constraint", "c"),
    ],
)
def test_a_list_has_its_limit(field: str, kind: str, entry: str) -> None:
    """A hundred entries are kept, one more is refused, and so is one that is too long."""

    def beginning(*listed: str) -> Workflow:
        return replace(Workflow("wf_1", "n", phases=(WorkflowPhase("A"),)), **{field: listed})

    assert len(getattr(decide.begun(beginning(*[entry] * 100), NOW), field)) == 100
    assert refusal(decide.begun, beginning(*[entry] * 101), NOW) == (
        f"There are 101 entries of the kind {kind}, but 100 is the limit; nothing was changed."
    )
    if field != "reading":
        assert refusal(decide.begun, beginning("r", "a" * 1001), NOW) == (
            f"The {kind} '{'a' * 30}' has 1,001 characters, but 1,000 is the limit; nothing was changed. "
            "Put it in a file, and name the file."
        )


def test_a_phase_has_a_hundred_reminders_at_most() -> None:
    """As a workflow has."""
    one = WorkflowPhase("A", reminders=("r",) * 101)
    assert refusal(decide.begun, Workflow("wf_1", "n", phases=(one,)), NOW).startswith(
        "There are 101 entries of the kind reminder,"
    )


def test_a_workflow_has_one_to_a_hundred_phases() -> None:
    """The sentence says how many it has, and how to name them."""
    for count in (1, 100):
        begun = decide.begun(made(*[Is.PENDING] * count, current=-1), NOW)
        assert (begun.active, begun.current) == ((0,), 0)
    for count in (0, 101):
        assert refusal(decide.begun, made(*[Is.PENDING] * count), NOW) == (
            f"A workflow has 1 to 100 phases, but this one has {count}; nothing was done. Name each: "
            '--phase "Title" or --phase "Title:agent".'
        )
    unnamed = Workflow("wf_1", "!?", phases=(WorkflowPhase("A"),))
    assert refusal(decide.begun, unnamed, NOW).startswith('"!?" has no letter or digit, so no file')
    blank = Workflow("wf_1", "n", phases=(WorkflowPhase("A"), WorkflowPhase(" ")))
    assert refusal(decide.begun, blank, NOW) == (
        "Phase 2 has no title; nothing was done. Give each phase a title."
    )


def test_what_begins_is_brought_into_form() -> None:
    """Reading and gates as they are kept, nothing but the first phase begun, and when it was created."""
    phases = (WorkflowPhase("A", reading=("p.md",), gate=" FILE: x "), WorkflowPhase("B"))
    asked = Workflow("wf_1", "n", phases=phases, reading=("w.md",), current=1)
    begun = decide.begun(asked, NOW)
    assert (begun.reading, begun.phases[0].reading) == (("@w.md",), ("@p.md",))
    assert begun.phases[0].gate == "file:x"
    assert (statuses(begun), begun.current) == ([Is.ACTIVE, Is.PENDING], 0)
    assert begun.created_at.startswith("2026-11-18T")
    waiting = decide.begun(replace(asked, created_at="before"), NOW, first=False)
    assert (statuses(waiting), waiting.current) == ([Is.PENDING, Is.PENDING], -1)
    assert waiting.created_at == "before"


@pytest.mark.parametrize(
    ("context", "why"),
    [
        ({"a": "b" * 7_992}, "The context has 8,001 characters, but 8,000 is the limit"),
        ({"a": float("nan")}, "The context cannot be kept as JSON (Out of range float values"),
        ({"a": {1}}, "The context cannot be kept as JSON (Object of type set"),
        ({"a": DEEP}, tuple(f"The context cannot be kept as JSON ({why}" for why in TOO_DEEP)),
    ],
    ids=["large", "nan", "set", "deep"],
)
def test_a_context_is_json_of_some_thousand_characters(
    context: dict[str, Any], why: str | tuple[str, ...]
) -> None:
    """What is larger, or no JSON, is refused and said."""
    assert refusal(decide.limited_context, context).startswith(why)
    decide.limited_context({"a": "b" * 7_991})
    assert refusal(decide.begun, made(Is.PENDING, context=context), NOW).startswith(why)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("", ""),
        ("  ", ""),
        (" Person ", "person"),
        ("person:", "person"),
        ("File: @docs/a.md", "file:docs/a.md"),
        ("CHECK: unit-tests_2 ", "check:unit-tests_2"),
    ],
)
def test_a_gate_is_kept_in_one_form(written: str, kept: str) -> None:
    """A check, a file of the project or a person."""
    assert checked_gate(written) == kept


@pytest.mark.parametrize(
    "written", ["person:me", "file", "file:", "check", "check:", "check:a b", "x:y"]
)
def test_what_is_no_gate_is_refused(written: str) -> None:
    """The sentence says what is one."""
    assert refusal(checked_gate, written) == (
        f'"{written}" is not a gate, so nothing was done. A gate is check:NAME (a check of the project), '
        "file:PATH (a file that has to exist), or person (a person's yes)."
    )
    with pytest.raises(Refused, match=r"The file of the gate .* leads out"):
        checked_gate("file:../x")


# -- how a phase is completed


def test_a_completed_phase_hands_on() -> None:
    """What it delivered is added, nothing twice; what it hands on replaces only if something is said."""
    before = made(Is.ACTIVE, Is.PENDING)
    before = before.with_phase(
        0, replace(before.phases[0], deliverables=("a", "b"), context_for_next="old")
    )
    after = completed(decide.recorded(before, 0, ("b", "c"), ""), 0, NOW)
    assert after.phases[0].deliverables == ("a", "b", "c")
    assert after.phases[0].context_for_next == "old"
    assert after.phases[0].ended_at == NOW
    assert (statuses(after), after.current) == ([Is.COMPLETED, Is.PENDING], 1)
    renewed = decide.recorded(before, 0, (), "new")
    after = completed(renewed, 0, NOW)
    assert after.handed_to(after.current) == "new"


def test_what_a_phase_delivers_has_its_limits() -> None:
    """A hundred deliverables, and as many characters for the next phase as a file would not need."""
    before = made(Is.ACTIVE)
    hundred = tuple(map(str, range(100)))
    most = decide.recorded(before, 0, hundred, "a" * 8_000)
    assert len(completed(most, 0, NOW).phases[0].deliverables) == 100
    sentence = refusal(decide.recorded, before, 0, (*hundred, "100"), "")
    assert "101 entries of the kind deliverable," in sentence
    sentence = refusal(decide.recorded, before, 0, (), "a" * 8_001)
    assert sentence.startswith("The context for the next phase has 8,001 characters")


def test_a_phase_that_waits_is_begun_and_completed_in_one() -> None:
    """It has an attempt then, and both its times."""
    done = completed(made(Is.PENDING, Is.PENDING), 0, NOW).phases[0]
    assert (done.attempts, done.started_at, done.ended_at) == (1, NOW, NOW)


@pytest.mark.parametrize("status", [Is.BLOCKED, Is.FAILED, Is.SKIPPED, Is.COMPLETED])
def test_what_is_not_being_worked_on_is_not_completed(status: Is) -> None:
    """It is begun anew first, or over."""
    with pytest.raises(IllegalMove):
        completed(made(status), 0, NOW)


def test_a_gate_is_passed_with_something_that_shows_it() -> None:
    """Without it the phase stays; what was shown is kept, also if it was shown before."""
    before = gated(made(Is.COMPLETED, Is.ACTIVE, current=1), 1)
    assert refusal(completed, before, 1, NOW) == (
        'Phase 2 has the gate "file:x", which was not passed, so it stays active. Complete it with: '
        "lifecycle workflow advance"
    )
    shown = PassedGate(NOW, "file")
    passed = completed(before, 1, NOW, passed=shown)
    assert passed.phases[1].passed == shown
    earlier = before.with_phase(1, replace(before.phases[1], passed=shown))
    assert completed(earlier, 1, NOW).phases[1].passed == shown
    later = PassedGate(NOW + 1, "file")
    assert completed(earlier, 1, NOW, passed=later).phases[1].passed == later


def test_a_gate_is_judged_last_and_for_what_passes_or_skips_it() -> None:
    """Not where the table or an earlier gate refuses the move: nobody is asked for a yes in vain."""
    asked, shown = list[Is](), PassedGate(NOW, "file")
    gate_of_second = gated(made(Is.ACTIVE, Is.ACTIVE, Is.FAILED, Is.ACTIVE), 1)
    several = gated(gate_of_second, 2)

    def judged(index: int, status: Is, reason: str = "why") -> Workflow:
        def judge() -> PassedGate:
            asked.append(status)
            return shown

        return decide.in_phase(several, index, status, NOW, reason, judge)

    assert refusal(judged, 2, Is.SKIPPED, " ").startswith("This needs a reason")
    assert "comes after the gate" in refusal(judged, 2, Is.COMPLETED)
    assert "cannot become" in refusal(judged, 1, Is.PENDING)
    assert judged(0, Is.COMPLETED).phases[0].passed is None
    assert judged(1, Is.BLOCKED).phases[1].passed is None
    assert judged(1, Is.FAILED).phases[1].passed is None
    assert asked == []
    assert judged(1, Is.COMPLETED).phases[1].passed == shown
    assert judged(2, Is.SKIPPED).phases[2].status is Is.SKIPPED
    assert asked == [Is.COMPLETED, Is.SKIPPED]
    assert decide.in_phase(several, 2, Is.SKIPPED, NOW, "why").phases[2].passed is None


@pytest.mark.parametrize(
    ("then", "gate_at", "begun"),
    [
        (Is.PENDING, None, Is.ACTIVE),
        (Is.PENDING, 1, Is.ACTIVE),
        (Is.PENDING, 2, Is.ACTIVE),
        (Is.FAILED, None, Is.FAILED),
        (Is.BLOCKED, None, Is.BLOCKED),
    ],
)
def test_the_next_phase_begins_if_it_waits(then: Is, gate_at: int | None, begun: Is) -> None:
    """A gate of its own, or of one behind it, does not keep it from beginning."""
    before = made(Is.ACTIVE, then, Is.PENDING)
    before = before if gate_at is None else gated(before, gate_at)
    assert statuses(completed(before, 0, NOW))[1] is then
    after = completed(before, 0, NOW, and_begin=True)
    assert (statuses(after), after.current) == ([Is.COMPLETED, begun, Is.PENDING], 1)
    assert decide.in_phase(before.with_changes(0, gate=""), 0, Is.COMPLETED, NOW) == (
        completed(before.with_changes(0, gate=""), 0, NOW, and_begin=True)
    )


def test_the_last_phase_begins_no_other() -> None:
    """Then it is over, and at no phase."""
    after = completed(made(Is.COMPLETED, Is.ACTIVE, current=1), 1, NOW, and_begin=True)
    assert (after.current, after.is_over, after.progress) == (-1, True, "2 of 2")


@pytest.mark.parametrize("gate_at", [0, 1])
def test_nothing_begins_behind_a_gate(gate_at: int) -> None:
    """Not by completing, by beginning or by failing; also if the gate is the first phase's."""
    before = gated(made(*[Is.COMPLETED] * gate_at, Is.ACTIVE, Is.PENDING, current=gate_at), gate_at)
    behind, name = gate_at + 1, chr(65 + gate_at)
    sentence = (
        f'Phase {behind + 1} comes after the gate "file:x" of phase {gate_at + 1} ("{name}"), which was '
        "not passed; nothing was changed. Complete that one first: lifecycle workflow advance"
    )
    assert refusal(completed, before, behind, NOW) == sentence
    for status in (Is.ACTIVE, Is.FAILED):
        assert refusal(decide.in_phase, before, behind, status, NOW, "why") == sentence
    for status in (Is.BLOCKED, Is.SKIPPED):
        assert decide.in_phase(before, behind, status, NOW, "why").phases[behind].status is status
    decide.refuse_behind_gate(before, gate_at)


def test_a_next_phase_behind_a_gate_waits() -> None:
    """Where the phase before it was skipped, and the gate is further before."""
    before = gated(made(Is.PENDING, Is.BLOCKED, Is.PENDING, current=1), 0)
    after = decide.in_phase(before, 1, Is.SKIPPED, NOW, "why")
    assert statuses(after) == [Is.PENDING, Is.SKIPPED, Is.PENDING]


# -- how a phase gets another status


@pytest.mark.parametrize("status", [Is.BLOCKED, Is.FAILED, Is.SKIPPED])
def test_some_moves_need_a_reason(status: Is) -> None:
    """It is recorded; a blank one is none."""
    before = made(Is.ACTIVE, Is.PENDING)
    assert refusal(decide.in_phase, before, 0, status, NOW, " ") == (
        "This needs a reason, which is recorded; nothing was done. Add: --reason TEXT"
    )
    assert decide.in_phase(before, 0, status, NOW, "a" * 1_000).phases[0].reason == "a" * 1_000
    sentence = refusal(decide.in_phase, before, 0, status, NOW, "a" * 1_001)
    assert sentence.startswith("The reason has 1,001 characters, but 1,000 is the limit;")
    assert decide.in_phase(made(Is.PENDING), 0, Is.ACTIVE, NOW).active == (0,)


def test_what_begins_needs_no_reason() -> None:
    """Nor has it one then; and where a phase cannot wait again, none is asked for it."""
    begun = decide.in_phase(made(Is.PENDING), 0, Is.ACTIVE, NOW)
    assert (statuses(begun), begun.phases[0].reason) == ([Is.ACTIVE], "")
    assert state.moved(made(Is.PENDING), 0, Is.ACTIVE, NOW).phases[0].reason == ""
    assert "cannot become pending" in refusal(decide.in_phase, made(Is.FAILED), 0, Is.PENDING, NOW)


def test_a_phase_that_fails_has_begun() -> None:
    """One that waited has an attempt then, and what went wrong."""
    failed = decide.in_phase(made(Is.PENDING), 0, Is.FAILED, NOW, "why").phases[0]
    assert (failed.attempts, failed.started_at, failed.ended_at) == (1, NOW, NOW)
    assert [(one.at, one.text) for one in failed.errors] == [(NOW, "why")]
    again = decide.in_phase(made(Is.BLOCKED), 0, Is.FAILED, NOW, "why").phases[0]
    assert again.attempts == 0


@pytest.mark.parametrize(
    ("there", "after"),
    [
        ([Is.ACTIVE, Is.PENDING], [Is.SKIPPED, Is.ACTIVE]),
        ([Is.BLOCKED, Is.PENDING], [Is.SKIPPED, Is.ACTIVE]),
        ([Is.PENDING, Is.PENDING], [Is.SKIPPED, Is.PENDING]),
        ([Is.FAILED, Is.PENDING], [Is.SKIPPED, Is.PENDING]),
        ([Is.ACTIVE, Is.PENDING, Is.BLOCKED], [Is.SKIPPED, Is.PENDING, Is.BLOCKED]),
    ],
)
def test_a_skipped_phase_lets_the_next_begin(there: list[Is], after: list[Is]) -> None:
    """If it was being worked on, and nothing else is."""
    assert statuses(decide.in_phase(made(*there), 0, Is.SKIPPED, NOW, "why")) == after
    blocked = decide.in_phase(made(Is.ACTIVE, Is.PENDING), 0, Is.BLOCKED, NOW, "why")
    assert statuses(blocked) == [Is.BLOCKED, Is.PENDING]


def test_a_workflow_is_given_up_with_a_reason() -> None:
    """It has failed then and is over, whatever its phases are."""
    before = made(Is.COMPLETED, Is.FAILED, Is.SKIPPED, Is.PENDING)
    assert before.left == (1, 3)
    after = decide.given_up(before, "no need", NOW)
    assert (after.given_up, after.ended_at, after.is_over) == ("no need", NOW, True)
    assert after.status is table.WorkflowStatus.FAILED
    assert after.phases == before.phases
    assert made(Is.COMPLETED, Is.PENDING, given_up="x").status is table.WorkflowStatus.FAILED
    assert refusal(decide.given_up, before, " ", NOW) == (
        "Giving a workflow up needs a reason, so nothing was done; add: --reason TEXT"
    )
    assert "1,001 characters" in refusal(decide.given_up, before, "a" * 1_001, NOW)


def test_a_move_that_the_table_lacks_says_what_it_has() -> None:
    """Each with the command that makes it."""
    with pytest.raises(IllegalMove) as caught:
        state.moved(made(Is.FAILED), 0, Is.COMPLETED, NOW)
    assert caught.value.sentence == (
        'Phase 1 ("A") is failed and cannot become completed, so nothing was changed; it can become: '
        "active (retry), skipped (skip)."
    )
    with pytest.raises(IllegalMove) as caught:
        state.moved(made(Is.ACTIVE, Is.ACTIVE, current=1), 1, Is.PENDING, NOW)
    assert caught.value.sentence == (
        'Phase 2 ("B") is active and cannot become pending, so nothing was changed; it can become: '
        "completed (advance), blocked (block), failed (fail), skipped (skip)."
    )
    with pytest.raises(IllegalMove, match=r"so nothing was changed; completed is the end\.$"):
        state.moved(made(Is.COMPLETED), 0, Is.ACTIVE, NOW)


# -- where a workflow is


@pytest.mark.parametrize(
    ("there", "current", "index", "status", "then"),
    [
        ([Is.ACTIVE, Is.PENDING, Is.PENDING], 0, 0, Is.COMPLETED, 1),
        ([Is.PENDING, Is.ACTIVE, Is.COMPLETED], 1, 1, Is.COMPLETED, 0),
        ([Is.PENDING, Is.PENDING, Is.ACTIVE], 2, 2, Is.COMPLETED, 0),
        ([Is.ACTIVE, Is.ACTIVE, Is.PENDING], 0, 1, Is.COMPLETED, 0),
        ([Is.COMPLETED, Is.ACTIVE], 1, 1, Is.COMPLETED, -1),
        ([Is.PENDING, Is.PENDING], -1, 0, Is.SKIPPED, 1),
        ([Is.ACTIVE, Is.PENDING], 0, 1, Is.BLOCKED, 1),
        ([Is.ACTIVE, Is.ACTIVE], 0, 1, Is.FAILED, 1),
    ],
)
def test_a_move_points_at_its_phase_or_the_next_one(
    there: list[Is], current: int, index: int, status: Is, then: int
) -> None:
    """Once the current one is over: the next behind it, else the first that is left, else none."""
    before = made(*there, current=current)
    assert state.moved(before, index, status, NOW, "why").current == then


@pytest.mark.parametrize(
    ("there", "current", "then"),
    [
        ([Is.PENDING, Is.PENDING], 1, 1),
        ([Is.COMPLETED, Is.PENDING], 0, 1),
        ([Is.PENDING, Is.COMPLETED, Is.PENDING], 1, 2),
        ([Is.PENDING, Is.COMPLETED], 1, 0),
        ([Is.PENDING, Is.COMPLETED, Is.PENDING, Is.ACTIVE], 1, 3),
        ([Is.COMPLETED, Is.SKIPPED], 1, -1),
        ([Is.PENDING, Is.PENDING], -1, -1),
        ([Is.PENDING, Is.PENDING], 7, -1),
        ([Is.PENDING, Is.FAILED], -1, -1),
        ([Is.PENDING, Is.BLOCKED], -1, 1),
        ([Is.COMPLETED, Is.PENDING], -1, 1),
    ],
)
def test_a_pointer_at_what_is_over_moves_on(there: list[Is], current: int, then: int) -> None:
    """To what is being worked on, else behind it, else to the first that is left; else to none."""
    before = made(*there, current=current)
    assert state.repointed(before) == replace(before, current=then)


def test_what_was_handed_on_comes_from_the_last_phase_that_was_not_skipped() -> None:
    """The first phase is handed nothing, nor is what stands before it."""
    before = made(Is.COMPLETED, Is.SKIPPED, Is.ACTIVE, current=2)
    before = before.with_phase(0, replace(before.phases[0], context_for_next="one"))
    before = before.with_phase(1, replace(before.phases[1], context_for_next="two"))
    assert [before.handed_to(index) for index in (-1, 0, 1, 2)] == ["", "", "one", "one"]
    assert before.handed_to(before.current) == "one"


def test_a_phase_takes_the_time_between_its_beginning_and_its_end() -> None:
    """None where one of both is not known, or they stand the wrong way round."""
    for began, ended, took in ((NOW, NOW + 5, 5.0), (0.0, NOW, 0.0), (NOW, 0.0, 0.0)):
        assert WorkflowPhase("A", started_at=began, ended_at=ended).seconds == took


def test_the_newest_errors_of_a_phase_are_kept() -> None:
    """Twenty of them."""
    phase = WorkflowPhase("A")
    for number in range(21):
        phase = state.in_status(phase, Is.FAILED, NOW, str(number))
    assert [one.text for one in phase.errors] == [str(number) for number in range(1, 21)]
    again = state.in_status(phase, Is.ACTIVE, NOW + 1)
    assert (again.ended_at, again.started_at, again.reason) == (0.0, NOW + 1, "")
    assert len(again.errors) == 20


def test_a_title_names_a_phase_only_if_it_is_the_only_one() -> None:
    """In any case of letters; else all phases are told, and that more than one has it."""
    twice = Workflow("wf_1", "n", phases=tuple(map(WorkflowPhase, ("Do", "do", "Test"))))
    assert twice.index_of("TEST") == 2
    assert refusal(twice.index_of, "do").startswith(
        'The workflow "n" has several phases called "do", so nothing was changed; name one by its number: '
        "1 Do, 2 do, 3 Test."
    )
    assert refusal(twice.index_of, "x") == (
        'The workflow "n" has no phase "x", so nothing was changed; it has 1 Do, 2 do, 3 Test.'
    )
    assert refusal(Workflow("wf_1", "n").index_of, "").startswith(
        'The workflow "n" has no phase "", so nothing was changed; it has none.'
    )
    untitled = Workflow("wf_1", "n", phases=(WorkflowPhase(""),))
    assert 'no phase "", so nothing was changed' in refusal(untitled.index_of, "")
    many = made(*[Is.PENDING] * 21)
    assert "20 T." in refusal(many.index_of, "99")


def test_a_name_in_a_files_name_has_a_limit_in_bytes() -> None:
    """Letters that need several bytes are cut as whole letters, and no hyphen stands at the end."""
    assert state.slug("漢" * 80) == "漢" * 53
    assert state.slug("ü" * 80) == "ü" * 80
    assert state.slug("ü" * 79 + "漢") == "ü" * 79
    assert state.slug("a" * 79 + " b") == "a" * 79


def test_every_status_has_the_command_that_makes_it() -> None:
    """What a refusal names can be typed."""
    named = {status.value: command for status, command in table.COMMANDS.items()}
    assert named == {
        "active": "retry",
        "completed": "advance",
        "blocked": "block",
        "failed": "fail",
        "skipped": "skip",
    }


@pytest.mark.parametrize(
    ("there", "current", "number"),
    [
        ([Is.PENDING, Is.PENDING], -1, 1),
        ([Is.COMPLETED, Is.ACTIVE, Is.PENDING], 1, 2),
        ([Is.COMPLETED, Is.COMPLETED, Is.SKIPPED], -1, 3),
    ],
)
def test_a_checkpoint_shows_the_first_phase_before_and_the_last_after(
    there: list[Is], current: int, number: int
) -> None:
    """Between, the one that the workflow is at."""
    before = made(*there, current=current)
    shown = fields_of(before, DocumentKind.CHECKPOINT)["phase"]
    assert shown == {
        "current": number,
        "total": len(there),
        "name": chr(64 + number),
        "status": table.WORDS[there[number - 1]].checkpoint,
    }
    empty = fields_of(Workflow("wf_1", "n"), DocumentKind.CHECKPOINT)["phase"]
    assert empty == {"current": 1, "total": 1, "name": "", "status": "not_started"}


@pytest.mark.parametrize("kind", DocumentKind)
def test_both_documents_tell_what_the_design_has_no_field_for(kind: DocumentKind) -> None:
    """Version, revision, progress, all phases that are being worked on, and the record."""
    before = made(Is.COMPLETED, Is.ACTIVE, Is.BLOCKED, current=1, revision=7)
    detail = json.loads(content_of(before, kind))["lifecycle"]
    assert detail.pop("record")["id"] == "wf_1"
    assert detail == {
        "version": 1,
        "revision": 7,
        "progress": "1 of 3",
        "current_phases": ["phase_1", "phase_2"],
    }


def test_a_document_is_written_as_long_as_it_can_be_read_again() -> None:
    """One of just the limit is both written and read."""
    kind = DocumentKind.CHECKPOINT
    room = MOST_BYTES - len(content_of(made(Is.ACTIVE, task="a"), kind)) + 1
    whole = content_of(made(Is.ACTIVE, task="a" * room), kind)
    assert len(whole) == MOST_BYTES
    assert read_document(whole, kind, "a.json", NOW).remark == ""
    assert refusal(content_of, made(Is.ACTIVE, task="a" * (room + 1)), kind) == (
        'The workflow "Feature" would have 2,000,001 bytes, but 2,000,000 is the limit; nothing was '
        "changed. Put long texts in files, and name the files."
    )


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{" + b" " * MOST_BYTES, "it is larger than 2,000,000 bytes"),
        (b" \n", "it is empty"),
        (b'{"a": 1\n', "it is no JSON: Expecting ',' delimiter in line 2"),
        (b'{"a": -Infinity}', "it is no JSON: -inf is no number there"),
        (b'{"a": 1' + b"0" * 50 + b"e999}", "it is no JSON: inf is no number there"),
        (b'{"a": "\xff"}', "it is no JSON"),
        (b"7", "it holds no JSON object"),
        (
            b'{"lifecycle": {"version": 9}}',
            "a later release of lifecycle wrote it (version 9; this one knows 1)",
        ),
    ],
    ids=["large", "empty", "half", "word", "number", "bytes", "object", "later"],
)
def test_why_a_file_is_no_document_is_said_in_one_clause(content: bytes, why: str) -> None:
    """Nothing of Python's in it."""
    with pytest.raises(UnusableDocument) as caught:
        read_document(content, DocumentKind.CHECKPOINT, "a.json", NOW)
    assert str(caught.value) == why


def test_what_others_keep_in_a_document_is_written_again() -> None:
    """Beside the fields that have a meaning here, and in the place from which it was read."""
    phase = WorkflowPhase("A", extra={"theirs": 1})
    extra = {"checkpoint": {"a": 2}, "checkpoint.phase": {"b": 3}, "document": {"c": 4}}
    workflow = Workflow("wf_1", "n", phases=(phase,), extra=extra)
    plain = replace(workflow, phases=(WorkflowPhase("A"),), extra={})
    checkpoint, document = (fields_of(plain, kind) for kind in DocumentKind)
    assert fields_of(workflow, DocumentKind.CHECKPOINT) == {
        **checkpoint,
        "phase": {**checkpoint["phase"], "b": 3},
        "a": 2,
    }
    assert fields_of(workflow, DocumentKind.DOCUMENT) == {
        **document,
        "phases": [{**document["phases"][0], "theirs": 1}],
        "c": 4,
    }


def test_a_document_that_lies_in_no_file_has_no_time_of_one() -> None:
    """It is no file of git's either, and nothing of it was ignored."""
    kind = DocumentKind.DOCUMENT
    told = ReadDocument(kind, "it", {}, None, b"")
    assert (told.written_at, told.is_tracked, told.remark) == (0.0, False, "")


@pytest.mark.parametrize("close", ["[", "{"])
def test_a_document_is_nested_forty_deep_at_most(close: str) -> None:
    """Lists as well as objects; many beside each other are not deep."""

    def nested(depth: int) -> bytes:
        inner: Any = 1
        for _ in range(depth):
            inner = [inner] if close == "[" else {"a": inner}
        return json.dumps({"a": inner}).encode()

    kind = DocumentKind.CHECKPOINT
    assert read_document(nested(39), kind, "a.json", NOW).fields == json.loads(nested(39))
    with pytest.raises(UnusableDocument, match="it is nested too deep"):
        read_document(nested(40), kind, "a.json", NOW)
    wider = nested(39).removesuffix(b"}") + b', "b": []}'
    assert read_document(wider, kind, "a.json", NOW).fields == json.loads(wider)
    both = b'{"b": [' + b",".join([nested(30)] * 2) + b"]}"
    assert read_document(both, kind, "a.json", NOW).fields == json.loads(both)
    wide = json.dumps({"a": [[1], {"b": 2}] * 50}).encode()
    assert read_document(wide, kind, "a.json", NOW).fields == json.loads(wide)


@pytest.mark.parametrize(
    ("detail", "why"),
    [
        ({}, "it has no record"),
        ([], "it has no record"),
        ("x", "it has no record"),
        ({"version": "9", "record": 1}, "Expected `object`, got `int`"),
    ],
)
def test_a_part_of_ours_that_is_broken_is_told(detail: object, why: str) -> None:
    """The fields beside it are read."""
    content = json.dumps({"a": 1, "lifecycle": detail}).encode()
    document = read_document(content, DocumentKind.CHECKPOINT, "a.json", NOW)
    assert (document.fields, document.record) == ({"a": 1}, None)
    assert document.remark == f'its "lifecycle" part cannot be read ({why})'


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("", "is no path"),
        ("a\nb", "is no path"),
        ("a/../b", "leads out of the project"),
        ("a\\..", "leads out of the project"),
        ("~x", "leads out of the project"),
        ("c:/x", "leads out of the project"),
        ("git+ssh://x", "leads out of the project"),
        ("/" + "a" * 499, "leads out of the project"),
        ("a" * 501, "has more than 500 characters"),
    ],
)
def test_why_a_path_is_not_read_is_said(path: str, why: str) -> None:
    """With the path's beginning, and how one is named."""
    assert refusal(reading_path, path) == (
        f'The required reading "{visible(path[:100])}" {why}, so it was not taken; name a file of the '
        "project from its top folder, as @docs/guide.md."
    )
    assert reading_path("a" * 500) == "@" + "a" * 500
    assert reading_path("@ a..b/c:d") == "@a..b/c:d"


def test_a_view_names_phases_without_a_title_by_their_number() -> None:
    """And those that are blocked, failed or skipped without a reason by their status alone."""
    phases = (WorkflowPhase(""), WorkflowPhase("", status=Is.BLOCKED))
    lines = view_of(Workflow("wf_1", "n", phases=phases, current=1)).splitlines()
    assert lines[2] == "Status: active | Current Phase: Phase 2"
    assert lines[-2:] == ["- [ ] Phase 0: Phase 1", "- [ ] Phase 1: Phase 2 (blocked)"]


def test_documents_are_written_for_people() -> None:
    """Indented, with letters of any script as they are, and a line break at the end."""
    for kind in DocumentKind:
        text = content_of(made(Is.ACTIVE, task="größer", context={"a": "ü"}), kind).decode()
        assert text.startswith('{\n  "')
        assert text.endswith("\n}\n")
        assert "größer" in text


def test_what_nobody_told_of_a_workflow_is_nothing() -> None:
    """Neither a time nor a count, a pointer, or a mark that its words are a stranger's."""
    bare = Workflow("wf_1", "n")
    assert [getattr(bare, name) for name in ("updated_at", "ended_at")] == [0.0, 0.0]
    assert [getattr(bare, name) for name in ("client", "compactions", "revision")] == [0, 0, 0]
    assert (bare.current, bare.type, bare.is_foreign) == (-1, "custom", False)
    texts = ("task", "created_at", "given_up", "session", "branch", "source", "source_seen")
    assert {getattr(bare, name) for name in texts} == {""}
    phase = WorkflowPhase("A")
    assert (phase.attempts, phase.passed, phase.status) == (0, None, Is.PENDING)
    assert {phase.asked_at, phase.since, phase.started_at, phase.ended_at} == {0.0}
    assert {phase.agent, phase.context_for_next, phase.gate, phase.reason, phase.agent_id} == {""}
    assert PassedGate(NOW, "file").tree == ""
    document = ReadDocument(DocumentKind.DOCUMENT, "a.json", {}, None, b"{}")
    assert (document.written_at, document.is_tracked, document.remark) == (0.0, False, "")


def test_the_to_do_list_knows_three_words() -> None:
    """What is over is completed, what is worked on or blocked in progress, and the rest waits."""
    words = {Is(one): row["status"] for one, row in zip(Is, state.todos(made(*Is)), strict=True)}
    assert words == {
        Is.PENDING: "pending",
        Is.ACTIVE: "in_progress",
        Is.BLOCKED: "in_progress",
        Is.COMPLETED: "completed",
        Is.FAILED: "pending",
        Is.SKIPPED: "completed",
    }


def test_a_phase_may_become_just_this() -> None:
    """What is completed stays; what is blocked, failed or skipped can be tried again."""
    assert {one: set(table.PHASES.legal(one)) for one in Is} == {
        Is.PENDING: {Is.ACTIVE, Is.BLOCKED, Is.SKIPPED},
        Is.ACTIVE: {Is.COMPLETED, Is.BLOCKED, Is.FAILED, Is.SKIPPED},
        Is.BLOCKED: {Is.ACTIVE, Is.FAILED, Is.SKIPPED},
        Is.FAILED: {Is.ACTIVE, Is.SKIPPED},
        Is.SKIPPED: {Is.ACTIVE},
        Is.COMPLETED: set(),
    }


def test_the_designs_kinds_of_a_workflow_have_their_words() -> None:
    """As a checkpoint's `workflow_type` spells them."""
    assert [one.value for one in table.WorkflowType] == [
        "planning",
        "qa-loop",
        "implementation",
        "custom",
    ]


# -- what a phase leaves behind


@pytest.mark.parametrize("status", [Is.FAILED, Is.BLOCKED])
def test_only_a_skipped_phase_lets_the_next_begin(status: Is) -> None:
    """One that failed or is blocked is still to be done, and the workflow stays at it."""
    after = decide.in_phase(made(Is.ACTIVE, Is.PENDING), 0, status, NOW, "why")
    assert (statuses(after), after.current) == ([status, Is.PENDING], 0)
    skipped = decide.in_phase(made(Is.ACTIVE, Is.PENDING), 0, Is.SKIPPED, NOW, "why")
    assert (statuses(skipped), skipped.current) == ([Is.SKIPPED, Is.ACTIVE], 1)


@pytest.mark.parametrize(("status", "at"), [(Is.COMPLETED, -1), (Is.SKIPPED, -1), (Is.FAILED, 0)])
def test_a_gate_that_is_behind_holds_nothing_back(status: Is, at: int) -> None:
    """The gate of a phase that is over was passed or skipped with it."""
    assert gated(made(status, Is.PENDING), 0).gate_before(1) == at
