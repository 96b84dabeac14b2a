"""Where the agent's own word counts, and where the same characters are only spoken of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.stage_names import LINE, MARKERS, Detected, Stage
from lifecycle.stages.decisions import instructions
from lifecycle.stages.detection import stage_markers
from lifecycle.stages.transcript.turn import Heard, Prompt
from tests.batches import each_row

DONE = "::: WORKFLOW_STAGE: CODING_COMPLETE :::"
CODED = Detected.CODING_COMPLETE


@pytest.mark.parametrize("state", list(MARKERS.values()))
def test_each_of_the_six_markers_is_found(state: Detected) -> None:
    """The marker as the instruction writes it is found, alone and in a sentence."""
    assert stage_markers.find(instructions.marker(state)) == [state]
    assert stage_markers.find(f"All done.\n\n{instructions.marker(state)}\n") == [state]
    assert stage_markers.find(f"some text {instructions.marker(state)}") == [state]


@each_row(
    "text",
    [
        ":::WORKFLOW_STAGE:CODING_COMPLETE:::",
        ":::  WORKFLOW_STAGE :  CODING_COMPLETE  :::",
        "**::: WORKFLOW_STAGE: CODING_COMPLETE :::**",
        "::: **WORKFLOW_STAGE: CODING_COMPLETE** :::",
        "::: WORKFLOW_STAGE: **CODING_COMPLETE** :::",
        "::: workflow_stage: coding_complete :::",
        r"::: WORKFLOW\_STAGE: CODING\_COMPLETE :::",
        "- ::: WORKFLOW_STAGE: CODING_COMPLETE :::",
        "   ::: WORKFLOW_STAGE: CODING_COMPLETE :::",
        "::: WORKFLOW_STAGE:\u00a0CODING_COMPLETE\u00a0:::",
        ":::: WORKFLOW_STAGE: CODING_COMPLETE ::::",
        f"I emit the marker now:\n{DONE}",
        f"Everything is complete. Emitting:\n{DONE}",
        f'I renamed "a" to "b". {DONE}',
        f"It doesn't fail any more. {DONE}",
        f"Use `x` and `y`. {DONE}",
        f"- Docs\n- {DONE}",
        f"Run the tests\n\n- {DONE}",
        f"{DONE}\n\nIt is there.",
        f"{DONE}\n\nIt is there.\n\nand so on",
        f"{DONE}\nOnce more.",
        f"# Result\n\n{DONE}",
        f"```\ncode\n```\n{DONE}",
        f"> quoted\n\n{DONE}",
        f"{DONE}\n\nAfter the review I go on.",
        f"Ready to emit:\n{DONE}",
        f"I am ready to emit: {DONE}",
        f"As you asked me to emit when done:\n\n{DONE}",
        f"All is there. As instructed to emit once done: {DONE}",
    ],
)
def test_a_marker_counts_in_any_case_spacing_and_emphasis(text: str) -> None:
    """What the agent says counts, however it is dressed, and whatever stands beside it."""
    assert stage_markers.find(text) == [CODED]


@each_row(
    "text",
    [
        f"    {DONE}",
        f"Use `x` and `y`. {DONE} `z`",
        f"I put {DONE} there.",
        f"<!-- {DONE} -->",
        f"| {DONE} |\n|---|\n| {DONE} |",
        f"~~{DONE}~~",
        f"- [ ] {DONE}",
        f"```\n{DONE}\n```",
        f"```text\n{DONE}\n```\nthat was it",
        f"~~~\n{DONE}\n~~~",
        f"````\n```\n{DONE}\n```\n````",
        f"   ```\n   {DONE}\n   ```",
        f"- ```\n  {DONE}\n  ```",
        f"```\nnever closed\n{DONE}",
        f"~~~\n```\n{DONE}\n```\nstill open",
        f"> {DONE}",
        f"  > the hook said {DONE}",
        f"`{DONE}`",
        f"``{DONE}``",
        f"it said `emit {DONE} then`",
        f'"{DONE}"',
        f'the hook says "{DONE}" to us',
        f"\u201c{DONE}\u201d",
        f"\u00ab{DONE}\u00bb",
        f"- Run the tests\n- {DONE}",
        f"{DONE}\n\nis what ends it",
        f"{DONE} :",
        f"{DONE}\nonce the tests pass",
        f"+{DONE}",
        f"x\n// {DONE}",
        f"see [x]({DONE})",
        f"# Plan\n\n{DONE}",
        f"Plan:\n\n- {DONE}",
        f"\u201e{DONE}\u201c",
        f"\u2018{DONE}\u2019",
        f"\u201a{DONE}\u2018",
        f"\u300c{DONE}\u300d",
        f"\u2039{DONE}\u203a",
        f"'{DONE}'",
        f"When everything is complete, emit: {DONE}",
        f"When you've confirmed everything is complete, emit:\n{DONE}",
        f"When all tests pass, emit:\n\n{DONE}",
        f"Then emit: {DONE}",
        f"I will emit {DONE} when the review is done",
        f"Once the tests are green I'll emit {DONE}",
        f"I should emit {DONE}",
        f"I cannot emit {DONE} yet",
        f"I am not ready for {DONE}",
        f"{DONE} will be emitted later",
        f"{DONE} once the tests pass",
        f"I am not ready to emit:\n{DONE}",
        f"Once I am ready to emit it:\n{DONE}",
        f"Not yet, as you asked me to emit when done:\n{DONE}",
        f"I documented the marker {DONE} in README.",
        f"The hook's text says: emit {DONE}",
        f"Still to come: {DONE}",
        "::: WORKFLOW_STAGE: <YOUR_STAGE> :::",
        "::: WORKFLOW_STAGE: IN_PROGRESS :::",
        "::: WORKFLOW_STAGE: SOMETHING_ELSE :::",
        ":: WORKFLOW_STAGE: CODING_COMPLETE ::",
        "WORKFLOW_STAGE: CODING_COMPLETE",
        "",
    ],
)
def test_code_quotes_and_repeated_instructions_do_not_count(text: str) -> None:
    """A fence, a quote, a code span, a negation or a condition takes the word back."""
    assert stage_markers.find(text) == []


def test_the_last_one_wins() -> None:
    """Markers come in the text's order, so the last is what the agent says last."""
    text = f"{DONE}\nand now ::: WORKFLOW_STAGE: TESTS_PASSING :::\n```\n{DONE}\n```"
    assert stage_markers.find(text) == [CODED, Detected.TESTS_PASSING]


