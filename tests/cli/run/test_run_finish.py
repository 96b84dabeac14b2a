"""`lifecycle run finish` and `complete` as processes, on the embedded GitHub."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from lifecycle.core.timing import Deadline
from lifecycle.git import lease
from lifecycle.run.finish import completion
from lifecycle.run.run_store import RunStore
from lifecycle.run.state import Criterion, Led, ReviewRecord, Run, Story, new_run
from lifecycle.run.stop import decide
from lifecycle.run.table import (
    CriterionState,
    ReviewVerdict,
    RunPhase,
    RunStatus,
    StoryCheck,
    StoryStatus,
)
from lifecycle.sandbox.control.faults import Fault
from tests.asserted import check
from tests.cli.outcome import ok, refused
from tests.conftest import Place

SOAKED = pytest.mark.soak(
    "cli/run/test_run_finish.py::test_the_run_ends_with_its_pull_request",
    "run/finish/test_completion.py::test_whatever_is_missing_is_named",
)

PLATFORM: dict[str, Any] = {
    "name": "own",
    "markers": ["run.sh"],
    "priority": 5,
    "commands": {
        "build": ["sh", "run.sh", "build"],
        "test": ["sh", "run.sh", "test"],
        "lint": ["sh", "run.sh", "lint"],
    },
}
SCRIPT = """\
case $1 in
    test) grep -q broken code.py && { echo '= 1 failed in 0.1s ='; exit 1; }
        echo '======= 3 passed in 0.1s =======';;
    lint) ! grep -q unformatted code.py;;
esac
"""
BRANCH = "pay"


class Finished:
    """A worktree with a run, all of whose stories are completed and committed."""

    def __init__(self, place: Place) -> None:
        self.place = place
        folder = Path(place.environment["XDG_CONFIG_HOME"], "lifecycle/platforms/own")
        folder.mkdir(parents=True)
        (folder / "platform.json").write_text(json.dumps(PLATFORM))

    def begin(self, branch: str = BRANCH, code: str = "one = 1\n") -> None:
        """Do the work on a branch, and record it as done."""
        if branch and self.place.run("git", "switch", "-q", branch).returncode:
            self.place.git("switch", "-qc", branch)
        base = self.place.git("rev-parse", "HEAD")
        (self.place.root / "run.sh").write_text(SCRIPT)
        self.commit(code)
        story = Story(
            "S1",
            "Pay by card",
            status=StoryStatus.COMPLETED,
            iteration=1,
            criteria=(Criterion("a payment is kept", CriterionState.MET),),
            started=1.0,
            base=base,
            commit=self.place.git("rev-parse", "HEAD"),
            completed=2.0,
            reviews=(ReviewRecord(StoryCheck.REVIEW_APPROVED, ReviewVerdict.APPROVED, 1.0),),
        )
        run = new_run("Implement payment processing", self.place.clock.now())
        with self.store.locked():
            self.store.begin(replace(run, phase=RunPhase.DEVELOPMENT, stories=(story,)))

    def commit(self, code: str) -> None:
        """Commit the code."""
        (self.place.root / "code.py").write_text(code)
        self.place.git("add", "-A")
        self.place.git("commit", "-qm", "feat: Pay by card (S1)")

    @property
    def store(self) -> RunStore:
        """The run's file."""
        clock = self.place.clock
        return RunStore(self.place.root, self.place.environment, Deadline.after(clock, 60))

    @property
    def run(self) -> Run:
        """The run as it is."""
        return self.store.demanded()


@check
def told(done: subprocess.CompletedProcess[str]) -> str:
    """The sentence of a command that ran the gate, and then must not succeed."""
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr + done.stdout
    assert done.stdout == ""
    (sentence,) = [line for line in done.stderr.splitlines() if line.startswith("lifecycle: ")]
    return sentence


@pytest.fixture
def work(place: Place) -> Finished:
    """That worktree; the run is begun by the test."""
    return Finished(place)


