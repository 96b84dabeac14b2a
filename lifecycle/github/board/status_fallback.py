"""Choose where a task's Status is kept: on the board, or as labels if token or server cannot see it.

The choice follows from GitHub's answers and is remembered, so that the next look costs no extra request. A
board that can be read and written is always used; for one that cannot be written, the labels count until
it is tried again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from lifecycle.core.errors import LifecycleError, MissingScope, NoPermission, NotFound, Unsupported
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.values.model import LABELS_ITEM, BoardBrief, BoardItem, BoardSchema, Card
from lifecycle.github.auth.tokens import PEOPLES, kind_of
from lifecycle.github.board.board_client import GitHubBoard
from lifecycle.github.board.status_labels import PUT_ON, LabelsBoard, StatusLabels, labels_of
from lifecycle.github.client.client_common import Json, Keeper, nodes
from lifecycle.github.failures import AskedRequest, sentence
from lifecycle.github.pulls import translate

if TYPE_CHECKING:
    from lifecycle.core.ports import Cache, Clock
    from lifecycle.github.board.board_client import ProjectRef
    from lifecycle.github.failures import AnswerProblem, Failures

T = TypeVar("T")

AUTO, ALWAYS, NEVER = "auto", "always", "never"
REMEMBERED_SECONDS = 3600.0
"""Seconds until the board is asked for again; with another token, it is asked at once."""

BLIND = (MissingScope, NoPermission, Unsupported)
"""Errors that mean that the board cannot be seen."""


@dataclass(eq=False)
class Choice:
    """Decides where a task's Status is kept; readers and writers share one object.

    Args:
        project: the board, or None if none is configured.
        use: `auto` (labels if the board cannot be seen), `always`, or `never`.
        names: the names of the labels.
        tokens: the choice is remembered for the current token; no part of it is kept.
        cache: where the choice is remembered.
        clock: time.
        probe: reads the project itself, and raises if it is not shown; None if nobody can.
        follows_writes: False: a board that can be seen is used even if it cannot be written.
    """

    project: ProjectRef | None
    _use: str
    names: StatusLabels
    _tokens: Keeper
    _cache: Cache
    _clock: Clock
    _probe: Callable[[], object] | None = None
    follows_writes: bool = True
    _was_shown: bool = False
    _blind_until: float = 0.0
    _why_blind: str | None = None

    @property
    def _is_peoples(self) -> bool:
        return kind_of(self._tokens.current().value) in PEOPLES

    @property
    def problem(self) -> str | None:
        """A sentence on why the board cannot be read, if labels do not take its place."""
        return self._why_blind if self._was_blind else None

    @property
    def _was_blind(self) -> bool:
        """True if this process could not read the board within the hour."""
        return self._clock.now() < self._blind_until

    def item(self, issue: Json) -> BoardItem | None:
        """An issue's card, or its labels as one, if an answer has it; else None."""
        if "labels" in issue and self.uses_labels:
            return self.names.item(int(issue["number"]), labels_of(issue))
        return self.card(issue)

    def card(self, issue: Json) -> BoardItem | None:
        """The issue's item on the project, if an answer has it; else None."""
        if self.project is None:
            return None
        its = filter(self.project.has, nodes(issue, "projectItems"))
        return next(map(translate.board_item, its), None)

    @property
    def uses_labels(self) -> bool:
        """True if the Status is kept as labels."""
        return self._use == ALWAYS or self._remembered() is not None

    @property
    def is_doubted(self) -> bool:
        """True if labels are used only because the board could not be seen a while ago."""
        kept = self._remembered()
        return self._use != ALWAYS and kept is not None and not kept.get("writes")

    def refused_write(self, cache: Cache) -> str:
        """The error's sentence if a visible board could not be written (in this cache's memory), or ""."""
        kept = self._remembered(cache) or {}
        return str(kept.get("why")) if kept.get("writes") else ""

    @property
    def tries_board(self) -> bool:
        """True if the board is used, or has been doubted for so long that it is asked again, too."""
        is_due = self.is_doubted and self._is_over(self._remembered() or {})
        return is_due or not self.uses_labels

    @property
    def has_put_on(self) -> bool:
        """True if a label was added to an issue, perhaps to the one whose card is written."""
        return self._cache.get(PUT_ON) is not None

    @property
    def note(self) -> str | None:
        """Why labels are used instead of the board, as a sentence for a person; None if they are not."""
        kept = self._remembered()
        if kept is None or self._use == ALWAYS:
            return None
        name = self.names.name("In Progress")
        return sentence("labels-meanwhile", why=kept.get("why"), name=name)

    def gives_up(self, error: LifecycleError, *, writes: bool = False) -> bool:
        """True if this answer about the board means that labels are used from now on; it is remembered.

        Errors that a person can fix in the settings (such as a wrong number with a person's own token) and
        outages do not count. `writes`: the board can be seen but not written, so seeing it does not end
        the use of labels; it is tried again after an hour.
        """
        if self._use != AUTO or self.project is None or (writes and not self.follows_writes):
            return False
        # If a token may not see projects, GitHub says that there is none.
        is_hidden = isinstance(error, NotFound) and not self._is_peoples and not writes
        if not (isinstance(error, BLIND) or is_hidden):
            return False
        until = self._clock.now() + REMEMBERED_SECONDS
        why = {"why": error.sentence, "writes": writes, "until": until}
        self._cache.put(_KEY, self._mine() | why)
        return True

    def asks_board(self, *, insists: bool = False) -> bool:
        """True if an issue's items on projects are asked for; with `insists`, without the hour's wait."""
        if self.project is None or self.problem is not None:
            return False
        if self.is_doubted:
            return (insists or self.tries_board) and not self._was_blind
        return not self.uses_labels

    def error_of(self, problem: AnswerProblem, failures: Failures) -> LifecycleError:
        """Why the board was not shown, from the problem about it."""
        return failures.of_problem(problem, AskedRequest(f"the board, {self.project}"))

    def learn(self, error: LifecycleError) -> None:
        """Note that the board cannot be read: labels from now on, if they may take its place."""
        self._blind_until = self._clock.now() + REMEMBERED_SECONDS
        self._why_blind = None if self.gives_up(error) else error.sentence

    def shown(self) -> None:
        """Note that the board was seen, which ends all doubts."""
        self._was_shown = True
        if self.is_doubted:
            self._cache.put(_KEY, None)

    def blindness(self, issues: Iterable[Json | None]) -> LifecycleError | None:
        """Why issues without a single card do not show the board; None if they may.

        A token that is not a person's may silently get an empty list for every issue, as the token of
        Actions does, see https://github.com/blombard/move-to-next-iteration/issues/1. Then the project
        itself is read, once for a token that can see it.

        Raises:
            Transient, BadCredentials: GitHub could not be asked.
        """
        seen = [issue for issue in issues if issue]
        if any(self.card(issue) is not None for issue in seen):
            self.shown()  # each time: another process may have begun to doubt since
            return None
        is_believed = self._was_shown or self.uses_labels or self._is_peoples
        if not seen or is_believed or self._use != AUTO or self._probe is None:
            return None
        mine = self._mine()
        if self._cache.get(_SEEN) == mine:
            return None
        try:
            self._probe()
        except (*BLIND, NotFound) as error:
            return error
        self._cache.put(_SEEN, mine)
        return None

    def _mine(self) -> dict[str, object]:
        """The board and the token that the memory is about."""
        whose = hashlib.sha256(self._tokens.current().value.encode()).hexdigest()[:8]
        return {"of": str(self.project).casefold(), "token": whose}

    def _remembered(self, cache: Cache | None = None) -> dict[str, object] | None:
        """The memory about this board and this token, or None.

        "Cannot be seen" holds until it is seen: it is asked for again an hour later, and an empty answer
        does not count as seen. "Cannot be written" holds for an hour.
        """
        kept = (self._cache if cache is None else cache).get(_KEY)
        if self._use == NEVER or self.project is None or not isinstance(kept, dict):
            return None
        if not self._mine().items() <= kept.items():
            return None
        return None if kept.get("writes") and self._is_over(kept) else kept

    def _is_over(self, kept: dict[str, object]) -> bool:
        until = kept.get("until")
        return not isinstance(until, int | float) or self._clock.now() >= until


