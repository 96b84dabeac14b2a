"""Boards as a whole: making, changing, listing, linking, and who may see and change them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.sandbox.accounts.state import Token
from lifecycle.sandbox.boards.state import BoardTables
from lifecycle.sandbox.issues.state import IssueTables
from tests.sandbox.everything import ask, board, change, data, done, everything, field, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from lifecycle.sandbox.accounts.state import TokenKind
    from lifecycle.sandbox.repositories.state import World

SHOWN = "projectV2 { id number title closed public template readme shortDescription url }"
STATUS = "... on ProjectV2SingleSelectField { options { name } }"


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A private board of an organization with two members, and one of its admin's own."""
    made = everything(tmp_path)
    made.users["org"].members.remove(made.users["sam"])
    return made


def make(world: World, title: str = "Next", **given: Any) -> Any:
    """A new board of the organization."""
    owner = world.home.owner.node_id
    return done(world, "createProjectV2", SHOWN, ownerId=owner, title=title, **given)["projectV2"]


def test_a_new_board_has_the_fields_of_every_new_board(world: World) -> None:
    """It is private and open, has the next number of its owner, and Todo, In Progress, Done."""
    made = make(world)
    assert (made["number"], made["title"], made["closed"], made["public"]) == (
        2,
        "Next",
        False,
        False,
    )
    assert made["url"] == "http://here/orgs/org/projects/2"
    query = f"""query($id: ID!) {{ node(id: $id) {{ ... on ProjectV2 {{ fields(first: 50) {{
        nodes {{ ... on ProjectV2FieldCommon {{ name }} {STATUS} }} }} }} }} }}"""
    fields = data(world, query, id=made["id"])["node"]["fields"]["nodes"]
    assert [one["name"] for one in fields] == [
        "Title", "Assignees", "Status", "Labels", "Linked pull requests", "Milestone",
        "Repository", "Reviewers", "Parent issue", "Sub-issues progress",
    ]  # fmt: skip
    names = [option["name"] for option in fields[2]["options"]]
    assert names == ["Todo", "In Progress", "Done"]


def test_a_board_is_changed_and_closed(world: World) -> None:
    """What is given changes, the rest stays; closing has a time, reopening takes it away."""
    given: dict[str, Any] = {
        "title": "Now",
        "shortDescription": "Short",
        "readme": "Long",
        "public": True,
    }
    after = done(world, "updateProjectV2", SHOWN, projectId=board(world).id, **given)["projectV2"]
    assert after.items() >= given.items()
    for closed in (True, True, False):
        done(world, "updateProjectV2", SHOWN, projectId=board(world).id, closed=closed)
        assert (board(world).closed_at is not None) is closed
    assert board(world).title == "Now"
    answer = change(world, "updateProjectV2", SHOWN, projectId=board(world).id, title="")
    assert refusal(answer) == ("VALIDATION", "Title can't be blank")


def test_a_copy_has_the_fields_and_at_most_the_drafts(world: World) -> None:
    """Issues stay behind; drafts come with their values if they are wanted."""
    source = board(world)
    source.items[2].values[field(world, "Note").id] = "kept"
    for drafts, count in ((False, 0), (True, 1)):
        made = done(
            world, "copyProjectV2", "projectV2 { id items(first: 9) { totalCount } }",
            projectId=source.id, ownerId=world.home.owner.node_id, title="Copy",
            includeDraftIssues=drafts,
        )["projectV2"]  # fmt: skip
        assert made["items"]["totalCount"] == count
        twin = world.nodes[made["id"]]
        assert [f.name for f in twin.fields] == [f.name for f in source.fields]
        assert not {f.id for f in twin.fields} & {f.id for f in source.fields}
    assert list(twin.items[0].values.values()) == ["kept"]


def test_a_deleted_board_is_gone(world: World) -> None:
    """The board, its fields and its cards are no nodes any more; the issues stay."""
    gone = board(world)
    ids = [gone.id, gone.fields[0].id, gone.items[0].id, gone.items[2].content.node_id]
    done(world, "deleteProjectV2", "projectV2 { id }", projectId=gone.id)
    assert not set(ids) & world.nodes.keys()
    assert IssueTables.of(world.home).issues[1].node_id in world.nodes
    query = '{ organization(login: "org") { projectV2(number: 1) { id } } }'
    assert refusal(ask(world, query)) == (
        "NOT_FOUND",
        "Could not resolve to a ProjectV2 with the number 1.",
    )


