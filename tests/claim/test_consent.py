"""The user's yes: when `done` in the file counts, and what counts instead."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.decide import decide
from lifecycle.claim.decisions.ending import closing as merged
from lifecycle.claim.decisions.snapshot import Decision, Snapshot
from lifecycle.claim.engine.briefing import question_lines
from lifecycle.core.messages import messages
from lifecycle.core.plan import Audience, CloseIssue, ForgetClaim, PostComment, Wake
from lifecycle.core.values.configured import Settings
from lifecycle.core.values.model import Conversations, PullState
from lifecycle.storage.state_file import lasting
from tests.claim.steps import DONE, MERGED, REVIEW, closing, configured, rest, set_by
from tests.factories import NOW, comment, issue, observation, pull, record, seen, texts

ASKED: dict[str, Any] = {"hears_prompts": True}
DONE_ASKED: dict[str, Any] = {"memory": {"pull.asked": 107}, **DONE}
MERGED_AT = NOW - 600
SESSION: dict[str, Any] = {"ownership.session": "s"}
"""The claim belongs to a session of the client."""


def decided(memory: dict[str, Any], **changes: Any) -> Decision:
    """The first step of a claim whose phase somebody wrote as done, its PR merged at `MERGED_AT`."""
    shown = closing()
    shown = replace(shown, by_number=replace(shown.by_number, merged_at=MERGED_AT))
    return decide(seen(record(**DONE, memory=memory), observed=shown, **changes))


def is_yes(memory: dict[str, Any], **changes: Any) -> bool:
    """True if that `done` counts."""
    step = decided(memory, **changes)
    is_kept = step.record is not None and step.record.ending.consent == "prompt"
    assert ("phase" in set_by(step)) != is_kept
    return "phase" not in set_by(step)


def acts(**changes: Any) -> list[str]:
    """What closing does, by kind."""
    made = seen(record(**DONE_ASKED), observed=closing(), **changes)
    return [type(action).__name__ for action in rest(made)[0]]


def test_done_after_the_question_needs_a_later_prompt() -> None:
    """A session that was woken with the question cannot answer it itself: phase and issue stay."""
    step = decide(seen(record(**DONE_ASKED), observed=closing(), **ASKED))
    assert set_by(step) == {"phase": "merged_detected"}
    assert step.action is None
    assert [say.audience for say in lasting(step.notices)] == [Audience.ACT]
    assert "the user has written no prompt since" in texts(step)


def test_a_prompt_after_the_question_is_an_answer() -> None:
    """Only what the user wrote after the question was put counts."""
    assert acts(**ASKED) == []
    assert "CloseIssue" in acts(**ASKED, answered_at=NOW)


@pytest.mark.parametrize("asked", [None, 99], ids=["nobody was asked", "asked of another PR"])
def test_done_after_a_merge_that_nobody_was_told_of_needs_a_prompt_after_it(
    asked: int | None,
) -> None:
    """No prompt, or one from before the merge: the question. One after it: a yes."""
    memory = {"pull.asked": asked, **SESSION}
    assert not is_yes(memory, **ASKED)
    assert not is_yes(memory, **ASKED, answered_at=MERGED_AT + 0.9)  # GitHub tells whole seconds
    assert is_yes(memory, **ASKED, answered_at=MERGED_AT + 1)


def test_what_the_branch_merges_later_takes_no_yes_back() -> None:
    """The claim's pull request is the one that it names: another one of its branch is another matter."""
    mine = replace(closing().by_number, merged_at=MERGED_AT)
    later = pull(number=109, state=PullState.MERGED, merged_at=NOW - 60)
    shown = replace(closing(), by_number=mine, by_branch=(later, mine))
    made = record(**DONE, memory={"pull.asked": 107, **SESSION})
    step = decide(seen(made, observed=shown, **ASKED, answered_at=NOW - 300))
    assert (set_by(step).get("phase"), set_by(step).get("pr_number", 107)) == (None, 107)
    assert step.record is not None
    assert step.record.ending.consent == "prompt"


