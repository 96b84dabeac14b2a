"""Every sentence about a claim, word for word: `sentences.txt` has them as people and agents read them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

from lifecycle.core import plan
from lifecycle.core.messages import (
    linked_messages,
    loss_messages,
    merge_messages,
    messages,
    review_messages,
)
from lifecycle.core.values.checks import Bucket, Check, Checks
from tests.factories import pull

SENTENCES = Path(__file__).with_name("sentences.txt")
U = "https://github.com/o/r/pull/7"
LONG = "The check [of] ::: 100 % of it: " + "x" * 80
SAID = (("maria", U), ("", U), ("b", ""), ("c", ""), ("d", ""))

PERSONS = Check("d", Bucket.FAIL, word="ACTION_REQUIRED", url=U)

Case = tuple[Callable[..., str], tuple[Any, ...], dict[str, Any]]


def says(sentence: Callable[..., str], *arguments: Any, **named: Any) -> Case:
    """A call of a sentence; nothing is called before the test."""
    return sentence, arguments, named


def failed(*words: str, url: str = "", more: int = 0) -> Checks:
    """Failed checks that ended so, and some more."""
    ended = [Check(f"c{n}", Bucket.FAIL, word=word, url=url) for n, word in enumerate(words)]
    return Checks("0123456789", (*ended, *(Check(LONG, Bucket.FAIL) for _ in range(more))))


CASES: dict[str, tuple[Case, ...]] = {
    "messages": (
        says(messages.pr_created, 7, U),
        says(messages.pr_adopted, 7, U, "b"),
        says(messages.pr_missing, "b"),
        says(messages.pr_missing, ""),
        says(messages.phase_without_pull, "done", "b", "coding"),
        says(messages.phase_without_pull, "done", "", "pr_closed"),
        says(messages.judged_next, "done"),
        says(messages.judged_next, "done", has_hooks=False),
        says(messages.missing_fields, ["summary"]),
        says(messages.missing_fields, ["summary", "branch"]),
        says(messages.branch_is_base, "main"),
        says(messages.merged_and_closing, 7, 42, is_open=True, is_left=False),
        says(messages.merged_and_closing, 7, 42, is_open=False, is_left=False),
        says(messages.merged_and_closing, 7, 42, is_open=True, is_left=True),
        *(
            says(
                messages.not_answered,
                42,
                was_asked=was_asked,
                counts_done=counts_done,
                is_open=True,
                is_outdated=False,
            )
            for was_asked in (True, False)
            for counts_done in (True, False)
        ),
        says(messages.merged, 7, 42, is_open=True),
        says(messages.merged, 7, 42, is_open=False),
        says(messages.merged, 7, 42, is_open=True, into="feature"),
        says(
            messages.not_answered,
            42,
            was_asked=True,
            counts_done=True,
            is_open=False,
            is_outdated=False,
        ),
        says(
            messages.not_answered,
            42,
            was_asked=True,
            counts_done=True,
            is_open=True,
            is_outdated=True,
        ),
        says(messages.merged_before, 7),
        says(messages.merged_earlier, 7, "claude/fix-42"),
        says(messages.open_parts, 42, 1),
        says(messages.open_parts, 42, 2),
        says(messages.reverted, 7, 8),
        says(messages.left_out, 7, 1, "claude/fix-42", is_closed=False),
        says(messages.left_out, 7, 2, "claude/fix-42", is_closed=True),
        says(messages.how_to_close),
        says(messages.how_to_close, counts_done=False),
        says(messages.closed_unmerged, 7, 42),
        says(messages.closed_unmerged, 7, 42, is_open=False),
        says(messages.reopened, 7),
        says(messages.done_refused, "nothing is merged", 42, "checks_running"),
        says(messages.done_refused, "nothing is merged", 42, "pr_closed"),
        says(messages.done_refused, "nothing is merged", 42, "coding"),
        says(messages.done_refused, "nothing is merged", 42, "checks_running", is_open=False),
        says(messages.yes_not_kept, 42, "checks_running"),
        says(messages.completed_comment, 7),
        says(messages.overridden_comment, 7, "it is in another"),
        says(messages.overridden_comment, None, "it is in another"),
        *(
            says(messages.confirmed, consent)
            for consent in ("close", "auto", "reconcile", "nudge: it is", "nudge", "a: b", "prompt")
        ),
        says(messages.confirmed, "auto", is_open=False),
        says(messages.closed_elsewhere, 42),
        says(messages.closed_elsewhere, 42, messages.NOT_OPENED),
        says(messages.closed, 42, "Board → Done."),
        says(messages.closed_meanwhile, 42),
        says(messages.left_open, 42),
        says(messages.status_set, "Done", is_labels=False),
        says(messages.status_set, "Done", is_labels=True),
        says(messages.status_not_set, "Done", "It is archived."),
        says(messages.status_not_set, "Done", "It is gone.", is_labels=True),
        says(messages.board_absent),
        says(messages.board_moved, 42, "On\nhold", "In Review"),
        says(messages.assigned_elsewhere, 42, "octocat", ["maria", "sam"]),
        says(messages.label_moved, 42, "on hold", "In Review"),
        says(messages.status_kept, "on hold", is_labels=True),
        says(messages.status_kept, "On hold", is_labels=False),
        says(messages.archived, 42, "project 1"),
        says(messages.not_on_board, 42, "project 1"),
        says(messages.next_task, "Fix ::: it", 43),
        says(messages.branch_merged, "b"),
        says(messages.branch_merged, "b", "No task is left in Todo."),
        says(messages.no_hooks),
        says(messages.unknown_phase, "p" * 41, ["coding", "done"]),
        says(messages.no_issue_number),
        says(messages.issue_kept, 43, 42),
        says(messages.hint_refused, "pr_number", 8, 7),
        says(messages.hint_refused, "pr_number", 8, None),
        says(messages.hint_refused, "pr_number", 8, ""),
        says(messages.not_created_yet, "GitHub is away.", 42),
        says(messages.comment_unknown, 42, "12:00"),
        *(says(sentence.format, "Why.", 42) for sentence in messages.COMPLAINTS.values()),
        says(messages.withheld, ["title"]),
        says(messages.withheld, ["title", "body"]),
        says(messages.withheld, ["title", "body", "comment"]),
        says(messages.issue_gone, 42),
        says(messages.merged_alone, 46),
        says(messages.repository_archived, 42),
        says(messages.repository_archived, 42, is_asked=True),
    ),
    "review_messages": (
        says(review_messages.checks_running, 3, 5, 2),
        says(review_messages.checks_passed, Checks("s", (Check("a", Bucket.PASS),)), 7, "is ready"),
        says(
            review_messages.checks_passed, Checks("s", (Check("a", Bucket.PASS),) * 2), 7, "waits"
        ),
        says(review_messages.checks_failed, failed("FAILURE"), 7),
        says(review_messages.checks_failed, failed("TIMED_OUT", "STARTUP_FAILURE", more=3), 7),
        says(review_messages.checks_failed, failed("FAILURE", "CANCELLED", more=4), 7),
        says(review_messages.checks_failed, failed("CANCELLED", "CANCELLED"), 7),
        says(review_messages.checks_failed, failed("ACTION_REQUIRED"), 7),
        says(review_messages.checks_failed, failed("ACTION_REQUIRED", url=U), 7),
        says(
            review_messages.checks_failed,
            Checks("0123456789", (*failed("ACTION_REQUIRED").runs, PERSONS)),
            7,
        ),
        says(review_messages.advice, failed("CANCELLED").failed),
        says(review_messages.approval_needed, pull(), ["ci", "", LONG]),
        says(review_messages.approval_needed, pull(), [""]),
        says(review_messages.approval_needed, pull(), ["ci"]),
        says(review_messages.deployment_needed, 7, failed("WAITING").failed),
        says(review_messages.deployment_needed, 7, failed("WAITING", "WAITING", url=U).failed),
        says(review_messages.checks_missing, 7, ["ci", LONG], "main"),
        says(review_messages.checks_missing, 7, ["ci"], ""),
        says(review_messages.checks_unseen, 7, ["checks"], ""),
        says(review_messages.checks_unseen, 7, ["checks", "statuses"], "PENDING"),
        says(review_messages.checks_stale, 7, ["ci", LONG]),
        says(review_messages.changes_requested, 7, "maria", U),
        says(review_messages.changes_requested, 7, "", ""),
        says(review_messages.review_said, 7, 1, ["maria"]),
        says(review_messages.review_said, 7, 2, []),
        says(review_messages.review_said, 7, 6, ["a", "", "b", "c", "d", "e"]),
        says(review_messages.approved, 7, ["maria", "maria", "b", "", "c", "d"]),
        says(review_messages.approved, 7, []),
        says(review_messages.quoted_as_data),
        says(review_messages.reproduce_first),
        says(review_messages.rounds_are_over, 7, "rounds", U, 3),
        says(review_messages.rounds_are_over, 7, "nothing", U, 3),
        says(review_messages.lesser_findings, 7, SAID),
        says(review_messages.strangers_said, 7, (*SAID, ("e", U))),
        says(review_messages.bots_did_not_review, 7, SAID[:1]),
        says(review_messages.unanswered, 7, 1),
        says(review_messages.unanswered, 7, 2),
        says(review_messages.weakened, ["a", "b"]),
        says(review_messages.holds, ["a", "b", "c", "d", "e"]),
        says(review_messages.holds, ["a", "b", "c", "d", "e", "f"]),
    ),
    "merge_messages": (
        says(merge_messages.waiting, "a review"),
        says(merge_messages.waiting, "a review", is_running=True),
        says(merge_messages.conflicting, "main"),
        says(merge_messages.conflicting, ""),
        says(merge_messages.red),
        says(merge_messages.unchecked, 7, "is ready to merge"),
        says(merge_messages.changes, ["maria", "b c"]),
        says(merge_messages.changes, [""]),
        says(merge_messages.changes, []),
        says(merge_messages.unresolved, 1),
        says(merge_messages.unresolved, 2),
        says(merge_messages.auto_merge_taken_back, 7),
        says(merge_messages.auto_merge_kept, 7),
        says(merge_messages.standing, 7, "is ready to merge"),
        says(merge_messages.behind, 7, "main"),
        says(merge_messages.behind, 7, "main", "octo-org/hello"),
        says(merge_messages.updated, 7, "main"),
        says(merge_messages.auto_merge, 7, "0123456789"),
        says(merge_messages.auto_merge_left_off, 7),
        says(merge_messages.ejected, 7, "FAILED_CHECKS", U),
        says(merge_messages.ejected, 7, "A" * 81, U),
        says(merge_messages.ejected, 7, "", U),
        says(merge_messages.taken_out, 7, U),
        says(merge_messages.thrown_out, ""),
        says(merge_messages.still_out, "failed_checks"),
        says(merge_messages.queue_stuck, 7, "main"),
        says(merge_messages.queue_silent, 7, "0123456789", 10),
        says(merge_messages.pushed_into_queue, 7),
        says(merge_messages.left_queue, 7),
        says(merge_messages.conflicts, 7, "main"),
    ),
    "loss_messages": (
        says(loss_messages.forcing, 42),
        says(loss_messages.released_from_afar, 42),
        says(loss_messages.released_to_hand_off, 42),
        says(loss_messages.released_unheld, 42),
        says(loss_messages.release_headline, "a-1", "", "", is_open=True),
        says(loss_messages.release_headline, "", "maria", "", is_open=False),
        says(loss_messages.release_headline, "a-1", "", "sam", is_open=True),
        says(loss_messages.release_comment, "One.", "b", "2 commits", "PR #7 stays open.", "ill"),
        says(loss_messages.release_comment, "One.", "", "no branch", "", ""),
        says(loss_messages.draft_of_left_work),
        says(loss_messages.pull_stays_open, 7),
        says(loss_messages.pull_stays_open, 7, merges=True),
        says(loss_messages.released, 42, "Board → Todo.", "b", "PR #7 stays open."),
        says(loss_messages.released, 42, "", ""),
        says(loss_messages.released, 42, "", "b", others="sam"),
        says(loss_messages.releasing, 42),
        says(loss_messages.released_to_holder, 42, "maria silva"),
        says(loss_messages.not_released, 42, 7),
        says(loss_messages.card_of_another, "maria silva"),
        says(loss_messages.lease_left, 42, "GitHub is away."),
        says(loss_messages.released_unseen, 42),
        says(loss_messages.taken_over, 42, "maria silva"),
    ),
    "linked_messages": (
        says(linked_messages.closing_reason, "Fixed", 7, U, "it is in another"),
        says(linked_messages.closing_reason, "Fixed", 7, U, ""),
        says(linked_messages.closing_reason, "Fixed", 7, "", ""),
        says(linked_messages.closing_reason, "Fixed", None, U, ""),
        says(linked_messages.closing_reason, "", 7, U, ""),
        says(linked_messages.closing_reason, "", None, "", ""),
        says(linked_messages.left_open, "bd-1", "Why."),
        says(linked_messages.pending, "bd-1", 42, "closed"),
        says(linked_messages.pending, "", 42, "released"),
        says(linked_messages.left_claimed, "bd-1", "Why."),
        says(linked_messages.held_by, "bd-1", "maria"),
        says(linked_messages.held_by, "bd-1", ""),
        says(linked_messages.gone, "bd-1"),
    ),
}


def spoken() -> Iterator[str]:
    """The lines of sentences.txt as the code says them now: a heading for each module."""
    for module, cases in CASES.items():
        yield f"# {module}"
        for sentence, arguments, named in cases:
            yield sentence(*arguments, **named).replace("\n", "\\n")


def test_each_sentence_is_said_word_for_word() -> None:
    """After a change of words on purpose: `python -m tests.core.test_messages` writes them anew."""
    assert "\n".join(spoken()).splitlines() == SENTENCES.read_text(encoding="utf-8").splitlines()


def test_each_refusal_has_a_sentence_under_the_name_of_its_action() -> None:
    """And a look has one; that a lease stays is said with the end, and a file is deleted by us alone."""
    kinds = {action.__name__ for action in get_args(plan.Action)}
    assert set(messages.COMPLAINTS) == kinds - {"ReleaseLease", "ForgetClaim"} | {"Look"}


def test_no_sentence_is_left_out() -> None:
    """A new one gets a case; what a pull request waits for has its own (test_merge_messages.py)."""
    modules = (messages, review_messages, merge_messages, loss_messages, linked_messages)
    for module in modules:
        name = module.__name__.rpartition(".")[2]
        asked = {sentence.__name__ for sentence, _, _ in CASES[name]}
        public = {
            one
            for one, value in vars(module).items()
            if inspect.isfunction(value) and value.__module__ == module.__name__ and one[0] != "_"
        }
        assert public - asked <= {"readiness", "waits_for"}, name


if __name__ == "__main__":
    SENTENCES.write_text("\n".join([*spoken(), ""]), encoding="utf-8")
