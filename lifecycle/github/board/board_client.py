"""One Projects v2 board: cached ids, and writes that are compared with GitHub's answer.

Only values of items are written: the mutation that edits a field would replace its options.
Source:
https://docs.github.com/issues/planning-and-tracking-with-projects/automating-your-project/using-the-api-to-manage-projects
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from lifecycle.core import errors
from lifecycle.core.light_dataclass import asdict, dataclass, from_json
from lifecycle.core.values.model import BoardBrief, BoardField, BoardItem, BoardSchema, Card
from lifecycle.github.auth.tokens import PEOPLES, kind_of
from lifecycle.github.client.client_common import Json, nodes, part, text
from lifecycle.github.failures import AskedRequest, sentence
from lifecycle.github.pulls import translate

if TYPE_CHECKING:
    from lifecycle.core.ports import Cache
    from lifecycle.github.client.graph import GraphClient, GraphReply
    from lifecycle.github.failures import Failures


T = TypeVar("T")

STATUS = "Status"
AGENT = "Agent"
SET_FIELDS, SET_ALIASES = "set_board_fields", ("status", "agent", "cleared")
"""The document that writes a card, and its fields in their order."""
IDS = "discover_board"
"""The document that shows the ids of a board, its fields and options."""
_PAGE_SECONDS = 1.0
_SAYING_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class ProjectRef:
    """A project as people name it: the login of its owner, user or organisation, and its number."""

    owner: str
    number: int

    def __str__(self) -> str:
        return f"project {self.number} of {self.owner}"

    def variables(self, after: str | None = None) -> dict[str, Any]:
        """The variables that name the board in a document; a look has an owner and a number besides."""
        return {"boardOwner": self.owner, "boardNumber": self.number, "after": after}

    def has(self, item: Json) -> bool:
        """True if an item is on this board; the case of its owner's login does not matter."""
        is_owners = text(item, "project.owner.login").casefold() == self.owner.casefold()
        return is_owners and self.number == part(item, "project").get("number")


