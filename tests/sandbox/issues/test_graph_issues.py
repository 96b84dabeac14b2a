"""Issues, labels and repositories over GraphQL, as gh and octokit ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.sandbox.seed import SeedMilestone, default_seed
from lifecycle.sandbox.server import Sandbox
from tests.sandbox.tokens import grant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from requests import Response

    from lifecycle.sandbox.control import Control

    Api = Callable[..., Response]
    Graph = Callable[..., Any]

REPOSITORY = 'repository(owner: "octo-org", name: "hello-service")'


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """The built-in world, with a milestone."""
    with Sandbox(default_seed().with_home(milestones=[SeedMilestone(1, "v1")])) as running:
        yield running


def inside(selection: str) -> str:
    """A query of the repository."""
    return f"{{ {REPOSITORY} {{ {selection} }} }}"


def ids(graphql: Graph) -> dict[str, str]:
    """The global ids that mutations take."""
    selection = """id issue(number: 42) { id } other: issue(number: 41) { id }
      bug: label(name: "bug") { id } milestone(number: 1) { id }
      assignableUsers(first: 10) { nodes { login id } }"""
    found = graphql(inside(selection))["data"]["repository"]
    people = {one["login"]: one["id"] for one in found["assignableUsers"]["nodes"]}
    things = {name: found[name]["id"] for name in ("issue", "other", "bug", "milestone")}
    return {**people, **things, "repo": found["id"]}


def change(graphql: Graph, name: str, answer: str, /, **given: Any) -> Any:
    """Run one mutation with its input as a variable; its payload."""
    kind = name[0].upper() + name[1:]
    document = f"mutation($input: {kind}Input!) {{ {name}(input: $input) {{ {answer} }} }}"
    done = graphql(document, input=given)
    assert "errors" not in done, done
    return done["data"][name]


def refusal(graphql: Graph, name: str, /, *, token: str | None = None, **given: Any) -> Any:
    """Run one mutation that fails; its error."""
    kind = name[0].upper() + name[1:]
    document = f"mutation($input: {kind}Input!) {{ {name}(input: $input) {{ clientMutationId }} }}"
    done = graphql(document, token=token, input=given)
    (error,) = done["errors"]
    assert done["data"][name] is None
    return error


def test_an_issue_from_start_to_end(graphql: Graph, api: Api) -> None:
    """Created with everything, edited, commented, closed with a reason, reopened: as REST sees it."""
    known = ids(graphql)
    made = change(
        graphql, "createIssue", "clientMutationId issue { id number url }",
        clientMutationId="mine", repositoryId=known["repo"], title="New", body="Text",
        labelIds=[known["bug"]], assigneeIds=[known["sam"]], milestoneId=known["milestone"],
        projectIds=[],
    )  # fmt: skip
    assert made["clientMutationId"] == "mine"
    number, node = made["issue"]["number"], made["issue"]["id"]
    seen = api("GET", f"issues/{number}").json()
    assert (seen["node_id"], seen["html_url"]) == (node, made["issue"]["url"])
    assert (seen["assignee"]["login"], seen["milestone"]["title"]) == ("sam", "v1")
    change(graphql, "updateIssue", "issue { id }", id=node, title="Newer", assigneeIds=[],
           milestoneId=None)  # fmt: skip
    edge = change(graphql, "addComment", "commentEdge { node { id url body author { login } } }",
                  subjectId=node, body="Hello")["commentEdge"]  # fmt: skip
    assert edge["node"]["author"]["login"] == "octocat"
    edited = change(graphql, "updateIssueComment", "issueComment { body }",
                    id=edge["node"]["id"], body="Hi")  # fmt: skip
    assert edited["issueComment"]["body"] == "Hi"
    closed = change(graphql, "closeIssue", "issue { closed state stateReason }", issueId=node,
                    stateReason="NOT_PLANNED")["issue"]  # fmt: skip
    assert closed == {"closed": True, "state": "CLOSED", "stateReason": "NOT_PLANNED"}
    opened = change(graphql, "reopenIssue", "issue { stateReason }", issueId=node)["issue"]
    assert opened["stateReason"] == "REOPENED"
    after = api("GET", f"issues/{number}").json()
    assert (after["title"], after["assignees"], after["milestone"]) == ("Newer", [], None)


def test_labels_and_people_of_issues_and_pull_requests(
    graphql: Graph, api: Api, control: Control
) -> None:
    """What is Labelable, Assignable and Lockable takes issues and pull requests alike."""
    known = ids(graphql)
    control.push_commit("work", {"a.txt": "a"}, "Work")
    number = control.open_pull("work", "Work")
    pull = api("GET", f"pulls/{number}").json()["node_id"]
    for node in (known["other"], pull):
        labelled = change(
            graphql, "addLabelsToLabelable", "labelable { labels(first: 5) { nodes { name } } }",
            labelableId=node, labelIds=[known["bug"]],
        )  # fmt: skip
        assert "bug" in [one["name"] for one in labelled["labelable"]["labels"]["nodes"]]
        change(graphql, "addAssigneesToAssignable", "clientMutationId", assignableId=node,
               assigneeIds=[known["maria"]])  # fmt: skip
        locked = change(graphql, "lockLockable", "lockedRecord { locked activeLockReason }",
                        lockableId=node, lockReason="TOO_HEATED")  # fmt: skip
        assert locked["lockedRecord"] == {"locked": True, "activeLockReason": "TOO_HEATED"}
        change(graphql, "unlockLockable", "clientMutationId", lockableId=node)
        change(graphql, "removeAssigneesFromAssignable", "clientMutationId", assignableId=node,
               assigneeIds=[known["maria"]])  # fmt: skip
        change(graphql, "removeLabelsFromLabelable", "clientMutationId", labelableId=node,
               labelIds=[known["bug"]])  # fmt: skip
    assert api("GET", f"issues/{number}").json()["labels"] == []


def test_who_may_not_is_told_which_mutation(graphql: Graph, sandbox: Sandbox) -> None:
    """A reader is FORBIDDEN with the mutation's name, a weak token with its own words."""
    known = ids(graphql)
    visitor = grant(sandbox, "visitor")
    given = {"labelableId": known["issue"], "labelIds": [known["bug"]]}
    error = refusal(graphql, "addLabelsToLabelable", token=visitor, **given)
    assert (error["type"], error["message"]) == (
        "FORBIDDEN",
        "visitor does not have the correct permissions to execute `AddLabelsToLabelable`",
    )
    weak = grant(sandbox, "octocat", "issues:read", kind="fine-grained")
    error = refusal(graphql, "closeIssue", token=weak, issueId=known["issue"])
    assert error["message"] == "Resource not accessible by personal access token"
    assert refusal(graphql, "closeIssue", issueId="I_nothing")["type"] == "NOT_FOUND"
    assert refusal(graphql, "closeIssue", issueId=known["repo"])["type"] == "NOT_FOUND"
    blank = refusal(graphql, "createIssue", repositoryId=known["repo"], title=" ")
    assert blank["type"] == "UNPROCESSABLE"


