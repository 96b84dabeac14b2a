"""The end of a transcript: what is read, what is left out, and what that costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lifecycle.core.stage_names import Detected, Stage
from lifecycle.evidence.outcomes import CallEnd
from lifecycle.stages.decisions import instructions
from lifecycle.stages.detection.detect_stage import detect
from lifecycle.stages.transcript import stop_input
from lifecycle.stages.transcript.turn import ANY_PROJECT, Prompt, Turn
from tests.stages.written import Written

CODED = "Done.\n\n::: WORKFLOW_STAGE: CODING_COMPLETE :::"
TESTING = instructions.instruction(
    Stage.TESTING, instructions.Facts(), "Requirements review complete."
)


def read(written: Written, folder: Path, last_message: str = "", **how: Any) -> Turn:
    """The turn at the end of the file."""
    return stop_input.read(written.at(folder), last_message, **how)


def said(turn: Turn) -> list[str]:
    """Texts as they are, calls as `tool text outcome`."""
    return [s if isinstance(s, str) else f"{s.tool} {s.text} {s.outcome}" for s in turn.steps]


def test_a_turn_is_what_was_said_and_done_since_the_last_prompt(tmp_path: Path) -> None:
    """Texts and calls in their order, with what came of the calls; nothing from before the prompt."""
    log = Written().human("first").says("old").bash("old").human("please test")
    log.says("I test.").bash("pytest", "2 passed").bash("ls x", "no such file", is_error=True)
    turn = read(log.edit("/w/b.py").says("Ready."), tmp_path)
    assert said(turn) == [
        "I test.",
        "Bash pytest ok",
        "Bash ls x failed",
        "Edit /w/b.py ok",
        "Ready.",
    ]
    assert (turn.kind, turn.asked, turn.is_there) == (Prompt.HUMAN, None, True)
    assert turn.calls[0].output == "2 passed"
    assert turn.texts == ("I test.", "Ready.")


def test_an_instruction_of_ours_is_known_by_where_it_stands(tmp_path: Path) -> None:
    """Feedback of a Stop hook, context of a session's start and a wake count; words of others do not."""
    assert read(Written().feedback(TESTING).says("x"), tmp_path).asked is Stage.TESTING
    both = f"PR #1 is open.\n{TESTING}"
    assert read(Written().feedback(both).says("x"), tmp_path).asked is Stage.TESTING
    assert read(Written().context(TESTING).human("go").says("x"), tmp_path).asked is Stage.TESTING
    woken = f'Stop hook blocking error from command "SessionStart:clear": {TESTING}'
    turn = read(Written().machine(woken).says("x"), tmp_path)
    assert (turn.asked, turn.kind) == (Stage.TESTING, Prompt.OURS)
    for other in (
        Written().human(TESTING),
        Written().machine(f"<result>{TESTING}</result>"),
        Written().human("x").says(TESTING),
        Written().human("x").bash("cat log", TESTING),
        Written().human("x").add(type="user", isMeta=True, message={"content": TESTING}),
        Written().add(type="user", isCompactSummary=True, message={"content": TESTING}),
        Written().add(type="api-request-blob", message={"role": "user", "content": TESTING}),
        Written().add(type="queue-operation", content=TESTING),
        Written().add(type="system", content=TESTING),
    ):
        assert read(other.says("x"), tmp_path).asked is None


def test_the_last_instruction_counts_and_ends_older_markers(tmp_path: Path) -> None:
    """Markers from before it are no answer to it; those after it are, also over further prompts."""
    log = Written().human("go").says(CODED).feedback(TESTING)
    turn = read(log.bash("pytest", "1 passed"), tmp_path)
    assert (turn.kind, turn.asked, turn.markers, turn.says) == (
        Prompt.OURS,
        Stage.TESTING,
        (),
        None,
    )
    assert turn.has_worked
    assert TESTING in turn.instruction
    later = "::: WORKFLOW_STAGE: TESTS_PASSING :::"
    turn = read(log.says(later).human("how is it?").says("Fine."), tmp_path)
    assert turn.markers == (Detected.TESTS_PASSING,)
    assert (turn.says, turn.kind, turn.asked) == (None, Prompt.HUMAN, Stage.TESTING)
    assert turn.marked
    assert detect(turn, ANY_PROJECT).state is Detected.TESTS_PASSING