def test_a_done_that_does_not_count_becomes_the_question() -> None:
    """The agent is told to ask; that is the question, and the queue holds no other one beside it."""
    step = decided(SESSION, **ASKED)
    question, refusal = step.notices
    assert (question.audience, refusal.audience) == (Audience.ASK, Audience.ACT)
    assert lasting(step.notices) == (refusal,)
    assert "written no prompt since the merge (a choice in a dialog does not count)" in refusal.text
    assert "merged! Should I close issue #42? Ask the user; " in refusal.text
    made = record(**DONE, memory=SESSION)
    assert derive.is_question(f"{made.claim_key}/{refusal.key}", made)
    late = replace(MERGED, merged_at=MERGED_AT, conversations=Conversations("d", 4, unanswered=2))
    first = seen(made, observed=replace(closing(), by_number=late), **ASKED)
    for said in decide(replace(first, left_out=1)).notices:
        assert "2 review threads of PR #107 are unanswered" in said.text
        assert "1 commit of" in said.text
    assert not derive.is_question(f"7@1/{refusal.key}", made)


def test_a_done_that_does_not_count_goes_back_to_the_merge() -> None:
    """With what GitHub shows of it, so that nothing is asked twice and an edit is another attempt."""
    shown = observation(by_branch=(replace(MERGED, merged_at=MERGED_AT),))
    made = record(**{**DONE, "pr_number": None}, memory=SESSION)
    unasked = merged.close_if_answered(seen(made, observed=shown, **ASKED))
    assert set_by(unasked) == {"phase": "merged_detected", "pr_number": 107}
    assert unasked.record is not None
    assert (unasked.record.pull.url, unasked.record.judged) == (pull().url, "merged_detected")
    asked = decided({"pull.asked": 107, "judged": "coding", **SESSION}, **ASKED)
    assert set_by(asked) == {"phase": "merged_detected"}
    assert asked.record is not None
    assert asked.record.judged == "merged_detected"
    (refusal,) = lasting(asked.notices)
    assert (refusal.stands, refusal.ends) == (True, (derive.QUESTION,))
    assert "PR #107" in refusal.text


@pytest.mark.parametrize(
    ("memory", "shown", "count", "said"),
    [
        ({}, None, 0, ""),
        ({}, 0, 0, ""),
        ({"pull.unanswered": 3}, 0, 0, ""),
        ({"pull.unanswered": 3}, None, 3, "3 review threads of PR #107 are unanswered: {} "),
        ({}, 1, 1, "One review thread of PR #107 is unanswered: {} "),
    ],
)
def test_the_question_names_the_threads_that_nobody_answered(
    memory: dict[str, Any], shown: int | None, count: int, said: str
) -> None:
    """Those that this look showed, else those that were known; of none nothing is said.

    Status, a session's start and the views ask in the same words, and name the commits that came too late.
    """
    found = None if shown is None else Conversations("d", unresolved=4, unanswered=shown)
    made = record(**REVIEW, memory=memory)
    step = merged.merge_found(seen(made), replace(MERGED, conversations=found))
    assert step.record is not None
    assert step.record.pull.unanswered == count
    (question,) = step.notices
    told = said.format("lifecycle feedback reviews.")
    first = messages.merged(107, 42, is_open=True)
    assert question.text == f"{first} {told}{messages.how_to_close(counts_done=True)}"
    after = step.record.with_values({"phase": "merged_detected"})
    assert question_lines(after) == [f"{first} {told}".strip()]
    late = messages.left_out(107, 2, after.claim.branch, is_closed=False)
    assert question_lines(after.with_pull(left_out=2)) == [f"{first} {late} {told}".strip()]


def test_of_an_issue_that_is_closed_already_only_the_end_of_the_claim_is_asked() -> None:
    """At the merge, at a `done` that nobody said yes to, and at a session's start."""
    asked = "Should I end the claim on #42?"
    shut = {"ending.issue_closed": True}
    made = record(**REVIEW, memory=shut)
    (question,) = merged.merge_found(seen(made), MERGED).notices
    assert "Issue #42 is already closed" in question.text
    refused = texts(decided({**shut, "pull.asked": 107}, **ASKED))
    assert "The claim on #42 was not ended" in refused
    (line,) = question_lines(record(**{**DONE, "phase": "merged_detected"}, memory=shut))
    assert all(asked in text for text in (question.text, refused, line))
    assert "close issue" not in question.text + refused + line


