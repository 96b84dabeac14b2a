"""Rules on writing: creating, closing, editing, labels, comments; a repeated write changes nothing."""

from __future__ import annotations

from typing import Any

from lifecycle.core.errors import Invalid
from lifecycle.core.tracker import TaskStatus
from lifecycle.trackers.conformance.case import CheckCase, demand, plain, refused, same

TEXTS = (
    "Grüße, 世界, 🎉, עברית",
    'It\'s "quoted", `ticked` and $(not run) $HOME %PATH% \\n \\',
    "--help",
    "-",
    "@file.txt",
    "- a list\n- of two\n\n    indented\n\n```sh\nmake test\n```",
    "<!-- a comment --> &amp; <b>bold</b> | {json: true} [x](y)",
    "line one\r\nline two\n\n\nafter a gap",
    "x" * 20_000,
)
"""Examples of what people and agents write."""


def texts_come_back_as_they_were(case: CheckCase) -> None:
    """Descriptions and comments keep any text; line ends and outer spaces do not count."""
    made = case.make()
    for number, text in enumerate(TEXTS):
        shown = case.two.get(case.make(f"Text {number}", description=text).id).description
        same(plain(shown), plain(text), f"the description made of text {number}")
        case.one.edit(made.id, description=text)
        shown = case.two.get(made.id).description
        same(plain(shown), plain(text), f"the description set to text {number}")
        case.one.comment(made.id, case.key(), text)
    texts = [plain(note.text) for note in case.two.list_comments(made.id)]
    same(texts, [plain(text) for text in TEXTS], "the comments")


def titles_come_back_as_they_were(case: CheckCase) -> None:
    """A title is one line of any characters, even if it looks like an option."""
    for text in TEXTS[:5]:
        same(case.two.get(case.make(text).id).title, text, "the title")
        other = case.make("Before")
        case.one.edit(other.id, title=text)
        same(case.two.get(other.id).title, text, "the title set")


def what_can_be_no_title_is_invalid(case: CheckCase) -> None:
    """Empty, blank, or several lines: Invalid, and nothing is created or changed."""
    made = case.make("As it was")
    for text in ("", "  ", "two\nlines"):
        refused(Invalid, f"create with the title {text!r}", case.make, text)
        refused(Invalid, f"edit to the title {text!r}", case.one.edit, made.id, title=text)
    same([task.title for task in case.one.list(label=case.label)], ["As it was"], "the tasks")


def what_can_be_no_key_is_invalid(case: CheckCase) -> None:
    """A key is hidden in texts: spaces, and characters that end a comment, are refused."""
    made, labels = case.make(), (case.label,)
    for key in ("", "a b", "a--b", "a>b", "a\nb"):
        create = case.one.create
        refused(Invalid, f"create with the key {key!r}", create, key, title="x", labels=labels)
        refused(Invalid, f"comment with the key {key!r}", case.one.comment, made.id, key, "x")
    same(len(case.one.list(label=case.label)), 1, "the number of tasks")
    same(case.one.list_comments(made.id), (), "the comments")


def creating_twice_makes_one(case: CheckCase) -> None:
    """A second call returns the first one's task in its present state, closed or from a new object."""
    key, labels = case.key(), (case.label,)
    made = case.one.create(key, title="First", labels=labels)
    case.one.edit(made.id, title="Edited")
    case.writes_nothing("the second create", case.one.create, key, title="Second", labels=labels)
    again = case.tracker(1).create(key, title="Third", labels=labels)
    same((again.id, again.title), (made.id, "Edited"), "what the second call gives")
    same(case.listed(), [made.id], "the tasks")
    case.one.close(made.id)
    again = case.one.create(key, title="Fourth", labels=labels)
    same((again.id, again.status), (made.id, TaskStatus.CLOSED), "what a call after the end gives")


def a_closed_task_says_why(case: CheckCase) -> None:
    """Every actor sees it closed, with the reason; a release keeps both, and closing it again, too."""
    made = case.claimed()
    reason = 'Fixed: it\'s "done".\nSee --all.'
    for task in (case.one.close(made.id, reason=reason), case.two.get(made.id)):
        same(task.status, TaskStatus.CLOSED, "the status")
        demand(not task.is_open, "a closed task says that it is open")
        same(plain(task.close_reason), plain(reason), "the reason")
    case.writes_nothing("closing again", case.two.close, made.id, reason="Other")
    case.one.release(made.id)
    shown = case.two.get(made.id)
    same(shown.status, TaskStatus.CLOSED, "the status after a release")
    same(plain(shown.close_reason), plain(reason), "the reason after closing again, and a release")


