"""Send several writes as one GraphQL document: one request instead of one each.

GitHub executes the fields of a mutation one after the other, and continues after one that failed. So no
field may depend on an earlier one; results are told field by field.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lifecycle.core import plan
from lifecycle.core.errors import LifecycleError, NotFound, Rejected, StaleFields
from lifecycle.core.values.model import Observation
from lifecycle.github.board.board_client import SET_ALIASES, SET_FIELDS, GitHubBoard, variables_of
from lifecycle.github.client.client_common import part, word
from lifecycle.github.failures import AskedRequest
from lifecycle.github.pulls import translate

if TYPE_CHECKING:
    from lifecycle.github.client.graph import GraphClient, GraphReply

_FIELDS: dict[type[plan.Action], tuple[str, tuple[str, ...]]] = {
    plan.OpenPullRequest: ("open_pull_request", ("opened",)),
    plan.PostComment: ("comment_and_close", ("comment",)),
    plan.CloseIssue: ("comment_and_close", ("closed",)),
    plan.SetBoard: (SET_FIELDS, SET_ALIASES),
}
"""The document of each write, and its fields in that document."""

_SUBJECT = "several writes in one request"


class JointWrites:
    """Sends several actions in one request; fits `world.JointWriter`.

    Args:
        graph: GraphQL.
        board: the board, or None.
    """

    def __init__(self, graph: GraphClient, board: GitHubBoard | None) -> None:
        self._graph = graph
        self._board = board

    def send(
        self, actions: Sequence[plan.Action], seen: Observation, texts: Mapping[str, str]
    ) -> tuple[plan.Fact, ...]:
        """Send the actions in their order, once; return the fact of each, `Failed` for one that failed.

        Args:
            actions: at most one of each kind; a card only if its board is ready (`EitherBoard.is_ready`).
            seen: the observation that shows what they are about.
            texts: title and body of a pull request.

        Raises:
            Transient: ambiguous if some of the actions may have been done.
            LifecycleError: none of the actions was done.
        """
        documents = dict.fromkeys(_FIELDS[type(action)][0] for action in actions)
        issue = seen.issue.id if seen.issue is not None else ""
        variables: dict[str, Any] = {"repository": seen.writable, "issue": issue, **texts}
        variables |= {"text": "", "comments": False, "closes": False}
        for action in actions:
            variables |= self._given(action)
        reply = self._graph.together(tuple(documents), variables, subject=_SUBJECT)
        return tuple(self._fact(action, reply, variables) for action in actions)

    def _given(self, action: plan.Action) -> dict[str, Any]:
        match action:
            case plan.OpenPullRequest():
                return {"base": action.base, "head": action.head.partition(":")[2]}
            case plan.PostComment():
                return {"comments": True, "text": action.body}
            case plan.CloseIssue():
                return {"closes": True}

        schema = self._board.known if self._board is not None else None
        if schema is None or not isinstance(action, plan.SetBoard):
            raise Rejected("The board's ids are not known, so the card is written alone.")
        agent = "" if action.clear_agent else action.agent
        variables = variables_of(schema, action.item_id, status=action.status, agent=agent)
        if not variables:
            raise Rejected("The board has no field for what the card is to say.")
        return variables

    def _fact(self, action: plan.Action, reply: GraphReply, sent: Mapping[str, Any]) -> plan.Fact:
        """The fact that follows from an action."""
        try:
            return self._shown(action, reply, sent)
        except LifecycleError as error:
            return plan.Failed(action, error)

    def _shown(self, action: plan.Action, reply: GraphReply, sent: Mapping[str, Any]) -> plan.Fact:
        """The fact that an action's fields show; raises their error."""
        is_partly_done = any(part is not None for part in reply.data.values())
        asked = AskedRequest(_SUBJECT, is_write=True, is_partly_done=is_partly_done)
        aliases = _FIELDS[type(action)][1]
        problems = [each for each in reply.problems if each.path and each.path[0] in aliases]
        if any(len(problem.path) > 1 for problem in problems):
            # The write was done; only the requested data about it is missing.
            raise self._graph.failures.of_nonsense(asked)
        if problems:
            error = self._graph.failures.of_problems(problems, asked)
            if isinstance(action, plan.SetBoard) and isinstance(error, NotFound):
                # Written alone, the board finds out what is gone: the card, or an id of its own.
                error = StaleFields(error.sentence, evidence=error.evidence)
            raise error
        shown = part(reply.data, aliases[0])
        match action:
            case plan.OpenPullRequest() if part(shown, "pullRequest"):
                return plan.PullRequestOpened(translate.pull_request(part(shown, "pullRequest")))
            case plan.PostComment() if part(shown, "commentEdge.node"):
                return plan.Done(action)
            case plan.CloseIssue() if word(part(shown, "issue").get("state")) == "CLOSED":
                return plan.Done(action)
            case plan.SetBoard() if self._board is not None:
                item = self._board.item_after(reply.data, sent, action.status)
                return plan.BoardIs(item, action.status, "" if action.clear_agent else action.agent)
            case _:
                raise self._graph.failures.of_nonsense(asked)