@pytest.mark.parametrize("phase", ["checks_running", "done"])
def test_a_merge_elsewhere_is_asked_about_by_its_base_though_the_settings_close(phase: str) -> None:
    """`close = "auto"` is a yes for the configured base and the default branch; a person's is for any."""
    merge = replace(MERGED, base="feature", merged_at=MERGED_AT)
    shown = replace(closing(), by_number=merge)
    start = seen(record(**{**DONE, "phase": phase}), observed=shown)
    auto = replace(configured(start, close="auto"), hears_prompts=True)
    actions, after = rest(auto)
    asked = (
        "PR #107 merged into feature, which is neither the default branch nor the configured base! "
    )
    assert not [action for action in actions if isinstance(action, PostComment | CloseIssue)]
    assert (after.claim.phase, after.pull.merged_into) == ("merged_detected", "feature")
    assert asked in texts(decide(auto))
    assert question_lines(after) == [f"{asked}Should I close issue #42?"]
    assert decide(replace(auto, record=after, observation=None)).action is None
    blind = replace(auto, record=after, observation=replace(shown, default_branch=""))
    assert CloseIssue(42) not in rest(blind)[0]
    again = configured(auto, close="auto", base="feature")
    assert CloseIssue(42) in rest(again)[0]
    agreed = after.with_values({"phase": "done"}).with_ending(consent="close")
    assert CloseIssue(42) in rest(replace(auto, record=agreed))[0]


@pytest.mark.parametrize("phase", ["checks_running", "done"])
def test_an_issue_reopened_after_the_merge_is_asked_about_though_the_settings_close(
    phase: str,
) -> None:
    """Who reopens it has the last word over `close = "auto"`; a reopening before the merge says nothing.

    Nor does one after which somebody closed it: then the claim ends by itself, as after any merge. In the
    second of the merge nobody knows which came first, and it is asked. The task is in work again.
    """

    def reopened(at: float, *, is_open: bool = True, comments: Any = ()) -> Snapshot:
        merge = replace(MERGED, merged_at=MERGED_AT)
        about = issue(comments=comments, reopened_at=at, is_open=is_open)
        shown = replace(closing(), issue=about, by_number=merge)
        start = seen(record(**{**DONE, "phase": phase}), observed=shown)
        return replace(configured(start, close="auto"), hears_prompts=True)

    after = reopened(MERGED_AT + 1)
    actions, asking = rest(after)
    assert CloseIssue(42) not in actions
    assert (asking.claim.phase, asking.claim.status) == ("merged_detected", "In Progress")
    assert CloseIssue(42) not in rest(reopened(MERGED_AT))[0]
    asked = "PR #107 merged! Issue #42 was reopened after that. Should I close issue #42?"
    assert asked in texts(decide(after))
    assert question_lines(asking) == [asked]
    agreed = asking.with_values({"phase": "done"}).with_ending(consent="close")
    assert CloseIssue(42) in rest(replace(after, record=agreed))[0]
    cut_off = agreed.with_ending(consent="auto", comment_done=True)
    assert CloseIssue(42) not in rest(replace(after, record=cut_off))[0]
    # The comment of the closing that was undone says "without asking": the next closing has its own.
    posted = merged.comment_of(cut_off.with_ending(is_reopened=False))
    again = reopened(MERGED_AT + 1, comments=(comment(posted.body),))
    asked_again = rest(replace(again, record=cut_off))[1]
    yes = asked_again.with_values({"phase": "done"}).with_ending(consent="close")
    (own,) = [a for a in rest(replace(again, record=yes))[0] if isinstance(a, PostComment)]
    assert "Confirmed with `lifecycle close`." in own.body
    # What was to say that the issue is closed now is not said any more, with whatever question.
    told = [decide(after), decide(replace(after, record=cut_off))]
    assert all("auto-merged" in step.notices[0].ends for step in told)
    assert CloseIssue(42) in rest(reopened(MERGED_AT - 1))[0]
    closed = reopened(MERGED_AT + 1, is_open=False)
    assert ForgetClaim() in rest(replace(closed, record=asking))[0]


def test_a_closing_that_somebody_takes_back_leaves_the_card_in_review() -> None:
    """GitHub refused to close, say, and the phase was set back: Done is for a closed issue alone."""
    back = record(**{**DONE, "phase": "merged_detected", "status": "Done"})
    for is_open, status in ((True, "In Review"), (False, "Done")):
        shown = replace(closing(), issue=issue(comments=(), is_open=is_open))
        assert rest(seen(back, observed=shown))[1].claim.status == status


