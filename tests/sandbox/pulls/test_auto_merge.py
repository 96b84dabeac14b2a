"""Auto-merge and the merge queue: what sets them off, and what ends them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.sandbox.checks.state import PlannedCheck
from lifecycle.sandbox.server import Sandbox
from tests.sandbox.crowd import crowd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from requests import Response

    from lifecycle.sandbox.control import Control

    Api = Callable[..., Response]
    Ask = Callable[..., Any]

PULL = "pullRequest { number state isInMergeQueue autoMergeRequest { mergeMethod enabledBy { login } } }"
ENABLE = f"""mutation E($p: ID!, $m: PullRequestMergeMethod, $h: GitObjectID) {{
  enablePullRequestAutoMerge(input: {{pullRequestId: $p, mergeMethod: $m, expectedHeadOid: $h}})
  {{ {PULL} actor {{ login }} }} }}"""
DISABLE = f"""mutation D($p: ID!) {{
  disablePullRequestAutoMerge(input: {{pullRequestId: $p}}) {{ {PULL} }} }}"""
ENQUEUE = """mutation Q($p: ID!, $j: Boolean) {
  enqueuePullRequest(input: {pullRequestId: $p, jump: $j}) {
    mergeQueueEntry { position state headCommit { oid } pullRequest { number } } } }"""
DEQUEUE = """mutation Q($p: ID!) {
  dequeuePullRequest(input: {id: $p}) { clientMutationId mergeQueueEntry { id } } }"""
LINE = """query { repository(owner: "octo-org", name: "hello-service") { mergeQueue(branch: "main") {
  entries(first: 9) { totalCount nodes { position state headCommit { oid }
    pullRequest { number } } } } } }"""


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """The built-in world with everybody's tokens."""
    with Sandbox(crowd()) as running:
        yield running


def protect(api: Api, *contexts: str, queue: bool = False, approvals: int = 0) -> None:
    """Demand checks of main by a ruleset, and perhaps its queue."""
    rules: list[dict[str, Any]] = [
        {
            "type": "required_status_checks",
            "parameters": {
                "strict_required_status_checks_policy": False,
                "required_status_checks": [{"context": one} for one in contexts],
            },
        }
    ]
    if queue:
        rules.append({"type": "merge_queue"})
    if approvals:
        wanted = {"required_approving_review_count": approvals}
        rules.append({"type": "pull_request", "parameters": wanted})
    body = {
        "name": "main",
        "enforcement": "active",
        "conditions": {"ref_name": {"include": ["~DEFAULT_BRANCH"], "exclude": []}},
        "rules": rules,
    }
    assert api("POST", "rulesets", json=body, token="maria").status_code == 201


def opened(control: Control, branch: str = "work", **more: Any) -> tuple[int, str]:
    """An open pull request: its number and global id."""
    control.push_commit(branch, {f"{branch}.txt": branch}, branch, by="octocat")
    number = control.open_pull(branch, branch, by="octocat", **more)
    return number, str(control.world()["pulls"][str(number)]["node_id"])


def pull(control: Control, number: int) -> Any:
    """A pull request as the world has it."""
    return control.world()["pulls"][str(number)]


def words(answer: Any) -> tuple[str, str]:
    """The type and message of the one error."""
    (error,) = answer["errors"]
    return error["type"], error["message"]


def events(api: Api, number: int) -> list[str]:
    """What happened to a pull request, in order."""
    return [one["event"] for one in api("GET", f"issues/{number}/events").json()]


def test_a_check_sets_it_off(graphql: Ask, api: Api, control: Control) -> None:
    """Enabled while it waits; with the check it merges as who enabled it, in that way."""
    protect(api, "test")
    number, node = opened(control, body="Closes #42")
    done = graphql(ENABLE, p=node, m="SQUASH")["data"]["enablePullRequestAutoMerge"]
    assert done["pullRequest"]["autoMergeRequest"] == {
        "mergeMethod": "SQUASH",
        "enabledBy": {"login": "octocat"},
    }
    assert api("GET", f"pulls/{number}").json()["auto_merge"]["merge_method"] == "squash"
    control.set_check(number, "test", status="in_progress")
    assert pull(control, number)["state"] == "open"
    control.set_check(number, "test")
    assert (pull(control, number)["state"], pull(control, number)["merged_by"]) == (
        "merged",
        "octocat",
    )
    assert control.world()["issues"]["42"]["state"] == "closed"
    assert events(api, number)[:1] == ["auto_merge_enabled"]
    assert "merged" in events(api, number)