class GitHubBoard:
    """A Projects v2 board, which `ports.Board` is about.

    Args:
        project: which board.
        graph: GraphQL.
        cache: keeps the ids of the project, its fields and options.
    """

    def __init__(self, project: ProjectRef, graph: GraphClient, cache: Cache) -> None:
        self.project = project
        self._graph = graph
        self._cache = cache

    def schema(self, *, refresh: bool = False) -> BoardSchema:
        """Ids of the project, its fields and options: cached, or read again on `refresh`.

        Raises:
            NotFound: there is no such owner or project, or the token may not see it.
            MissingScope: the token lacks the project scope.
        """
        known = None if refresh else self.known
        if known is not None:
            return known
        pages = [*self._pages(IDS, "fields", f"the board, {self.project}")]
        return self._kept(pages[-1], [field for page in pages for field in nodes(page, "fields")])

    def _kept(self, project: Json, fields: list[Json]) -> BoardSchema:
        """The ids in an answer, which are cached from now on."""
        schema = translate.board_schema(project, fields)
        self._cache.put(self._key, asdict(schema))
        return schema

    @property
    def known(self) -> BoardSchema | None:
        """The cached ids, None if they have to be read."""
        schema: BoardSchema | None = from_json(BoardSchema, self._cache.get(self._key))
        return schema

    def set_fields(self, item_id: str, *, status: str | None, agent: str | None) -> BoardItem:
        """Write Status and Agent in one request and return the item in the answer.

        `None` leaves a field unchanged; an empty `agent` clears it. If a board has no text field called
        Agent, its Status is still written, and the item's `agent` stays None. If the Status cannot be
        written, Agent is still cleared, or it would name somebody who is gone for good.

        Raises:
            UnknownOption: Status has no such option, or the board no such field.
            ItemArchived, ItemMissing: the card cannot be written.
            Rejected: GitHub accepted the value but shows another.
        """
        subject = f"the fields of a card on {self.project}"

        def write(schema: BoardSchema) -> BoardItem:
            variables = variables_of(schema, item_id, status=status, agent=agent)
            if not variables:
                return BoardItem(item_id)
            return self.item_after(self.ask(SET_FIELDS, variables, subject), variables, status)

        try:
            return self.with_schema(write)
        except errors.UnknownOption:
            if status is not None and agent == "":
                self.set_fields(item_id, status=None, agent="")
            raise

    def add(self, issue_id: str) -> BoardItem:
        """Put an issue on the board; if it is there already, return its item.

        Raises:
            NotFound: there is no such issue.
        """
        subject = f"adding the issue to {self.project}"

        def write(schema: BoardSchema) -> BoardItem:
            variables = {"project": schema.project_id, "content": issue_id}
            data = self.ask("add_board_item", variables, subject)
            asked, added = AskedRequest(subject, is_write=True), "addProjectV2ItemById"
            return self._graph.shaped(asked, lambda: translate.board_item(data[added]["item"]))

        return self.with_schema(write)

    def cards(self) -> tuple[Card, ...]:
        """Every item whose content is an issue, all pages, archived ones left out."""
        pages = self._pages("list_board_items", "items", f"the cards of {self.project}")
        return _cards(node for page in pages for node in _listed(page["items"]))

    def brief(self) -> BoardBrief:
        """Title and cards, page by page while there is time: one request for a hundred items.

        No id has to be known. A page after the first is begun only if a second is left, and requested once;
        half a second is always kept for the output.

        Raises:
            NotFound, MissingScope: as `schema`.
            Transient: not even the first page came.
        """
        with self._graph.deadline.keeping(_SAYING_SECONDS):
            first = self._page_of_cards(None)
            listed, after = _listed(first["items"]), self._next(first["items"])
            while after is not None and self._graph.deadline.left >= _PAGE_SECONDS:
                try:
                    items = self._page_of_cards(after)["items"]
                    after = self._next(items)
                except errors.Transient:
                    break  # the cards read so far are shown, and said to be a part
                listed += _listed(items)
        total = int(first["items"].get("totalCount") or 0)
        return BoardBrief(text(first, "title"), _cards(listed), total, after is None)

    def _page_of_cards(self, after: str | None) -> Json:
        """The project with one page of its items; only the first page is asked for again."""
        subject = f"the cards of {self.project}"
        ask = self._graph.read if after is None else self._graph.execute
        reply = ask("brief_board", self.project.variables(after), subject=subject)
        project = project_in(self.project, self._graph.failures, reply, subject)
        if not isinstance(project.get("items"), Mapping):
            raise self._graph.failures.of_nonsense(AskedRequest(subject))
        return project

    @property
    def _key(self) -> str:
        return f"board:{self.project.owner.casefold()}/{self.project.number}"

    def with_schema(self, act: Callable[[BoardSchema], T]) -> T:
        """Act with the known ids, and once more with fresh ones if they turn out to be stale."""
        known = self.known
        if known is not None:
            # The fresh ids show whether the ids or the request were wrong.
            with suppress(errors.StaleFields, errors.UnknownOption):
                return act(known)
        return act(self.schema(refresh=True))

    def _pages(self, name: str, key: str, subject: str) -> Iterator[Json]:
        """The project with each page of the list `key`; any hole is an error."""
        after = None
        while True:
            reply = self._graph.read(name, self.project.variables(after), subject=subject)
            project = project_in(self.project, self._graph.failures, reply, subject)
            if reply.problems or not isinstance(project.get(key), Mapping):
                raise self._graph.failures.of_problems(reply.problems, AskedRequest(subject))
            yield project
            after = self._next(project[key])
            if after is None:
                return

    def learn(self, data: Json) -> None:
        """Cache the board's ids if an answer contains them, and one page has all of them."""
        project = part(data, "repositoryOwner.projectV2")
        fields = part(project, "fields")
        if fields and not part(fields, "pageInfo").get("hasNextPage"):
            self._kept(project, nodes(project, "fields"))

    def item_after(self, data: Json, variables: Json, status: str | None) -> BoardItem:
        """The item after the last of the mutations: GitHub runs them in the written order.

        Args:
            data: their answers.
            variables: the variables that were sent (`variables_of`).
            status: the name of the Status that was written.

        Raises:
            Rejected: GitHub accepted a value but shows another.
            Transient: it shows nothing, so it may have been written.
        """
        payloads = [payload for alias in SET_ALIASES if (payload := data.get(alias))]
        shown = part(payloads[-1], "projectV2Item") if payloads else {}
        if not shown:
            subject = f"the fields of a card on {self.project}"
            raise self._graph.failures.of_nonsense(AskedRequest(subject, is_write=True))
        item = translate.board_item(shown)
        if variables["setStatus"]:
            demand_same(STATUS, item.status, status)
        if variables["setAgent"] or variables["clearAgent"]:
            demand_same(AGENT, item.agent, variables["agent"])
        return item

    def ask(self, name: str, variables: Json, subject: str) -> Json:
        """Send a document and return its data; a missing part of the answer is an error.

        Raises:
            ItemMissing, NotFound: GitHub does not know the item, or the issue, that the variables name.
            StaleFields: it does not know another id, so the schema is stale.
        """
        try:
            return self._graph.change(name, variables, subject=subject)
        except errors.NotFound as error:
            item = variables.get("item")
            if (item or variables["content"]) in error.evidence:
                absent = errors.ItemMissing if item else errors.NotFound
                gone = sentence("no-card-or-issue", subject=subject)
                raise absent(gone, evidence=error.evidence) from None
            stale = sentence("stale-ids", project=self.project)
            raise errors.StaleFields(stale, evidence=error.evidence) from None

    def _next(self, connection: Json) -> str | None:
        return self._graph.next_page(connection, f"the pages of {self.project}")


