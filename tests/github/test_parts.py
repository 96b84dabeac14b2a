"""Documents that are sent together, and those that a server does not know (documents)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import responses
from graphql import GraphQLSchema, OperationDefinitionNode, parse, specified_rules, validate

from lifecycle.core.errors import Unsupported
from lifecycle.core.timing import Deadline
from lifecycle.core.values.configured import Addresses
from lifecycle.github.client import graph
from lifecycle.github.client.graph import LACKING_SECONDS, GraphClient
from lifecycle.github.clients import GitHubClients
from lifecycle.github.pulls.translate import MERGING, REVIEWS
from tests.batches import each_row
from tests.docs import document_trees, ready_documents
from tests.github.hub import TOKEN, MemoryCache, PatientClock, sending
from tests.github.made_up import LIBRARIES
from tests.github.test_documents import RULES, schema
from tests.graphql_texts import graphql_documents

__all__ = ["schema"]

URL = "https://ghes.example/api/graphql"
PARTS = ("observe_board", "observe_labels")
VARIABLES = {
    "owner": "o", "name": "r", "issue": 42, "branch": "work", "number": 0,
    "byNumber": False, "checks": True, "comments": True,
    "lease": "refs/agent-claims/42", "leased": True,
}  # fmt: skip
DATA = {"repository": {"nameWithOwner": "o/r", "issue": {"number": 42}}}


@pytest.fixture
def mock() -> Iterator[responses.RequestsMock]:
    """Answers made up for a GitHub Enterprise Server."""
    with responses.RequestsMock() as found:
        yield found


@pytest.fixture
def cache() -> MemoryCache:
    """What outlives a process."""
    return MemoryCache()


def client(deadline: Deadline, cache: MemoryCache) -> GraphClient:
    """A client of one process."""
    return GraphClient(URL, sending(TOKEN, deadline, cache=cache, by_library=LIBRARIES))


def unknown(code: str, message: str, *path: str) -> dict[str, Any]:
    """What a server answers to a document of which it does not know something."""
    return {"errors": [{"path": list(path), "extensions": {"code": code}, "message": message}]}


NO_FIELD = unknown(
    "undefinedField",
    "Field 'projectItems' doesn't exist on type 'Issue'",
    "query ObserveClaim", "repository", "issue", "projectItems",
)  # fmt: skip


def combinations() -> list[tuple[str, ...]]:
    """Every set of documents that may be added to the observation."""
    return [c for n in range(len(PARTS) + 1) for c in itertools.combinations(PARTS, n)]


@pytest.mark.parametrize("parts", combinations(), ids="+".join)
def test_every_combination_is_valid_on_github(
    schema: GraphQLSchema, parts: tuple[str, ...]
) -> None:
    """What is sent as one operation is one for GitHub, too: one field of a name, each variable used."""
    text = graph.document("observe_claim", "observe_parts", *parts).text
    assert validate(schema, parse(text), RULES) == []
    assert text.count("repository(owner") == 1
    assert text.count("issue(number") == 1
    assert "subIssuesSummary" in text


@pytest.mark.parametrize(
    ("one", "other", "error"),
    [
        ("label_card", "read_thread", "node is asked for in two ways"),
        ("viewer", "add_board_item", "not one operation"),
    ],
)
def test_documents_that_do_not_fit_together_are_refused(one: str, other: str, error: str) -> None:
    """One field or fragment with two meanings is a defect that shows at once, not at a server."""
    with pytest.raises(ValueError, match=error):
        document_trees.merged(one, other)


@pytest.mark.parametrize("lacking", [*MERGING, REVIEWS])
def test_what_is_left_without_a_part_is_valid_on_github(
    schema: GraphQLSchema, lacking: str
) -> None:
    """What no look asks for is put together without a parser, and asks for the same as with one."""
    asked = ("observe_claim", "observe_board", *MERGING, REVIEWS, "discover_board")
    names = [name for name in asked if name != lacking]
    text = graph.document(*names).text
    assert validate(schema, parse(text), specified_rules) == []
    assert " ".join(names) not in graph._ready()["texts"]
    once = document_trees.merged(*names)
    assert {*re.findall(r"[\w.]+", text)} == {*re.findall(r"[\w.]+", once)}


@pytest.mark.parametrize(
    ("words", "blamed"),
    [
        ("Field 'projectItems' doesn't exist on type 'Issue'", ("observe_board",)),
        ("No such type ProjectV2Item, so it can't be a fragment condition", ("observe_board",)),
        ("Field 'projectItems' doesn't accept argument 'includeArchived'", ("observe_board",)),
        ("query ObserveClaim repository issue labels Field 'labels' doesn't exist",
         ("observe_labels",)),
        ("Field 'reviewDecision' doesn't exist on type 'PullRequest'", PARTS),
    ],
)  # fmt: skip
def test_what_a_server_does_not_know_is_found_in_its_document(
    words: str, blamed: tuple[str, ...]
) -> None:
    """By the names that only that document has; where nobody can tell, all of them may be it."""
    assert graph.blamed("observe_claim", PARTS, words) == blamed


def test_an_unknown_field_costs_one_request_and_its_own_document(
    deadline: Deadline, cache: MemoryCache, mock: responses.RequestsMock
) -> None:
    """The rest is answered; the next process does not ask for it, until a day has gone by."""
    mock.post(URL, json=NO_FIELD)
    mock.post(URL, json={"data": DATA})
    reply = client(deadline, cache).execute("observe_claim", VARIABLES, added=PARTS)
    assert reply.data == DATA
    assert list(reply.left_out) == ["observe_board"]
    assert "projectItems" in reply.left_out["observe_board"]
    assert len(mock.calls) == 2
    sent = str(mock.calls[1].request.body)
    assert "projectItems" not in sent
    assert "labels" in sent
    again = client(deadline, cache).execute("observe_claim", VARIABLES, added=PARTS)
    assert again.left_out == reply.left_out
    assert len(mock.calls) == 3
    clock = deadline.clock
    assert isinstance(clock, PatientClock)
    clock.moment += LACKING_SECONDS
    deadline.renew(30)
    client(deadline, cache).execute("observe_claim", VARIABLES, added=PARTS)
    assert "projectItems" in str(mock.calls[3].request.body)


def test_a_worktrees_clients_keep_what_a_server_lacks(
    deadline: Deadline, cache: MemoryCache, mock: responses.RequestsMock
) -> None:
    """The cache that they are given is GraphQL's, too: the next process asks once."""
    mock.post(URL, json=NO_FIELD)
    mock.post(URL, json={"data": DATA})
    addresses = Addresses("https://ghes.example/api/v3", URL)
    for requests in (2, 3):
        made = GitHubClients(addresses, sending(TOKEN, deadline, cache=cache, by_library=LIBRARIES))
        made.graph.execute("observe_claim", VARIABLES, added=PARTS)
        assert len(mock.calls) == requests


