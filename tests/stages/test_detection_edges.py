"""Rules of detection that a table of cases does not reach: calls, what leads a block, what was meant."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.core.stage_names import Detected, Stage
from lifecycle.evidence.outcomes import CallEnd
from lifecycle.stages.decisions import decide
from lifecycle.stages.decisions.decide import StageSeen
from lifecycle.stages.detection import call_sorts, stage_markers, stage_watch
from lifecycle.stages.detection.detect_stage import detect, detect_text
from lifecycle.stages.transcript import stop_input
from lifecycle.stages.transcript.turn import (
    ANY_PROJECT,
    OwnCommands,
    Prompt,
    Said,
    StageFinding,
    Tier,
    ToolCall,
    Turn,
)

MARKER = "::: WORKFLOW_STAGE: CODING_COMPLETE :::"


def test_a_session_that_was_told_nothing_is_heard_as_one_that_codes() -> None:
    """Also where an earlier marker opens every completion to its tools: its words are of CODING alone."""
    turn = Turn(steps=("All tests pass.",), kind=Prompt.OURS, markers=(Detected.CODING_COMPLETE,))
    assert detect(turn, ANY_PROJECT).state is Detected.CODING_COMPLETE


def test_a_text_without_a_word_of_a_stage_is_not_taken_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Most texts cost a look for a few words, and nothing else."""
    asked: list[str] = []

    def said(text: str, _about: tuple[str, ...], _heard: Stage | None) -> tuple[Detected, ...]:
        asked.append(text)
        return ()

    monkeypatch.setattr(stage_watch, "said", said)
    watch = stage_watch.Watch()
    watch.hear("I look at the parser.")
    assert asked == []
    watch.hear("The parser is done.")
    assert asked == ["The parser is done."]


def test_a_projects_own_row_reads_its_own_run() -> None:
    """What only that row counts is counted, where the exit status is another command's."""
    row = {"name": "mine", "commands": ["mytest"], "summary": [r"^MINE (?P<passed>\d+) fine$"]}
    call = ToolCall("Bash", "mytest; true", CallEnd.OK, "MINE 3 fine\n")
    found = stage_watch.infer((call,), asked=Stage.TESTING, own=OwnCommands(runners=(row,)))
    assert found.state is Detected.TESTS_PASSING


@pytest.mark.parametrize(
    ("tool", "text", "sort"),
    [
        ("Read", "/requirements-review/a.md", call_sorts.Sort.WORK),
        ("SlashCommand", "/requirements-review", call_sorts.Sort.REQUIREMENTS),
        ("Grep", "code review", call_sorts.Sort.WORK),
        ("Bash", "sed -i s/a/b/ a.py", call_sorts.Sort.EDIT),
        ("Bash", "sed -n 1,5p a.py", call_sorts.Sort.WORK),
        ("Bash", "git checkout -b next", call_sorts.Sort.WORK),
        ("Bash", "git checkout main", call_sorts.Sort.EDIT),
        ("Bash", "git reset --hard", call_sorts.Sort.EDIT),
        ("Bash", "git reset a.py", call_sorts.Sort.WORK),
        ("Bash", "echo x > /tmp/note", call_sorts.Sort.WORK),
        ("Bash", "echo x > note", call_sorts.Sort.EDIT),
        ("Bash", "gh issue reopen 4", call_sorts.Sort.CLOSE),
    ],
)
def test_what_a_call_is_about(tool: str, text: str, sort: call_sorts.Sort) -> None:
    """By the tool and the line: a file that is read is no review, a command that writes is an edit."""
    assert call_sorts.classify(ToolCall(tool, text, CallEnd.OK, ""))[0] is sort


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ("", "open"),
        ("I looked at it.", "changes"),
        ("The implementation is complete.", "changes"),
        ("All requirements are met.", "open"),
        ("Approved.", "approved"),
        ("Changes requested.", "changes"),
        ("VERDICT: APPROVED", "approved"),
    ],
)
def test_how_a_review_came_out(output: str, outcome: str) -> None:
    """By its verdict, else by its words; without a good one in what it gave back it asks for changes."""
    call = ToolCall("Task", "Review the diff", CallEnd.OK, output)
    assert call_sorts.classify(call)[:2] == (call_sorts.Sort.REVIEW, outcome)


