"""Where a sweep reads what Status its issues have: on the board, in their labels, or nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lifecycle.core.errors import LifecycleError, MissingScope, NoPermission, NotFound, Unsupported
from lifecycle.core.values.survey import Swept
from lifecycle.github.client.nodes import Json
from lifecycle.github.failures.failures import AnswerProblem, AskedRequest
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
        choice: whether labels take its place.
    """

    def __init__(self, project: ProjectRef | None, choice: Choice) -> None:
        self._project = project
        self._choice = choice
        self._problem: str | None = None
        self._was_shown = False

    @property
    def asks_labels(self) -> bool:
        """True if an issue's labels are asked for."""
        return self._choice.uses_labels

    @property
    def asks_items(self) -> bool:
        """True if an issue's items on projects are asked for."""
        if self._project is None or self._problem is not None:
            return False
        return not self.asks_labels or self._choice.is_due

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
        if not any(issues) or self._was_shown:
            return None
        if any(self._choice.card(one) is not None for one in issues):
            self.shown()
            return None
        return None if self.asks_labels else self._choice.blindness()

    def shown(self) -> None:
        """The board was seen, which ends all doubt."""
        self._was_shown = True
        self._choice.forget()

    def learn(self, error: LifecycleError) -> None:
        """The board cannot be read: labels from now on, if they may take its place."""
        if not self._choice.gives_up(error):
            self._problem = error.sentence

    def swept(self, issue: Json) -> Swept:
        """An issue that was asked for with `variables`."""
        return swept(issue, self._choice.item(issue), self._problem, self._choice.note)
