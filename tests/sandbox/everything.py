"""A world with one of everything that GraphQL can show, and an example of every mutation.

Whoever adds a type adds a thing of it here; whoever adds a mutation adds an example.
"""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lifecycle.sandbox.boards.state import BoardTables
from lifecycle.sandbox.checks.state import Annotation, CheckTables, Step
from lifecycle.sandbox.git.store.objects import write_tag
from lifecycle.sandbox.git.store.repository import Signature
from lifecycle.sandbox.issues.state import IssueTables
from lifecycle.sandbox.pulls.state import PullTables
from lifecycle.sandbox.seed import parse_seed
from lifecycle.sandbox.seed.dumping import seed_of
from lifecycle.sandbox.seed.founding.world import make_world
from lifecycle.sandbox.wire.call import Call
from lifecycle.sandbox.wire.graph.run import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lifecycle.sandbox.boards.state import Field, Project
    from lifecycle.sandbox.repositories.state import World
    from lifecycle.sandbox.seed import Seed

SEED = """
users:
- {login: ada, role: admin}
- {login: sam, role: write}
- {login: "robot[bot]", role: read, kind: bot}
organizations:
- {login: org, members: [ada, sam]}
tokens:
- {token: t, user: ada, scopes: [repo, project, read:org]}
- {token: s, user: sam, scopes: [repo, project]}
repositories:
- name: org/app
  topics: [queue]
  branches:
  - name: work
    commits: [{message: Work, files: {a.txt: "a\\n"}}]
  - {name: queued, commits: [{message: Queued, files: {q.txt: "q"}}]}
  - {name: shut, commits: [{message: Shut, files: {s.txt: "s"}}]}
  - {name: stable}
  - {name: main, commits: [{message: Meanwhile, files: {m.txt: "m"}}]}
  protections:
  - {pattern: main, contexts: [test], strict: true, approvals: 1, merge_queue: true}
  - {pattern: stable, contexts: [test], approvals: 1, merge_queue: true, ruleset_id: 77, name: Stable}
  plans:
  - {name: test, workflow: CI}
  - {name: alone, workflow: null}
  - {context: ci/old}
  labels: [{name: bug, color: ff0000, description: It is broken}]
  milestones: [{number: 1, title: First, due_on: 2026-12-01T00:00:00Z, creator: ada}]
  issues:
  - number: 1
    title: One
    body: The first
    author: ada
    labels: [bug]
    assignees: [sam]
    milestone: 1
    comments: [{author: sam, body: Hm}, {author: "robot[bot]", body: Beep}]
    events:
    - {kind: assigned, actor: ada, about: {assignee: {user: sam}}}
    - {kind: unassigned, actor: ada, about: {assignee: {user: sam}}}
    - {kind: closed, actor: ada, about: {state_reason: completed, closer: {issue: 3}}}
    - {kind: reopened, actor: ada}
    - {kind: connected, actor: ada, about: {issue: {issue: 3}}}
    - {kind: disconnected, actor: ada, about: {issue: {issue: 3}}}
  - {number: 2, title: Two, state: closed, closed_by: ada, parent: 1, blocked_by: [1]}
  - {number: 6, title: Six}
  - {number: 7, title: Seven, parent: 1}
  pulls:
  - number: 3
    title: Three
    head: work
    body: "Closes #1"
    author: sam
    labels: [bug]
    assignees: [sam]
    milestone: 1
    requested_reviewers: [sam]
    reviews: [{author: ada, state: APPROVED, body: Good}]
    threads:
    - path: a.txt
      line: 1
      comments: [{author: ada, body: Why}]
  - number: 4
    title: Four
    head: queued
    author: sam
    reviews: [{author: ada, state: PENDING, body: Hm}]
    auto_merge: {enabled_by: ada, enabled_at: 2026-01-01T00:00:00Z, method: squash}
    queue_entry: {enqueuer: ada, enqueued_at: 2026-01-01T00:00:00Z}
    events:
    - {kind: added_to_merge_queue, actor: ada}
    - {kind: removed_from_merge_queue, actor: ada, about: {reason: failed_checks}}
    - {kind: merged, actor: ada}
  - {number: 5, title: Five, head: shut, author: sam, state: closed}
- {name: org/other}
projects:
- number: 1
  title: Plan
  creator: ada
  short_description: What we plan
  fields:
  - {name: Title, type: TITLE}
  - {name: Assignees, type: ASSIGNEES}
  - {name: Status, type: SINGLE_SELECT, options: [Todo, Done]}
  - {name: Labels, type: LABELS}
  - {name: Linked pull requests, type: LINKED_PULL_REQUESTS}
  - {name: Milestone, type: MILESTONE}
  - {name: Repository, type: REPOSITORY}
  - {name: Reviewers, type: REVIEWERS}
  - {name: Parent issue, type: PARENT_ISSUE}
  - {name: Sub-issues progress, type: SUB_ISSUES_PROGRESS}
  - {name: Note, type: TEXT}
  - {name: Points, type: NUMBER}
  - {name: Due, type: DATE}
  - name: Sprint
    type: ITERATION
    iterations:
    - {title: Past, start: 2026-01-05, duration: 14, completed: true}
    - {title: Now, start: 2026-01-19, duration: 14}
  items:
  - issue: 1
    values: {Status: Todo, Note: Soon, Points: 2.5, Due: 2026-12-24, Sprint: Now}
  - {issue: 3, values: {Status: Done}}
  - draft: {title: Maybe, body: Some day, creator: ada, assignees: [sam]}
  - {issue: 2, archived: true}
- {number: 1, title: Own, owner: ada, creator: ada, repositories: [], fields: [{name: Title, type: TITLE}]}
"""
TOKEN = "t"


