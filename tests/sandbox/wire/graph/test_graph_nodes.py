"""Things by id, limits, introspection, and the words in which documents are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.sandbox.issues.state import IssueTables
from tests.sandbox.everything import ask, board, data, everything, refusal

if TYPE_CHECKING:
    from lifecycle.sandbox.repositories.state import World


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A world that is only read here."""
    return everything(tmp_path_factory.mktemp("world"))


def test_things_by_id_answer_each_for_itself(world: World) -> None:
    """`nodes` gives what is there, and null and an error with its place for each that is not."""
    issue, item = IssueTables.of(world.home).issues[1], board(world).items[0]
    query = """query($ids: [ID!]!) { nodes(ids: $ids) { __typename id
        ... on Issue { number } ... on ProjectV2Item { isArchived } } }"""
    answer = ask(world, query, ids=[issue.node_id, "I_x", item.id, "I_y"])
    assert answer["data"]["nodes"] == [
        {"__typename": "Issue", "id": issue.node_id, "number": 1},
        None,
        {"__typename": "ProjectV2Item", "id": item.id, "isArchived": False},
        None,
    ]
    assert [(e["type"], e["path"]) for e in answer["errors"]] == [
        ("NOT_FOUND", ["nodes", 1]),
        ("NOT_FOUND", ["nodes", 3]),
    ]
    assert answer["errors"][0]["message"] == (
        "Could not resolve to a node with the global id of 'I_x'."
    )


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/org", "Organization"),
        ("/org/app", "Repository"),
        ("/org/app/issues/1", "Issue"),
        ("/org/app/issues/999", None),
        ("/org/app/wiki", None),
        ("/org/nope", None),
    ],
)
def test_a_page_leads_to_what_it_shows(world: World, path: str, kind: str | None) -> None:
    """`resource` finds people, repositories and issues by their address; others are null."""
    web = data(world, "{ viewer { url resourcePath } }")["viewer"]
    start = web["url"].removesuffix(web["resourcePath"])
    query = "query($url: URI!) { resource(url: $url) { __typename } }"
    found = data(world, query, url=start + path)["resource"]
    assert found == (kind and {"__typename": kind})


def test_a_hundred_ids_and_no_more(world: World) -> None:
    """101 ids are one error and no data at all: sourcecred#908."""
    known = IssueTables.of(world.home).issues[1].node_id
    query = "query($ids: [ID!]!) { many: nodes(ids: $ids) { __typename } }"
    assert len(data(world, query, ids=[known] * 100)["many"]) == 100
    answer = ask(world, query, ids=[known] * 101)
    assert answer["data"] is None
    assert answer["errors"][0]["path"] == ["many"]
    assert refusal(answer) == (
        "ARGUMENT_LIMIT",
        "You may not provide more than 100 node ids; you provided 101.",
    )


