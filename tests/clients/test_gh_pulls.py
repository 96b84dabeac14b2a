"""`gh pr`: from the branch to the merge, by every method."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lifecycle.sandbox.control import Control
from tests.clients.gh import CLASSIC_PROJECTS, Gh
from tests.clients.git import Git
from tests.clients.world import MARIA, SAM
from tests.repeated import soaked

# Every field that this gh knows, but for projectCards, which GitHub refuses.
FIELDS = (
    "additions,assignees,author,baseRefName,body,changedFiles,closed,closedAt,comments,commits,"
    "createdAt,deletions,files,headRefName,headRefOid,headRepository,headRepositoryOwner,id,"
    "isCrossRepository,isDraft,labels,latestReviews,maintainerCanModify,mergeCommit,"
    "mergeStateStatus,mergeable,mergedAt,mergedBy,milestone,number,potentialMergeCommit,"
    "reactionGroups,reviewDecision,reviewRequests,reviews,state,statusCheckRollup,title,updatedAt,url"
)


def pull(control: Control, number: int) -> Any:
    """A pull request as GitHub has it."""
    return control.world()["pulls"][str(number)]


def opened(gh: Gh, control: Control, branch: str, *options: str) -> int:
    """A branch with one commit, and a pull request for it by gh; its number."""
    control.push_commit(branch, {f"{branch}.txt": f"{branch}\n"}, f"Add {branch}", by="octocat")
    create = ("pr", "create", "--title", f"The {branch}", "--body", "Refs #42", "--base", "main")
    return gh.number(*create, "--head", branch, *options)


def test_a_pull_request_with_everything(gh: Gh, control: Control) -> None:
    """A draft with a label, an assignee, a milestone and a reviewer: `view` tells all of it."""
    gh.run("api", "repos/{owner}/{repo}/milestones", "-f", "title=v1")
    number = opened(
        gh, control, "everything", "--draft", "--label", "bug", "--assignee", "@me",
        "--reviewer", "maria", "--milestone", "v1",
    )  # fmt: skip
    control.set_check(number, "test")
    control.set_status(number, "deploy", "pending")
    gh.run("pr", "comment", str(number), "--body", "Hello")
    gh.run("pr", "comment", str(number), "--edit-last", "--body", "Hello again")
    gh.run("pr", "review", str(number), "--comment", "--body", "Hm", token=SAM)
    told, world = gh.json("pr", "view", str(number), fields=FIELDS), pull(control, number)
    assert (told["title"], told["body"], told["number"]) == ("The everything", "Refs #42", number)
    assert (told["state"], told["isDraft"], told["closed"]) == ("OPEN", True, False)
    assert (told["headRefName"], told["baseRefName"]) == ("everything", "main")
    assert told["headRefOid"] == world["head_sha"] == told["commits"][-1]["oid"]
    assert (told["id"], told["author"]["login"]) == (world["node_id"], "octocat")
    assert (told["additions"], told["deletions"], told["changedFiles"]) == (1, 0, 1)
    assert [one["path"] for one in told["files"]] == ["everything.txt"]
    assert [one["name"] for one in told["labels"]] == ["bug"]
    assert [one["login"] for one in told["assignees"]] == ["octocat"]
    assert [one["login"] for one in told["reviewRequests"]] == ["maria"]
    assert [(one["author"]["login"], one["state"]) for one in told["reviews"]] == [
        ("sam", "COMMENTED")
    ]
    assert [one["body"] for one in told["comments"]] == ["Hello again"]
    assert (told["milestone"]["title"], told["isCrossRepository"]) == ("v1", False)
    assert (told["headRepository"]["name"], told["headRepositoryOwner"]["login"]) == (
        "hello-service", "octo-org",
    )  # fmt: skip
    assert {one["__typename"] for one in told["statusCheckRollup"]} == {"CheckRun", "StatusContext"}
    assert (told["mergeCommit"], told["mergedBy"], told["mergedAt"]) == (None, None, None)
    assert told["url"] == f"http://github.localhost/octo-org/hello-service/pull/{number}"
    assert gh.json("pr", "view", "everything", fields="number")["number"] == number


def test_what_asks_for_classic_projects_fails_as_on_github(gh: Gh, control: Control) -> None:
    """This gh's `pr view` and `pr edit` ask for project cards, which GitHub refuses.

    Source: https://github.com/cli/cli/issues/11983 (gh 2.45.0 as Ubuntu packages it).
    """
    number = str(opened(gh, control, "classic"))
    wanted = f"GraphQL: {CLASSIC_PROJECTS} (repository.pullRequest.projectCards)"
    assert gh.refused("pr", "view", number).strip() == wanted
    assert gh.refused("pr", "edit", number, "--title", "New").strip() == wanted
    assert pull(control, int(number))["title"] == "The classic"


def test_a_second_pull_request_and_one_without_commits(gh: Gh, control: Control) -> None:
    """gh finds the open one itself; GitHub refuses a branch that has nothing new."""
    opened(gh, control, "twice")
    create = ("pr", "create", "--title", "Again", "--body", "", "--base", "main", "--head")
    assert "already exists" in gh.refused(*create, "twice")
    gh.run("api", "repos/{owner}/{repo}/git/refs", "-f", "ref=refs/heads/nothing", "-f",
           f"sha={control.world()['refs']['refs/heads/main']}")  # fmt: skip
    assert "No commits between main and nothing" in gh.refused(*create, "nothing")


def test_lists_by_every_filter(gh: Gh, control: Control) -> None:
    """By state, head, base, label, author, draft and words."""
    mine = opened(gh, control, "listed", "--label", "documentation", "--draft")
    theirs = control.open_pull("listed-two", "Another listing", by="sam") if control.push_commit(
        "listed-two", {"two.txt": "2"}, "Two"
    ) else 0  # fmt: skip
    control.close_pull(theirs)

    def found(*options: str) -> set[int]:
        listed = {one["number"] for one in gh.json("pr", "list", *options, fields="number")}
        return listed & {mine, theirs}

    assert found() == {mine}
    assert found("--state", "closed") == {theirs}
    assert found("--state", "all") == {mine, theirs}
    assert found("--state", "merged") == set()
    assert found("--head", "listed") == {mine}
    assert found("--base", "other") == set()
    assert found("--label", "documentation") == {mine}
    assert found("--draft") == {mine}
    assert found("--author", "sam", "--state", "all") == {theirs}
    assert found("--search", "listing", "--state", "closed") == {theirs}
    assert found("--assignee", "@me") == set()
    assert "listed" in gh.run("pr", "list")


def test_the_checks_of_a_pull_request(gh: Gh, control: Control) -> None:
    """No checks, pending, failed, all green: gh's words and exit code for each."""
    number = opened(gh, control, "checked")
    checks = ("pr", "checks", str(number))
    assert "no checks reported on the 'checked' branch" in gh.refused(*checks)
    control.set_check(number, "test", status="in_progress", conclusion=None)
    control.set_status(number, "deploy", "success")
    assert gh.tried(*checks).returncode in {1, 8}  # pending has a number of its own in later ones
    control.set_check(number, "test", conclusion="failure")
    assert "fail" in gh.tried(*checks).stdout
    assert gh.tried(*checks).returncode == 1
    later = datetime.now(UTC) + timedelta(minutes=1)  # gh takes the one that began last
    control.set_check(number, "test", conclusion="success", started_at=later, rerun=True)
    lines = {line.split("\t")[0]: line.split("\t")[1] for line in gh.run(*checks).splitlines()}
    assert lines == {"test": "pass", "deploy": "pass"}
    assert "no required checks reported" in gh.refused(*checks, "--required")