@pytest.mark.parametrize("phase", ["checks_running", "done"])
def test_a_merge_that_was_reverted_is_asked_about_though_the_settings_close(phase: str) -> None:
    """The question names what reverted it; a person's yes closes, the settings' earlier one does not."""
    shown = replace(closing(), by_number=replace(MERGED, merged_at=MERGED_AT, reverted_by=108))
    start = seen(record(**{**DONE, "phase": phase}), observed=shown)
    auto = replace(configured(start, close="auto"), hears_prompts=True)
    actions, asking = rest(auto)
    assert CloseIssue(42) not in actions
    asked = "PR #107 merged! Should I close issue #42? PR #108 reverted PR #107."
    assert asked in texts(decide(auto))
    assert question_lines(asking) == [asked]
    agreed = asking.with_values({"phase": "done"}).with_ending(consent="close")
    assert CloseIssue(42) in rest(replace(auto, record=agreed))[0]
    cut_off = record(**DONE, memory={"ending.consent": "auto", "judged": "done"})
    assert CloseIssue(42) not in rest(replace(auto, record=cut_off))[0]


@pytest.mark.parametrize("way", ["reopened", "reverted"])
@pytest.mark.parametrize("said", ["after the question", "in a closing that was cut off"])
def test_a_yes_from_before_a_reopening_or_a_revert_does_not_close(way: str, said: str) -> None:
    """It was to another question, of an issue that was closed already, say: the present one is put.

    A yes to that counts, and so does a command that is typed then; one that was cut off before does not.
    """
    changed = {"reopened_at": MERGED_AT + 60} if way == "reopened" else {}
    merge = replace(MERGED, merged_at=MERGED_AT, reverted_by=0 if changed else 108)
    shown = replace(closing(), issue=issue(comments=(), **changed), by_number=merge)
    was = {"pull.asked": 107, "judged": "merged_detected", **SESSION}
    consents = ("",) if said == "after the question" else ("prompt", "close")
    for consent in consents:
        made = record(**DONE, memory={**was, "ending.consent": consent})
        start = seen(made, observed=shown, **ASKED, answered_at=NOW)
        actions, asking = rest(start)
        assert not [action for action in actions if isinstance(action, PostComment | CloseIssue)]
        assert (asking.claim.phase, asking.ending.consent) == ("merged_detected", "")
        (refusal,) = lasting(decide(start).notices)
        undone = "the issue was reopened, or the merge reverted, and nobody has said yes since"
        assert refusal.text.startswith(f"Issue #42 was not closed: {undone}. PR #107 merged! ")
        assert ("reopened after that" if changed else "PR #108 reverted") in refusal.text
        assert not derive.is_question_put(asking)  # so a prompt of before ends when it is
        yes = asking.with_values({"phase": "done"})
        assert CloseIssue(42) in rest(replace(start, record=yes))[0]
    typed = record(**DONE, memory={**was, "ending.consent": "close"})
    assert CloseIssue(42) in rest(seen(typed, wake=Wake.TICK, observed=shown, **ASKED))[0]


@pytest.mark.parametrize("memory", [SESSION, {}], ids=["a session's", "made by hand"])
def test_a_typed_yes_does_not_close_again_what_was_reopened_since(memory: dict[str, Any]) -> None:
    """The command was killed behind the issue: a person's later look asks, and closes on another yes."""
    closed = {"ending.consent": "close", "ending.issue_closed": True, "ending.comment_done": True}
    cut_off = record(**DONE, memory={**memory, **closed, "judged": "done"})
    reopened = issue(comments=(), reopened_at=NOW - 5)
    merge = replace(MERGED, merged_at=MERGED_AT)
    shown = replace(closing(), issue=reopened, by_number=merge)
    start = seen(cut_off, wake=Wake.TICK, observed=shown)
    actions, asking = rest(start)
    assert not [action for action in actions if isinstance(action, PostComment | CloseIssue)]
    assert asking.claim.phase == "merged_detected"
    assert "Issue #42 was reopened after that. Should I" in derive.question(asking, 107)
    typed = asking.with_values({"phase": "done"}).with_ending(consent="close")
    posted, closed_again, *_ = rest(replace(start, record=typed))[0]
    assert (isinstance(posted, PostComment), closed_again) == (True, CloseIssue(42))