def test_pins_branches_and_sub_issues(graphql: Graph, api: Api) -> None:
    """Three issues can be pinned; a branch is made for one; a part shows in the whole's summary."""
    known = ids(graphql)
    for number in (42, 41, 43):
        node = api("GET", f"issues/{number}").json()["node_id"]
        assert change(graphql, "pinIssue", "issue { isPinned }", issueId=node)["issue"]["isPinned"]
    fourth = api("GET", "issues/44").json()["node_id"]
    assert "Maximum 3 pinned issues" in refusal(graphql, "pinIssue", issueId=fourth)["message"]
    change(graphql, "unpinIssue", "issue { isPinned }", issueId=known["issue"])
    oid = api("GET", "git/ref/heads/main").json()["object"]["sha"]
    linked = change(graphql, "createLinkedBranch", "linkedBranch { ref { name } }",
                    issueId=known["issue"], oid=oid)  # fmt: skip
    assert linked["linkedBranch"]["ref"]["name"] == "42-fix-race-condition-in-task-queue"
    change(
        graphql, "addSubIssue", "issue { id }", issueId=known["issue"], subIssueId=known["other"]
    )
    selection = """issue(number: 42) { isPinned subIssuesSummary { total completed }
      subIssues(first: 5) { nodes { number parent { number } } }
      linkedBranches(first: 5) { nodes { ref { name } } } }"""
    found = graphql(inside(selection))["data"]["repository"]["issue"]
    assert found["subIssues"]["nodes"] == [{"number": 41, "parent": {"number": 42}}]
    assert (found["isPinned"], found["subIssuesSummary"]["total"]) == (False, 1)
    assert len(found["linkedBranches"]["nodes"]) == 1


def test_a_transferred_issue_is_followed(graphql: Graph, api: Api, sandbox: Sandbox) -> None:
    """It gets a number of the other repository; its old address leads there."""
    known = ids(graphql)
    target = api("POST", "/orgs/octo-org/repos", json={"name": "other"}).json()["node_id"]
    moved = change(graphql, "transferIssue", "issue { number url repository { name } }",
                   issueId=known["issue"], repositoryId=target)["issue"]  # fmt: skip
    assert (moved["number"], moved["repository"]["name"]) == (1, "other")
    old = api("GET", "issues/42", allow_redirects=False)
    assert old.status_code == 301
    assert api("GET", "issues/42").json()["html_url"] == moved["url"]
    assert sandbox.site