def test_what_starts_a_review_in_the_same_session_says_nothing_of_it() -> None:
    """A skill gives back that it was loaded: how the review came out is said by what follows."""
    call = ToolCall("Skill", "/oracle-review", CallEnd.OK, "Launching skill: oracle-review")
    assert call_sorts.classify(call)[:2] == (call_sorts.Sort.REVIEW, "open")


def test_what_a_subagent_gave_back_ends_before_the_clients_own_words() -> None:
    """Its id, how one goes on with it and what it took are none of a review's, unless more follows."""
    trailer = "agentId: a1-b2 (use it to continue, if needed; do not mention it)"
    for output, outcome in (
        (f"LGTM.\n{trailer}", "approved"),
        (f"LGTM.\n{trailer}\n<usage>total_tokens: 120\ntool_uses: 3</usage>", "approved"),
        (trailer, "open"),
        (f"{trailer}\nMajor: races.", "changes"),
    ):
        call = ToolCall("Task", "Review the diff", CallEnd.OK, output)
        assert call_sorts.classify(call)[1] == outcome


def test_a_command_is_known_by_its_first_word_and_an_agents_task_by_its_beginning() -> None:
    """What is behind a command is what it is given; a word far down in a long task makes no review."""
    skill = ToolCall("Skill", "/requirements-review of issue 41", CallEnd.OK, "")
    assert call_sorts.classify(skill)[0] is call_sorts.Sort.REQUIREMENTS
    for room, sort in ((0, call_sorts.Sort.REVIEW), (1, call_sorts.Sort.WORK)):
        task = f"{'x' * (500 - len(' code review') + room)} code review"
        assert call_sorts.classify(ToolCall("Task", task, CallEnd.OK, ""))[0] is sort


def test_a_review_that_broke_off_is_approved_by_no_words() -> None:
    """The agent saw no answer: what it says of one is made up."""
    call = ToolCall("Task", "Review the diff", CallEnd.FAILED, "API Error")
    steps = (call, "The reviewer approved it.")
    assert stage_watch.infer(steps, asked=Stage.ORACLE_REVIEW).state is Detected.IN_ORACLE_REVIEW


def test_a_task_that_was_opened_again_is_not_closed() -> None:
    """The later command counts, and a failed attempt to open it changes nothing."""
    close = ToolCall("Bash", "gh issue close 4", CallEnd.OK, "Closed")
    again = ToolCall("Bash", "gh issue reopen 4", CallEnd.OK, "Reopened")
    failed = ToolCall("Bash", "gh issue reopen 4", CallEnd.FAILED, "no")
    asked = Stage.COMMIT_CLOSE
    assert stage_watch.infer((close, again), asked=asked).state is Detected.IN_PROGRESS
    assert stage_watch.infer((close, failed), asked=asked).state is Detected.ISSUE_CLOSED
    assert stage_watch.infer((close, again, close), asked=asked).state is Detected.ISSUE_CLOSED


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("::: WORKFLOW_STAGE: CODING_FINISHED :::", "CODING_FINISHED"),
        (MARKER, ""),
        ("WORKFLOW_STAGE: CODING_COMPLETE", "WORKFLOW_STAGE: CODING_COMPLETE"),
        ("See ::: WORKFLOW_STAGE: ALL_DONE ::: in the docs", ""),
        ("some text ::: WORKFLOW_STAGE: ALL_DONE :::", ""),
        ("::: WORKFLOW_STAGE: A_B :::\n\n::: WORKFLOW_STAGE: C_D :::", "C_D"),
        ("WORKFLOW STAGE: A B", "A_B"),
        ("WORKFLOW_STAGE: IN_PROGRESS", ""),
    ],
)
def test_what_was_meant_for_a_marker(text: str, wrong: str) -> None:
    """A name that there is not, on a line of its own, or a right one in something that is no marker."""
    assert stage_markers.misnamed(text) == wrong