def test_an_override_from_before_a_reopening_does_not_close_again() -> None:
    """A closing that was cut off behind the issue: who reopened it since has the work go on.

    A later override, typed for the open issue, closes it and is told in a comment of its own.
    """
    memory = {
        "ending.override": "no need",
        "ending.issue_closed": True,
        "ending.comment_done": True,
    }
    cut_off = record(**DONE, memory={**memory, "judged": "done"})
    told = merged.comment_of(cut_off)
    reopened = issue(comments=(comment(told.body),), reopened_at=NOW - 5)
    shown = replace(closing(), by_number=pull(), issue=reopened)
    actions, back = rest(seen(cut_off, wake=Wake.STOP, observed=shown))
    assert not [action for action in actions if isinstance(action, PostComment | CloseIssue)]
    assert (back.claim.phase, back.ending.override) == ("checks_running", "")
    anew = back.with_values({"phase": "done"}).with_ending(override="it was a duplicate")
    posted, closed, *_ = rest(seen(anew, wake=Wake.TICK, observed=shown))[0]
    assert (posted.marker != told.marker, "a duplicate" in posted.body) == (True, True)
    assert closed == CloseIssue(42)


def test_a_look_that_shows_a_reopening_or_a_revert_puts_another_question() -> None:
    """The queue and the yes take it for one that nobody heard, also if the other was seen before."""
    merge, known = replace(MERGED, merged_at=MERGED_AT), dict[str, Any]()
    waiting, keys = {**DONE, "phase": "merged_detected"}, []
    reopened = issue(comments=(), reopened_at=MERGED_AT + 60)
    for shown, reverted_by in ((issue(comments=()), 0), (reopened, 0), (reopened, 108)):
        observed = replace(
            closing(), issue=shown, by_number=replace(merge, reverted_by=reverted_by)
        )
        was = {"pull.asked": 107, "judged": "merged_detected", **SESSION, **known}
        step = decide(seen(record(**waiting, memory=was), observed=observed, **ASKED))
        keys.append(step.notices[0].key)
        assert "merged" in step.notices[0].ends
        after = rest(seen(record(**waiting, memory=was), observed=observed, **ASKED))[1]
        assert derive.is_question_put(after) is (len(keys) == 1)
        done = record(**DONE, memory=was)
        closes = CloseIssue(42) in rest(seen(done, observed=observed, **ASKED, answered_at=NOW))[0]
        assert closes is (len(keys) == 1)
        known = {"ending.is_reopened": after.ending.is_reopened}
    assert keys == ["merged:107", "merged:107:reopened", "merged:107:reopened:reverted"]


def test_done_waits_for_a_look() -> None:
    """A yes closes what GitHub shows, and nothing before that."""
    made = seen(record(**DONE, memory={"ending.consent": "close"}))
    assert merged.close_if_answered(made) == Decision()


@pytest.mark.parametrize("before", ["coding", "checks_running"])
def test_a_yes_that_no_look_could_judge_is_taken_back(before: str) -> None:
    """Before a merge was seen the claim goes back to where it was; a merge, or an override, keeps it."""
    came = ({"phase": before}, {"phase": "done"}, {"phase": "done"})
    memory = {"ending.consent": "close", "judged": before, "past": came}
    made = record(**DONE, memory=memory)
    step = decide(seen(made))
    assert set_by(step, made) == {"phase": before}
    assert step.record is not None
    assert step.record.ending.consent == ""
    assert "the yes was not kept" in texts(step)
    for kept in ({"judged": "merged_detected"}, {"ending.override": "why"}, {"ending.consent": ""}):
        assert decide(seen(record(**DONE, memory={**memory, **kept}))) == Decision()


@pytest.mark.parametrize(
    ("memory", "status", "kept"),
    [
        ({}, "In Review", "prompt"),
        ({}, "Done", "prompt"),
        ({"ending.consent": "close"}, "In Review", "close"),
        ({"ending.override": "it is done elsewhere"}, "In Review", ""),
    ],
)
def test_a_prompt_that_was_the_yes_is_kept_with_the_first_step(
    memory: dict[str, Any], status: str, kept: str
) -> None:
    """Whether that step writes the file or GitHub; a yes that is known already stays the one it was."""
    made = seen(
        record(**{**DONE, "status": status}, memory={"pull.asked": 107, **SESSION, **memory}),
        observed=closing(),
        **ASKED,
        answered_at=NOW,
    )
    step = decide(made)
    assert (step.record or made.record).ending.consent == kept