def test_the_question_stands_until_an_instruction_comes(tmp_path: Path) -> None:
    """The stage that was asked for before it is still known, and work after it is seen."""
    log = Written().feedback(TESTING).bash("ls", "x").says(CODED).feedback(instructions.question())
    turn = read(log.says("I am not sure."), tmp_path)
    assert (turn.is_question, turn.asked, turn.has_worked) == (True, Stage.TESTING, False)
    assert (turn.markers, turn.marked) == ((), "")
    assert read(log.bash("ls"), tmp_path).has_worked
    assert not read(log.feedback(TESTING).says("x"), tmp_path).is_question


def test_the_last_message_of_the_event_comes_first(tmp_path: Path) -> None:
    """The file may lack it, have it, or have a part of it: it is there once, at the end."""
    log = Written().feedback(TESTING).bash("pytest", "1 passed")
    assert said(read(log, tmp_path, CODED))[-1] == CODED.strip()
    assert read(log, tmp_path, CODED).says is Detected.CODING_COMPLETE
    log.says(CODED)
    assert (
        said(read(log, tmp_path, CODED))
        == said(read(log, tmp_path))
        == [
            "Bash pytest ok",
            CODED,
        ]
    )
    assert said(read(log.says("and more"), tmp_path, f"{CODED}\nand more"))[1:] == [
        f"{CODED}\nand more"
    ]


def test_a_stop_has_one_position_however_late_the_file_is(tmp_path: Path) -> None:
    """Two hooks of one stop agree, whether the file has the last message or not; the next stop differs."""
    log = Written().feedback(TESTING).calls("Bash", command="pytest")
    early = read(log, tmp_path, CODED)
    late = read(log.result("1 passed").says(CODED), tmp_path, CODED)
    assert early.position == late.position != ""
    assert early.marked == late.marked != ""
    again = read(log.feedback(TESTING).says(CODED), tmp_path, CODED)
    assert again.position != late.position
    chat = read(log.human("and?").says("Nothing."), tmp_path)
    assert chat.marked == again.marked
    assert chat.position != again.position


def test_what_is_not_the_agents_own_is_left_out(tmp_path: Path) -> None:
    """Sidechains, summaries, errors of the service, commands of the client and their output."""
    log = Written().human("go").says("mine")
    log.says(CODED, isSidechain=True).says(CODED, isApiErrorMessage=True)
    log.add(type="user", isCompactSummary=True, message={"content": f"Summary: {CODED}"})
    log.machine(f"<result>agent says {CODED}</result>").says("seen")
    log.add(type="user", message={"content": "<local-command-stdout>x</local-command-stdout>"})
    turn = read(log, tmp_path)
    assert (turn.markers, said(turn), turn.kind) == ((), ["seen"], Prompt.MACHINE)


def test_a_call_is_in_the_background_failed_or_not_over(tmp_path: Path) -> None:
    """A launch, a timeout, a refusal and a missing result are what they are."""
    log = Written().human("go").calls("Bash", command="a", run_in_background=True).result("started")
    log.calls("Bash", command="b").result("x", backgroundTaskId="b1", timedOutAfterMs=1000)
    log.calls("Bash", command="c").result("x", interrupted=True)
    log.calls("Agent", prompt="look", subagent_type="Explore").result("launched", isAsync=True)
    log.calls("Bash", command="d")
    assert said(read(log, tmp_path)) == [
        "Bash a unknown",
        "Bash b unknown",
        "Bash c failed",
        "Agent Explore look unknown",
        "Bash d unknown",
    ]


def test_commands_of_the_client_are_read(tmp_path: Path) -> None:
    """A project's command is a prompt and a step; `/clear` belongs to the prompt that follows."""
    typed = (
        "<command-message>oracle-review</command-message>\n<command-name>/oracle-review</command-name>"
        "\n<command-args>the diff</command-args>"
    )
    turn = read(Written().human(typed).says("Approved."), tmp_path)
    assert said(turn) == [" /oracle-review the diff unknown", "Approved."]
    clear = "<command-name>/clear</command-name>\n  <command-args></command-args>"
    turn = read(Written().human(clear).human("hello").says("Hi."), tmp_path)
    assert (said(turn), turn.named[-1]) == ([" /clear unknown", "Hi."], "hello")
    turn = read(Written().human("x").calls("Skill", skill="oracle-review", args="now"), tmp_path)
    assert said(turn) == ["Skill /oracle-review now unknown"]
    assert turn.named == ("x", "/oracle-review now")