def test_a_review_sets_it_off(graphql: Ask, api: Api, control: Control) -> None:
    """The last of several demands to be met does, whichever it is."""
    protect(api, "test", approvals=1)
    number, node = opened(control)
    assert "errors" not in graphql(ENABLE, p=node)
    control.set_check(number, "test")
    assert pull(control, number)["state"] == "open"
    body = {"event": "APPROVE"}
    assert api("POST", f"pulls/{number}/reviews", json=body, token="sam").status_code == 200
    assert pull(control, number)["state"] == "merged"


def test_a_planned_check_sets_it_off_when_it_is_read(
    graphql: Ask, api: Api, control: Control
) -> None:
    """Lateness is counted in reads; the merge comes after the answer that showed the check."""
    protect(api, "test")
    control.plan_checks(PlannedCheck(name="test", after_reads=1))
    number, node = opened(control)
    assert "errors" not in graphql(ENABLE, p=node)
    states = []
    for _ in range(2):
        api("GET", "commits/work/check-runs")
        states.append(pull(control, number)["state"])
    assert states == ["open", "merged"]


def test_there_has_to_be_something_to_wait_for(graphql: Ask, api: Api, control: Control) -> None:
    """A pull request that could be merged now is refused, clean or unstable, in GitHub's words."""
    number, node = opened(control)
    assert words(graphql(ENABLE, p=node)) == (
        "UNPROCESSABLE",
        "Pull request Pull request is in clean status",
    )
    control.set_check(number, "other", status="in_progress")
    assert words(graphql(ENABLE, p=node))[1] == "Pull request Pull request is in unstable status"
    assert pull(control, number)["state"] == "open"
    protect(api, "test")
    moved = graphql(ENABLE, p=node, h="0" * 40)
    assert words(moved)[1].startswith("Head branch was modified.")
    assert api("PATCH", "", json={"allow_auto_merge": False}, token="maria").status_code == 200
    assert words(graphql(ENABLE, p=node))[1] == (
        "Pull request Auto merge is not allowed for this repository"
    )


def test_it_ends_by_hand_by_closing_and_as_a_draft(
    graphql: Ask, api: Api, control: Control
) -> None:
    """Disabled, closed, made a draft, or given another base by a stranger: a check merges it no more."""
    protect(api, "test")
    number, node = opened(control)
    graphql(ENABLE, p=node)
    off = graphql(DISABLE, p=node)["data"]["disablePullRequestAutoMerge"]
    assert off["pullRequest"]["autoMergeRequest"] is None
    assert words(graphql(DISABLE, p=node))[0] == "UNPROCESSABLE"
    control.set_check(number, "test")
    assert pull(control, number)["state"] == "open"
    other, other_node = opened(control, "other")
    graphql(ENABLE, p=other_node)
    control.close_pull(other)
    control.reopen_pull(other)
    control.set_check(other, "test")
    assert pull(control, other)["state"] == "open"
    third, third_node = opened(control, "third")
    graphql(ENABLE, p=third_node)
    for turn in ("convertPullRequestToDraft", "markPullRequestReadyForReview"):
        asked = f'mutation {{ {turn}(input: {{pullRequestId: "{third_node}"}}) {{ {PULL} }} }}'
        assert graphql(asked)["data"][turn]["pullRequest"]["autoMergeRequest"] is None
    assert events(api, third)[:2] == ["auto_merge_enabled", "auto_merge_disabled"]
    control.push_commit("stable", {"stable.txt": "1"}, "Stable", by="maria")
    control.push_commit("theirs", {"theirs.txt": "1"}, "Theirs", by="maria")
    theirs = control.open_pull("theirs", "Theirs", by="visitor")
    graphql(ENABLE, p=pull(control, theirs)["node_id"], token="maria")
    moved = api("PATCH", f"pulls/{theirs}", json={"base": "stable"}, token="visitor").json()
    assert (moved["base"]["ref"], moved["auto_merge"], moved["state"]) == ("stable", None, "open")
    assert pull(control, theirs)["state"] == "open", "nothing holds it back there"


def test_who_may_not_write_is_told_so(graphql: Ask, api: Api, control: Control) -> None:
    """FORBIDDEN with the mutation's name, as GitHub says it."""
    protect(api, "test")
    _, node = opened(control)
    assert words(graphql(ENABLE, p=node, token="visitor")) == (
        "FORBIDDEN",
        "visitor does not have the correct permissions to execute `EnablePullRequestAutoMerge`",
    )