def test_a_closing_that_waits_changes_nothing() -> None:
    """A step without a write or a change keeps the record as it is."""
    made = seen(
        record(**{**DONE, "status": "Done"}, memory={"pull.asked": 107, **SESSION}),
        observed=closing(),
        **ASKED,
        answered_at=NOW,
    )
    made = replace(made, failed=frozenset({"PostComment", "CloseIssue"}))
    assert merged.close_if_answered(made) == Decision()


def test_where_prompts_are_not_heard_only_the_command_is_the_yes() -> None:
    """Without the hook on prompts neither done nor the question's text offers what cannot count."""
    for memory in (SESSION, {"pull.asked": 107, **SESSION}):
        step = decided(memory, answered_at=NOW)
        assert set_by(step) == {"phase": "merged_detected"}
        assert step.notices
        for say in step.notices:
            assert "lifecycle close" in say.text
            assert '"phase": "done" does not count here' in say.text
    heard = texts(decided(SESSION, **ASKED))
    assert 'or write "phase": "done"; on a no' in heard


def test_where_no_session_is_done_counts() -> None:
    """The design's run by hand on a terminal: nobody else could have written it."""
    assert is_yes({})
    assert not is_yes({}, **ASKED)  # a client that names no session, and whose prompts are heard


def test_a_yes_that_counted_is_kept_until_the_issue_is_closed() -> None:
    """A closing that was begun goes on, whoever's the claim is by then."""
    step = decided(SESSION, **ASKED, answered_at=NOW)
    assert step.record is not None
    assert not set_by(decided({"ending": step.record.ending, **SESSION})).get("phase")


def test_without_a_merge_done_is_refused_as_ever() -> None:
    """The missing yes is not what is wrong with it."""
    made = seen(record(**DONE, memory=SESSION), observed=observation(by_number=pull()), **ASKED)
    assert "still open" in texts(decide(made))


@pytest.mark.parametrize("yes", ["close", "auto", "nudge: released by hand"])
def test_a_command_is_a_yes_by_itself(yes: str) -> None:
    """`lifecycle close`, a nudge and `close = "auto"` do not wait for a prompt."""
    made = seen(
        record(**DONE, memory={"pull.asked": 107, "ending.consent": yes}),
        observed=closing(),
        **ASKED,
    )
    assert CloseIssue(42) in rest(made)[0]


def test_auto_closes_at_the_merge_without_a_question() -> None:
    """`close = "auto"`: the merge leads to done in one look, and the comment says why."""
    shown = observation(**{**_fields(closing()), "by_number": pull(state=PullState.MERGED)})
    made = seen(record(**REVIEW), observed=shown)
    made = seen(record(**REVIEW), observed=shown, settings=Settings(project_number=1, close="auto"))
    first = decide(made)
    assert set_by(first)["phase"] == "merged_detected"
    assert [(say.audience, "Should I" in say.text) for say in first.notices] == [
        (Audience.NEWS, False)
    ]
    actions, end = rest(made)
    assert end.ending.consent == "auto"
    (comment,) = [action for action in actions if isinstance(action, PostComment)]
    assert comment.body.startswith("Completed in #107")
    assert "auto" in comment.body
    assert CloseIssue(42) in actions


def test_auto_takes_no_closing_upon_itself_that_was_githubs() -> None:
    """With "Closes #N" the issue is closed at the merge: notice and comment say no more than that."""
    merged = {"by_number": pull(state=PullState.MERGED), "issue": issue(is_open=False, comments=())}
    made = seen(record(**REVIEW), observed=observation(**merged))
    made = replace(made, record=made.record.with_ending(issue_closed=True))
    made = configured(made, close="auto")
    assert "issue #42 was already closed, and the claim ends now" in texts(decide(made))
    actions, _ = rest(made)
    (comment,) = [action for action in actions if isinstance(action, PostComment)]
    assert comment.body.startswith("Completed in #107\n\n<!--")
    assert CloseIssue(42) not in actions


def _fields(observed: Any) -> dict[str, Any]:
    return {name: getattr(observed, name) for name in observed.__dataclass_fields__}


