"""GraphQL as a whole: documents that work, and documents that fail as they would on GitHub."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from gql import Client, GraphQLRequest
from gql.transport.exceptions import TransportQueryError
from gql.transport.requests import RequestsHTTPTransport

from lifecycle.sandbox.wire.graph.run import operation_of
from lifecycle.sandbox.wire.graph.schema.known import schema
from tests.graphql_texts import graphql_document

if TYPE_CHECKING:
    from collections.abc import Callable

    from requests import Response

    from lifecycle.sandbox.control import Control
    from lifecycle.sandbox.server import Sandbox

    Api = Callable[..., Response]
    Ask = Callable[..., Any]


def test_one_query_observes_a_claim(observe: Ask, control: Control) -> None:
    """The observing query sees the issue, its card, its comments and its pull request."""
    sha = control.push_commit("work", {"a.txt": "a"}, "Work")
    number = control.open_pull("work", "Work", body="Refs #42", by="octocat")
    control.comment(42, "Nice")
    control.assign(42, "sam")
    seen = observe(number)["data"]["repository"]
    issue, pull = seen["issue"], seen["byNumber"]
    assert (issue["state"], issue["stateReason"]) == ("OPEN", None)
    assert issue["assignees"]["nodes"] == [{"login": "sam"}]
    assert [one["body"] for one in issue["comments"]["nodes"]] == ["Nice"]
    assert issue["projectItems"]["nodes"][0]["status"]["name"] == "Todo"
    assert issue["projectItems"]["nodes"][0]["project"]["owner"] == {"login": "octo-org"}
    assert (pull["state"], pull["headRefOid"], pull["body"]) == ("OPEN", sha, "Refs #42")
    assert pull["statusCheckRollup"] is None
    assert [one["number"] for one in seen["byBranch"]["nodes"]] == [number]
    control.merge_pull(number)
    control.close_issue(42, reason="not_planned")
    after = observe(number)["data"]["repository"]
    assert after["byNumber"]["state"] == "MERGED"
    assert (after["issue"]["state"], after["issue"]["stateReason"]) == ("CLOSED", "NOT_PLANNED")


def test_mergeable_is_the_same_within_one_answer(observe: Ask, control: Control) -> None:
    """The first request says UNKNOWN wherever it asks; the next says what git found."""
    control.push_commit("work", {"README.md": "mine"}, "Work")
    number = control.open_pull("work", "Work")
    control.push_commit("main", {"README.md": "theirs"}, "Clash")
    answers = []
    for _ in range(2):
        seen = observe(number)["data"]["repository"]
        answers.append([seen["byNumber"]["mergeable"], seen["byBranch"]["nodes"][0]["mergeable"]])
    assert answers == [["UNKNOWN", "UNKNOWN"], ["CONFLICTING", "CONFLICTING"]]


def test_missing_things_are_null_beside_what_is_there(observe: Ask) -> None:
    """An issue that does not exist is NOT_FOUND with its path, and the rest of the answer stands."""
    answer = observe(0, issue=999)
    assert answer["data"]["repository"]["issue"] is None
    assert answer["data"]["repository"]["defaultBranchRef"] == {"name": "main"}
    (error,) = answer["errors"]
    assert error["type"] == "NOT_FOUND"
    assert error["path"] == ["repository", "issue"]
    assert error["message"] == "Could not resolve to an Issue with the number of 999."
    assert error["locations"]


def test_missing_repository_and_pull_request(observe: Ask, graphql: Ask) -> None:
    """Each is named in GitHub's words."""
    answer = observe(77)
    assert answer["data"]["repository"]["byNumber"] is None
    assert answer["errors"][0]["path"] == ["repository", "byNumber"]
    assert "PullRequest with the number of 77" in answer["errors"][0]["message"]
    gone = graphql("observe_branch", owner="octo-org", name="gone", branch="work")
    assert gone["data"] == {"repository": None}
    assert gone["errors"][0]["message"] == (
        "Could not resolve to a Repository with the name 'octo-org/gone'."
    )


def test_pull_request_number_is_not_an_issue(observe: Ask, control: Control) -> None:
    """Asked for as an issue, a pull request is NOT_FOUND."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    number = control.open_pull("work", "Work")
    assert observe(0, issue=number)["errors"][0]["type"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("query", "variables", "words"),
    [
        ("{ viewer { shoeSize } }", {}, "Field 'shoeSize' doesn't exist on type 'User'"),
        ("{ viewer { login }", {}, "Syntax Error"),
        ('query($n: Int!) { repository(owner: $n, name: "x") { id } }', {"n": 1}, "$n"),
        ('query($n: Int!) { node(id: "x") { id } }', {"n": 1}, "$n"),
        (
            'query($n: Int!) { repository(owner:"a", name:"b") { issue(number: $n) { id } } }',
            {"n": "one"},
            "$n",
        ),
    ],
)
def test_wrong_documents_are_errors_without_data(
    graphql: Ask, query: str, variables: dict[str, Any], words: str
) -> None:
    """A document that is wrong answers 200 with errors and no data, and runs nothing."""
    answer = graphql(query, **variables)
    assert "data" not in answer
    assert words in answer["errors"][0]["message"]


def test_unknown_field_has_github_code(graphql: Ask) -> None:
    """Tools recognise an unknown field by `extensions.code`."""
    (error,) = graphql("{ viewer { shoeSize } }")["errors"]
    assert error["extensions"] == {
        "code": "undefinedField",
        "typeName": "User",
        "fieldName": "shoeSize",
    }


def test_a_body_without_query(api: Api) -> None:
    """No query, no JSON, and a GET are each refused in their own way."""
    assert "query attribute" in api("POST", "/graphql", json={}).json()["errors"][0]["message"]
    assert api("POST", "/graphql", data=b"{oops").status_code == 400
    assert api("GET", "/graphql").status_code == 404


def test_fields_may_overlap(graphql: Ask) -> None:
    """GitHub does not enforce that overlapping fields can be merged, so neither does this."""
    text = """{ viewer { login } repository(owner: "octo-org", name: "hello-service") {
        pullRequests(first: 1) { nodes { state } } issue(number: 42) { state } } }"""
    assert graphql(text)["data"]["repository"]["issue"] == {"state": "OPEN"}


def test_gql_client_gets_partial_data(sandbox: Sandbox, control: Control) -> None:
    """The client that the product uses reads answers and partial data from here."""
    control.clear_requests()
    transport = RequestsHTTPTransport(
        url=sandbox.info.graphql_url,
        headers={"Authorization": f"bearer {sandbox.info.token}"},
        timeout=10,
    )
    document = graphql_document("observe_branch")
    given = {"owner": "octo-org", "name": "gone", "branch": "work"}
    with (
        Client(transport=transport) as session,
        pytest.raises(TransportQueryError) as caught,
    ):
        session.execute(GraphQLRequest(document, variable_values=given))
    assert caught.value.data == {"repository": None}
    (request,) = control.requests()
    assert (request.operation, request.kind, request.points) == ("ObserveBranch", "graphql", 1)


def test_operation_names_are_found_anywhere() -> None:
    """The log's operation is the request's, else the document's first, else nothing."""
    assert operation_of({"query": "query Look { viewer { login } }"}) == "Look"
    assert operation_of({"query": "query A { x } query B { x }", "operationName": "B"}) == "B"
    assert operation_of({"query": "{ viewer { login } }"}) is None
    assert operation_of({"query": "not graphql {"}) is None


def test_schema_is_built_once() -> None:
    """A second sandbox in a process does not parse the schema again."""
    assert schema() is schema()
