"""The packet of one review: what the agent gets in a wake, and all of it as a file. Pure.

Texts by people and bots are quoted as data, without secrets, and cut to a length.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lifecycle.core.messages import review_messages as words
from lifecycle.core.redact import block, named, redact, short
from lifecycle.feedback.reviews.remarks import PullConversation, ReviewPoint, ReviewThread, Trusted
from lifecycle.feedback.reviews.review_ledger import ReviewDecision

MOST_IN_WAKE = 2_000
"""Characters of the packet that come with the wake."""

MOST_OF_BODY = 4_000
"""Characters of one remark in the file."""

_IN_WAKE_BODY = 160
_HUNK_LINES = 8
_MOST_HUNK_LINES = 60

_TEXTS = {"": "a comment on the pull request", "CHANGES_REQUESTED": "a request for changes"}
"""What a text outside of threads is, by the state of its review."""

ANSWER = (
    "Answer each thread: lifecycle feedback reply THREAD --text-file FILE "
    "--verdict fixed|wont_fix|question|needs_human"
)


def first_line(conversation: PullConversation, decision: ReviewDecision) -> str:
    """The first sentence of a wake; if somebody asked for changes, it is the one from the design."""
    asked = [point for point in decision.agent if point.review_state == "CHANGES_REQUESTED"]
    if asked:
        remark = asked[-1].remark
        return words.changes_requested(conversation.number, remark.author, remark.url)
    authors = list(dict.fromkeys(point.remark.author for point in decision.agent))
    return words.review_said(conversation.number, len(decision.agent), authors)


def in_wake(conversation: PullConversation, decision: ReviewDecision, path: str) -> str:
    """The packet for a wake: the sentence, as many points as there is room for, and the file's path."""
    head = [first_line(conversation, decision)]
    head += [words.reproduce_first()] if decision.must_reproduce else []
    tail = [*_answer(decision.agent), f"All of it, with the lines of the diff: {path}"]
    room = MOST_IN_WAKE - len("\n".join([*head, *tail])) - 80
    shown = [
        "\n".join([f"{place}. {place_of(point, conversation.head)}", *brief(point.remark.body)])
        for place, point in enumerate(decision.agent, 1)
    ]
    while shown and len("\n".join(shown)) > room:
        shown.pop()
    left = len(decision.agent) - len(shown)
    more = [f"… and {left} more in the file."] if left else []
    return "\n".join([*head, words.quoted_as_data(), *shown, *more, *tail])


def of_approvals(number: int, approvals: Sequence[ReviewPoint]) -> str:
    """The notice on approvals: the first words of each, quoted, and the file with the rest."""
    remarks = [approval.remark for approval in approvals]
    lines = [words.approved(number, [remark.author for remark in remarks]), words.quoted_as_data()]
    for shown in remarks[: words.SHOWN_NAMES]:
        lines += [f"{_whose(shown.author)}: {shown.url}", *brief(shown.body)]
    return "\n".join(lines)


def _answer(points: Sequence[ReviewPoint]) -> list[str]:
    """The line on how to answer threads; an empty list if no point is a thread."""
    return [ANSWER] if any(point.thread is not None for point in points) else []


def whole(conversation: PullConversation, decision: ReviewDecision) -> str:
    """The packet as a file: every point with its thread and the lines of the diff."""
    lines = [
        f"# Review of PR #{conversation.number} at {conversation.head[:7]}",
        "",
        first_line(conversation, decision),
        words.quoted_as_data(),
        *([words.reproduce_first()] if decision.must_reproduce else []),
        *_answer(decision.agent),
    ]
    for place, point in enumerate(decision.agent, 1):
        lines += ["", f"## {place}. {place_of(point, conversation.head)}", "", *_whole_point(point)]
    return "\n".join(lines) + "\n"


def place_of(point: ReviewPoint, head: str) -> str:
    """One line: where a point is, who wrote it, and its state."""
    thread, remark = point.thread, point.remark
    where = _TEXTS.get(point.review_state, "a review's own text")
    is_outdated = thread is not None and thread.is_outdated
    facts = {
        f"bot, {remark.severity or 'unclassed'}": remark.trusted is Trusted.BOT,
        "written with the account of this token": remark.trusted is Trusted.OWNER,
        "lines that the change removes": thread is not None and thread.is_of_base,
        "outdated: these lines have changed since": is_outdated,
        f"about an older commit, {remark.sha[:7]}": remark.sha not in ("", head)
        and not is_outdated,
        "edited": remark.edited_at is not None,
    }
    about = [where if thread is None else _where(thread), _whose(remark.author)]
    return " · ".join([*about, *(fact for fact, is_so in facts.items() if is_so)])


def _where(thread: ReviewThread) -> str:
    return f"{named(thread.path, 200)}{thread.place} · thread {named(thread.id)}"


def unheard(conversation: PullConversation, points: Iterable[ReviewPoint]) -> list[str]:
    """A line for each unanswered thread that is none of the points: only the user hears strangers."""
    keys = {point.key for point in points}
    return [
        f"- {_where(thread)} · only people without write access wrote here; "
        f"ask the user to read it: {thread.shown[0].url}"
        for thread in conversation.unanswered
        if thread.id not in keys
    ]


def _whose(author: str) -> str:
    return named(author) if author else "a deleted account"


def brief(body: str) -> list[str]:
    """The first words of a remark's text, quoted."""
    text = short(" ".join(redact(body).split()), _IN_WAKE_BODY)
    return block(text) if text else []


def _hunk_lines(thread: ReviewThread | None) -> int:
    """How many lines of the diff are shown: all that the thread is about, within bounds."""
    if thread is None or thread.line is None or thread.start is None:
        return _HUNK_LINES
    return max(_HUNK_LINES, min(thread.line - thread.start + 1, _MOST_HUNK_LINES))


def _whole_point(point: ReviewPoint) -> list[str]:
    thread = point.thread
    remarks = thread.shown if thread is not None else (point.remark,)
    lines = [point.remark.url] if point.remark.url else []
    hunk = remarks[0].hunk
    if hunk:
        lines += ["The lines of the diff, down to the one commented on:"]
        lines += block("\n".join(hunk.split("\n")[-_hunk_lines(thread) :]))
    for at, remark in enumerate(remarks):
        if at == 1 and thread is not None and thread.left_out:
            lines.append(f"… {thread.left_out} remarks are not shown.")
        if remark.trusted is Trusted.STRANGER:
            lines.append("… a remark by somebody without write access is not shown.")
            continue
        who = "you" if remark.trusted is Trusted.OURS else _whose(remark.author)
        lines.append(f"{who}:")
        text = redact(remark.body)
        cut = len(text) - MOST_OF_BODY
        lines += block(text[:MOST_OF_BODY])
        lines += [f"  … {cut:,} more characters on GitHub."] if cut > 0 else []
    return lines