def test_another_server_is_asked(
    deadline: Deadline, cache: MemoryCache, mock: responses.RequestsMock
) -> None:
    """What one server lacks is not held against another."""
    mock.post(URL, json=NO_FIELD)
    mock.post(URL, json={"data": DATA})
    client(deadline, cache).execute("observe_claim", VARIABLES, added=PARTS)
    other = "https://other.example/api/graphql"
    mock.post(other, json={"data": DATA})
    found = GraphClient(other, sending(TOKEN, deadline, cache=cache, by_library=LIBRARIES))
    assert found.execute("observe_claim", VARIABLES, added=PARTS).left_out == {}


def test_a_server_that_lacks_the_claims_own_fields_is_said(
    deadline: Deadline, cache: MemoryCache, mock: responses.RequestsMock
) -> None:
    """Then nothing is left to leave out; and what was left out in vain is not remembered."""
    body = unknown("undefinedField", "Field 'reviewDecision' doesn't exist on type 'PullRequest'")
    mock.post(URL, json=body)
    with pytest.raises(Unsupported, match="reviewDecision"):
        client(deadline, cache).execute("observe_claim", VARIABLES, added=PARTS)
    assert len(mock.calls) == 2
    assert cache == {}


def test_variables_of_what_is_left_out_are_not_sent(
    deadline: Deadline, cache: MemoryCache, mock: responses.RequestsMock
) -> None:
    """A server need not bear with variables that its operation does not have."""
    mock.post(URL, json={"data": DATA})
    client(deadline, cache).execute("observe_claim", {**VARIABLES, "other": 1})
    assert '"other"' not in str(mock.calls[0].request.body)


def test_what_looks_send_together_is_ready() -> None:
    """No hook puts documents together: `ready.json` is what they give now; else: make docs."""
    assert ready_documents.PATH.read_text(encoding="utf-8") == ready_documents.written()


@pytest.mark.parametrize("parts", ready_documents.looks(), ids="+".join)
def test_every_look_that_is_ready_is_valid_on_github(
    schema: GraphQLSchema, parts: tuple[str, ...]
) -> None:
    """The text, its operation and its variables are what graphql-core reads in it."""
    found = graph.document("observe_claim", *parts)
    tree = parse(found.text)
    assert validate(schema, tree, RULES) == []
    (operation,) = [one for one in tree.definitions if isinstance(one, OperationDefinitionNode)]
    names = {one.variable.name.value for one in operation.variable_definitions or ()}
    assert found.variables == names
    assert not found.is_mutation


@each_row("path", graphql_documents(), ids=lambda path: path.stem)
def test_a_document_is_read_without_a_parser(path: Path) -> None:
    """Its operation, kind and variables are what graphql-core reads in it."""
    found = graph.document(path.stem)
    (operation,) = [
        one for one in parse(found.text).definitions if isinstance(one, OperationDefinitionNode)
    ]
    names = {one.variable.name.value for one in operation.variable_definitions or ()}
    kind = operation.operation.value == "mutation"
    assert operation.name is not None
    assert (found.operation, found.is_mutation) == (operation.name.value, kind)
    assert found.variables == names