def test_the_queue_tests_each_with_those_before_it(
    graphql: Ask, api: Api, control: Control
) -> None:
    """Two entries in order, each with a commit; the first merges when its check passed there."""
    protect(api, "test", queue=True)
    numbers = []
    for branch in ("one", "two"):
        number, node = opened(control, branch)
        assert words(graphql(ENQUEUE, p=node))[1] == (
            'Pull request Required status check "test" is expected.'
        )
        control.set_check(number, "test")
        assert "errors" not in graphql(ENQUEUE, p=node)
        numbers.append(number)
        again = words(graphql(ENQUEUE, p=node))
        assert again[1] == "Pull request Pull request is already in the queue"
    direct = api("PUT", f"pulls/{numbers[0]}/merge")
    assert direct.status_code == 405
    assert "Changes must be made through the merge queue" in direct.json()["message"]
    line = graphql(LINE)["data"]["repository"]["mergeQueue"]["entries"]["nodes"]
    assert [(one["position"], one["pullRequest"]["number"]) for one in line] == [
        (1, numbers[0]),
        (2, numbers[1]),
    ]
    tests = [one["headCommit"]["oid"] for one in line]
    second = api("GET", f"git/commits/{tests[1]}").json()
    assert second["parents"][0]["sha"] == tests[0]
    control.set_check(tests[0], "test", event="merge_group")
    assert [pull(control, one)["state"] for one in numbers] == ["merged", "open"]
    assert control.world()["refs"]["refs/heads/main"] == tests[0]
    assert pull(control, numbers[0])["merged_by"] == "github-merge-queue[bot]"
    control.set_check(tests[1], "test", event="merge_group")
    assert pull(control, numbers[1])["state"] == "merged"
    assert control.world()["refs"]["refs/heads/main"] == tests[1]
    assert not [ref for ref in control.world()["refs"] if "gh-readonly-queue" in ref]


def test_a_failure_puts_an_entry_out(graphql: Ask, api: Api, control: Control) -> None:
    """It leaves with an event and stays open; who was behind it is tested anew."""
    protect(api, "test", queue=True)
    made = [opened(control, branch) for branch in ("one", "two")]
    for number, node in made:
        control.set_check(number, "test")
        graphql(ENQUEUE, p=node)
    first, second = graphql(LINE)["data"]["repository"]["mergeQueue"]["entries"]["nodes"]
    control.set_check(first["headCommit"]["oid"], "test", conclusion="failure")
    (left,) = graphql(LINE)["data"]["repository"]["mergeQueue"]["entries"]["nodes"]
    assert left["pullRequest"]["number"] == made[1][0]
    assert left["headCommit"]["oid"] != second["headCommit"]["oid"]
    assert pull(control, made[0][0])["state"] == "open"
    assert events(api, made[0][0])[-1] == "removed_from_merge_queue"
    assert graphql(DEQUEUE, p=made[1][1])["data"]["dequeuePullRequest"] == {
        "clientMutationId": None,
        "mergeQueueEntry": None,
    }
    assert words(graphql(DEQUEUE, p=made[1][1]))[0] == "UNPROCESSABLE"


def test_an_entry_that_conflicts_with_those_before_it_stays_untested(
    graphql: Ask, api: Api, control: Control
) -> None:
    """UNMERGEABLE and without a commit, while its pull request merges; what is behind it is tested."""
    protect(api, "test", queue=True)
    made = []
    for branch, file in (("one", "a.txt"), ("two", "a.txt"), ("three", "c.txt")):
        control.push_commit(branch, {file: branch}, branch, by="octocat")
        number = control.open_pull(branch, branch, by="octocat")
        control.set_check(number, "test")
        made.append(number)
        node = str(control.world()["pulls"][str(number)]["node_id"])
        assert "errors" not in graphql(ENQUEUE, p=node)
    line = graphql(LINE)["data"]["repository"]["mergeQueue"]["entries"]["nodes"]
    states = [(one["state"], bool(one["headCommit"])) for one in line]
    assert states == [
        ("AWAITING_CHECKS", True),
        ("UNMERGEABLE", False),
        ("AWAITING_CHECKS", True),
    ]
    third = api("GET", f"git/commits/{line[2]['headCommit']['oid']}").json()
    assert third["parents"][0]["sha"] == line[0]["headCommit"]["oid"]
    control.set_check(line[0]["headCommit"]["oid"], "test", event="merge_group")
    assert [pull(control, one)["state"] for one in made] == ["merged", "open", "open"]
    removed = api("GET", f"issues/{made[1]}/events").json()[-1]
    assert removed["event"] == "removed_from_merge_queue", "now it conflicts with its base"


