"""Where a sweep reads what Status its issues have: on the board, in their labels, or nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lifecycle.core.errors import LifecycleError, MissingScope, NoPermission, NotFound, Unsupported
from lifecycle.core.values.model import BoardItem
from lifecycle.core.values.survey import Swept
from lifecycle.github.board.status_labels import labels_of
from lifecycle.github.client.nodes import Json, nodes
from lifecycle.github.failures.failures import AnswerProblem, AskedRequest
from lifecycle.github.pulls import translate
from lifecycle.github.sweep.sweep_nodes import swept

if TYPE_CHECKING:
    from lifecycle.github.board.board_client import ProjectRef
    from lifecycle.github.board.status_fallback import Choice
    from lifecycle.github.failures.failures import Failures

UNSEEN = (MissingScope, NoPermission, NotFound, Unsupported)
"""What says that the board cannot be read, as opposed to not now."""


class Sight:
    """What is asked of an issue besides itself, and what that shows: as `GitHubForge` has it for one.

    Args:
        project: the board, or None.
        choice: whether labels take its place; None if they never do.
    """

    def __init__(self, project: ProjectRef | None, choice: Choice | None) -> None:
        self._project = project
        self._choice = choice
        self._problem: str | None = None
        self._was_shown = False

    @property
    def asks_labels(self) -> bool:
        """True if an issue's labels are asked for."""
        return self._choice is not None and self._choice.uses_labels

    @property
    def asks_items(self) -> bool:
        """True if an issue's items on projects are asked for."""
        if self._project is None or self._problem is not None:
            return False
        return not self.asks_labels or (self._choice is not None and self._choice.is_due)

    @property
    def variables(self) -> dict[str, bool]:
        """For the fragment SurveyStatus."""
        return {"items": self.asks_items, "labels": self.asks_labels}

    def error_of(
        self, problems: Sequence[AnswerProblem], failures: Failures
    ) -> LifecycleError | None:
        """Why the items were not shown, if one of the problems says that."""
        for one in problems:
            if self.is_about_board(one):
                return failures.of_problem(one, AskedRequest(f"the board, {self._project}"))
        return None

    def is_about_board(self, problem: AnswerProblem) -> bool:
        """True if a problem is one of the board's, and not of the issue."""
        return problem.type == "INSUFFICIENT_SCOPES" or "projectItems" in problem.path

    def blindness(self, issues: Sequence[Json]) -> LifecycleError | None:
        """Why issues without a single card are no sight of the board; None if they may be one.

        Raises:
            Transient, BadCredentials: GitHub could not be asked.
        """
        if self._choice is None or not any(issues) or self._was_shown:
            return None
        if any(self._card(one) is not None for one in issues):
            self.shown()
            return None
        return None if self.asks_labels else self._choice.blindness()

    def shown(self) -> None:
        """The board was seen, which ends all doubt."""
        self._was_shown = True
        if self._choice is not None:
            self._choice.forget()

    def learn(self, error: LifecycleError) -> None:
        """The board cannot be read: labels from now on, if they may take its place."""
        if self._choice is None or not self._choice.gives_up(error):
            self._problem = error.sentence

    def swept(self, issue: Json) -> Swept:
        """An issue that was asked for with `variables`."""
        note = self._choice.note if self._choice is not None else None
        return swept(issue, self._item(issue), self._problem, note)

    def _item(self, issue: Json) -> BoardItem | None:
        if self._choice is not None and "labels" in issue and self._choice.uses_labels:
            return self._choice.names.item(int(issue["number"]), labels_of(issue))
        return self._card(issue)

    def _card(self, issue: Json) -> BoardItem | None:
        if self._project is None:
            return None
        items = nodes(issue, "projectItems")
        return translate.board_item_of(items, self._project.owner, self._project.number)
