"""A conflict, a branch that is behind, auto-merge and the queue, from GitHub to the agent and back."""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
import requests
from msgspec.structs import replace

from lifecycle.api import Wake
from lifecycle.app import news_packets
from lifecycle.app.waiting.pull_wait import states_of
from lifecycle.app.waiting.wait_loop import watched
from lifecycle.app.wiring import WorktreeWorld
from lifecycle.claim.commands import moves
from lifecycle.claim.decisions.pull.merge_standing import SETTLES
from lifecycle.claim.engine import look
from lifecycle.claim.record.claim_store import Listener
from lifecycle.core.timing import Deadline
from lifecycle.feedback.waiting import endings
from lifecycle.github.operations.ensure_merge import MergeOperations
from lifecycle.sandbox.seed import SeedProtection, SeedToken, default_seed
from lifecycle.sandbox.server import Sandbox, SandboxInfo
from lifecycle.storage.state_file import MemoryCache
from tests.conftest import BRANCH
from tests.e2e.client import Session, ended, heard
from tests.factories import texts

SOAKED = pytest.mark.soak(
    "feedback/test_merge_story.py::test_what_the_queue_throws_out_comes_with_the_logs_of_its_own_commit",
    "feedback/test_merge_story.py::test_whom_the_merge_waits_for_is_told_alike_everywhere",
    "claim/test_judged.py::test_leaving_the_queue_is_told_a_minute_later",
    "claim/test_judged.py::test_a_missing_check_needs_a_person_once_it_was_missed_a_while_ago",
    "claim/test_awaited.py::test_whom_it_waits_for",
    "claim/test_review.py::test_of_a_closed_pull_request_nothing_is_said_that_holds_for_an_open_one",
    "claim/test_review.py::test_of_a_new_pull_request_nothing_is_known_but_what_its_branch_has",
)

if TYPE_CHECKING:
    from tests.conftest import Place

OWNER = "owner-of-the-repository-0123456789"
LOG = "##[group]Run make test\n##[endgroup]\nFAILED tests/test_shop.py::test_total\n##[error]Process\n"


@pytest.fixture
def sandbox(request: pytest.FixtureRequest) -> Iterator[SandboxInfo]:
    """The default world, whose main branch demands what the test says.

    Its clock is so far behind that no waiter has to see an ejection settle.
    """
    seed = default_seed()
    demands = [SeedProtection(pattern="main", **request.param)] if request.param else []
    home = replace(seed.repositories[0], protections=demands)
    tokens = [*seed.tokens, SeedToken(OWNER, "maria", ["repo"])]
    behind = -SETTLES - 1
    with Sandbox(replace(seed, repositories=[home], tokens=tokens, ahead=behind)) as running:
        yield running.info


def demands(**protection: Any) -> pytest.MarkDecorator:
    """What main demands in a test."""
    return pytest.mark.parametrize("sandbox", [protection], indirect=True, ids=["demands"])


@pytest.fixture
def number(place: Place) -> int:
    """The claim's open pull request."""
    place.ready()
    place.tree().tick(Wake.STOP)
    return place.pull()


def prepared(place: Place, *said: Any) -> list[str]:
    """What the waiter says beside these sentences."""
    deadline = Deadline.after(place.clock, 30)
    world = WorktreeWorld(place.root, place.environment, place.clock, deadline, MemoryCache())
    try:
        (lines,) = news_packets.prepared(world, said).values()
        return lines
    finally:
        world.close()


def full(*_: object) -> None:
    """A disk on which nothing can be written."""
    raise OSError(errno.ENOSPC, "Full")


def wake(place: Place) -> Any:
    """A look at the idle pull request, two minutes later."""
    place.clock.offset += 121
    return place.tree().tick(Wake.IDLE)


def waiting(place: Place) -> list[str]:
    """A look that takes nothing off the queue; the events that wait there."""
    place.clock.offset += 121
    tree = place.tree()
    look.tick(tree.world, tree.claim_store, Wake.IDLE, to=Listener(audiences=()))
    return [endings.event_of(one.key) for one in tree.claim_store.ledger.waiting()]


def reckoned(place: Place) -> None:
    """GitHub begins to reckon whether it merges when it is asked, and answers that it does not know."""
    wake(place)