def test_private_things_are_no_nodes_for_strangers(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """An issue and a comment of a private repository are NOT_FOUND for who may not see it."""
    world = everything(tmp_path_factory.mktemp("private"))
    world.home.visibility = "private"
    world.home.owner.members.remove(world.users["sam"])
    issue = IssueTables.of(world.home).issues[1]
    query = "query($id: ID!) { node(id: $id) { __typename } }"
    for thing in (world.home.node_id, issue.node_id, issue.comments[0].node_id):
        assert refusal(ask(world, query, token="s", id=thing))[0] == "NOT_FOUND"
        assert data(world, query, id=thing)["node"]


def test_a_query_says_what_it_costs(world: World) -> None:
    """`rateLimit` has this query's points and nodes, and what is left of the hour after it."""
    query = """{ rateLimit { cost limit nodeCount remaining resetAt used }
        repository(owner: "org", name: "app") { issues(first: 50) { nodes {
        comments(first: 10) { nodes { body } } } } } }"""
    found = data(world, query)["rateLimit"]
    assert (found["cost"], found["nodeCount"]) == (1, 550)
    assert found["used"] + found["remaining"] == found["limit"] == 5000
    assert found["resetAt"] == "2033-05-18T03:33:20Z"


def test_cost_is_by_the_hundred_connections(world: World) -> None:
    """A hundred issues' labels and comments are 201 connections, which is two points."""
    query = """{ rateLimit { cost } repository(owner: "org", name: "app") { issues(first: 100) {
        nodes { labels(first: 1) { nodes { name } } comments(first: 1) { nodes { body } } } } } }"""
    assert data(world, query)["rateLimit"]["cost"] == 2


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        (
            ("a: issues(first: 100) { nodes { comments(first: 100) { nodes { reactionGroups {"
            " users(first: 100) { nodes { login } } } } } } }"),
            ("By the time this query traverses to the users connection, it is requesting up to "
            "1,000,000 possible nodes which exceeds the maximum limit of 500,000."),
        ),
        (
            " ".join(
                f"a{n}: issues(first: 100) {{ nodes {{ comments(first: 100) {{ nodes {{ body }} }} }} }}"
                for n in range(50)
            ),
            ("This query requests up to 505,000 possible nodes which exceeds the maximum limit of "
            "500,000."),
        ),
    ],
)  # fmt: skip
def test_half_a_million_nodes_and_no_more(world: World, inner: str, words: str) -> None:
    """What could give more is refused before it runs, whether in one connection or in all."""
    query = f'{{ repository(owner: "org", name: "app") {{ {inner} }} }}'
    answer = ask(world, query)
    assert "data" not in answer
    assert refusal(answer) == ("MAX_NODE_LIMIT_EXCEEDED", words)


def test_a_count_alone_needs_no_page(world: World) -> None:
    """`totalCount` is given without `first`; nodes, edges and pageInfo are not."""
    query = '{ repository(owner: "org", name: "app") { issues { %s } } }'
    assert data(world, query % "totalCount")["repository"]["issues"]["totalCount"] >= 1
    for part in ("nodes { id }", "edges { cursor }", "pageInfo { endCursor }"):
        assert refusal(ask(world, query % part))[0] == "MISSING_PAGINATION_BOUNDARIES"


def test_fragments_aliases_directives_and_typenames(world: World) -> None:
    """The whole language works: named and inline fragments, aliases, @skip and @include."""
    query = """query($no: Boolean!, $id: ID!) {
        one: node(id: $id) { ...Known ... on Node { id @skip(if: $no) } }
        two: node(id: $id) @include(if: $no) { id }
        three: node(id: $id) { ... @include(if: true) { __typename } } }
        fragment Known on Issue { number labels(first: 1) { nodes { ...Named } } }
        fragment Named on Label { name }"""
    node = IssueTables.of(world.home).issues[1].node_id
    assert data(world, query, no=False, id=node) == {
        "one": {"number": 1, "labels": {"nodes": [{"name": "bug"}]}, "id": node},
        "three": {"__typename": "Issue"},
    }


def test_features_are_found_by_introspection(world: World) -> None:
    """`gh` asks which fields a type has, deprecated ones too; an unknown type is null."""
    query = """{ __schema { queryType { name } mutationType { name } }
        issue: __type(name: "Issue") { fields(includeDeprecated: true) { name } }
        gone: __type(name: "Shoe") { name }
        item: __type(name: "ProjectV2Item") { fields { name } }
        all: __type(name: "ProjectV2Item") { fields(includeDeprecated: true) { name isDeprecated } } }"""
    found = data(world, query)
    assert found["__schema"]["mutationType"] == {"name": "Mutation"}
    assert {"number", "title"} <= {one["name"] for one in found["issue"]["fields"]}
    assert found["gone"] is None
    deprecated = {one["name"] for one in found["all"]["fields"] if one["isDeprecated"]}
    assert deprecated == {"databaseId"}
    assert "databaseId" not in {one["name"] for one in found["item"]["fields"]}