def project_in(project: ProjectRef, failures: Failures, reply: GraphReply, subject: str) -> Json:
    """The project in an answer; any missing part of the answer is an error.

    Raises:
        NotFound: there is no such owner or project, or the token may not see it.
    """
    for problem in reply.problems:
        if problem.type != "NOT_FOUND":
            raise failures.of_problem(problem, AskedRequest(subject))
    owner = reply.data.get("repositoryOwner")
    if not owner:
        raise errors.NotFound(sentence("no-boards-owner", project=project))
    if not owner.get("projectV2"):
        if kind_of(failures.token) in PEOPLES:
            unseen = sentence("no-board-for-people", project=project, gh=failures.gh)
            raise errors.NotFound(unseen)
        raise errors.NotFound(sentence("no-board", project=project))
    shown: Json = owner["projectV2"]
    return shown


def _listed(items: Json) -> list[Json]:
    """The items of one page, archived ones left out."""
    return [node for node in items.get("nodes") or [] if node and not node.get("isArchived")]


def _cards(listed: Iterable[Json]) -> tuple[Card, ...]:
    return tuple(card for node in listed if (card := translate.card(node)))


def variables_of(
    schema: BoardSchema, item_id: str, *, status: str | None, agent: str | None
) -> dict[str, Any]:
    """The variables that write Status and Agent, as for `set_fields`; empty if there is nothing to write.

    Raises:
        UnknownOption: Status has no such option, or the board no such field.
    """
    status_field, option = None, None
    if status is not None:
        # The page on which a person adds a field or an option.
        status_field, page = schema.field(STATUS), f"{schema.url}/settings"
        if status_field is None or not status_field.options:
            names = ", ".join(field.name for field in schema.fields) or "none"
            raise errors.UnknownOption(sentence("no-status", board=schema, page=page, names=names))
        option = option_of(status_field, status, page)
    agent_field = schema.field(AGENT)
    sets_agent, clears_agent = schema.has_agent and bool(agent), schema.has_agent and agent == ""
    if option is None and not (sets_agent or clears_agent):
        return {}
    return {
        "project": schema.project_id,
        "item": item_id,
        "statusField": status_field.id if status_field else "",
        "status": option or "",
        "setStatus": option is not None,
        "agentField": agent_field.id if agent_field and schema.has_agent else "",
        "agent": agent if sets_agent else "",
        "setAgent": sets_agent,
        "clearAgent": clears_agent,
    }


def option_of(field: BoardField, name: str, page: str = "") -> str:
    """The id of a field's option or iteration by its name; UnknownOption lists the existing ones.

    Args:
        field: a field of a board.
        name: the option's name; with a `page`, the option is required and cannot be another one.
        page: the page on which a person can add it.
    """
    option = field.option(name)
    if option is None:
        names = [option_name for option_name, _ in field.options]
        way = f"add it at {page}, beside" if page else "use one of"
        near = "" if page else errors.did_you_mean(name, names)
        words = {"way": way, "names": ", ".join(names), "near": near}
        raise errors.UnknownOption(sentence("no-option", field=field, name=name, **words))
    return option


def demand_same(name: str, shown: str | None, wanted: str | None) -> None:
    """Raise Rejected if the answer to a write shows another value than the one written.

    It is StaleFields if the answer shows none: the field may have another name by now.
    """
    if (shown or "").strip().casefold() != (wanted or "").strip().casefold():
        words = {"name": name, "wanted": wanted or "", "shown": shown or ""}
        differs = errors.Rejected if shown else errors.StaleFields
        raise differs(sentence("card-differs", **words), evidence=f"{name} is {shown!r}")