def test_reviews(gh: Gh, control: Control) -> None:
    """Approve and request changes as somebody else; nobody approves their own."""
    number = str(opened(gh, control, "reviewed"))
    own = gh.refused("pr", "review", number, "--approve")
    assert "approve your own pull request" in own.lower()
    gh.run("pr", "review", number, "--request-changes", "--body", "No", token=MARIA)
    gh.run("pr", "review", number, "--approve", "--body", "Yes", token=MARIA)
    told = gh.json("pr", "view", number, fields="reviews,latestReviews")
    states = [(one["author"]["login"], one["state"], one["body"]) for one in told["reviews"]]
    assert states == [("maria", "CHANGES_REQUESTED", "No"), ("maria", "APPROVED", "Yes")]
    assert [one["state"] for one in told["latestReviews"]] == ["APPROVED"]


def test_draft_ready_close_reopen(gh: Gh, control: Control) -> None:
    """A draft is made ready and a draft again; closed with a word, reopened, closed for good."""
    number = opened(gh, control, "turns", "--draft")
    gh.run("pr", "ready", str(number))
    assert pull(control, number)["draft"] is False
    gh.run("pr", "ready", str(number), "--undo")
    assert pull(control, number)["draft"] is True
    gh.run("pr", "close", str(number), "--comment", "Later")
    assert pull(control, number)["state"] == "closed"
    assert [one["body"] for one in pull(control, number)["comments"]] == ["Later"]
    gh.run("pr", "reopen", str(number))
    assert pull(control, number)["state"] == "open"
    gh.run("pr", "close", str(number), "--delete-branch")
    assert "refs/heads/turns" not in control.world()["refs"]
    assert "can't be reopened" not in gh.tried("pr", "view", str(number), "--json", "state").stderr