def test_the_branch_of_a_queued_pull_request_takes_no_push(
    graphql: Ask, api: Api, control: Control
) -> None:
    """In GitHub's words, by the API and by update-branch; its leaving names what was tested."""
    protect(api, "test", queue=True)
    number, node = opened(control)
    control.set_check(number, "test")
    graphql(ENQUEUE, p=node)
    (entry,) = graphql(LINE)["data"]["repository"]["mergeQueue"]["entries"]["nodes"]
    main = control.world()["refs"]["refs/heads/main"]
    control.push_commit("main", {"b.txt": "b"}, "Other", by="octocat")
    moved = api("PATCH", "git/refs/heads/work", json={"sha": main, "force": True})
    updated = api("PUT", f"pulls/{number}/update-branch")
    for refused in (moved, updated):
        assert refused.status_code == 422
        assert "queued for merging cannot be updated" in refused.json()["message"]
    tested = graphql(LINE)["data"]["repository"]["mergeQueue"]["entries"]["nodes"][0]
    assert "errors" not in graphql(DEQUEUE, p=node)
    event = "... on RemovedFromMergeQueueEvent { reason beforeCommit { oid } }"
    items = f"timelineItems(last: 1, itemTypes: [REMOVED_FROM_MERGE_QUEUE_EVENT]) {{ nodes {{ {event} }} }}"
    shown = graphql(
        f"query Q($p: ID!) {{ node(id: $p) {{ ... on PullRequest {{ {items} }} }} }}", p=node
    )
    (left,) = shown["data"]["node"]["timelineItems"]["nodes"]
    assert left == {"reason": "manual", "beforeCommit": tested["headCommit"]}
    assert entry["headCommit"] is not None
    assert api("PUT", f"pulls/{number}/update-branch").status_code == 202


@pytest.mark.parametrize("way", ["REST", "GraphQL"])
def test_who_gets_another_base_leaves_the_queue(
    graphql: Ask, api: Api, control: Control, way: str
) -> None:
    """The queue is that of the former base; who was behind is tested anew, and the other base takes it."""
    protect(api, "test", queue=True)
    made = [opened(control, branch) for branch in ("one", "two")]
    for number, node in made:
        control.set_check(number, "test")
        graphql(ENQUEUE, p=node)
    before = graphql(LINE)["data"]["repository"]["mergeQueue"]["entries"]["nodes"]
    control.push_commit("release", {"c.txt": "c"}, "Release", by="octocat")
    (number, node), (behind, _) = made
    if way == "REST":
        assert api("PATCH", f"pulls/{number}", json={"base": "release"}).status_code == 200
    else:
        shown = "pullRequest { baseRefName mergeQueueEntry { position } }"
        given = '{pullRequestId: $p, baseRefName: "release"}'
        query = f"mutation M($p: ID!) {{ updatePullRequest(input: {given}) {{ {shown} }} }}"
        changed = graphql(query, p=node)["data"]["updatePullRequest"]["pullRequest"]
        assert changed == {"baseRefName": "release", "mergeQueueEntry": None}
    (left,) = graphql(LINE)["data"]["repository"]["mergeQueue"]["entries"]["nodes"]
    assert (left["position"], left["pullRequest"]["number"]) == (1, behind)
    assert left["headCommit"] != before[1]["headCommit"]
    assert {"removed_from_merge_queue", "base_ref_changed"} <= set(events(api, number)[-2:])
    assert api("PUT", f"pulls/{number}/merge").status_code == 200


def test_planned_checks_run_for_the_queue_too(graphql: Ask, api: Api, control: Control) -> None:
    """A plan gives each queue's commit its check, of the event merge_group."""
    protect(api, "test", queue=True)
    control.plan_checks(PlannedCheck(name="test"))
    number, node = opened(control)
    assert "errors" not in graphql(ENQUEUE, p=node)
    assert pull(control, number)["state"] == "merged"
    groups = [one for one in control.world()["checks"] if one["event"] == "merge_group"]
    assert [one["name"] for one in groups] == ["test"]


def test_auto_merge_enters_the_queue(graphql: Ask, api: Api, control: Control) -> None:
    """Where the base has a queue, what is ready goes into it, also if it was ready at once."""
    protect(api, "test", queue=True)
    number, node = opened(control)
    control.set_check(number, "test")
    assert "errors" not in graphql(ENABLE, p=node)
    shown = graphql(LINE)["data"]["repository"]["mergeQueue"]["entries"]["nodes"]
    assert [one["pullRequest"]["number"] for one in shown] == [number]