def mutate(place: Place, mutation: str, number: int, key: str = "pullRequestId") -> None:
    """A mutation that Maria makes on a pull request."""
    node = place.pulls()[number]["node_id"]
    text = f'mutation {{ {mutation}(input: {{ {key}: "{node}" }}) {{ clientMutationId }} }}'
    url, headers = place.info.graphql_url, {"Authorization": f"bearer {OWNER}"}
    answer = requests.post(url, json={"query": text}, headers=headers, timeout=10).json()
    assert "errors" not in answer, answer


def is_on(place: Place, number: int) -> bool:
    """Whether GitHub merges it by itself."""
    url = f"{place.info.api_url}/repos/{place.info.repository}/pulls/{number}"
    headers = {"Authorization": f"bearer {OWNER}"}
    return bool(requests.get(url, headers=headers, timeout=10).json()["auto_merge"])


def weakened(place: Place, *said: str) -> None:
    """The claim's memory, as if what was pushed weakened the checks like this."""
    path = place.root / ".lifecycle/state.json"
    state = json.loads(path.read_text())
    state["record"]["pull"]["tampering"] = [*said]
    path.write_text(json.dumps(state))


def users(place: Place, text: str) -> None:
    """The user's own settings."""
    folder = place.root.parent / "home" / "config" / "lifecycle"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text)


@demands()
def test_a_conflict_comes_with_files_both_sides_commits_and_the_command(
    place: Place, number: int
) -> None:
    """One sentence; the waiter's lines name all that git finds without a checkout; then it is solved so.

    That the base took back what a later one was about, and the green head is ready, is told as well.
    """
    place.control.set_check(number, "test", status="in_progress", conclusion=None)
    place.control.push_commit("main", {"work.txt": "theirs\n", "b.txt": "b\n"}, "Theirs")
    before = place.git("status", "--porcelain"), place.git("rev-parse", "HEAD")
    reckoned(place)
    assert waiting(place) == ["conflict"]
    # Before anybody heard of it the base is mended, and then breaks it again.
    place.control.push_commit("main", {"work.txt": None}, "Mended")
    waiting(place)
    assert waiting(place) == []
    place.control.push_commit("main", {"work.txt": "theirs\n"}, "Theirs ::: x")
    reckoned(place)
    (conflict,) = wake(place).said
    assert conflict.text.startswith(f"PR #{number} conflicts with main.")
    lines = prepared(place, conflict)
    assert lines[0].startswith(f"PR #{number} at ")
    assert "conflict in 1 file." in lines[0]
    head = place.git("rev-parse", "--short", "HEAD")
    assert lines[1:4] == [
        "In conflict:",
        "  | work.txt",
        "Commits of main that changed them since:",
    ]
    assert re.fullmatch(r"  \| [0-9a-f]{7,40} [^:]+: Theirs : : : x", lines[4]), lines[4]
    assert f"  | {head} Agent: Work" in lines
    assert "In the worktree: git fetch origin main && git merge origin/main" in lines
    packet = place.root / lines[-1].rpartition(": ")[2]
    assert "  | work.txt" in packet.read_text().splitlines()
    assert (place.git("status", "--porcelain"), place.git("rev-parse", "HEAD")) == before

    shown = place.cli("feedback", "merge")
    assert shown.returncode == 0, shown.stderr
    assert "  | work.txt" in shown.stdout
    assert f"PR #{number} conflicts with main." in shown.stdout
    place.run("git", "fetch", "origin", "main")
    assert place.run("git", "merge", "origin/main").returncode == 1
    (place.root / "work.txt").write_text("both\n")
    place.git("commit", "--quiet", "--all", "--message", "Merge main")
    place.git("push", "--quiet", "origin", BRANCH)
    assert wake(place).said == ()
    assert "conflicts" not in place.cli("status").stdout

    place.control.set_check(number, "test")
    wake(place)
    place.control.push_commit("main", {"work.txt": "again\n"}, "Again")
    reckoned(place)
    assert "conflicts" in texts(wake(place))
    place.control.push_commit("main", {"work.txt": "theirs\n"}, "Taken back")
    assert texts(wake(place)) == "", "GitHub does not know yet whether it is gone"
    assert texts(wake(place)) == f"PR #{number} is ready to merge."
    assert texts(wake(place)) == ""