ALL = [instructions.marker(state) for state in MARKERS.values()]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(ALL),
        "\n".join(ALL[:3]),
        "The workflow has these markers:\n" + "\n".join(ALL[:3]),
        "\n\n".join(f"- {marker}" for marker in ALL),
        "\n".join(f"| {marker} | its stage |" for marker in ALL),
        "It goes so:\n" + "\n".join(f"{n}. **{marker}**" for n, marker in enumerate(ALL, 1)),
    ],
)
def test_a_list_of_markers_completes_nothing(text: str) -> None:
    """Several different ones below each other only say which there are; one behind them counts."""
    assert stage_markers.find(text) == []
    assert stage_markers.find(f"{text}\n\nThat was the list.\n\n{DONE}") == [CODED]
    assert stage_markers.find(f"{DONE}\n\nThere are:\n{text}") == [CODED]


def test_one_marker_twice_and_two_of_them_are_no_list() -> None:
    """An agent that did two stages at once says so below each other."""
    assert stage_markers.find(f"{DONE}\n{DONE}\n{DONE}") == [CODED] * 3
    assert stage_markers.find("\n".join(ALL[:2])) == list(MARKERS.values())[:2]


@pytest.mark.parametrize(
    "text", [DONE, f"Done.\n\n{DONE}\n", f"- **{DONE}**", f"  1. {DONE}.", f"{DONE}\nand {DONE}"]
)
def test_a_marker_on_a_line_of_its_own_is_the_agents_word(text: str) -> None:
    """Emphasis and the sign of a list's item may stand beside it."""
    assert any(is_own for _, is_own in stage_markers.said(text))


@pytest.mark.parametrize(
    "text",
    [
        f"I wrote {DONE} down.",
        f"some text {DONE}",
        f"| {DONE} |",
        f"```\n{DONE}\n```",
        f"> {DONE}",
        "",
    ],
)
def test_a_marker_in_a_sentence_is_only_spoken_of(text: str) -> None:
    """A part of a sentence, a cell of a table, code and a quote are no line of their own."""
    assert not any(is_own for _, is_own in stage_markers.said(text))


@pytest.mark.parametrize("stage", LINE)
def test_no_instruction_of_ours_has_a_marker_that_counts(stage: Stage) -> None:
    """An agent that repeats an instruction, or the question, word for word has said nothing."""
    facts, refused = instructions.Facts(), instructions.TEXTS["REFUSED"]
    for text in (
        instructions.instruction(stage, facts, instructions.COMPLETED[stage]),
        instructions.again(stage, instructions.Facts(task="7"), instructions.GOES_ON),
        *(instructions.instruction(stage, facts, why) for why in refused.values()),
        instructions.instruction(stage, facts, "x", name="WITHOUT_EVIDENCE", missing="No test run"),
        instructions.instruction(stage, facts, "It is claimed by somebody.", name="CONFLICT"),
        instructions.question(),
    ):
        assert stage_markers.find(text) == []
        assert stage_markers.find(text.replace("\n\n", "\n")) == []