@pytest.mark.parametrize(
    ("before", "after"),
    [('A "line\n', '\nof text" here.'), ("A \u201cline\n", "\nof text\u201d here.")],
)
def test_a_quotation_of_several_lines_is_one(before: str, after: str) -> None:
    """Quotation marks count over lines; without the one that ends it there is no quotation."""
    assert stage_markers.find(f"{before}{MARKER}{after}") == []
    assert stage_markers.find(f"{before}{MARKER}") == [Detected.CODING_COMPLETE]


def test_a_marker_is_called_off_in_its_own_block_and_in_a_later_one() -> None:
    """Whoever speaks of it behind it did not mean it."""
    off = "That marker was only an example."
    assert stage_markers.find(f"{MARKER}\n{off}") == []
    assert stage_markers.find(f"{MARKER}\n\n{off}") == []
    assert stage_markers.find(f"{MARKER}\n\nis the marker.") == []


@pytest.mark.parametrize(
    ("lead", "is_own"),
    [("When the fixture is in,", False), ("Result:", True), ("The ticket says:", False)],
)
def test_a_line_that_is_led_is_its_own_only_behind_a_result(lead: str, is_own: bool) -> None:
    """What a colon or a comma announces is so where the line before says that it is."""
    claimed = stage_watch.said(f"{lead}\n\nAll tests pass.")
    assert (Detected.TESTS_PASSING in claimed) is is_own


def test_an_answer_to_the_question_says_where_it_stands() -> None:
    """A finding names the place in the transcript, so that it is answered once."""
    turn = Turn(steps=("CODING_COMPLETE",), kind=Prompt.OURS, is_question=True, position="p7")
    found = detect(turn, ANY_PROJECT)
    assert (found.state, found.position) == (Detected.CODING_COMPLETE, "p7")


@pytest.mark.parametrize(
    ("asked", "state"),
    [
        (Stage.ORACLE_REVIEW, Detected.IN_ORACLE_REVIEW),
        (Stage.REQUIREMENTS_REVIEW, Detected.IN_PROGRESS),
    ],
)
def test_the_sessions_own_verdict_of_changes_keeps_its_stage(asked: Stage, state: Detected) -> None:
    """It is under way by that verdict, also where no tool was used."""
    found = stage_watch.infer(("One finding.\n\nVERDICT: CHANGES_REQUESTED",), asked=asked)
    assert (found.state, found.why) == (state, stage_watch.VERDICT)


def test_only_the_last_texts_of_a_turn_are_heard() -> None:
    """A claim before them is too far away to be about now."""
    rest = ("I checked it.",) * (stage_watch.RECENT - 1)
    claim = "The implementation is complete."
    near = stage_watch.infer((claim, *rest), asked=Stage.CODING)
    assert near.state is Detected.CODING_COMPLETE
    far = stage_watch.infer((claim, "I checked it.", *rest), asked=Stage.CODING)
    assert far.state is Detected.UNKNOWN


def test_a_text_is_as_far_away_as_texts_come_after_it() -> None:
    """Each counts one."""
    rest = ("I checked it.",) * stage_watch.RECENT
    steps = ("I checked it.", "I checked it.", "The implementation is complete.", *rest)
    assert stage_watch.infer(steps, asked=Stage.CODING).state is Detected.UNKNOWN


def test_a_later_verdict_takes_an_earlier_one_back() -> None:
    """Whoever asked for changes in the end did not approve."""
    steps = ("I reviewed it.\n\nVERDICT: APPROVED", "One more.\n\nVERDICT: CHANGES_REQUESTED")
    asked = Stage.ORACLE_REVIEW
    assert stage_watch.infer(steps, asked=asked).state is Detected.IN_ORACLE_REVIEW
    assert stage_watch.infer(steps[:1], asked=asked).state is Detected.ORACLE_APPROVED


def test_a_verdict_is_of_a_review_that_its_text_speaks_of_where_no_stage_is_known() -> None:
    """Of the requirements, or of the oracle; of neither it is of nothing."""
    states = {
        text: stage_watch.infer((f"{text}\n\nVERDICT: APPROVED",)).state
        for text in ("The oracle read it.", "The requirements review is over.", "I read it.")
    }
    assert [*states.values()] == [
        Detected.ORACLE_APPROVED,
        Detected.REQUIREMENTS_REVIEWED,
        Detected.UNKNOWN,
    ]