def a_reopened_task_is_nobodys(case: CheckCase) -> None:
    """It is open and ready, without assignee and reason, and another actor may claim and close it."""
    made = case.claimed()
    case.one.close(made.id, reason="Too early")
    for task in (case.one.reopen(made.id), case.two.get(made.id)):
        case.stands(task, TaskStatus.OPEN, "")
        same(task.close_reason, "", "the reason")
        demand(task.is_ready, "a reopened task is not ready")
    same(case.two.claim(made.id).assignee, case.holder(2), "the next assignee")
    case.two.close(made.id, reason="At last")
    same(plain(case.one.get(made.id).close_reason), "At last", "the reason")


def reopening_what_is_open_changes_nothing(case: CheckCase) -> None:
    """Its assignee stays the same."""
    made = case.claimed()
    case.writes_nothing("it", case.two.reopen, made.id)
    same(case.two.get(made.id).assignee, case.holder(1), "the assignee")


def an_edit_changes_what_it_names(case: CheckCase) -> None:
    """Title, description and priority, each alone; the rest stays, and a repetition writes nothing."""
    made = case.make("Old", description="Old text", priority=3, labels=(f"{case.label}-x",))
    wanted: dict[str, Any] = {"title": "Old", "description": "Old text", "priority": 3}
    for name, value in {"title": "New", "description": "New text", "priority": 0}.items():
        change: dict[str, Any] = {name: value}
        wanted |= change
        case.one.edit(made.id, **change)
        case.writes_nothing(f"the same edit of the {name}", case.one.edit, made.id, **change)
        shown = case.two.get(made.id)
        values = [shown.title, plain(shown.description), shown.priority]
        same(values, [*wanted.values()], f"the task after the edit of the {name}")
        demand({case.label, f"{case.label}-x"} <= set(shown.labels), "a label is lost")
    case.writes_nothing("an edit without a value", case.one.edit, made.id)
    same(case.one.edit(made.id).title, "New", "the title after an edit without a value")


def a_description_can_be_emptied(case: CheckCase) -> None:
    """An empty text is accepted, and the task's key stays known."""
    key = case.key()
    made = case.one.create(key, title="Emptied", description="Text", labels=(case.label,))
    case.one.edit(made.id, description="")
    same(case.two.get(made.id).description, "", "the description")
    again = case.one.create(key, title="Emptied", labels=(case.label,))
    same(again.id, made.id, "the task of the key")


def labels_are_added_and_removed(case: CheckCase) -> None:
    """Adding a label that is there, or removing one that is not, writes nothing."""
    made = case.make(labels=(f"{case.label}-a",))
    new, old = f"{case.label}-b", f"{case.label}-a"
    edited = case.one.edit_labels(made.id, add=(new,), remove=(old,))
    for labels in (edited.labels, case.two.get(made.id).labels):
        own = {name for name in labels if name.startswith(case.label)}
        same(own, {case.label, new}, "the labels")
    case.writes_nothing("the same edit", case.one.edit_labels, made.id, add=(new,), remove=(old,))


def what_can_be_no_label_is_invalid(case: CheckCase) -> None:
    """Empty, with a comma or a line break (a list could not ask for it), or added and removed at once."""
    made = case.make()
    for name in ("", "a,b", "a\nb"):
        refused(Invalid, f"the label {name!r}", case.one.edit_labels, made.id, add=(name,))
    labels = {"add": (f"{case.label}-c", case.label), "remove": (case.label,)}
    refused(Invalid, "a label that is added and removed", case.one.edit_labels, made.id, **labels)
    same(set(case.two.get(made.id).labels) - set(made.labels), set(), "new labels")


def labels_are_of_any_words(case: CheckCase) -> None:
    """With colons, spaces, slashes, leading dashes, and letters of any alphabet."""
    marks = ("area: a b ", "a/b#", "größe-", "--x-", "q'\"")
    names = tuple(f"{mark}{case.nonce}" for mark in marks)
    made = case.make()
    case.one.edit_labels(made.id, add=names)
    demand(set(names) <= set(case.two.get(made.id).labels), "a label is lost")
    for name in names:
        same([task.id for task in case.two.list(label=name)], [made.id], f"the list of {name!r}")
        same(case.ready(name), [made.id], f"what is ready of {name!r}")


def a_comment_is_posted_once(case: CheckCase) -> None:
    """One for each key: a second call posts none and keeps the text, also from a new object."""
    made, key = case.make(), case.key()
    first = case.one.comment(made.id, key, "First")
    case.writes_nothing("the second call", case.one.comment, made.id, key, "First")
    again = case.tracker(1).comment(made.id, key, "Changed")
    same((again.id, plain(again.text)), (first.id, "First"), "what the second call gives")
    case.one.comment(made.id, case.key(), "Second")
    notes = case.two.list_comments(made.id)
    same([plain(note.text) for note in notes], ["First", "Second"], "the comments")
    demand(all(note.author for note in notes), "a comment says nobody's name")
    same(len({note.id for note in notes}), 2, "the number of ids")