def test_boards_are_linked_to_repositories_of_their_owner(world: World) -> None:
    """A linked board is found through the repository; one of another owner cannot be linked."""
    made, repo = make(world), world.home.node_id
    query = """{ repository(owner: "org", name: "app") { projectV2(number: 2) { title }
        projectsV2(first: 5) { nodes { number } } } }"""
    assert refusal(ask(world, query))[0] == "NOT_FOUND"
    name, shown = "linkProjectV2ToRepository", "repository { name }"
    done(world, name, shown, projectId=made["id"], repositoryId=repo)
    found = data(world, query)["repository"]
    assert found["projectV2"] == {"title": "Next"}
    assert found["projectsV2"]["nodes"] == [{"number": 2}, {"number": 1}]
    own = BoardTables.of(world).projects[1].id
    assert refusal(change(world, name, shown, projectId=own, repositoryId=repo)) == (
        "VALIDATION",
        "Only projects owned by the same owner as the repository can be linked.",
    )
    done(world, "unlinkProjectV2FromRepository", shown, projectId=made["id"], repositoryId=repo)
    assert refusal(ask(world, query))[0] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("arguments", "numbers"),
    [
        ("", [3, 2, 1]),
        (", orderBy: {field: TITLE, direction: ASC}", [3, 2, 1]),
        (", orderBy: {field: NUMBER, direction: ASC}", [1, 2, 3]),
        (', query: "is:open"', [3, 1]),
        (', query: "is:closed"', [2]),
        (', query: "-is:closed plan"', [1]),
        (', query: "alpha"', [3]),
        (", minPermissionLevel: ADMIN", [3, 2, 1]),
    ],
)
def test_boards_are_listed(world: World, arguments: str, numbers: list[int]) -> None:
    """By number, newest first, unless asked otherwise; `query` takes a state and words."""
    make(world, "Beta")
    make(world, "Alpha")
    done(
        world, "updateProjectV2", SHOWN, projectId=BoardTables.of(world).projects[2].id, closed=True
    )
    query = f"""{{ organization(login: "org") {{ projectsV2(first: 9{arguments}) {{
        nodes {{ number }} }} }} }}"""
    found = data(world, query)["organization"]["projectsV2"]["nodes"]
    assert [one["number"] for one in found] == numbers


def test_an_unknown_qualifier_is_an_error(world: World) -> None:
    """What GitHub may know and the sandbox does not is never ignored."""
    query = '{ organization(login: "org") { projectsV2(first: 9, query: "creator:ada") { totalCount } } }'
    assert "does not imitate 'creator'" in refusal(ask(world, query))[1]


def test_private_boards_do_not_exist_for_others(world: World) -> None:
    """Somebody outside sees nothing; on a public board they read, and are refused by name."""
    numbered = '{ organization(login: "org") { projectV2(number: 1) { title } } }'
    listed = '{ organization(login: "org") { projectsV2(first: 5) { totalCount } } }'
    cards = """{ repository(owner: "org", name: "app") { issue(number: 1) {
        projectItems(first: 5) { totalCount } } } }"""
    name, given = "updateProjectV2", {"projectId": board(world).id, "title": "Mine"}
    assert refusal(ask(world, numbered, token="s"))[0] == "NOT_FOUND"
    assert data(world, listed, token="s")["organization"]["projectsV2"]["totalCount"] == 0
    issue = data(world, cards, token="s")["repository"]["issue"]
    assert issue["projectItems"]["totalCount"] == 0
    assert refusal(change(world, name, SHOWN, token="s", **given))[0] == "NOT_FOUND"
    node = "query($id: ID!) { node(id: $id) { __typename } }"
    assert refusal(ask(world, node, token="s", id=board(world).items[0].id))[0] == "NOT_FOUND"
    board(world).is_public = True
    assert data(world, numbered, token="s")["organization"]["projectV2"] == {"title": "Plan"}
    assert refusal(change(world, name, SHOWN, token="s", **given)) == (
        "FORBIDDEN",
        "sam does not have the correct permissions to execute `UpdateProjectV2`",
    )


def test_people_are_given_roles(world: World) -> None:
    """A reader reads, a writer moves cards, only an admin deletes; NONE takes the role away."""
    shown = "collaborators(first: 5) { nodes { ... on User { login } } }"
    card = {"projectId": board(world).id, "itemId": board(world).items[0].id}
    seen = []
    for role in ("READER", "WRITER", "ADMIN", "NONE"):
        person = {"userId": world.users["sam"].node_id, "role": role}
        done(
            world, "updateProjectV2Collaborators", shown,
            projectId=board(world).id, collaborators=[person],
        )  # fmt: skip
        answers = [
            change(world, "archiveProjectV2Item", "item { id }", token="s", **card),
            change(world, "markProjectV2AsTemplate", SHOWN, token="s", projectId=board(world).id),
        ]
        seen.append(["".join(e["type"] for e in a.get("errors", ())) for a in answers])
    assert seen == [["FORBIDDEN", "FORBIDDEN"], ["", "FORBIDDEN"], ["", ""], ["NOT_FOUND"] * 2]