def test_labels_are_made_and_changed(graphql: Graph, api: Api) -> None:
    """createLabel, updateLabel, deleteLabel; a name is there once; lists are searched and sorted."""
    known = ids(graphql)
    made = change(graphql, "createLabel", "label { id name }", repositoryId=known["repo"],
                  name="Ready", color="00ff00")["label"]  # fmt: skip
    taken = refusal(graphql, "createLabel", repositoryId=known["repo"], name="ready", color="0")
    assert taken["type"] == "UNPROCESSABLE"
    change(graphql, "updateLabel", "label { name }", id=made["id"], name="Steady")
    selection = """labels(first: 10, query: "stea") { totalCount nodes { name color url isDefault } }
      sorted: labels(first: 1, orderBy: {field: NAME, direction: ASC}) { nodes { name } }"""
    found = graphql(inside(selection))["data"]["repository"]
    assert [one["name"] for one in found["labels"]["nodes"]] == ["Steady"]
    assert found["sorted"]["nodes"] == [{"name": "bug"}]
    change(graphql, "deleteLabel", "clientMutationId", id=made["id"])
    assert api("GET", "labels/steady").status_code == 404


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("states: OPEN, labels: [\"bug\", \"documentation\"]", [42, 45]),
        ("filterBy: {assignee: \"sam\"}", [38, 39]),
        ("filterBy: {createdBy: \"sam\", states: [OPEN]}", [39, 44]),
        ("states: [CLOSED]", [36]),
        ("filterBy: {milestone: \"*\"}", []),
        ("orderBy: {field: CREATED_AT, direction: DESC}", [45, 44, 43, 42, 41, 39, 38, 36]),
    ],
)  # fmt: skip
def test_issues_of_a_repository(
    graphql: Graph, control: Control, arguments: str, expected: list[int]
) -> None:
    """Filters and order, without pull requests; one of the labels is enough."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    control.open_pull("work", "Work")
    selection = f"issues(first: 20, {arguments}) {{ totalCount nodes {{ number }} }}"
    found = graphql(inside(selection))["data"]["repository"]["issues"]
    assert [one["number"] for one in found["nodes"]] == expected
    assert found["totalCount"] == len(expected)


def test_classic_projects_are_over(graphql: Graph) -> None:
    """Cards of an issue fail with GitHub's sentence and take the issue along; lists are empty."""
    cards = "issue(number: 42) { title projectCards(first: 5) { totalCount } }"
    done = graphql(inside(f"projects(first: 5) {{ nodes {{ name }} }} {cards}"))
    assert done["data"]["repository"] == {"projects": {"nodes": []}, "issue": None}
    (error,) = done["errors"]
    assert error["path"] == ["repository", "issue", "projectCards"]
    assert error["message"].startswith("Projects (classic) is being deprecated")


def test_a_repository_tells_what_gh_wants_to_know(graphql: Graph) -> None:
    """Permissions, merge methods, owner, counts, and the branch that it begins with."""
    selection = """name owner { login } isPrivate visibility hasIssuesEnabled isEmpty
      isFork isArchived viewerPermission viewerCanAdminister mergeCommitAllowed
      viewerDefaultMergeMethod stargazerCount forkCount watchers { totalCount } parent { id }
      defaultBranchRef { name prefix target { __typename oid } } sshUrl url
      object(expression: "main:README.md") { ... on Blob { text byteSize } }
      mentionableUsers(first: 1) { totalCount }"""
    found = graphql(inside(selection))["data"]["repository"]
    assert (found["viewerPermission"], found["viewerCanAdminister"]) == ("WRITE", False)
    assert (found["isEmpty"], found["visibility"], found["parent"]) == (False, "PUBLIC", None)
    assert found["defaultBranchRef"]["target"]["__typename"] == "Commit"
    assert found["object"]["text"].startswith("# hello-service")
    assert found["sshUrl"].startswith("git@")


def test_accounts(graphql: Graph) -> None:
    """A user, an organization, what they own; nobody by that name is NOT_FOUND."""
    found = graphql("""{ user(login: "maria") {
        name isViewer organizations(first: 5) { nodes { login } } }
      organization(login: "octo-org") { membersWithRole(first: 5) { totalCount }
        repositories(first: 5, privacy: PUBLIC) { totalCount nodes { name } }
        teams(first: 5) { nodes { slug } } }
      viewer { isViewer url
        repositories(first: 5, ownerAffiliations: [ORGANIZATION_MEMBER]) { totalCount } } }""")
    data = found["data"]
    assert data["user"]["organizations"]["nodes"] == [{"login": "octo-org"}]
    assert data["organization"]["repositories"]["nodes"] == [{"name": "hello-service"}]
    assert data["viewer"]["repositories"]["totalCount"] == 1
    for query in ('{ user(login: "octo-org") { id } }', '{ organization(login: "maria") { id } }'):
        assert graphql(query)["errors"][0]["type"] == "NOT_FOUND"