@pytest.mark.parametrize(
    ("asked", "heard", "state"),
    [
        (None, None, Detected.ORACLE_APPROVED),
        (None, Stage.ORACLE_REVIEW, Detected.ORACLE_APPROVED),
        (None, Stage.REQUIREMENTS_REVIEW, Detected.REQUIREMENTS_REVIEWED),
        (Stage.REQUIREMENTS_REVIEW, None, Detected.REQUIREMENTS_REVIEWED),
        (Stage.REQUIREMENTS_REVIEW, Stage.REQUIREMENTS_REVIEW, Detected.REQUIREMENTS_REVIEWED),
    ],
)
def test_a_subagent_that_ends_with_a_verdict_reviewed_for_the_stage_that_is_heard(
    asked: Stage | None, heard: Stage | None, state: Detected
) -> None:
    """The stage whose words count, else the one in force; its own verdict in words is of the same stage."""
    agent = ToolCall("Task", "Look at it", CallEnd.OK, "It is right.\n\nVERDICT: APPROVED")
    assert stage_watch.infer((agent,), asked=asked, heard=heard).state is state
    words = "The oracle's and the requirements review are over.\n\nVERDICT: APPROVED"
    if heard is not None or asked is not None:
        assert stage_watch.infer((words,), asked=asked, heard=heard).state is state


@pytest.mark.parametrize(
    ("line", "is_tests"),
    [("./longest a zz", True), ("./longest 3", True), ("echo zz", False), ("echo a", False)],
)
def test_a_command_of_the_projects_own_is_hinted_at_by_its_longest_word(
    line: str, *, is_tests: bool
) -> None:
    """A short word stands in many lines, which need not be taken apart."""
    assert (
        call_sorts.Sort.TESTS in call_sorts.hinted(line, OwnCommands(("./longest a zz",)))
    ) is is_tests


def test_a_projects_own_row_reads_what_another_command_runs() -> None:
    """make prints whatever it runs: the project's rows read it as ours do, at each way in."""
    row = {"name": "mine", "commands": ["mytest"], "summary": [r"^MINE (?P<passed>\d+) fine$"]}
    call = ToolCall("Bash", "make test; true", CallEnd.OK, "MINE 3 fine\n")
    assert call_sorts.classify(call, OwnCommands(runners=(row,)))[:2] == (
        call_sorts.Sort.TESTS,
        "passed",
    )
    assert call_sorts.classify(call)[1] != "passed"
    turn = Turn(steps=(call,), kind=Prompt.OURS, asked=Stage.TESTING)
    assert detect(turn, OwnCommands(runners=(row,))).state is Detected.TESTS_PASSING
    assert detect(turn, ANY_PROJECT).state is not Detected.TESTS_PASSING


def test_what_the_project_says_of_itself_is_passed_on() -> None:
    """Its test commands, its review, and where its folder is."""
    run = ToolCall("Bash", "./verify all", CallEnd.OK, "12 passed in 0.1s")
    turn = Turn(steps=(run,), kind=Prompt.OURS, asked=Stage.TESTING)
    assert detect(turn, OwnCommands(tests=("./verify all",))).state is Detected.TESTS_PASSING
    assert detect(turn, ANY_PROJECT).state is not Detected.TESTS_PASSING
    there = ToolCall("Bash", "cd /x && pytest", CallEnd.OK, "12 passed in 0.1s")
    turn = Turn(steps=(there,), kind=Prompt.OURS, asked=Stage.TESTING)
    assert detect(turn, OwnCommands(root="/x")).state is Detected.TESTS_PASSING
    assert detect(turn, OwnCommands(root="/w")).state is Detected.IN_TESTING
    review = ToolCall("Bash", "look-at it", CallEnd.OK, "Approved.")
    turn = Turn(steps=(review,), kind=Prompt.OURS, asked=Stage.ORACLE_REVIEW)
    assert detect(turn, OwnCommands(review="look-at it")).state is Detected.ORACLE_APPROVED
    assert detect(turn, ANY_PROJECT).state is not Detected.ORACLE_APPROVED