def awaited(place: Place) -> tuple[str, list[str]]:
    """What a session is told last of the pull request, and what of it a person is called for."""
    shown = json.loads(place.cli("status", "--json").stdout)
    return shown["claim"]["next"], [wait["what"] for wait in shown["awaited"]]


@demands(approvals=1)
def test_whom_the_merge_waits_for_is_told_alike_everywhere(place: Place, number: int) -> None:
    """A review, also while GitHub reckons; the changes, then another review; GitHub, and nobody then.

    That it is ready is told as often as a review held it back, or an approval was dismissed.
    """
    place.control.set_check(number, "test")
    assert "PR #46 waits for an approving review." in wake(place).said[-1].text
    review = "PR #46 waits for an approving review"
    assert awaited(place) == (f"{review}.", [review])

    place.control.review(number, "CHANGES_REQUESTED", login="maria", body="Rename x")
    wake(place)
    wanted, persons = awaited(place)
    assert wanted.endswith("and then for another review (lifecycle feedback request).")
    assert persons == []
    place.work()
    place.control.set_check(number, "test")
    assert place.cli("feedback", "request").returncode == 0
    assert "feedback request" not in place.cli("status").stdout
    assert "Changes requested" not in place.cli("status").stdout
    another = "PR #46 waits for a review that was asked for"
    assert another in "".join(notice.text for notice in wake(place).said)
    assert awaited(place) == (f"{another}.", [another])

    ready = "PR #46 is ready to merge"
    place.control.review(number, "APPROVED", login="maria")
    assert texts(wake(place)) == f"{ready}."
    assert awaited(place)[1] == ["PR #46 waits for a person to merge it"]
    for wish in ("Rename y", "Rename z"):  # the second comes before anybody heard that it was ready
        place.control.review(number, "CHANGES_REQUESTED", login="maria", body=wish)
        assert ready not in texts(wake(place))
        place.control.review(number, "APPROVED", login="maria")
        assert waiting(place) == ["standing"]
    assert texts(wake(place)) == f"{ready}."
    for _ in range(2):
        place.control.review(number, "DISMISSED", login="maria")
        assert texts(wake(place)) == f"{review}."
        place.control.review(number, "APPROVED", login="maria")
        assert texts(wake(place)) == f"{ready}."


@demands(contexts=["test"], strict=True)
def test_a_green_branch_that_is_behind_is_brought_up_to_date(place: Place, number: int) -> None:
    """Off by default: the agent is told to merge. With the setting GitHub merges, once for a head."""
    place.control.set_check(number, "test")
    place.control.push_commit("main", {"b.txt": "b\n"}, "Theirs")
    reckoned(place)
    assert "main has moved on and demands an up-to-date branch" in texts(wake(place))
    (place.root / ".lifecycle.toml").write_text("update_branch = true\n")
    head = place.pulls()[number]["head_sha"]
    place.clear()
    (told,) = wake(place).said
    assert "Run git pull --no-rebase" in told.text
    (write,) = [one for one in place.requests() if one.method == "PUT"]
    assert write.path.endswith(f"/pulls/{number}/update-branch")
    assert place.pulls()[number]["head_sha"] != head
    place.git("pull", "--quiet", "--no-rebase", "origin", BRANCH)
    assert (place.root / "b.txt").is_file()
    place.control.set_check(number, "test", status="in_progress")
    place.clear()
    assert wake(place).said == ()
    assert [one.operation for one in place.requests()] == ["ObserveClaim"]


