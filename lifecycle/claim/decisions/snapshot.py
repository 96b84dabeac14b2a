"""The input of every decision (`Snapshot`) and its output (`Decision`), as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lifecycle.claim.record.state import Record
from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.core.plan import Action, Notice, Wake
from lifecycle.core.values.configured import Settings
from lifecycle.core.values.model import Observation


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
        settings: what is configured.
        hints: engine fields that somebody edited, until GitHub has judged them.
        observation: what this wake read from GitHub, or None if it read nothing.
        looked_at_checks: the observation included the checks.
        has_board: a board is configured and was not found unreadable a moment ago.
        head_owner: owner of the repository that branches are pushed to, once it is needed; heads are
            `owner:branch`.
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
    settings: Settings
    hints: Mapping[str, Any] = field(default_factory=dict)
    observation: Observation | None = None
    looked_at_checks: bool = False
    has_board: bool = False
    head_owner: str = ""
    pushed_head: str | None = None
    left_out: int = 0
    failed: frozenset[str] = frozenset()
    answered_at: float | None = None
    hears_prompts: bool = False
    is_unheard: bool = False
    is_silent: bool = False