def test_the_last_of_many_texts_is_heard() -> None:
    """However many come before it."""
    for before in range(stage_watch.RECENT - 1, stage_watch.RECENT + 3):
        steps = (*("I checked it.",) * before, "The implementation is complete.")
        assert stage_watch.infer(steps, asked=Stage.CODING).state is Detected.CODING_COMPLETE


def test_words_of_changes_that_are_asked_for_take_an_approval_back() -> None:
    """The review is under way then."""
    steps = ("The oracle approved the changes.", "The oracle requested changes.")
    asked = Stage.ORACLE_REVIEW
    assert stage_watch.infer(steps[:1], asked=asked).state is Detected.ORACLE_APPROVED
    assert stage_watch.infer(steps, asked=asked).state is Detected.IN_ORACLE_REVIEW


def test_words_do_not_gainsay_what_calls_showed() -> None:
    """Neither that tests are under way after a run, nor that a review approved which did not."""
    run = ToolCall("Bash", "pytest", CallEnd.OK, "12 passed in 0.1s")
    said = "The tests are failing."
    assert stage_watch.infer((run, said), asked=Stage.TESTING).state is Detected.TESTS_PASSING
    review = ToolCall("Task", "oracle-review it", CallEnd.OK, "VERDICT: CHANGES_REQUESTED")
    for words in ("The oracle approved the changes.", "I reviewed it.\n\nVERDICT: APPROVED"):
        found = stage_watch.infer((review, words), asked=Stage.ORACLE_REVIEW)
        assert found.state is Detected.IN_ORACLE_REVIEW


@pytest.mark.parametrize(
    ("changes", "tier"),
    [
        ({}, Tier.INFERENCE),
        ({"asked": Stage.CODING}, Tier.MARKER),
        ({"is_question": True}, Tier.MARKER),
        ({"is_cut": True}, Tier.MARKER),
        ({"is_signed": True}, Tier.MARKER),
    ],
)
def test_a_marker_in_a_sentence_is_one_where_the_agent_was_told_of_markers(
    changes: dict[str, Any], tier: Tier
) -> None:
    """By an instruction, by our question, or by what was not read; one on its own line is one always."""
    turn = Turn(
        steps=("x",), kind=Prompt.OURS, says=Detected.CODING_COMPLETE, marked="p", **changes
    )
    found = detect(turn, ANY_PROJECT)
    assert (found.state, found.tier, found.position) == (Detected.CODING_COMPLETE, tier, "p")


GREEN = ToolCall("Bash", "pytest", CallEnd.OK, "12 passed in 0.1s")
CODED, PASSING = Detected.CODING_COMPLETE, Detected.TESTS_PASSING
SAID = "The implementation is complete."
WRONG = "::: WORKFLOW_STAGE: TESTS_DONE :::"

FOUND: list[tuple[dict[str, Any], tuple[str, str, str]]] = [
    ({"is_question": True}, ("UNKNOWN", "", "")),
    (
        {"is_question": True, "steps": ("CODING_COMPLETE", "TESTS_PASSING")},
        ("TESTS_PASSING", "its answer", ""),
    ),
    ({"steps": (GREEN,)}, ("IN_PROGRESS", "tools", "")),
    ({"steps": (GREEN,), "is_cut": True}, ("TESTS_PASSING", "pytest", "")),
    ({"steps": (GREEN,), "markers": (CODED,)}, ("TESTS_PASSING", "pytest", "")),
    (
        {"steps": ("The requirements are met.",), "is_cut": True},
        ("REQUIREMENTS_REVIEWED", "the text", ""),
    ),
    ({"steps": (SAID,)}, ("CODING_COMPLETE", "the text", "")),
    ({"steps": (SAID,), "kind": Prompt.HUMAN}, ("UNKNOWN", "", "")),
    (
        {"steps": ("Two tests failed.",), "kind": Prompt.HUMAN, "asked": Stage.TESTING},
        ("IN_TESTING", "the text", ""),
    ),
    ({"steps": ("Well.", WRONG)}, ("UNKNOWN", "", "TESTS_DONE")),
    ({"steps": (f"{SAID}\n\n{WRONG}",)}, ("UNKNOWN", "", "TESTS_DONE")),
    ({"steps": (GREEN, WRONG), "asked": Stage.TESTING}, ("TESTS_PASSING", "pytest", "")),
]
"""What is known of a turn, and what is found in it: the state, by what, and a name that is no stage."""