_KEY = "board_by_labels"
_SEEN = "board_was_shown"


@dataclass(eq=False)
class EitherBoard:
    """Fits `ports.Board`: the project while it can be seen, else the labels.

    A card is written in the place where it was read, which its id names.

    Args:
        choice: which of the two.
        project: the board, or None.
        labels: the labels.
    """

    _choice: Choice
    _project: GitHubBoard | None
    _labels: LabelsBoard

    def schema(self) -> BoardSchema:
        """Fields and options of the one in use."""
        return self._either(lambda board: board.schema())

    def write(
        self, issue: int, item_id: str, *, status: str | None, agent: str | None, standing: str = ""
    ) -> BoardItem:
        """Write an issue's Status where its card was read, and return the present card.

        If the board cannot be written, labels are used from then on, if allowed, which get `standing` if
        `status` is None. A label that was added before the board could be written is removed after it.

        Raises:
            LifecycleError: of the board or the labels; the write sets a value, so it may be repeated.
        """
        if self._project is None or item_id.startswith(LABELS_ITEM):
            return self._labels.put_on(issue, status)
        try:
            item = self._project.set_fields(item_id, status=status, agent=agent)
        except (MissingScope, NoPermission) as error:
            self._choice.gives_up(error, writes=True)
            if not self._choice.uses_labels:
                raise
            return self._labels.put_on(issue, status or standing or None)
        self._labels.take_back(issue)
        return item

    def is_ready(self, item_id: str) -> bool:
        """True if a card can be written without a read before it and without a write after it.

        An action that does not need the board does not wait for its read, and labels are not involved.
        """
        has_labels = self._choice.uses_labels or self._choice.has_put_on
        is_card = not item_id.startswith(LABELS_ITEM) and not has_labels
        return is_card and self._project is not None and self._project.known is not None

    def add(self, issue_id: str) -> BoardItem:
        """The issue's card; if it may not be added to the board, the labels are used, if allowed."""
        self.schema()  # a board that cannot be read is another problem
        return self._either(lambda board: board.add(issue_id), writes=True)

    def cards(self) -> tuple[Card, ...]:
        """Every card, all pages."""
        return self._either(lambda board: board.cards())

    def brief(self) -> BoardBrief:
        """Title and cards, page by page while there is time."""
        return self._either(lambda board: board.brief())

    def _either(self, act: Callable[[GitHubBoard | LabelsBoard], T], writes: bool = False) -> T:
        if self._project is not None and self._choice.tries_board:
            try:
                return act(self._project)
            except LifecycleError as error:
                if not self._choice.gives_up(error, writes=writes):
                    raise
        return act(self._labels)