@pytest.mark.parametrize(
    ("asked", "number", "phase", "is_asked", "is_waited_for"),
    [
        (None, None, "merged_detected", False, False),
        (None, 107, "merged_detected", False, False),
        (99, 107, "merged_detected", False, False),
        (107, 107, "merged_detected", True, True),
        (107, 107, "done", True, False),
        (107, 107, "coding", True, False),
    ],
)
def test_an_answer_is_waited_for_after_the_question_and_in_its_phase(
    asked: int | None, number: int | None, phase: str, is_asked: bool, is_waited_for: bool
) -> None:
    """Asked is asked of the pull request that the claim has now; a claim without one asks nothing."""
    made = record(phase=phase, pr_number=number, memory={"pull.asked": asked})
    assert derive.is_question_put(made) is is_asked
    assert derive.is_answer_awaited(made) is is_waited_for


@pytest.mark.parametrize(
    ("key", "is_question"),
    [
        ("{own}/merged:107", True),
        ("{own}/not-answered:", True),
        ("{own}/merged:99", False),
        ("{own}/green:107", False),
        ("7@1/merged:107", False),
        ("merged:107", False),
    ],
)
def test_a_sentence_is_the_question_by_its_claim_and_its_event(key: str, is_question: bool) -> None:
    """What another claim asked, or what else this one says, is no question of this one."""
    made = record(**REVIEW)
    assert derive.is_question(key.format(own=made.claim_key), made) is is_question


@pytest.mark.parametrize(
    ("hears", "session", "counts"),
    [(True, "s", True), (True, "", True), (False, "", True), (False, "s", False)],
)
def test_done_can_count_where_somebody_could_be_heard(
    hears: bool, session: str, counts: bool
) -> None:
    """In a session whose prompts are not heard only the command is the yes."""
    made = record(memory={"ownership.session": session})
    assert derive.counts_done(made, hears_prompts=hears) is counts


@pytest.mark.parametrize("hears", [True, False])
@pytest.mark.parametrize(
    ("memory", "rules", "is_given"),
    [
        ({}, {}, False),
        ({"ending.override": "it is done elsewhere"}, {}, True),
        ({"ending.consent": "close"}, {}, True),
        ({}, {"close": "auto"}, True),
    ],
)
def test_each_yes_is_enough_by_itself(
    hears: bool, memory: dict[str, Any], rules: dict[str, Any], is_given: bool
) -> None:
    """An override, a command and the settings are not asked about, in a session as well."""
    made = seen(
        record(**DONE, memory={**SESSION, "pull.asked": 107, **memory}), hears_prompts=hears
    )
    made = configured(made, **rules)
    assert derive.is_consent_missing(made, pull(state=PullState.MERGED)) is not is_given


@pytest.mark.parametrize(
    ("wake", "judged", "is_given"),
    [(Wake.IDLE, "coding", False), (Wake.TICK, "coding", True), (Wake.IDLE, "done", True)],
)
def test_a_recorded_yes_counts_since_the_merge_was_seen_or_in_a_command(
    wake: Wake, judged: str, is_given: bool
) -> None:
    """A killed command's may be from before the merge; a command that runs now asks by itself."""
    memory = {**SESSION, "ending.consent": "close", "judged": judged}
    made = seen(record(**DONE, memory=memory), wake=wake)
    assert derive.is_consent_missing(made, MERGED) is not is_given


@pytest.mark.parametrize(("is_unheard", "is_given"), [(False, True), (True, False)])
def test_done_without_a_session_is_a_persons_but_in_a_client_that_is_not_served(
    is_unheard: bool, is_given: bool
) -> None:
    """By hand it is the yes; where the agent of another client wrote it, nobody said so."""
    made = replace(seen(record(**DONE)), is_unheard=is_unheard)
    assert derive.is_consent_missing(made, pull(state=PullState.MERGED)) is not is_given


def test_a_prompt_after_the_question_ends_the_waiting_where_it_is_heard() -> None:
    """What came before the hook on prompts was there says nothing."""
    made = seen(record(**DONE, memory={**SESSION, "pull.asked": 107}), answered_at=NOW)
    assert derive.is_consent_missing(made, MERGED)
    assert not derive.is_consent_missing(replace(made, hears_prompts=True), MERGED)


def test_a_merge_without_a_time_needs_the_question() -> None:
    """No prompt can be shown to be later than a merge whose time GitHub does not tell."""
    made = seen(record(**DONE, memory=SESSION), hears_prompts=True, answered_at=NOW)
    assert derive.is_consent_missing(made, pull(state=PullState.MERGED, merged_at=None))
    assert not derive.is_consent_missing(made, pull(state=PullState.MERGED, merged_at=NOW - 1))