def test_the_run_ends_with_its_pull_request(work: Finished) -> None:
    """The gate, the push, the text from the records, the closing block; then nothing a second time."""
    work.begin()
    said = ok(work.place.cli("run", "finish"))
    number = work.place.pull()
    pull = work.place.pulls()[number]
    assert pull["title"] == "[Feature] Implement payment processing"
    for line in (
        "- **S1:** Pay by card",
        "- All 3 tests passing",
        "- [x] Build passes (`sh run.sh build`)",
        "- [x] Lint checks pass (`sh run.sh lint`)",
        "- [x] Code review approved by reviewer agent",
    ):
        assert line in pull["body"].splitlines(), line
    run = work.run
    assert (run.status, run.phase) == (RunStatus.COMPLETED, RunPhase.COMPLETION)
    assert run.pull_request.endswith(f"/pull/{number}")
    block = said[said.index("## WORKFLOW_COMPLETE") :]
    assert f"**PR URL:** {run.pull_request}" in block
    assert "All checks passed" in said or "All verification checks passed." in said

    work.place.clear()
    assert ok(work.place.cli("run", "finish")) == block
    assert ok(work.place.cli("run", "complete")) == block
    assert work.place.requests() == []
    assert json.loads(ok(work.place.cli("run", "complete", "--json")))["pr_url"] == run.pull_request


@SOAKED
def test_after_a_crash_the_pull_request_is_found_again(work: Finished) -> None:
    """What GitHub has and the state has not is adopted, and its text is written once."""
    work.begin()
    before = work.run
    ok(work.place.cli("run", "finish"))
    number = work.place.pull()
    with work.store.locked():
        work.store.write(before)
    ok(work.place.cli("run", "finish"))
    assert [*work.place.pulls()] == [number]
    assert work.place.pulls()[number]["body"].count("## Workflow Metrics") == 1
    assert work.run.pull_request.endswith(f"/pull/{number}")


@SOAKED
def test_what_is_committed_after_the_pull_request_is_pushed_before_the_end(work: Finished) -> None:
    """Killed right after it opened it: complete alone would end the run without the later commits."""
    work.begin()
    before = work.run
    ok(work.place.cli("run", "finish"))
    with work.store.locked():
        work.store.write(replace(work.run, status=before.status, completed=before.completed))
    work.place.git("commit", "--quiet", "--allow-empty", "-m", "One more")
    sentence = refused(work.place.cli("run", "complete"))
    assert "its pull request lacks the last commits (lifecycle run finish)" in sentence
    ok(work.place.cli("run", "finish"))
    assert work.run.is_over
    pushed = work.place.git("ls-remote", "origin", f"refs/heads/{BRANCH}").split()[0]
    assert pushed == work.place.git("rev-parse", "HEAD")


def test_a_pull_request_that_somebody_closed_gets_no_second_one_for_its_commits(
    work: Finished,
) -> None:
    """The command names it, and runs nothing; once it is reopened, or with a later commit, the run ends.

    So it does once a person merged these commits with another pull request.
    """
    work.begin()
    before = work.run
    ok(work.place.cli("run", "finish"))
    number, control = work.place.pull(), work.place.control
    for known in (work.run.pull_request, ""):  # finish may have been killed before it knew
        with work.store.locked():
            work.store.write(replace(before, pull_request=known))
        control.close_pull(number, by="maria")
        sentence = refused(work.place.cli("run", "finish"))
        assert f"Somebody closed pull request #{number}" in sentence
        assert (len(work.place.pulls()), work.run.gates) == (1, ())
        control.reopen_pull(number)
        ok(work.place.cli("run", "finish"))
        assert len(work.place.pulls()) == 1
    with work.store.locked():
        work.store.write(before)
    control.close_pull(number, by="maria")
    work.place.git("commit", "--quiet", "--allow-empty", "-m", "One more")
    ok(work.place.cli("run", "finish"))
    assert len(work.place.pulls()) == 2
    with work.store.locked():
        work.store.write(before)
    control.close_pull(number + 1, by="maria")
    other = control.open_pull(BRANCH, "In its place", by="maria")
    control.merge_pull(other, method="squash")  # GitHub would open another one for the same commits
    ok(work.place.cli("run", "finish"))
    assert len(work.place.pulls()) == 3
    assert work.run.pull_request.endswith(f"/pull/{other}")


@SOAKED
def test_a_pull_request_that_somebody_opened_keeps_its_words(work: Finished) -> None:
    """`gh pr create` by hand is adopted; the run's part stands behind."""
    work.begin()
    work.place.git("push", "-q", "origin", BRANCH)
    number = work.place.control.open_pull(BRANCH, "Mine")
    ok(work.place.cli("run", "finish"))
    pull = work.place.pulls()[number]
    assert pull["title"] == "Mine"
    assert "## Stories Implemented" in pull["body"]
    assert len(work.place.pulls()) == 1


