"""Every sentence about a claim, word for word: `sentences.txt` has them as people and agents read them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

from lifecycle.claim.record.claim_file import actions, complaint, message
from lifecycle.core import plan
from lifecycle.core.light_dataclass import fields
from lifecycle.core.messages import (
    merge_messages,
    messages,
    review_messages,
)
from lifecycle.core.redact import named, quoted
from lifecycle.core.values.checks import Bucket, Check, Checks
from lifecycle.feedback.reviews.review_reading import sentence as reviewed
from lifecycle.settings import resources
from tests.factories import pull

SENTENCES = Path(__file__).with_name("sentences.txt")
U = "https://github.com/o/r/pull/7"
REFUSED = [kind for kind, row in actions().items() if "refused" in row]
PULL = pull(number=7, url=U, branch="b")
LONG = "The check [of] ::: 100 % of it: " + "x" * 80

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
        says(message, "adopted", pull=PULL),
        says(message, "pull-missing", branch="b", hand_off=messages.HAND_OFF),
        says(message, "pull-missing", branch="(none)", hand_off=messages.HAND_OFF),
        says(message, "no-pull-at-work", branch="b", written="done", phase="coding"),
        says(message, "no-pull", branch="(none)", written="done", phase="pr_closed"),
        says(messages.judged_next, "done"),
        says(messages.judged_next, "done", has_hooks=False),
        says(message, "missing-field", names="summary"),
        says(message, "missing-fields", names="summary and branch"),
        says(message, "branch-is-base", branch="main"),
        says(message, "merged-and-closing", number=7, issue=42),
        says(message, "merged-and-closed", number=7, issue=42),
        says(message, "merged-left-open", number=7, issue=42),
        *(
            says(message, "not-closed", issue=42, why=message(why))
            for why in ("unheard-since-question", "no-yes", "unheard-since-merge", "no-yes")
        ),
        says(messages.merged, 7, 42, is_open=True),
        says(messages.merged, 7, 42, is_open=False),
        says(messages.merged, 7, 42, is_open=True, into="feature"),
        says(message, "not-ended", issue=42, why=message("unheard-since-question")),
        says(message, "not-closed", issue=42, why=message("undone-since")),
        says(message, "merged-before", number=7),
        says(message, "merged-earlier", branch="claude/fix-42", number=7),
        says(messages.open_parts, 42, 1),
        says(messages.open_parts, 42, 2),
        says(messages.reverted, 7, 8),
        says(messages.left_out, 7, 1, "claude/fix-42", is_closed=False),
        says(messages.left_out, 7, 2, "claude/fix-42", is_closed=True),
        says(messages.how_to_close),
        says(messages.how_to_close, counts_done=False),
        says(messages.closed_unmerged, 7, 42),
        says(messages.closed_unmerged, 7, 42, is_open=False),
        says(message, "reopened", number=7),
        says(messages.done_refused, "nothing is merged", 42, "checks_running"),
        says(messages.done_refused, "nothing is merged", 42, "pr_closed"),
        says(messages.done_refused, "nothing is merged", 42, "coding"),
        says(messages.done_refused, "nothing is merged", 42, "checks_running", is_open=False),
        says(message, "yes-not-kept", issue=42, phase="checks_running"),
        says(message, "completed", number=7),
        says(message, "overridden-unmerged", number=7, reason="it is in another"),
        says(message, "overridden-explicitly", reason="it is in another"),
        says(message, "overridden", reason="it is in another"),
        *(
            says(messages.confirmed, consent)
            for consent in ("close", "auto", "reconcile", "nudge: it is", "nudge", "a: b", "prompt")
        ),
        says(messages.confirmed, "auto", is_open=False),
        says(messages.closed_elsewhere, 42),
        says(messages.closed_elsewhere, 42, messages.NOT_OPENED),
        says(message, "closed", issue=42, board="Board → Done."),
        says(message, "closed-meanwhile", issue=42),
        says(message, "left-open", issue=42),
        says(message, "board-set", status="Done"),
        says(message, "label-set", status="Done"),
        says(message, "board-not-set", status="Done", why="It is archived."),
        says(message, "label-not-set", status="Done", why="It is gone."),
        says(message, "board-absent"),
        says(message, "board-moved", issue=42, status=quoted("On\nhold"), synced="In Review"),
        says(message, "assigned-elsewhere", issue=42, login="octocat", others="maria, sam"),
        says(message, "label-moved", issue=42, status=quoted("on hold"), synced="In Review"),
        says(messages.status_kept, "on hold", is_labels=True),
        says(messages.status_kept, "On hold", is_labels=False),
        says(message, "card-archived", issue=42, board="project 1"),
        says(message, "not-on-board", issue=42, board="project 1"),
        says(message, "next-task", title=quoted("Fix ::: it"), number=43),
        says(message, "branch-merged", branch="b"),
        says(messages.no_hooks),
        says(messages.unknown_phase, "p" * 41, ["coding", "done"]),
        says(message, "no-issue-number"),
        says(message, "issue-kept", value=43, kept=42),
        says(message, "hint-refused", name="pr_number", value=8, kept=7),
        says(message, "hint-undone", name="pr_number", value=8, kept=None),
        says(message, "hint-undone", name="pr_number", value=8, kept=""),
        says(message, "not-created-yet", why="GitHub is away.", number=42),
        says(messages.comment_unknown, 42, "12:00"),
        *(says(complaint, kind, "Why.", 42) for kind in REFUSED),
        says(messages.withheld, ["title"]),
        says(messages.withheld, ["title", "body"]),
        says(messages.withheld, ["title", "body", "comment"]),
        says(message, "issue-gone", issue=42),
        says(message, "merged-alone", number=46),
        says(message, "repository-archived", issue=42),
        says(message, "not-released-archived", issue=42),
        says(messages.forcing, 42),
        says(messages.released_from_afar, 42),
        says(message, "released-to-hand-off", issue=42),
        says(message, "released-unheld", issue=42),
        says(messages.release_headline, "a-1", "", "", is_open=True),
        says(messages.release_headline, "", "maria", "", is_open=False),
        says(messages.release_headline, "a-1", "", "sam", is_open=True),
        says(messages.release_comment, "One.", "b", "2 commits", "PR #7 stays open.", "ill"),
        says(messages.release_comment, "One.", "", "no branch", "", ""),
        says(message, "draft-of-left-work"),
        says(message, "pull-stays-open", number=7),
        says(message, "pull-merges-alone", number=7),
        says(messages.released, 42, "Board → Todo.", "b", "PR #7 stays open."),
        says(messages.released, 42, "", ""),
        says(messages.released, 42, "", "b", others="sam"),
        says(messages.releasing, 42),
        says(message, "released-to-holder", issue=42, holder=named("maria silva")),
        says(message, "not-released", issue=42, number=7),
        says(message, "card-of-another", agent=named("maria silva")),
        says(message, "lease-left", forcing=messages.forcing(42), why="GitHub is away."),
        says(message, "released-unseen", issue=42),
        says(messages.taken_over, 42, "maria silva"),
        says(message, "linked-left-open", task="bd-1", why="Why."),
        says(messages.linked_pending, "bd-1", 42, "closed"),
        says(messages.linked_pending, "", 42, "released"),
        says(message, "linked-left-claimed", task="bd-1", why="Why."),
        says(messages.linked_held_by, "bd-1", "maria"),
        says(messages.linked_held_by, "bd-1", ""),
        says(messages.linked_gone, "bd-1"),
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
        says(message, "approvals-needed", pull=pull(), names=f"ci, {named(LONG, 80)}"),
        says(message, "approval-needed", pull=pull(), names="a workflow"),
        says(message, "approval-needed", pull=pull(), names="ci"),
        says(review_messages.deployment_needed, 7, failed("WAITING").failed),
        says(review_messages.deployment_needed, 7, failed("WAITING", "WAITING", url=U).failed),
        says(message, "checks-missing", number=7, names=f"ci, {named(LONG, 80)}", base="main"),
        says(message, "check-missing", number=7, names="ci", base="the base branch"),
        says(message, "checks-unseen", number=7, hidden="checks"),
        says(message, "checks-judged", number=7, hidden="checks and statuses", overall="PENDING"),
        says(message, "checks-stale", number=7, names=f"ci, {named(LONG, 80)}"),
        says(review_messages.changes_requested, 7, "maria", U),
        says(review_messages.changes_requested, 7, "", ""),
        says(reviewed, "remark-waits", number=7, count=1, who="maria"),
        says(reviewed, "remarks-wait", number=7, count=2, who="a reviewer"),
        says(reviewed, "remarks-wait", number=7, count=6, who="a, b, c, d"),
        says(review_messages.approved, 7, ["maria", "maria", "b", "", "c", "d"]),
        says(review_messages.approved, 7, []),
        says(review_messages.quoted_as_data),
        says(reviewed, "reproduce-first"),
        says(reviewed, "rounds-over", number=7, url=U, most=3),
        says(reviewed, "rounds-without-change", number=7, url=U, most=3),
        says(reviewed, "lesser", number=7, places=f"maria {U}, somebody {U}, b, c, d"),
        says(reviewed, "strangers", number=7, places=f"maria {U}, somebody {U}, b, c, d (+1 more)"),
        says(reviewed, "limited", number=7, places=f"maria {U}"),
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
        says(message, "unchecked", number=7, how="is ready to merge"),
        says(merge_messages.changes, ["maria", "b c"]),
        says(merge_messages.changes, [""]),
        says(merge_messages.changes, []),
        says(merge_messages.unresolved, 1),
        says(merge_messages.unresolved, 2),
        says(message, "auto-merge-taken-back", number=7),
        says(message, "auto-merge-kept", number=7),
        says(merge_messages.standing, 7, "is ready to merge"),
        says(message, "behind", number=7, which="main"),
        says(message, "behind", number=7, which="main of octo-org/hello"),
        says(message, "updated", number=7, base="main"),
        says(message, "auto-merge", number=7, head="0123456789"),
        says(message, "auto-merge-left-off", number=7),
        says(message, "ejected", number=7, out=merge_messages.thrown_out("FAILED_CHECKS"), url=U),
        says(message, "ejected", number=7, out=merge_messages.thrown_out("A" * 81), url=U),
        says(message, "ejected", number=7, out=merge_messages.thrown_out(""), url=U),
        says(message, "taken-out", number=7, url=U),
        says(merge_messages.thrown_out, ""),
        says(merge_messages.still_out, "failed_checks"),
        says(message, "queue-stuck", number=7, base="main"),
        says(message, "queue-silent", number=7, commit="0123456789", minutes=10),
        says(message, "pushed-into-queue", number=7),
        says(message, "left-queue", number=7),
        says(message, "conflicts", number=7, base="main"),
    ),
}


def spoken() -> Iterator[str]:
    """The lines of sentences.txt as the code says them now: a heading for each module."""
    for module, cases in CASES.items():
        yield f"# {module}"
        for sentence, arguments, words in cases:
            yield sentence(*arguments, **words).replace("\n", "\\n")


def test_each_sentence_is_said_word_for_word() -> None:
    """After a change of words on purpose: `python -m tests.core.test_messages` writes them anew."""
    assert "\n".join(spoken()).splitlines() == SENTENCES.read_text(encoding="utf-8").splitlines()


def test_each_refusal_has_a_sentence_under_the_name_of_its_action() -> None:
    """And a look has one; that a lease stays is said with the end, and a file is deleted by us alone."""
    kinds = {action.__name__ for action in get_args(plan.Action)}
    assert set(REFUSED) == kinds - {"ReleaseLease", "ForgetClaim"} | {"Look"}
    assert set(actions()) == kinds | {"Look"}


def test_each_write_has_its_words_in_the_journal_and_details_that_its_action_has() -> None:
    """The end of a claim is shown by its last move."""
    for action in get_args(plan.Action):
        row = actions()[action.__name__]
        assert ("wrote" in row) is (action is not plan.ForgetClaim)
        assert {*row.get("detail", {}).values()} <= {each.name for each in fields(action)}


def test_no_sentence_is_left_out() -> None:
    """A new one gets a case; what a pull request waits for has its own (test_merge_messages.py)."""
    modules = (messages, review_messages, merge_messages)
    for module in modules:
        name = module.__name__.rpartition(".")[2]
        asked = {getattr(sentence, "__name__", "") for sentence, _, _ in CASES[name]}
        public = {
            one
            for one, value in vars(module).items()
            if inspect.isfunction(value) and value.__module__ == module.__name__ and one[0] != "_"
        }
        assert public - asked <= {"readiness", "waits_for"}, name
    calls = (case for cases in CASES.values() for case in cases)
    rows = {arguments[0] for sentence, arguments, _ in calls if sentence is message}
    whys = {"no-yes", "undone-since", "unheard-since-merge", "unheard-since-question"}  # in others
    assert {*resources.table("claim/messages.toml")} - rows == whys


if __name__ == "__main__":
    SENTENCES.write_text("\n".join([*spoken(), ""]), encoding="utf-8")