@pytest.mark.parametrize("stage", LINE)
def test_an_instruction_is_known_by_the_stage_it_asks_for(stage: Stage) -> None:
    """The stage is read back from the text, also behind another text; the question has none."""
    text = instructions.instruction(stage, instructions.Facts(), "Lead.")
    assert stage_markers.asked_in(f"PR #1 is open.\n{text}") is stage
    assert stage_markers.QUESTION not in text
    assert not Heard(Prompt.OURS, "PR #1 is open.", "").is_known
    asked = Heard(Prompt.OURS, f"PR #1 is open.\n{instructions.question()}", "")
    assert (asked.is_known, asked.asked) == (True, None)
    assert stage_markers.asked_in(instructions.question()) is None
    assert stage_markers.asked_in("We talked of CURRENT STAGE: TESTING") is None
    assert stage_markers.asked_in("CURRENT STAGE: LUNCH") is None
    assert stage_markers.asked_in(f"CURRENT STAGE: CODING\n{text}") is stage
    assert stage_markers.asked_in("CURRENT STAGE: CODING \t\nx") is Stage.CODING


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("TESTS_PASSING", "TESTS_PASSING"),
        ("- **TESTS_PASSING**", "TESTS_PASSING"),
        ("I am at:\n\n`CODING_COMPLETE`", "CODING_COMPLETE"),
        ("TESTS_PASSING\nCODING_COMPLETE", ""),
        ("I am not at TESTS_PASSING", ""),
        ("IN_PROGRESS", "IN_PROGRESS"),
        ("IN_TESTING", ""),
        ("TESTS_PASSED", "TESTS_PASSED"),
        ("TESTS_PASSED\nTESTS_DONE", ""),
        ("TESTS_PASSED\nCODING_COMPLETE", "CODING_COMPLETE"),
        (f"some text {DONE}", ""),
        ("> TESTS_PASSING", ""),
        ("", ""),
    ],
)
def test_a_bare_name_answers_the_question(text: str, wanted: str) -> None:
    """One name on a line of its own is an answer; two, a sentence or a quote is none."""
    assert stage_markers.named_alone(text) == wanted


PLAIN = st.text(
    st.characters(
        exclude_characters="`~>:\"'\u201c\u201d\u2018\u2019\u00ab\u00bb", exclude_categories=["Cs"]
    )
)


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    """No text breaks the reading, and only what has the marker's word has a marker."""
    found = stage_markers.find(text)
    assert not found or "WORKFLOW" in text.upper()
    stage_markers.named_alone(text)
    stage_markers.asked_in(text)


@given(PLAIN, st.sampled_from(list(MARKERS.values())))
def test_a_marker_after_a_plain_paragraph_is_always_the_last(text: str, state: Detected) -> None:
    """Whatever was said before, a marker in a paragraph of its own is the last one."""
    assert stage_markers.find(f"{text}\n\nSo:\n\n{instructions.marker(state)}")[-1:] == [state]


@given(PLAIN, PLAIN, st.sampled_from(["```", "~~~", "````"]))
def test_a_marker_in_a_fence_never_counts(before: str, after: str, fence: str) -> None:
    """A closed fence hides what is in it, and an open one all that follows."""
    assert stage_markers.find(f"{before}\n{fence}\n{DONE}\n{fence}\n{after}") == []
    assert stage_markers.find(f"{before}\n{fence}\n{DONE}\n{after}") == []


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        (f"All users' {DONE}", True),
        (f"{DONE}\n'as you said'", True),
        (f"The marker is '{DONE}'", False),
        (f"The marker is '**{DONE}**'", False),
        (f'It has a 5" disk, and works: {DONE}', True),
        (f'I say "{DONE}"', False),
        (f'"Well." {DONE}\n"So."', True),
        (f"\u201cWell.\u201d {DONE}\nSo.\u201d", True),
        (f"\u201eGut.\u201c {DONE}\nSo.\u201c", True),
        (f"I say \u201c{DONE}\u201d", False),
    ],
)
def test_a_quotation_mark_on_one_side_quotes_nothing(text: str, is_said: bool) -> None:
    """It needs one that opens before the marker and one that closes behind it."""
    assert stage_markers.find(text) == ([CODED] if is_said else [])


@pytest.mark.parametrize("between", [" ", ", ", " * ", "\n", "\n\n", " and "])
def test_two_markers_beside_each_other_are_both_said(between: str) -> None:
    """What stands behind a marker on its line may be another one; words between them make it a sentence."""
    both = [Detected.CODING_COMPLETE, Detected.TESTS_PASSING]
    text = between.join(map(instructions.marker, both))
    assert stage_markers.find(text) == ([] if between == " and " else both)


def test_what_announces_a_marker_announces_those_in_the_next_paragraphs() -> None:
    """Up to other words: a marker leads none itself."""
    first, second = map(instructions.marker, (CODED, Detected.TESTS_PASSING))
    assert stage_markers.find(f"Then emit:\n\n{first}\n\n{second}") == []
    told = f"Then emit:\n\n{first}\n\nIt is green.\n\n{second}"
    assert stage_markers.find(told) == [Detected.TESTS_PASSING]