def test_a_branch_that_is_switched_while_the_gate_runs_is_not_pushed(work: Finished) -> None:
    """What was judged is looked at once more right before the push; nothing else goes under its name."""
    work.begin()
    switch = ["sh", "-c", "git switch -q -c elsewhere && git commit -q --allow-empty -m Meanwhile"]
    commands = {**PLATFORM["commands"], "lint": switch}
    folder = Path(work.place.environment["XDG_CONFIG_HOME"], "lifecycle/platforms/own")
    (folder / "platform.json").write_text(json.dumps({**PLATFORM, "commands": commands}))
    said = told(work.place.cli("run", "finish"))
    assert "HEAD is now on elsewhere" in said
    assert f"git switch {BRANCH}" in said
    assert work.place.pulls() == {}
    assert f"refs/heads/{BRANCH}" not in work.place.control.world()["refs"]
    assert work.run.status is RunStatus.ACTIVE
    work.place.git("switch", "-q", BRANCH)
    rebase = ["sh", "-c", "! git rebase -q --exec false HEAD~"]
    commands = {**PLATFORM["commands"], "lint": rebase}
    (folder / "platform.json").write_text(json.dumps({**PLATFORM, "commands": commands}))
    assert "A rebase is in progress here" in told(work.place.cli("run", "finish"))
    work.place.git("rebase", "--abort")
    (folder / "platform.json").write_text(json.dumps(PLATFORM))
    ok(work.place.cli("run", "finish"))
    assert [*work.place.pulls()] == [work.place.pull()]
    assert work.run.is_over


@SOAKED
def test_a_gate_that_fails_stops_it(work: Finished) -> None:
    """Exit 1 with the table; nothing is pushed, and the run goes on."""
    work.begin(code="broken\n")
    done = work.place.cli("run", "finish")
    assert done.returncode == 1
    assert "| Tests | `sh run.sh test` | FAIL" in done.stdout
    assert work.place.pulls() == {}
    assert f"refs/heads/{BRANCH}" not in work.place.control.world()["refs"]
    assert work.run.status is RunStatus.ACTIVE
    assert "G7" in refused(work.place.cli("run", "complete"))


def test_what_is_open_or_uncommitted_stops_it_before_the_gate(work: Finished) -> None:
    """All of it is named in a sentence, with the command that commits."""
    work.begin()
    (work.place.root / "more.py").write_text("1\n")
    assert "lifecycle run commit" in refused(work.place.cli("run", "finish"))
    run = work.run
    with work.store.locked():
        work.store.write(replace(run, stories=(*run.stories, Story("S2", "Refund"))))
    assert "S2 is pending" in refused(work.place.cli("run", "finish"))
    assert work.run.gates == ()


@SOAKED
def test_what_no_review_has_read_stops_it_before_the_gate(work: Finished) -> None:
    """Code that came after the last review is named with the command; that review, and it goes on."""
    work.begin()
    work.commit("one = 2\n")
    said = refused(work.place.cli("run", "finish"))
    assert "code.py changed after the last review by reviewer" in said
    assert work.run.gates == ()
    ok(work.place.cli("run", "gate", "G7"))
    assert "code.py changed after the last review" in refused(work.place.cli("run", "complete"))
    ok(work.place.cli("run", "review-context", "S1"))
    ok(work.place.cli("run", "review", "S1", "--by", "reviewer", "--verdict", "APPROVED"))
    ok(work.place.cli("run", "finish"))
    lines = work.place.pulls()[work.place.pull()]["body"].splitlines()
    assert "- [x] Code review approved by reviewer agent" in lines
    tested = "All acceptance criteria verified by tester agent"
    assert f"- [ ] {tested} (before code.py changed)" in lines


@pytest.mark.soak(
    "cli/run/test_run_finish.py::test_the_run_ends_with_its_pull_request",
    "run/finish/test_completion.py::test_what_is_not_committed_is_missing",
    "run/finish/test_review_cover.py::test_what_security_cleared_is_cleared_again_when_it_changes",
)
def test_what_is_committed_under_a_completed_story_is_read_before_the_end(work: Finished) -> None:
    """`finish` sends to `run commit`; then it names who has to read that, until they did."""
    work.begin()
    story = work.run.story("S1")
    with work.store.locked():
        work.store.write(work.run.with_story(replace(story, security=True)))
    (work.place.root / "code.py").write_text("one = 2\n")
    said = refused(work.place.cli("run", "finish"))
    assert "not committed: code.py (lifecycle run commit STORY)" in said
    ok(work.place.cli("run", "commit", "S1", "-m", "Mend formatting"))
    for by, verdict in (("reviewer", "APPROVED"), ("security", "CLEARED")):
        said = refused(work.place.cli("run", "finish"))
        assert f"code.py changed after the last review by {by}" in said
        ok(work.place.cli("run", "review", "S1", "--by", by, "--verdict", verdict))
    ok(work.place.cli("run", "finish"))
    assert work.place.pulls()[work.place.pull()]["body"].count("- [x] Security review passed") == 1