_made: dict[str, tuple[Seed, Path]] = {}
"""What the first call made: git takes long, copying it does not."""


def everything(folder: Path) -> World:
    """A fresh world with one of everything; bare repositories come below `folder`."""
    if not _made:
        first = _founded(folder / "first")
        _made["everything"] = seed_of(first, with_git=False), first.folder
    seed, known = _made["everything"]
    shutil.copytree(known, folder / "world")
    return make_world(seed, folder / "world")


def _founded(folder: Path) -> World:
    folder.mkdir()
    world = make_world(parse_seed(SEED), folder)
    runs = [run for made in CheckTables.of(world.home).checks.values() for run in made]
    runs[0].output.annotations.append(
        Annotation("a.txt", 1, 1, "notice", "Hm", "Lint", "raw", 1, 2)
    )
    job = next(run for run in runs if run.suite.run is not None)
    began, ended = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 1, tzinfo=UTC)
    job.steps.append(Step(1, "Set up job", "success", began, ended))
    _tag(world)
    done(world, "createLinkedBranch", "linkedBranch { id }", **_issue(world, oid=_oid(world)))
    return world


def _tag(world: World) -> None:
    """An annotated tag on the default branch."""
    repo = world.home
    tagger = Signature("Ada", "ada@example.com", datetime(2026, 1, 1, tzinfo=UTC))
    sha = write_tag(repo.git, "v1", repo.git.refs()["refs/heads/main"], "commit", "First", tagger)
    repo.git.update("refs/tags/v1", sha, None)


def call_in(world: World, *, token: str = TOKEN, **body: Any) -> Call:
    """A request with a token, by default `ada`'s."""
    known = world.tokens[token]
    return Call(world, known, "http://here", "/graphql", body=body, reset=2_000_000_000)


def ask(world: World, query: str, /, *, token: str = TOKEN, **variables: Any) -> Any:
    """The answer to a GraphQL document, without a server."""
    return run(call_in(world, token=token, query=query, variables=variables)).body


def data(world: World, query: str, /, *, token: str = TOKEN, **variables: Any) -> Any:
    """The data of an answer that has no errors."""
    answer = ask(world, query, token=token, **variables)
    assert "errors" not in answer, answer["errors"]
    return answer["data"]


def change(world: World, name: str, selection: str, /, *, token: str = TOKEN, **given: Any) -> Any:
    """The whole answer to one mutation with an input."""
    kind = f"{name[0].upper()}{name[1:]}Input"
    query = f"mutation($input: {kind}!) {{ {name}(input: $input) {{ {selection} }} }}"
    return ask(world, query, token=token, input=given)


def done(world: World, name: str, selection: str, /, *, token: str = TOKEN, **given: Any) -> Any:
    """The payload of a mutation that works."""
    answer = change(world, name, selection, token=token, **given)
    assert "errors" not in answer, answer["errors"]
    return answer["data"][name]


def refusal(answer: Any) -> tuple[str, str]:
    """The type and the words of an answer's one error."""
    (error,) = answer["errors"]
    return error["type"], error["message"]


def board(world: World) -> Project:
    """The board."""
    return BoardTables.of(world).projects[0]


def field(world: World, name: str) -> Field:
    """A field of the board."""
    found = board(world).field_named(name)
    assert found is not None
    return found


def _card(world: World, place: int = 0) -> dict[str, Any]:
    return {"projectId": board(world).id, "itemId": board(world).items[place].id}


def _value(world: World) -> dict[str, Any]:
    status = field(world, "Status")
    chosen = {"singleSelectOptionId": status.options[1].id}
    return {**_card(world), "fieldId": status.id, "value": chosen}