def test_members_write_what_their_organization_owns(world: World) -> None:
    """The base role of a board is to write; an organization's admins administer it."""
    world.users["org"].members.append(world.users["sam"])
    query = '{ organization(login: "org") { projectV2(number: 1) { viewerCanUpdate } } }'
    for token, may_delete in (("s", False), ("t", True)):
        found = data(world, query, token=token)["organization"]["projectV2"]
        assert found == {"viewerCanUpdate": True}
        answer = change(
            world, "deleteProjectV2", "projectV2 { id }", token=token, projectId=board(world).id
        )
        assert ("errors" not in answer) is may_delete


def give(world: World, kind: TokenKind, *scopes: str) -> None:
    """A token of another kind, `x`, for the organization's admin."""
    world.tokens["x"] = Token("x", world.users["ada"], kind, frozenset(scopes))


@pytest.mark.parametrize(
    ("kind", "scopes", "organizations", "own", "writing"),
    [
        ("fine-grained", ["organization_projects:write"], "", "FORBIDDEN", ""),
        ("fine-grained", ["organization_projects:read"], "", "FORBIDDEN", "FORBIDDEN"),
        ("fine-grained", ["issues:write"], "FORBIDDEN", "FORBIDDEN", "FORBIDDEN"),
        ("app", ["organization_projects:write"], "", "FORBIDDEN", ""),
        ("app", ["issues:write"], "FORBIDDEN", "FORBIDDEN", "FORBIDDEN"),
        ("actions", ["issues:write"], "NOT_FOUND", "NOT_FOUND", "NOT_FOUND"),
        ("classic", ["project"], "", "", ""),
        ("classic", ["read:project"], "", "", "INSUFFICIENT_SCOPES"),
        ("classic", ["repo"], "INSUFFICIENT_SCOPES", "INSUFFICIENT_SCOPES", "INSUFFICIENT_SCOPES"),
    ],
)
def test_what_each_kind_of_token_may(
    world: World, kind: TokenKind, scopes: list[str], organizations: str, own: str, writing: str
) -> None:
    """Tokens of permissions reach organizations' boards, Actions' reaches none, classic both."""
    give(world, kind, *scopes)
    query = "{ %s { projectV2(number: 1) { __typename } } }"
    answers = [
        ask(world, query % 'organization(login: "org")', token="x"),
        ask(world, query % 'user(login: "ada")', token="x"),
        change(
            world, "archiveProjectV2Item", "item { __typename }", token="x",
            projectId=board(world).id, itemId=board(world).items[0].id,
        ),
    ]  # fmt: skip
    found = ["".join({error["type"] for error in a.get("errors", ())}) for a in answers]
    assert found == [organizations, own, writing]


def test_a_fine_grained_token_converts_no_draft(world: World) -> None:
    """Whatever it may otherwise: cli/cli#8553."""
    give(world, "fine-grained", "organization_projects:write", "issues:write")
    answer = change(
        world, "convertProjectV2DraftIssueItemToIssue", "item { id }", token="x",
        itemId=board(world).items[2].id, repositoryId=world.home.node_id,
    )  # fmt: skip
    assert refusal(answer)[1] == "User does not have access to this repository"


def test_templates_are_of_organizations(world: World) -> None:
    """A user's own board cannot be one."""
    name, shown = "markProjectV2AsTemplate", "projectV2 { template }"
    assert done(world, name, shown, projectId=board(world).id)["projectV2"] == {"template": True}
    own = BoardTables.of(world).projects[1].id
    assert refusal(change(world, name, shown, projectId=own))[0] == "VALIDATION"
    off = done(world, "unmarkProjectV2AsTemplate", shown, projectId=board(world).id)
    assert off["projectV2"] == {"template": False}


def test_nobody_makes_boards_for_strangers(world: World) -> None:
    """An owner that one is no member of is refused by name."""
    owner = world.home.owner.node_id
    answer = change(world, "createProjectV2", SHOWN, token="s", ownerId=owner, title="Mine")
    assert refusal(answer) == (
        "FORBIDDEN",
        "sam does not have the correct permissions to execute `CreateProjectV2`",
    )