@SOAKED
def test_complete_alone_asks_for_the_pull_request(work: Finished) -> None:
    """A gate that passed is not enough."""
    work.begin()
    ok(work.place.cli("run", "gate", "G7"))
    assert "lifecycle run finish" in refused(work.place.cli("run", "complete"))
    assert work.run.status is RunStatus.ACTIVE


@SOAKED
def test_without_a_remote_it_completes_and_says_so(work: Finished, tmp_path: Path) -> None:
    """So does a remote that is a folder, after the push."""
    work.begin()
    before = work.run
    work.place.git("remote", "remove", "origin")
    said = ok(work.place.cli("run", "finish"))
    assert "No pull request was made: there is no remote." in said
    assert "**PR URL:** none" in said
    work.place.git("init", "-q", "--bare", str(tmp_path / "bare"))
    work.place.git("remote", "add", "origin", str(tmp_path / "bare"))
    with work.store.locked():
        work.store.write(before)
    said = ok(work.place.cli("run", "finish"))
    assert f"{BRANCH} was pushed, and the remote origin is no GitHub" in said
    assert work.place.git("-C", str(tmp_path / "bare"), "rev-parse", BRANCH)


@SOAKED
def test_without_a_token_nothing_is_pushed(work: Finished) -> None:
    """The sentence says where a token comes from; the run goes on, and a second try ends it.

    What GitHub refuses after the push is told with it.
    """
    work.begin()
    refused(work.place.cli("run", "finish", GH_TOKEN="", PATH="/usr/bin:/bin"))
    assert f"refs/heads/{BRANCH}" not in work.place.control.world()["refs"]
    assert "GH_TOKEN" in refused(work.place.cli("run", "finish", GH_TOKEN="wrong"))
    assert f"refs/heads/{BRANCH}" not in work.place.control.world()["refs"]
    work.place.control.add_fault(Fault("status", method="POST", path="/pulls$", status=403))
    said = told(work.place.cli("run", "finish"))
    assert f"Before that {BRANCH} was pushed, and the run continues." in said
    assert work.run.status is RunStatus.ACTIVE
    ok(work.place.cli("run", "finish"))


@SOAKED
def test_what_the_base_brought_is_told_from_the_work_also_beside_a_tag_of_its_name(
    work: Finished,
) -> None:
    """What was merged from the remote's default branch was read there, whatever else is called like it."""
    work.begin()
    work.place.git("tag", "origin/HEAD")
    work.place.control.push_commit("main", {"theirs.txt": "x"}, "Theirs")
    work.place.git("fetch", "-q", "origin")
    work.place.git("merge", "-q", "--no-edit", "refs/remotes/origin/main")
    with work.place.tree() as tree:
        assert completion.facts_for(tree.world, work.run).late == ()


def test_a_push_that_is_rejected_is_told(work: Finished) -> None:
    """Somebody else's commits are there: how to get them, and that the run goes on."""
    work.begin()
    work.place.control.push_commit(BRANCH, {"theirs.txt": "x"}, "Theirs")
    sentence = told(work.place.cli("run", "finish"))
    assert "git pull --rebase origin pay; to replace" in sentence
    force = "git push --force-with-lease=pay:refs/remotes/origin/pay origin pay"
    assert f"a person runs: {force}" in sentence
    assert work.place.pulls() == {}
    assert work.run.status is RunStatus.ACTIVE


@SOAKED
def test_a_head_that_no_pull_request_can_come_from_is_refused(work: Finished) -> None:
    """The default branch, and none, with the command that makes one; a rebase, before what it refuses."""
    work.begin("")
    run = work.run
    assert f"git switch -c run-{run.id}" in refused(work.place.cli("run", "finish"))
    work.place.git("checkout", "-q", "--detach")
    assert f"git switch -c run-{run.id}" in refused(work.place.cli("run", "finish"))
    assert work.place.run("git", "rebase", "-q", "--exec", "false", "HEAD~").returncode
    (work.place.root / "more.py").write_text("")
    said = refused(work.place.cli("run", "finish"))
    assert "A rebase is in progress here, so nothing was pushed; end it first" in said