@demands(contexts=["test"])
def test_auto_merge_is_switched_on_for_the_head_and_merges(place: Place, number: int) -> None:
    """By the user's own word only; kept for a new head, off for weaker checks; a person's word stands."""
    users(place, 'merge = "auto"\n')
    reckoned(place)
    (said,) = [one for one in place.tree().tick(Wake.TICK).said if "auto" in one.key]
    head = place.pulls()[number]["head_sha"]
    assert f"GitHub was asked to merge PR #{number} at {head[:7]}" in said.text
    assert is_on(place, number)
    assert "auto-merge" not in texts(wake(place))
    assert f"PR #{number} is merged by GitHub once all" in place.cli("status").stdout
    place.work()
    place.clear()
    wake(place)
    assert [one.operation for one in place.requests()] == ["ObserveClaim"], "it is on still"
    weakened(place, "skips a test in a.py")
    assert f"Auto-merge of PR #{number} was on as your config.toml asks for" in texts(wake(place))
    assert not is_on(place, number)
    weakened(place)
    wake(place)
    wake(place)
    assert is_on(place, number)
    mutate(place, "disablePullRequestAutoMerge", number)
    assert "and stays off" in texts(wake(place))
    place.work()
    wake(place)
    assert not is_on(place, number)
    weakened(place, "skips a test in a.py")
    mutate(place, "enablePullRequestAutoMerge", number)
    assert "a person switched auto-merge on" in texts(wake(place))
    assert is_on(place, number)
    place.control.set_check(number, "test")
    assert "merged! Should I close issue #42?" in texts(wake(place))


@SOAKED
@demands()
def test_a_repository_without_checks_says_after_minutes_that_the_merge_is_a_persons(
    place: Place, number: int
) -> None:
    """The person is told once; all views say it from then on, and that it became a draft.

    No digest of a shared look changes by then: for that the waiter looks by itself, once.
    """
    said, shared, ends = [], [], []
    for _ in range(4):
        said.append(texts(wake(place)))
        place.clock.offset += 121
        tree = place.tree()
        record = tree.claim_store.load(repair=False).record
        assert record is not None
        shared.append(watched(tree.world, tree.claim_store, record) is not None)
        place.clock.offset -= 121
        ends.append(endings.states_end(states_of(record.pull), endings.WaitFor.CI))
    note = f"No check has registered on PR #{number} for minutes"
    assert [note in told for told in said] == [False, False, False, True]
    assert shared == [True, True, False, True]
    assert ends == [
        None,
        None,
        None,
        endings.Ending.PERSON,
    ]  # also of a wait that begins after that
    merge = f"PR #{number} waits for a person to merge it"
    assert awaited(place) == (f"{merge}.", [merge])
    place.clear()
    assert f"PR #{number} is ready to merge." in place.cli("feedback", "merge").stdout
    assert [one.path for one in place.requests() if f"/issues/{number}" in one.path] == []
    mutate(place, "convertPullRequestToDraft", number)
    draft = (
        f"PR #{number} is a draft, and cannot be merged before it is marked as ready on its page"
    )
    assert f"{draft}." in texts(wake(place))
    assert awaited(place) == (f"{draft}.", [draft])


@demands()
def test_nothing_is_promised_or_released_where_the_repository_is_archived(
    place: Place, number: int
) -> None:
    """Each view says so, nothing is written and the claim is kept; unarchived, the release goes on."""

    def archive(*, is_archived: bool) -> None:
        url = f"{place.info.api_url}/repos/{place.info.repository}"
        headers = {"Authorization": f"bearer {OWNER}"}
        answer = requests.patch(url, json={"archived": is_archived}, headers=headers, timeout=10)
        assert answer.ok, answer.text

    archive(is_archived=True)
    stands = "#42 cannot proceed: its repository is archived on GitHub"
    assert stands in texts(wake(place))
    assert stands in place.cli("status").stdout
    place.clear()
    refused = place.cli("release")
    assert "#42 was not released: its repository is archived" in refused.stdout + refused.stderr
    assert (refused.returncode, place.writes(), place.has_claim()) == (1, [], True)
    refused = place.cli("handoff", "--summary", "More of it")
    why = "(its repository is archived on GitHub; an administrator has to unarchive it first)"
    assert f"failed {why}; the phase was not changed." in refused.stderr
    archive(is_archived=False)
    assert "stands still" not in place.cli("tick").stdout
    assert place.cli("release").returncode == 0
    assert place.pulls()[number]["state"] == "open"


