"""Board or labels: a token or a server that cannot see the board gets labels, and that is said.

Chosen by what GitHub answered and remembered, so that the next look costs nothing more. A board that
can be read is always the one that is kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from lifecycle.errors import LifecycleError, MissingScope, NoPermission, NotFound, Unsupported
from lifecycle.github.access import PEOPLES, kind_of
from lifecycle.github.labels import StatusLabels
from lifecycle.model import LABELS_ITEM, BoardBrief, BoardItem, BoardSchema, Card
from lifecycle.ports import Board, Cache, Clock

if TYPE_CHECKING:
    from lifecycle.github.board import ProjectRef

T = TypeVar("T")

AUTO, ALWAYS, NEVER = "auto", "always", "never"
REMEMBERED_SECONDS = 3600.0
"""For how long the board is not asked for again; another token asks at once."""


class Choice:
    """Where a task's Status is kept. Shared by whoever reads it and whoever writes it.

    Args:
        project: the board, or None if none is configured.
        use: `auto` (labels where the board cannot be seen), `always`, or `never`.
        names: what the labels are called.
        token: what is remembered is remembered of this token; no part of it is kept.
        cache: where it is remembered.
        clock: time.
    """

    def __init__(
        self,
        project: ProjectRef | None,
        use: str,
        names: StatusLabels,
        token: str,
        cache: Cache,
        clock: Clock,
    ) -> None:
        self.project = project
        self.names = names
        self._use = use
        self._kind = kind_of(token)
        self._whose = hashlib.sha256(token.encode()).hexdigest()[:8]
        self._cache = cache
        self._clock = clock

    @property
    def uses_labels(self) -> bool:
        """True if the Status is kept as labels."""
        return self._use == ALWAYS or self._remembered() is not None

    @property
    def is_doubted(self) -> bool:
        """True if labels are used only because the board could not be seen a while ago."""
        return self._use != ALWAYS and self._remembered() is not None

    @property
    def note(self) -> str | None:
        """Why labels are used instead of the board, as a sentence for a person; None if they are not."""
        why = self._remembered()
        if why is None or self._use == ALWAYS:
            return None
        return (
            f"{why} Until then the Status is kept as labels of the issue "
            f'("{self.names.name("In Progress")}"); labels.use = "never" in .lifecycle.toml leaves it.'
        )

    def gives_up(self, error: LifecycleError) -> bool:
        """True if, after this answer about the board, labels are used; it is remembered then.

        What a person can mend in the settings (a wrong number, seen by a person's own token) is no
        reason, and neither is an outage.
        """
        if self._use != AUTO or self.project is None:
            return False
        is_blind = isinstance(error, (MissingScope, NoPermission, Unsupported))
        # To a token that may not see projects GitHub says that there is none.
        is_hidden = isinstance(error, NotFound) and self._kind not in PEOPLES
        if not (is_blind or is_hidden):
            return False
        entry = {
            "of": str(self.project).casefold(),
            "token": self._whose,
            "until": self._clock.now() + REMEMBERED_SECONDS,
            "why": error.sentence,
        }
        self._cache.put(_KEY, entry)
        return True

    def forget(self) -> None:
        """The board was seen after all."""
        if self._remembered() is not None:
            self._cache.put(_KEY, None)

    def _remembered(self) -> str | None:
        kept = self._cache.get(_KEY)
        if self._use == NEVER or self.project is None or not isinstance(kept, dict):
            return None
        is_this = kept.get("of") == str(self.project).casefold() and kept["token"] == self._whose
        return str(kept["why"]) if is_this and self._clock.now() < float(kept["until"]) else None


_KEY = "board_by_labels"


class EitherBoard:
    """Fits `ports.Board`: the project while it can be seen, else the labels.

    A card is written where it was read: its id says where that was.

    Args:
        choice: which of the two.
        project: the board.
        labels: the labels.
    """

    def __init__(self, choice: Choice, project: Board, labels: Board) -> None:
        self._choice = choice
        self._project = project
        self._labels = labels

    def schema(self, *, refresh: bool = False) -> BoardSchema:
        """Fields and options, as the one in use has them."""
        return self._either(
            lambda: self._project.schema(refresh=refresh),
            lambda: self._labels.schema(refresh=refresh),
        )

    def set_fields(
        self, item_id: str, *, status: str | None, agent: str | None, clear_agent: bool = False
    ) -> BoardItem:
        """Write the card where it was read."""
        board = self._labels if item_id.startswith(LABELS_ITEM) else self._project
        return board.set_fields(item_id, status=status, agent=agent, clear_agent=clear_agent)

    def add(self, issue_id: str) -> BoardItem:
        """The issue's card."""
        return self._either(lambda: self._project.add(issue_id), lambda: self._labels.add(issue_id))

    def cards(self) -> tuple[Card, ...]:
        """Every card, all pages."""
        return self._either(self._project.cards, self._labels.cards)

    def brief(self) -> BoardBrief:
        """Title and cards, page by page while there is time."""
        return self._either(self._project.brief, self._labels.brief)

    def _either(self, project: Callable[[], T], labels: Callable[[], T]) -> T:
        if self._choice.uses_labels:
            return labels()
        try:
            return project()
        except LifecycleError as error:
            if not self._choice.gives_up(error):
                raise
        return labels()