def test_what_is_said_while_tools_run_belongs_to_the_turn(tmp_path: Path) -> None:
    """A person who steers, and a notification, begin no turn; a wake of ours is an instruction."""
    log = Written().feedback(TESTING).bash("ls", "x")
    steer = {"type": "queued_command", "prompt": "and bd-7 too", "origin": {"kind": "human"}}
    turn = read(log.add(attachment=steer, type="attachment").says("Yes."), tmp_path)
    assert (turn.kind, len(turn.calls), turn.named[-1]) == (Prompt.OURS, 1, "and bd-7 too")
    told = instructions.instruction(Stage.CODING, instructions.Facts(), "x")
    for words, wanted in (
        (f"<result>{told}</result>", Stage.TESTING),
        (f'Stop hook blocking error from command "SessionStart": {told}', Stage.CODING),
    ):
        note = {"type": "queued_command", "prompt": f"<task-notification>{words}"}
        turn = read(log.add(attachment=note, type="attachment").says("ok"), tmp_path)
        assert (turn.asked, len(turn.calls)) == (wanted, 1)


def test_two_hooks_that_answer_one_stop_leave_it_ours(tmp_path: Path) -> None:
    """Another hook's feedback behind our instruction does not make it somebody else's turn."""
    turn = read(Written().says("x").feedback(TESTING).feedback("lint first").says("ok"), tmp_path)
    assert (turn.kind, turn.asked) == (Prompt.OURS, Stage.TESTING)
    assert read(Written().feedback("lint first").says("ok"), tmp_path).kind is Prompt.MACHINE
    later = Written().feedback(TESTING).says("x").feedback("lint first").says("ok")
    assert read(later, tmp_path).kind is Prompt.MACHINE


def test_a_resumed_or_compacted_session_goes_on_from_its_last_instruction(tmp_path: Path) -> None:
    """What lies between, in the same file, does not hide what was asked for."""
    log = Written().feedback(TESTING).bash("pytest", "1 failed", is_error=True)
    log.add(type="system", subtype="compact_boundary", content="Conversation compacted")
    log.add(
        type="user", isCompactSummary=True, message={"content": "Summary: CURRENT STAGE: CODING"}
    )
    turn = read(log.says("I go on."), tmp_path)
    assert (turn.asked, turn.kind, len(turn.calls)) == (Stage.TESTING, Prompt.OURS, 1)
    turn = read(log.human("go on").says("I go on."), tmp_path)
    assert (turn.asked, turn.kind) == (Stage.TESTING, Prompt.HUMAN)


def test_a_call_keeps_a_bounded_end_of_its_output(tmp_path: Path) -> None:
    """A summary stands at the end, so that is what is kept of a long output and a long command."""
    log = Written().human("x").bash("a" * 50_000, "b" * 50_000 + "12 passed")
    (call,) = read(log, tmp_path).calls
    assert call.output.endswith("12 passed")
    assert (len(call.text), len(call.output)) == (4_000, 4_000)
    assert call.outcome is CallEnd.OK


def test_a_review_in_the_background_ends_with_its_notification(tmp_path: Path) -> None:
    """Its verdict is the review's, at the end of a long result; another end, or a command's, is none."""
    log = Written().feedback(
        instructions.instruction(Stage.ORACLE_REVIEW, instructions.Facts(), "So:")
    )
    log.calls("Agent", prompt="Oracle review of the diff", run_in_background=True)
    head = '<task-id>a1</task-id>\n<status>{}</status>\n<summary>Agent "Oracle review" {}</summary>'
    findings = "LOW: a name.\n" * 1_000

    def found(status: str, result: str) -> Detected:
        told = Written()
        told.lines += log.lines
        told.machine(head.format(status, status) + result).says("The review is back.")
        return detect(read(told, tmp_path), ANY_PROJECT).state

    approved = f"\n<result>{findings}\nVERDICT: APPROVED</result>\n<usage></usage>"
    assert found("completed", approved) is Detected.ORACLE_APPROVED
    asked = approved.replace("APPROVED", "CHANGES_REQUESTED")
    assert found("completed", asked) is Detected.IN_ORACLE_REVIEW
    assert found("failed", approved) is not Detected.ORACLE_APPROVED
    assert found("completed", "\n<output-file>/tmp/o</output-file>") is not Detected.ORACLE_APPROVED