@SOAKED
def test_a_clone_that_does_not_know_the_default_branch_asks(work: Finished) -> None:
    """A repository that was made here, and not cloned, has no origin/HEAD: its main is not pushed to."""
    work.begin("")
    before = work.place.control.world()["refs"]
    work.place.git("remote", "set-head", "origin", "--delete")
    assert f"git switch -c run-{work.run.id}" in refused(work.place.cli("run", "finish"))
    assert work.place.control.world()["refs"] == before
    work.place.git("switch", "-qc", BRANCH)
    ok(work.place.cli("run", "finish"))


@SOAKED
def test_a_pull_request_that_was_merged_meanwhile_stays_the_runs(work: Finished) -> None:
    """It was recorded before somebody stopped the run; there is nothing to open any more."""
    work.begin()
    before = work.run
    ok(work.place.cli("run", "finish"))
    number, url = work.place.pull(), work.run.pull_request
    work.place.control.merge_pull(number)
    with work.store.locked():
        work.store.write(replace(before, pull_request=url))
    assert f"**PR URL:** {url}" in ok(work.place.cli("run", "finish"))
    assert [*work.place.pulls()] == [number]


@pytest.mark.soak(
    "cli/run/test_run_finish.py::test_a_merge_that_finish_sees_first_leads_to_the_claims_next_pull_request",
    "cli/run/test_run_finish.py::test_the_run_ends_with_its_pull_request",
    "run/finish/test_pull_text.py::test_all_that_is_recorded_is_in_it",
)
def test_in_a_claim_the_pull_request_is_the_claims(work: Finished) -> None:
    """Title and link are the claim's, the text has the run's part, and the card is moved as ever."""
    ok(work.place.cli("claim", "42"))
    work.begin(work.place.claim()["branch"])
    before = work.run
    said = ok(work.place.cli("run", "finish"))
    number = work.place.pull()
    pull = work.place.pulls()[number]
    assert pull["title"] == "Implement payment processing"
    assert "#42" in pull["body"]
    assert "- **S1:** Pay by card" in pull["body"]
    claim = work.place.claim()
    assert (claim["pr_number"], claim["phase"]) == (number, "pr_created")
    assert f"/pull/{number}" in said
    assert work.place.card()["Status"] == "In Review"
    with work.store.locked():
        work.store.write(before)  # a crash before the state was written
    ok(work.place.cli("run", "finish"))
    assert [*work.place.pulls()] == [number]
    assert work.place.pulls()[number]["body"].count("## Workflow Metrics") == 1


@SOAKED
def test_ci_that_turns_red_later_is_the_claims(work: Finished) -> None:
    """The run stays complete, and its work is not begun again; the claim tells of the check."""
    ok(work.place.cli("claim", "42"))
    work.begin(work.place.claim()["branch"])
    ok(work.place.cli("run", "finish"))
    done = work.run
    work.place.control.set_check(work.place.pull(), "test", conclusion="failure")
    assert "test" in ok(work.place.cli("tick"))
    assert work.place.claim()["phase"] == "checks_running"
    assert work.run == done
    assert done.status is RunStatus.COMPLETED


@SOAKED
def test_a_claim_whose_pull_request_was_merged_gives_its_url(work: Finished) -> None:
    """What GitHub has as merged is the run's; what was committed after that gets the claim's next one."""
    ok(work.place.cli("claim", "42"))
    work.begin(work.place.claim()["branch"])
    before = work.run
    ok(work.place.cli("run", "finish"))
    url, number = work.run.pull_request, work.place.pull()
    work.place.control.merge_pull(number)
    ok(work.place.cli("tick"))
    assert work.place.claim()["phase"] == "merged_detected"
    with work.store.locked():
        work.store.write(before)
    assert f"**PR URL:** {url}" in ok(work.place.cli("run", "finish"))
    assert [*work.place.pulls()] == [number]
    work.commit("one = 2\n")
    commit = work.place.git("rev-parse", "HEAD")
    with work.store.locked():
        work.store.write(before.with_story(replace(before.stories[0], commit=commit)))
    ok(work.place.cli("run", "finish"))
    following = work.place.pull()
    assert [*work.place.pulls()] == [number, following]
    assert "#42" in work.place.pulls()[following]["body"]
    assert "- **S1:** Pay by card" in work.place.pulls()[following]["body"]
    assert work.run.pull_request.endswith(f"/pull/{following}")
    assert (work.place.claim()["pr_number"], work.run.is_over) == (following, True)