def _project(world: World, **more: Any) -> dict[str, Any]:
    return {"projectId": board(world).id, **more}


def _draft(world: World) -> str:
    content = board(world).items[2].content
    return content.node_id


def _pull(world: World, number: int = 3, /, **more: Any) -> dict[str, Any]:
    return {"pullRequestId": PullTables.of(world.home).pulls[number].node_id, **more}


def _thread(world: World) -> str:
    return PullTables.of(world.home).pulls[3].threads[0].node_id


def _review(world: World, number: int) -> str:
    return PullTables.of(world.home).pulls[number].reviews[0].node_id


def _remark(world: World) -> dict[str, Any]:
    return _pull(world, path="a.txt", line=1, side="RIGHT", body="Here")


PULL_MUTATIONS: dict[str, Callable[[World], dict[str, Any]]] = {
    "addPullRequestReview": lambda w: _pull(w, body="Fine", event="COMMENT"),
    "addPullRequestReviewThread": _remark,
    "addPullRequestReviewThreadReply": lambda w: {
        "pullRequestReviewThreadId": _thread(w), "body": "So",
    },
    "closePullRequest": _pull,
    "convertPullRequestToDraft": _pull,
    "createPullRequest": lambda w: {
        "repositoryId": w.home.node_id, "baseRefName": "main", "headRefName": "shut", "title": "Six",
    },
    "deletePullRequestReview": lambda w: {"pullRequestReviewId": _review(w, 4)},
    "dequeuePullRequest": lambda w: {"id": PullTables.of(w.home).pulls[4].node_id},
    "disablePullRequestAutoMerge": lambda w: _pull(w, 4),
    "dismissPullRequestReview": lambda w: {"pullRequestReviewId": _review(w, 3), "message": "No"},
    "enablePullRequestAutoMerge": _pull,
    "enqueuePullRequest": _pull,
    "markPullRequestReadyForReview": _pull,
    "mergePullRequest": lambda w: _pull(w, mergeMethod="SQUASH"),
    "reopenPullRequest": lambda w: _pull(w, 5),
    "minimizeComment": lambda w: {"subjectId": _review(w, 3), "classifier": "OFF_TOPIC"},
    "requestReviews": lambda w: _pull(w, userIds=[w.users["ada"].node_id], union=True),
    "resolveReviewThread": lambda w: {"threadId": _thread(w)},
    "submitPullRequestReview": lambda w: {"pullRequestReviewId": _review(w, 4), "event": "APPROVE"},
    "unminimizeComment": lambda w: {"subjectId": _review(w, 3)},
    "unresolveReviewThread": lambda w: {"threadId": _thread(w)},
    "updatePullRequest": lambda w: _pull(w, title="Renamed", body="B"),
    "updatePullRequestBranch": _pull,
}  # fmt: skip


def _issue(world: World, key: str = "issueId", /, number: int = 1, **more: Any) -> dict[str, Any]:
    return {key: IssueTables.of(world.home).issues[number].node_id, **more}


def _labels(world: World) -> list[str]:
    return [IssueTables.of(world.home).labels["bug"].node_id]


def _people(world: World) -> list[str]:
    return [world.users["sam"].node_id]


def _comment(world: World) -> dict[str, Any]:
    return {"id": IssueTables.of(world.home).issues[1].comments[0].node_id}


def _ref(world: World, name: str) -> dict[str, Any]:
    query = """query($name: String!) { repository(owner: "org", name: "app") {
        ref(qualifiedName: $name) { id target { oid } } } }"""
    found: dict[str, Any] = data(world, query, name=f"refs/heads/{name}")["repository"]["ref"]
    return found


def _oid(world: World, name: str = "main") -> str:
    return str(_ref(world, name)["target"]["oid"])


def _repo(world: World, **more: Any) -> dict[str, Any]:
    return {"repositoryId": world.home.node_id, **more}


