"""What the page is drawn from: which worktree is at what place of it, and nothing twice."""

from __future__ import annotations

from typing import Any

from lifecycle.run.table import RunStatus
from lifecycle.storage.journal import JournalEntry
from lifecycle.storage.store import CLAIM_FILE
from lifecycle.views.web.web_page import render, values
from tests.views.web.web_ground import WebGround


def drawn(user: WebGround) -> dict[str, Any]:
    """What the templates are given for all of this user's worktrees."""
    return values(user.worktrees().look(), user.environment)


def test_what_is_over_stands_apart(user: WebGround) -> None:
    """A completed run is named below and is no card; a claim beside it makes it one."""
    over, live = user.clone("over"), user.clone("live")
    for ground in (over, live):
        ground.run(status=RunStatus.COMPLETED, completed=user.clock.now() - 60)
    live.claim(phase="coding")
    user.clone("idle")
    found = drawn(user)
    assert [card.clone for card in found["cards"]] == ["live"]
    assert [card.clone for card in found["over"]] == ["over"]
    (card,), (ended,) = found["cards"], found["over"]
    assert card.heading.startswith("#42")
    assert ended.heading == ended.overview.run.goal == card.overview.run.goal
    assert found["idle"] == [("~/src/idle", "main")]
    text = render("live.html", user.worktrees().look(), user.environment)
    assert "1 worktree whose work is over" in text


def test_what_cannot_be_read_is_not_said_to_wait_for_nobody(user: WebGround) -> None:
    """Calm is told of what was read alone."""
    whole, broken = user.clone("a"), user.clone("b")
    whole.claim(phase="coding")
    heading = "Nothing waits for you{}</h2>"
    text = render("live.html", user.worktrees().look(), user.environment)
    assert heading.format("") in text
    (broken.root / CLAIM_FILE).write_text("{")
    text = render("live.html", user.worktrees().look(), user.environment)
    assert heading.format(", as far as is read") in text


def test_a_number_that_is_no_moment_costs_no_worktree(user: WebGround) -> None:
    """An edited run may have milliseconds, or any number: its card is there, and all others are."""
    user.clone("whole").claim(phase="coding")
    for name, began in (
        ("milliseconds", user.clock.now() * 1000),
        ("far", 1e300),
        ("before", -1e300),
    ):
        user.clone(name).run(started=began)
    text = render("live.html", user.worktrees().look(), user.environment)
    assert text.count('class="card ') == 4


def test_a_journal_that_worktrees_share_is_told_once(user: WebGround) -> None:
    """The events of a clone stand there once; on a card are those of its own task alone."""
    main = user.clone("hello")
    main.claim(phase="coding", issue_number=42)
    other = user.linked(main, "hello-43")
    other.claim(phase="coding", issue_number=43)
    for number in range(6):
        main.moved(f"phase-{number}", 1_000.0 + number)
    main.note(JournalEntry(2_000.0, "claim", "write", "#43", target="status"))
    found = drawn(user)
    assert [(clone, one.task, one.at) for clone, one in found["events"]][:2] == [
        ("hello", "#43", 2_000.0),
        ("hello", "#42", 1_005.0),
    ]
    assert len(found["events"]) == 7
    events = {card.overview.claim.issue: card.events for card in found["cards"]}
    assert [one.at for one in events[42]] == [1_005.0, 1_004.0, 1_003.0]
    assert [one.at for one in events[43]] == [2_000.0]


def test_what_happened_in_one_moment_stands_newest_first_too(user: WebGround) -> None:
    """A phase that ended and the next one that began have the same moment: the later entry is above."""
    ground = user.clone("hello")
    for name in ("one", "two", "three"):
        ground.note(JournalEntry(1_000.0, "claim", "write", "#42", target=name))
    told = [event.what for _, event in drawn(user)["events"]]
    assert told == ["wrote: three", "wrote: two", "wrote: one"]


def test_what_waits_keeps_its_order_and_the_rest_its_place(user: WebGround) -> None:
    """The longest wait is first, one of an unknown time is last; other cards are by clone and path."""
    now = user.clock.now()
    for name, since in (("c", now - 10), ("a", 0.0), ("b", now - 3600)):
        said = {f"green:107:{'0' * 40}": since}
        ground = user.clone(name)
        ground.in_review(said if since else None, sha="0" * 40)
    for name in ("z", "x"):
        user.clone(name).claim(phase="coding")
    found = drawn(user)
    assert [card.clone for card, *_ in found["awaited"]] == ["b", "c", "a"]
    assert [card.clone for card in found["cards"]] == ["b", "c", "a", "x", "z"]