def test_a_merge_that_finish_sees_first_leads_to_the_claims_next_pull_request(
    work: Finished,
) -> None:
    """It was merged without the last commits, and nobody looked since: once more, and they have one."""
    ok(work.place.cli("claim", "42"))
    work.begin(work.place.claim()["branch"])
    ok(work.place.cli("handoff", "--summary", "Pay by card"))
    ok(work.place.cli("tick"))
    number = work.place.pull()
    work.place.control.merge_pull(number)
    work.commit("one = 2\n")
    commit = work.place.git("rev-parse", "HEAD")
    with work.store.locked():
        work.store.write(work.run.with_story(replace(work.run.stories[0], commit=commit)))
    assert "was merged without the last commits" in told(work.place.cli("run", "finish"))
    assert work.run.status is RunStatus.ACTIVE
    ok(work.place.cli("run", "finish"))
    assert [*work.place.pulls()] == [number, work.place.pull()]
    assert work.run.is_over


@SOAKED
def test_a_claims_pull_request_has_the_receipt_of_a_run_that_did_not_finish(work: Finished) -> None:
    """What is missing, why it stands still, and what it took; once it is finished, that in its place."""
    ok(work.place.cli("claim", "42"))
    work.begin(work.place.claim()["branch"])
    run = work.run
    led = (Led("one", 1.0, tokens=1_200),)
    waiting = replace(run, stories=(*run.stories, Story("S2", "Refund")), led=led)
    with work.store.locked():
        work.store.write(replace(waiting, status=RunStatus.STOPPED, why="its cap was reached"))
    ok(work.place.cli("handoff", "--summary", "Pay by card"))
    ok(work.place.cli("tick"))
    lines = work.place.pulls()[work.place.pull()]["body"].splitlines()
    for line in (
        "**Not finished:** 1 of 2 stories are open.",
        "**The run was stopped:** its cap was reached",
        "- **S2:** Refund (pending)",
        "- [ ] Code review approved by reviewer agent",
        "- **Sessions:** 1",
        "- **Tokens:** 1,200",
    ):
        assert line in lines, line
    with work.store.locked():
        work.store.write(run)
    ok(work.place.cli("run", "finish"))
    body = work.place.pulls()[work.place.pull()]["body"]
    assert "#42" in body
    assert body.count("## Workflow Metrics") == 1
    assert "was stopped" not in body


def test_why_a_claim_got_no_pull_request_is_told_last(work: Finished) -> None:
    """A sentence may end in a command, and then has no full stop: what followed read as part of it."""
    ok(work.place.cli("claim", "42"))
    work.begin(work.place.claim()["branch"])
    for where in ({"path": "/pulls$", "method": "POST"}, {"operation": "OpenPullRequest"}):
        work.place.control.add_fault("no-permission", count=9, **where)
    sentence = told(work.place.cli("run", "finish"))
    told_first, why = sentence.split("run again: lifecycle run finish. Why it has none: ")
    assert "the claim has no pull request" in told_first
    assert why.startswith("The token from GH_TOKEN has no permission")


def test_a_run_whose_task_was_taken_over_stops(work: Finished) -> None:
    """Nothing that its session could do ends it: the next stop lets go, and says who has the task."""
    ok(work.place.cli("claim", "42"))
    work.begin(work.place.claim()["branch"])
    held = work.place.control.world()["refs"]["refs/agent-claims/42"]
    lease.take(work.place.tree().world.git, "origin", 42, "sam-1", instead_of=held)
    done = work.place.cli("run", "finish")
    assert (done.returncode, done.stdout, work.place.pulls()) == (4, "", {})
    assert work.run.status is RunStatus.STOPPED
    (sentence,) = decide.brake_lines(work.run)
    assert "was stopped: #42 is held by sam-1 since" in sentence


@SOAKED
def test_a_claim_that_another_took_opens_nothing(work: Finished) -> None:
    """The claim's own refusals hold: nothing is pushed, and the run goes on."""
    ok(work.place.cli("claim", "42"))
    branch = work.place.claim()["branch"]
    work.begin(branch)
    work.place.write(branch="another")
    assert "another" in told(work.place.cli("run", "finish"))
    assert work.place.pulls() == {}
    assert work.run.status is RunStatus.ACTIVE