@pytest.mark.parametrize("method", ["squash", *map(soaked, ("merge", "rebase"))])
def test_a_merge_by_every_method(gh: Gh, control: Control, method: str) -> None:
    """The base has the commit that gh asked for, and the branch is gone."""
    number = opened(gh, control, f"by-{method}")
    words = () if method == "rebase" else ("--subject", f"By {method}", "--body", "Because")
    head = pull(control, number)["head_sha"]
    merge = ("pr", "merge", str(number), f"--{method}")
    assert "Head branch was modified" in gh.refused(*merge, "--match-head-commit", "0" * 40)
    gh.run(*merge, *words, "--match-head-commit", head, "--delete-branch")
    world = control.world()
    merged = world["pulls"][str(number)]
    assert (merged["state"], merged["merged_by"]) == ("merged", "octocat")
    assert world["refs"]["refs/heads/main"] == merged["merge_sha"]
    assert f"refs/heads/by-{method}" not in world["refs"]
    tip = gh.json("api", f"repos/{{owner}}/{{repo}}/commits/{merged['merge_sha']}")
    assert len(tip["parents"]) == (2 if method == "merge" else 1)
    title = f"Add by-{method}" if method == "rebase" else f"By {method}"
    assert tip["commit"]["message"].splitlines()[0] == title
    told = gh.json("pr", "view", str(number), fields="state,mergedBy,mergeCommit")
    assert (told["state"], told["mergedBy"]["login"]) == ("MERGED", "octocat")
    assert told["mergeCommit"]["oid"] == merged["merge_sha"]


def test_a_conflict_is_not_merged(gh: Gh, control: Control) -> None:
    """gh reads the merge state and refuses, with what to do."""
    control.push_commit("conflict", {"greeting.py": "one\n"}, "One", by="octocat")
    control.push_commit("main", {"greeting.py": "two\n"}, "Two")
    number = gh.number(
        "pr", "create", "--title", "C", "--body", "", "--head", "conflict", "--base", "main"
    )
    gh.json("pr", "view", str(number), fields="mergeable")  # GitHub reckons at the first look
    assert gh.json("pr", "view", str(number), fields="mergeable")["mergeable"] == "CONFLICTING"
    said = gh.refused("pr", "merge", str(number), "--merge")
    assert "the merge commit cannot be cleanly created" in said
    assert pull(control, number)["state"] == "open"


def test_the_diff_and_the_checkout(gh: Gh, control: Control) -> None:
    """The diff is git's, and the branch comes to the clone with its upstream."""
    number = opened(gh, control, "looked-at")
    diff = gh.run("pr", "diff", str(number))
    assert "diff --git a/looked-at.txt b/looked-at.txt" in diff
    assert "+looked-at" in diff
    assert gh.run("pr", "diff", str(number), "--name-only") == "looked-at.txt"
    gh.run("pr", "checkout", str(number))
    git = Git(gh.folder, gh.environment)
    assert git.run("rev-parse", "HEAD") == pull(control, number)["head_sha"]
    assert gh.json("pr", "view", fields="number")["number"] == number
    assert f"#{number}" in gh.run("pr", "status")
    git.run("switch", "-q", "main")


def test_auto_merge_waits_for_what_is_required(gh: Gh, control: Control) -> None:
    """`--auto` merges nothing while an approval is missing, and the approval merges it."""
    number = opened(gh, control, "auto")
    control.require_reviews(1)
    try:
        states = [gh.json("pr", "view", str(number), fields="mergeStateStatus") for _ in "12"]
        assert states[1]["mergeStateStatus"] == "BLOCKED"  # GitHub reckons at the first look
        assert "base branch policy prohibits the merge" in gh.refused(
            "pr", "merge", str(number), "--squash"
        )
        gh.run("pr", "merge", str(number), "--auto", "--squash")
        assert pull(control, number)["state"] == "open"
        gh.run("pr", "merge", str(number), "--disable-auto")
        gh.run("pr", "merge", str(number), "--auto", "--squash")
        gh.run("pr", "review", str(number), "--approve", token=MARIA)
        assert pull(control, number)["state"] == "merged"
    finally:
        control.require_reviews(0)