def test_mutations_run_in_order_and_partly(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Each of several mutations sees what the ones before did; a failed one stops none."""
    world = everything(tmp_path_factory.mktemp("order"))
    card = f'projectId: "{board(world).id}", itemId: "{board(world).items[0].id}"'
    answer = ask(
        world,
        f"""mutation {{
        a: archiveProjectV2Item(input: {{{card}, clientMutationId: "1"}}) {{
            clientMutationId item {{ isArchived }} }}
        b: updateProjectV2ItemPosition(input: {{{card}}}) {{ clientMutationId }}
        c: unarchiveProjectV2Item(input: {{{card}}}) {{ clientMutationId item {{ isArchived }} }} }}""",
    )
    assert answer["data"] == {
        "a": {"clientMutationId": "1", "item": {"isArchived": True}},
        "b": None,
        "c": {"clientMutationId": None, "item": {"isArchived": False}},
    }
    assert [error["path"] for error in answer["errors"]] == [["b"]]


WRONG: list[tuple[str, dict[str, Any], str, str | None, list[str]]] = [
    (
        "{ viewer { shoeSize } }", {}, "Field 'shoeSize' doesn't exist on type 'User'",
        "undefinedField", ["query", "viewer", "shoeSize"],
    ),
    (
        "query Q { viewer { ...F } } fragment F on User { shoeSize }", {},
        "Field 'shoeSize' doesn't exist on type 'User'", "undefinedField",
        ["fragment F", "shoeSize"],
    ),
    (
        '{ me: viewer { login(loud: true) } }', {}, "Field 'login' doesn't accept argument 'loud'",
        "argumentNotAccepted", ["query", "me", "login", "loud"],
    ),
    (
        '{ node(id: "x") { ... on Shoe { size } } }', {},
        "No such type Shoe, so it can't be a fragment condition", "undefinedType",
        ["query", "node", "... on Shoe"],
    ),
    (
        "{ viewer }", {},
        ("Field must have selections (field 'viewer' returns User but has no selections. "
        "Did you mean 'viewer { ... }'?)"),
        "selectionMismatch", ["query", "viewer"],
    ),
    (
        "{ viewer { login { loud } } }", {},
        "Selections can't be made on scalars (field 'login' returns String but has selections)",
        "selectionMismatch", ["query", "viewer", "login"],
    ),
    (
        '{ repository(owner: "org") { id } }', {},
        "Field 'repository' is missing required arguments: name", "missingRequiredArguments",
        ["query", "repository"],
    ),
    (
        "query Q($unused: Int) { viewer { login } }", {},
        "Variable $unused is declared by Q but not used", "variableNotUsed", ["query Q"],
    ),
    (
        'query Q { node(id: $id) { id } }', {}, "Variable $id is used by Q but not declared",
        "variableNotDefined", ["query Q", "node", "id"],
    ),
    (
        "{ viewer { ...F } }", {}, "Fragment F was used, but not defined", "useAndDefineFragment",
        ["query", "viewer", "... F"],
    ),
    (
        "{ viewer { login } } fragment F on User { login }", {},
        "Fragment F was defined, but not used", "useAndDefineFragment", ["fragment F"],
    ),
    (
        "{ viewer { ... on Issue { id } } }", {},
        "Fragment on Issue can't be spread inside User", "cannotSpreadFragment",
        ["query", "viewer", "... on Issue"],
    ),
    (
        'mutation { archiveProjectV2Item(input: {itemId: "x"}) { item { id } } }', {},
        ("Argument 'projectId' on InputObject 'ArchiveProjectV2ItemInput' is required. "
        "Expected type ID!"),
        "missingRequiredInputObjectAttribute",
        ["mutation", "archiveProjectV2Item", "input"],
    ),
    (
        ('mutation { archiveProjectV2Item(input: {itemId: "x", projectId: "y", shoe: 1}) '
        "{ item { id } } }"),
        {}, "InputObject 'ArchiveProjectV2ItemInput' doesn't accept argument 'shoe'",
        "argumentNotAccepted", ["mutation", "archiveProjectV2Item", "input"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("query", "variables", "words", "code", "path"), WRONG)
def test_wrong_documents_are_refused_in_the_words_of_github(
    world: World, query: str, variables: dict[str, Any], words: str, code: str, path: list[str]
) -> None:
    """Each mistake has GitHub's sentence, its code, and the path to it; nothing runs."""
    answer = ask(world, query, **variables)
    assert "data" not in answer
    (error,) = answer["errors"]
    assert (error["message"], error["extensions"]["code"]) == (words, code)
    assert error["path"] == path
    assert error["locations"]


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("{ viewer { bioHTML } }", "the field 'User.bioHTML'"),
        ('{ viewer { avatarUrl(size: 1) } node(id: "x") { ... on Gist { id } } }', "the type 'Gist'"),
        ("{ codesOfConduct { id } }", "the field 'Query.codesOfConduct'"),
        (
            ('{ repository(owner: "a", name: "b") { projectsV2(first: 1) { nodes { '
            "workflows(first: 1) { totalCount } } } } }"),
            "the field 'ProjectV2.workflows'",
        ),
        (
            ('mutation { createProjectV2(input: {ownerId: "x", title: "y", teamId: "z"}) '
            "{ projectV2 { id } } }"),
            "the field 'teamId' of the input 'CreateProjectV2Input'",
        ),
        ("mutation { addStar(input: {starrableId: 1}) { starrable { id } } }",
         "the field 'Mutation.addStar'"),
    ],
)  # fmt: skip
def test_what_github_has_is_never_called_undefined(world: World, query: str, what: str) -> None:
    """The error names the sandbox, so that nobody learns here what is false there."""
    answer = ask(world, query)
    assert "data" not in answer
    messages = [error["message"] for error in answer["errors"]]
    assert f"The sandbox does not imitate {what} of GitHub's schema." in messages
    codes = {error["extensions"]["code"] for error in answer["errors"]}
    assert "undefinedField" not in codes