@SOAKED
@demands(contexts=["test"], merge_queue=True)
def test_what_a_person_takes_out_of_the_queue_waits_for_a_person(place: Place, number: int) -> None:
    """The agent is not woken to fix anything; with `merge = "auto"` no push queues it again."""
    users(place, 'merge = "auto"\n')
    place.control.set_check(number, "test")
    for _ in ("GitHub reckons", "it is asked to merge", "it is queued"):
        wake(place)
    assert f"PR #{number} is in the merge queue" in place.cli("status").stdout
    mutate(place, "dequeuePullRequest", number, "id")
    assert waiting(place) == ["queue", "standing"]
    (out, _) = place.tree().tick(Wake.TICK).said
    assert out.text.startswith(f"PR #{number} was taken out of the merge queue by hand; it is open")
    merge = f"PR #{number} waits for a person to merge it"
    assert awaited(place)[1] == [merge]
    assert "ready to merge" in place.cli("feedback", "merge").stdout
    place.work()
    place.control.set_check(number, "test")
    wake(place)
    assert "merge queue" not in place.cli("status").stdout


@demands(contexts=["test", "other"], merge_queue=True)
def test_what_a_person_takes_back_on_the_web_is_not_told(place: Place, number: int) -> None:
    """Auto-merge that is on again, and a place in the queue, before anybody heard that they were gone."""

    def told() -> str:
        place.clock.offset += 121
        tree = place.tree()
        look.tick(tree.world, tree.claim_store, Wake.IDLE, to=Listener(audiences=()))
        return " ".join(notice.text for notice in tree.claim_store.ledger.waiting())

    users(place, 'merge = "auto"\n')
    place.control.set_check(number, "test")
    for _ in ("GitHub reckons", "it is asked to merge", "it is on"):
        wake(place)
    mutate(place, "disablePullRequestAutoMerge", number)
    assert "was switched off on GitHub, and stays off" in told()
    mutate(place, "enablePullRequestAutoMerge", number)
    assert "switched off" not in told()
    place.control.set_check(number, "other")
    assert "switched off" not in told()
    mutate(place, "dequeuePullRequest", number, "id")
    assert "out of the merge queue by hand" in told()
    mutate(place, "enqueuePullRequest", number)
    assert "by hand" not in told()
    assert f"PR #{number} is in the merge queue" in place.cli("status").stdout


@demands(contexts=["test", "other"])
def test_that_github_was_asked_to_merge_is_told_though_it_merges(place: Place, number: int) -> None:
    """A look that does not read the checks, and one at another head, leave it waiting for the person."""

    def told(at: Wake) -> str:
        place.clock.offset += 121
        tree = place.tree()
        look.tick(tree.world, tree.claim_store, at, to=Listener(audiences=()))
        return " ".join(notice.text for notice in tree.claim_store.ledger.waiting())

    users(place, 'merge = "auto"\n')
    place.control.set_check(number, "test")
    for _ in ("GitHub reckons", "it is asked to merge"):
        asked = told(Wake.IDLE)
    assert f"GitHub was asked to merge PR #{number}" in asked
    assert f"GitHub was asked to merge PR #{number}" in told(Wake.START)
    place.work()
    assert f"GitHub was asked to merge PR #{number}" in told(Wake.IDLE)


def it_left_by_a_hand_off(place: Place, number: int) -> None:
    """No look says that a person took it out; then it is queued again."""
    assert "merge queue" not in place.cli("status").stdout
    place.clock.offset += 120
    place.control.advance(120)
    assert "by hand" not in texts(place.tree().tick(Wake.TICK))
    mutate(place, "enqueuePullRequest", number)
    wake(place)