def test_the_same_words_at_the_end_of_an_earlier_turn_are_not_this_stops(tmp_path: Path) -> None:
    """As the real client writes: the answered stop, and only then the notification and the same words.

    The order is that of a recorded session in which the review was over after 0.3 seconds.
    """
    log = Written().feedback(
        instructions.instruction(Stage.ORACLE_REVIEW, instructions.Facts(), "So:")
    )
    log.calls("Agent", prompt="Review this branch's diff", run_in_background=True)
    log.result("Async agent launched successfully.", isAsync=True).says("Understood.")
    log.add(type="queue-operation", operation="enqueue", content="<task-notification>")
    log.add(type="queue-operation", operation="dequeue")
    ended = {"type": "system", "subtype": "stop_hook_summary", "hookErrors": []}
    log.add(**ended).add(type="system", subtype="turn_duration", durationMs=8991)
    event = {"transcript_path": log.at(tmp_path), "last_assistant_message": "Understood."}
    head = (
        '<task-id>a1</task-id>\n<status>completed</status>\n<summary>Agent "Review" done</summary>'
    )
    pauses: list[float] = []

    def write(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 9:
            log.machine(f"{head}\n<result>VERDICT: APPROVED</result>").at(tmp_path)
        if len(pauses) == 12:
            log.says("Understood.").at(tmp_path)

    turn = stop_input.turn_of(event, sleep=write)
    assert (detect(turn, ANY_PROJECT).state, len(pauses)) == (Detected.ORACLE_APPROVED, 12)
    stale = stop_input.turn_of(
        {**event, "transcript_path": log.add(**ended).at(tmp_path)}, sleep=write
    )
    assert stale.is_over
    assert sum(pauses[12:]) == pytest.approx(1.02)  # a second, and no more


def test_a_stop_of_a_prompt_that_the_file_lacks_is_waited_for(tmp_path: Path) -> None:
    """The words of the stop before are there, unanswered; the event names another prompt than theirs.

    The order is that of a recorded session on a busy machine: the client had answered the stop, taken up
    the notification and asked the model, and had written none of it. Words in a tool's output name no
    prompt, and a file that names none is believed.
    """
    log = Written().human("Review it", promptId="p1").bash("ls", 'x "promptId":"p2" x')
    log.says("Understood.")
    event = {"transcript_path": log.at(tmp_path), "last_assistant_message": "Understood."}
    pauses: list[float] = []

    def write(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 9:
            log.machine("CI passed", promptId="p2").says("Understood.").at(tmp_path)

    turn = stop_input.turn_of({**event, "prompt_id": "p2"}, sleep=write)
    assert (turn.kind, turn.calls, len(pauses)) == (Prompt.MACHINE, (), 9)
    for prompt in ("p2", "", None):
        assert (
            stop_input.turn_of({**event, "prompt_id": prompt}, sleep=write).kind is Prompt.MACHINE
        )
    assert len(pauses) == 9
    bare = Written().human("Review it").says("Understood.")
    named = {"transcript_path": bare.at(tmp_path), "last_assistant_message": "Understood."}
    assert stop_input.turn_of({**named, "prompt_id": "p2"}, sleep=write).kind is Prompt.HUMAN
    assert len(pauses) == 9


@pytest.mark.parametrize(("named", "looks"), [("p2", 51), ("p22", 0)])
def test_a_prompt_is_known_by_its_whole_id(tmp_path: Path, named: str, looks: int) -> None:
    """One whose id only begins alike is another; it is waited for about a second, and no longer."""
    log = Written().human("Review it", promptId="p22").says("Understood.")
    event = {"transcript_path": log.at(tmp_path), "last_assistant_message": "Understood."}
    pauses: list[float] = []
    turn = stop_input.turn_of({**event, "prompt_id": named}, sleep=pauses.append)
    assert (turn.texts, len(pauses)) == (("Understood.",), looks)