ISSUE_MUTATIONS: dict[str, Callable[[World], dict[str, Any]]] = {
    "addAssigneesToAssignable": lambda w: _issue(w, "assignableId", assigneeIds=_people(w)),
    "addComment": lambda w: _issue(w, "subjectId", body="Aha"),
    "addLabelsToLabelable": lambda w: _issue(w, "labelableId", labelIds=_labels(w)),
    "addSubIssue": lambda w: _issue(w, subIssueId=IssueTables.of(w.home).issues[6].node_id),
    "clearLabelsFromLabelable": lambda w: _issue(w, "labelableId"),
    "closeIssue": lambda w: _issue(w, stateReason="NOT_PLANNED"),
    "createCommitOnBranch": lambda w: {
        "branch": {"repositoryNameWithOwner": "org/app", "branchName": "shut"},
        "expectedHeadOid": _oid(w, "shut"),
        "message": {"headline": "Add"},
        "fileChanges": {"additions": [{"path": "b.txt", "contents": "Yg=="}]},
    },
    "createIssue": lambda w: _repo(w, title="New", body="Text", labelIds=_labels(w)),
    "createLabel": lambda w: _repo(w, name="new", color="00ff00"),
    "createLinkedBranch": lambda w: _issue(w, oid=_oid(w), name="linked"),
    "createRef": lambda w: _repo(w, name="refs/heads/new", oid=_oid(w)),
    "deleteIssue": _issue,
    "deleteIssueComment": _comment,
    "deleteLabel": lambda w: {"id": _labels(w)[0]},
    "deleteRef": lambda w: {"refId": _ref(w, "shut")["id"]},
    "lockLockable": lambda w: _issue(w, "lockableId", lockReason="SPAM"),
    "pinIssue": _issue,
    "removeAssigneesFromAssignable": lambda w: _issue(w, "assignableId", assigneeIds=_people(w)),
    "removeLabelsFromLabelable": lambda w: _issue(w, "labelableId", labelIds=_labels(w)),
    "removeSubIssue": lambda w: _issue(w, subIssueId=IssueTables.of(w.home).issues[2].node_id),
    "reopenIssue": lambda w: _issue(w, number=2),
    "reprioritizeSubIssue": lambda w: _issue(
        w,
        subIssueId=IssueTables.of(w.home).issues[7].node_id,
        beforeId=IssueTables.of(w.home).issues[2].node_id,
    ),
    "transferIssue": lambda w: _issue(w, repositoryId=w.repositories["org/other"].node_id),
    "unlockLockable": lambda w: _issue(w, "lockableId"),
    "unpinIssue": _issue,
    "updateIssue": lambda w: _issue(w, "id", title="Renamed", assigneeIds=[]),
    "updateIssueComment": lambda w: {**_comment(w), "body": "Oh"},
    "updateLabel": lambda w: {"id": _labels(w)[0], "name": "defect"},
    "updateRef": lambda w: {"refId": _ref(w, "shut")["id"], "oid": _oid(w), "force": True},
    "updateRefs": lambda w: _repo(w, refUpdates=[{"name": "refs/heads/new", "afterOid": _oid(w)}]),
}
MUTATIONS: dict[str, Callable[[World], dict[str, Any]]] = {
    **ISSUE_MUTATIONS,
    **PULL_MUTATIONS,
    "addProjectV2DraftIssue": lambda w: _project(w, title="New", body="Text"),
    "addProjectV2ItemById": lambda w: _project(w, contentId=IssueTables.of(w.home).issues[2].node_id),
    "archiveProjectV2Item": _card,
    "clearProjectV2ItemFieldValue": lambda w: {**_card(w), "fieldId": field(w, "Note").id},
    "convertProjectV2DraftIssueItemToIssue": lambda w: {
        "itemId": board(w).items[2].id, "repositoryId": w.home.node_id,
    },
    "copyProjectV2": lambda w: _project(w, ownerId=w.home.owner.node_id, title="Copy"),
    "createProjectV2": lambda w: {"ownerId": w.home.owner.node_id, "title": "Other"},
    "createProjectV2Field": lambda w: _project(w, name="Size", dataType="NUMBER"),
    "deleteProjectV2": _project,
    "deleteProjectV2Field": lambda w: {"fieldId": field(w, "Note").id},
    "deleteProjectV2Item": _card,
    "linkProjectV2ToRepository": lambda w: _project(w, repositoryId=w.home.node_id),
    "markProjectV2AsTemplate": _project,
    "unarchiveProjectV2Item": lambda w: _card(w, 3),
    "unlinkProjectV2FromRepository": lambda w: _project(w, repositoryId=w.home.node_id),
    "unmarkProjectV2AsTemplate": _project,
    "updateProjectV2": lambda w: _project(w, title="Renamed", closed=True),
    "updateProjectV2Collaborators": lambda w: _project(
        w, collaborators=[{"userId": w.users["sam"].node_id, "role": "ADMIN"}]
    ),
    "updateProjectV2DraftIssue": lambda w: {"draftIssueId": _draft(w), "title": "Surely"},
    "updateProjectV2Field": lambda w: {"fieldId": field(w, "Note").id, "name": "Remark"},
    "updateProjectV2ItemFieldValue": _value,
    "updateProjectV2ItemPosition": lambda w: {**_card(w), "afterId": board(w).items[1].id},
}  # fmt: skip
"""An input that works in this world, for each mutation."""