@pytest.mark.parametrize(
    ("kind", "value", "message", "problem"),
    [
        ("Int!", None, "Variable $v of type Int! was provided invalid value",
         {"path": [], "explanation": "Expected value to not be null"}),
        ("Int!", "one", "Variable $v of type Int! was provided invalid value",
         {"path": [], "explanation": 'Could not coerce value "one" to Int'}),
    ],
)  # fmt: skip
def test_wrong_values_of_variables(
    world: World, kind: str, value: Any, message: str, problem: dict[str, Any]
) -> None:
    """A variable's value is refused with its type and what is the matter with it."""
    query = f'query($v: {kind}) {{ user(login: "ada") {{ projectV2(number: $v) {{ id }} }} }}'
    (error,) = ask(world, query, v=value)["errors"]
    assert error["message"] == message
    assert error["extensions"] == {"value": value, "problems": [problem]}


def test_wrong_parts_of_variables(world: World) -> None:
    """Inside an input the way to the value is named; a field that GitHub knows names the sandbox."""
    query = (
        "mutation($v: CreateProjectV2Input!) { createProjectV2(input: $v) { clientMutationId } }"
    )
    good = {"ownerId": "x", "title": "y"}
    (error,) = ask(world, query, v={"ownerId": "x"})["errors"]
    assert error["message"].startswith("Variable $v of type CreateProjectV2Input! was provided")
    (error,) = ask(world, query, v={**good, "shoe": 1})["errors"]
    assert "Field is not defined on CreateProjectV2Input" in str(error["extensions"]["problems"])
    (error,) = ask(world, query, v={**good, "teamId": "T"})["errors"]
    assert error["message"].startswith("The sandbox does not imitate the field 'teamId'")