@demands(contexts=["test"], merge_queue=True)
def test_what_the_queue_throws_out_comes_with_the_logs_of_its_own_commit(
    place: Place, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told with its place; thrown out with the log; and a hand-off takes it out before it pushes.

    A hand-off that has nothing to push leaves it there, and so does one that cannot note it; one whose
    push then fails says that it is out. If it is killed in between, no person is said to have done it. What
    a person took out, no later hand-off did; whoever queues the same head again may take it out again.
    """
    place.control.set_check(number, "test")
    wake(place)
    mutate(place, "enqueuePullRequest", number)
    wake(place)
    assert f"PR #{number} is in the merge queue (position 1)." in place.cli("status").stdout
    (group,) = [ref for ref in place.control.world()["refs"] if "gh-readonly-queue" in ref]
    branch = group.removeprefix("refs/heads/")
    place.control.set_check(branch, "test", conclusion="failure", event="merge_group", log=LOG)
    session = Session(place)
    waiter = session.waiter()
    with ended(waiter):
        woken = heard(waiter)
    assert woken.woke
    assert woken.model.startswith(f"PR #{number} was taken out of the merge queue")
    assert "  | FAILED tests/test_shop.py::test_total" in woken.model.splitlines()
    assert session.idle().is_silent
    assert wake(place).said == (), "it is told once"
    out = f"PR #{number} was taken out of the merge queue without being merged (failed checks)"
    for lines in (place.cli("status").stdout, session.start("compact").model):
        assert f"{out}; why: lifecycle feedback merge." in lines
        assert "ready to merge" not in lines
    for _ in ("as it was thrown out", "a check of the same head ran again"):
        shown = place.cli("feedback", "merge").stdout
        assert shown.startswith(f"{out}.\n")
        assert "  | FAILED tests/test_shop.py::test_total" in shown.splitlines()
        place.clock.offset += 60
        place.control.advance(60)
        place.control.set_check(number, "test", rerun=True)
    assert f"{out}; why: lifecycle feedback merge." in place.cli("tick").stdout

    place.control.advance(60)  # else the queue makes the very commit that has failed
    mutate(place, "enqueuePullRequest", number)
    wake(place)
    place.git("switch", "--quiet", BRANCH)
    assert "queue" not in place.cli("handoff", "--summary", "Fix race condition").stdout
    assert f"PR #{number} is in the merge queue" in place.cli("tick").stdout
    (place.root / "work.txt").write_text("more\n")
    place.git("commit", "--quiet", "--all", "--message", "More")
    refused = place.run("git", "push", "origin", BRANCH)
    assert "queued for merging cannot be updated" in " ".join(refused.stderr.split())
    hook = place.root / ".git/hooks/pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o700)
    failed = place.cli("handoff", "--summary", "Fix race condition").stderr
    assert f"PR #{number} was taken out of the merge queue, so that the branch" in failed
    it_left_by_a_hand_off(place, number)
    mutate(place, "dequeuePullRequest", number, "id")
    failed = place.cli("handoff", "--summary", "Fix race condition").stderr
    assert "merge queue" not in failed
    assert "was taken out of the merge queue by hand" in texts(wake(place))
    mutate(place, "enqueuePullRequest", number)
    wake(place)
    with monkeypatch.context() as disk:
        disk.setattr(moves, "_change", full)
        with pytest.raises(OSError, match="Full"):
            place.tree().hand_off("Fix race condition")
    assert f"PR #{number} is in the merge queue" in place.cli("tick").stdout
    ensure = MergeOperations.ensure_not_queued

    def killed(*place: Any) -> None:
        ensure(*place)
        raise KeyboardInterrupt

    monkeypatch.setattr(MergeOperations, "ensure_not_queued", killed)
    with pytest.raises(KeyboardInterrupt):
        place.tree().hand_off("Fix race condition")
    monkeypatch.undo()
    it_left_by_a_hand_off(place, number)
    hook.unlink()
    handed = place.cli("handoff", "--summary", "Fix race condition")
    assert handed.returncode == 0, handed.stderr
    assert place.pulls()[number]["head_sha"] == place.git("rev-parse", "HEAD")
    place.control.set_check(number, "test")
    assert "taken out of the merge queue without" not in texts(wake(place))
    assert json.loads(place.cli("status", "--json").stdout)["claim"]["pr_number"] == number


@SOAKED
@demands()
def test_a_closed_pull_request_and_the_next_one_are_told_of_themselves(
    place: Place, number: int
) -> None:
    """Ready, with changes asked for and a thread: nothing of that is left once it is closed."""
    place.control.set_check(number, "test")
    place.cli("tick")
    place.control.review(
        number,
        "CHANGES_REQUESTED",
        login="maria",
        comments=[{"path": "work.txt", "line": 1, "body": "Why?"}],
    )
    before = place.cli("tick").stdout
    assert "Changes requested on PR #46 by maria." in before
    assert "One review thread of PR #46 is unanswered" in before
    place.control.close_pull(number)
    place.cli("tick")
    closed = place.cli("status").stdout
    assert "pr_closed" in closed
    place.cli("handoff", "--summary", "Again")
    place.tree().tick(Wake.STOP)
    again = place.cli("status").stdout
    assert "PR #47" in again
    for shown in (closed, again, place.cli("statusline").stdout):
        assert not re.search("unanswered|ready to merge|[Cc]hanges|CI: 1", shown)
