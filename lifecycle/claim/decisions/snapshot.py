"""The input of every decision (`Snapshot`, with `Rules`) and its output (`Decision`), as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifecycle.claim.record.state import Record
from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.core.plan import Action, Notice, Wake
from lifecycle.core.values.model import Observation


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings that a decision depends on.

    Attributes:
        head_owner: owner of the repository that branches are pushed to; heads are `owner:branch`.
        base: the configured base branch; None or empty for the repository's default branch.
        has_board: a board is configured and was not found unreadable a moment ago.
        board_name: the board in words.
        poll_seconds: the seconds between two polls of the checks.
        closes_itself: a merge closes the issue without asking (`close = "auto"`).
        link: the word before the issue in a pull request's text, "Refs" or "Closes".
        auto_merge: GitHub should merge as soon as it may (`merge = "auto"` in the user's own settings).
        updates_branch: GitHub should merge the base into a green branch that must be up to date.
    """

    head_owner: str = ""
    base: str | None = None
    has_board: bool = False
    board_name: str = "the board"
    poll_seconds: float = 120.0
    closes_itself: bool = False
    link: str = "Refs"
    auto_merge: bool = False
    updates_branch: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """The next step of a claim.

    Attributes:
        record: the record to continue with, claim fields included, or None if it does not change.
        action: the one write to do next, or None if this look is finished.
        notices: what to say with this step.
    """

    record: Record | None = None
    action: Action | None = None
    notices: tuple[Notice, ...] = ()


NOTHING = Decision()
"""Nothing to do and nothing to say, as for nearly every task of a sweep: made once."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that a decision may look at.

    Attributes:
        wake: who asks for the look.
        now: seconds since the epoch.
        record: the claim as the engine remembers it.
        rules: the settings.
        hints: engine fields that somebody edited, until GitHub has judged them.
        observation: what this wake read from GitHub, or None if it read nothing.
        looked_at_checks: the observation included the checks.
        pushed_head: the commit that the remote-tracking ref of the claim's branch shows.
        left_out: how many commits of the claim's branch here the merged pull request does not have.
        failed: kinds of action that failed in this look, or are done once in it: none is tried again.
        answered_at: when a person last wrote a prompt; None if that was never, or before the question
            about closing was asked.
        hears_prompts: the hook on the user's prompts is installed.
        is_unheard: the wake is a hook of a client that is not served, where no yes can be heard.
        is_silent: nobody works on the task any more, as far as GitHub shows. A hook or a command is in
            itself a sign of life.
    """

    wake: Wake
    now: float
    record: Record
    rules: Rules = Rules()
    hints: Mapping[str, Any] = field(default_factory=dict)
    observation: Observation | None = None
    looked_at_checks: bool = False
    pushed_head: str | None = None
    left_out: int = 0
    failed: frozenset[str] = frozenset()
    answered_at: float | None = None
    hears_prompts: bool = False
    is_unheard: bool = False
    is_silent: bool = False