def test_what_is_found_in_a_turn_has_its_place() -> None:
    """A name that is no stage takes words back and no call; who is answered in words completes nothing."""
    came = []
    for known, _ in FOUND:
        found = detect(Turn(**{"kind": Prompt.OURS, "position": "p7", **known}), ANY_PROJECT)
        assert found.position == "p7", known
        came.append((known, (str(found.state), found.why, found.misnamed)))
    assert came == FOUND


def test_of_several_markers_the_last_counts() -> None:
    """In a text, and in turns that nobody answered."""
    turn = Turn(steps=("Well.",), kind=Prompt.OURS, markers=(CODED, PASSING), asked=Stage.CODING)
    assert detect(turn, ANY_PROJECT).state is PASSING
    assert detect_text(f"{MARKER}\n\n::: WORKFLOW_STAGE: TESTS_PASSING :::").state is PASSING


def test_the_log_says_how_a_state_was_found() -> None:
    """By a marker, by what else, or not at all; a name that is no stage is named."""
    finds = [
        StageFinding(CODED, Tier.MARKER, "its marker"),
        StageFinding(PASSING, Tier.INFERENCE, "pytest"),
        StageFinding(Detected.UNKNOWN),
        StageFinding(Detected.UNKNOWN, misnamed="TESTS_DONE"),
    ]
    assert {(find.position, *find.subjects) for find in finds} == {("",)}
    assert [stop_input.lines(Turn(), find)[-1] for find in finds] == [
        "Found explicit marker: CODING_COMPLETE",
        "Inferred from pytest: TESTS_PASSING",
        "No stage found: UNKNOWN",
        "No stage found: there is no marker TESTS_DONE",
    ]


def test_tools_are_used_by_the_agent_alone() -> None:
    """A command that a person typed is none, and neither is a text."""
    typed, used = ToolCall("", "/clear"), ToolCall("Bash", "ls")
    rows: dict[tuple[str | ToolCall, ...], bool]
    rows = {("x",): False, (typed,): False, (typed, "x", used): True, (): False}
    told = StageFinding(Detected.ISSUE_CLOSED, Tier.INFERENCE, stage_watch.TEXT)
    found = {steps: decide.decide(StageSeen(Turn(steps=steps), told)).log[0] for steps in rows}
    assert {steps: log.startswith("Agent at work") for steps, log in found.items()} == rows
    begun = ToolCall("Bash")
    assert (begun.text, begun.outcome, begun.output) == ("", CallEnd.UNKNOWN, "")
    assert not begun.is_background
    turn = Turn(steps=(typed, "x", used))
    assert (turn.calls, turn.texts) == ((typed, used), ("x",))


def test_a_turn_is_made_of_what_a_turn_has() -> None:
    """All of its attributes may be given, and nothing else."""
    none = {name: value for name in Turn.__annotations__ if (value := getattr(Turn(), name))}
    assert none == {"is_there": True, "kind": Prompt.NONE}
    every: dict[str, Any] = dict.fromkeys(Turn.__annotations__, "x")
    assert set(vars(Turn(**every)).values()) == {"x"}
    with pytest.raises(TypeError, match="unexpected keyword argument 'steps_'"):
        Turn(**every, steps_=())  # type: ignore[call-arg]  # what is there at run time is meant


def test_a_text_is_signed_by_any_marker_that_is_a_line_of_its_own() -> None:
    """Whatever is said of others in its sentences."""
    said = Said(f"It is coded. {MARKER}\n\nI ran them.\n\n::: WORKFLOW_STAGE: TESTS_PASSING :::")
    assert (said.markers, said.is_signed, said.is_known) == ((CODED, PASSING), True, True)
    assert not Said(f"It is coded. {MARKER}").is_signed
    assert not Said("It is coded.").is_known
