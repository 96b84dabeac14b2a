"""What a finding's own steps do, in one sentence: neither more nor less than what is written.

The sentence tells somebody to do it, so that it reads alike before and after, and where it was not
allowed: "Set the Status from "In Progress" to "Done", clear the Agent, end the lease."
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from lifecycle.core import plan
from lifecycle.core.values.model import BoardItem
from lifecycle.reconcile.inferred import InferredTask

_COMMENT = "<!--"
"""From here on a line is not shown by GitHub."""


def sentence(actions: Sequence[plan.Action], task: InferredTask) -> str:
    """What these actions do to the task, "" if there is none.

    Args:
        actions: the writes that are planned, or were made, in their order; one that is there twice is
            told once.
        task: as it was before them.
    """
    parts: list[str] = []
    item = task.observation.item
    for action in dict.fromkeys(actions):
        parts += _parts(action, task, item)
        if isinstance(action, plan.SetBoard):
            item = _after(action, item)
    text = ", ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _parts(action: plan.Action, task: InferredTask, item: BoardItem | None) -> Iterator[str]:
    match action:
        case plan.OpenPullRequest():
            draft = "draft " if action.is_draft else ""
            yield f"open a {draft}pull request of {action.head.partition(':')[2]}"
        case plan.LinkPullRequest():
            line = action.line.partition(_COMMENT)[0].strip()
            yield f'add "{line}" to the text of PR #{action.number}'
        case plan.AddToBoard():
            yield f"put #{action.issue} on the board"
        case plan.SetBoard():
            yield from _card(action, item)
        case plan.PostComment():
            yield f"comment on #{action.issue}"
        case plan.CloseIssue():
            yield f"close #{action.issue}"
        case plan.Unassign():
            yield f"unassign {action.login}"
        case plan.ReleaseLease():
            who = task.hold.agent if task.hold is not None else ""
            yield f"end the lease of {who}" if who else "end the lease"
        case plan.ForgetClaim() | plan.SetLinked():
            return  # nothing of GitHub's
        case _:
            assert_never(action)


def _card(action: plan.SetBoard, item: BoardItem | None) -> Iterator[str]:
    """What changes on a card, or on the labels in its place, which name no agent."""
    before = item if item is not None else BoardItem(action.item_id)
    if action.status is not None and action.status != before.status:
        where = "Status label" if before.is_labels else "Status"
        yield _set(where, before.status, action.status)
    if before.is_labels:
        return
    if action.clear_agent:
        yield f'clear the Agent "{before.agent}"' if before.agent else "clear the Agent"
    elif action.agent and action.agent != before.agent:
        yield _set("Agent", before.agent, action.agent)


def _set(what: str, was: str | None, wanted: str) -> str:
    start = f' from "{was}"' if was else ""
    return f'set the {what}{start} to "{wanted}"'


def _after(action: plan.SetBoard, item: BoardItem | None) -> BoardItem:
    """The card once that is written."""
    before = item if item is not None else BoardItem(action.item_id)
    agent = None if action.clear_agent else action.agent or before.agent
    return BoardItem(before.id, action.status or before.status, agent)
