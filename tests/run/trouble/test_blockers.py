"""Blockers: how they are named, what a person is waited for, and what goes on after that person's word."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from lifecycle.core.errors import Refused
from lifecycle.run import run_store, state
from lifecycle.run.state import Blocker, PersonAct, Run, Story, UserFix
from lifecycle.run.table import RunPhase, RunStatus, StoryStatus
from lifecycle.run.texts.report_text import resuming
from lifecycle.run.trouble import blockers
from lifecycle.run.trouble.story_failures import EXTERNAL, advice, failed

NOW = 1_800_000_000.0
WORKING = Story("S1", "Pay", status=StoryStatus.IN_PROGRESS, started=NOW)
START = Run("abc12345", "Implement payment processing", NOW, stories=(WORKING, Story("S2", "Mail")))
KEY = "Stripe API key not configured in .env"


def waiting() -> Run:
    """The design's run, which waits for a key."""
    run = blockers.with_blocker(START, KEY, "high", NOW)
    return blockers.awaiting(run, "0", "Add Stripe API key to .env file", NOW + 1, "dotnet build")


@pytest.mark.parametrize("name", ["0", "B1", "b1", " B1 "])
def test_a_blocker_is_named_by_index_or_id(name: str) -> None:
    """Both mean the same one."""
    run = blockers.with_blocker(START, KEY, "high", NOW)
    run = blockers.with_blocker(run, "another", "low", NOW)
    assert blockers.index_of(run, name) == 0


@pytest.mark.parametrize("name", ["", "2", "B3", "-1", "it"])
def test_another_name_is_refused_with_those_that_there_are(name: str) -> None:
    """The sentence names them all."""
    run = blockers.with_blocker(START, KEY, "high", NOW)
    with pytest.raises(Refused, match=r"B1 \(index 0\)"):
        blockers.index_of(run, name)


def test_awaiting_says_what_the_design_says() -> None:
    """Status, description, command, and three instructions; the third names the command."""
    run = waiting()
    assert run.fix is not None
    assert (run.status, run.fix.blocker) == (RunStatus.AWAITING_USER, "B1")
    assert (run.fix.check_command, run.fix.story) == (("dotnet", "build"), "S1")
    data = blockers.awaiting_data(run.fix, "dotnet build")
    assert data["status"] == "awaiting_user"
    assert data["description"] == "Add Stripe API key to .env file"
    assert data["check_command"] == "dotnet build"
    first, second, third = data["instructions"]
    assert first == "1. Fix the issue: Add Stripe API key to .env file"
    assert second == "2. Run verification: dotnet build"
    assert third.startswith("3. Resume workflow: lifecycle run user-fix-complete")
    assert "python .claude/core/state.py user-fix-complete" in third
    assert run_store.decoded(state.encoded(run)) == run


@pytest.mark.parametrize(
    ("name", "description", "command", "says"),
    [
        ("9", "x", "", "no blocker"),
        ("0", " ", "", "The text of the description"),
        ("0", "x", "a && b", "shell"),
        ("0", "x", "cd x", "shell"),
        ("0", "x", "echo 'a", "never closed"),
    ],
)
def test_what_nobody_can_be_waited_for_with(
    name: str, description: str, command: str, says: str
) -> None:
    """An unknown blocker, no words, or a command that needs a shell."""
    run = blockers.with_blocker(START, KEY, "high", NOW)
    with pytest.raises(Refused, match=says):
        blockers.awaiting(run, name, description, NOW, command)


@pytest.mark.parametrize("command", ["a && b", "a 'x y' && b", "ls *.py", "A=1 b"])
def test_the_way_to_write_a_command_that_a_refusal_says_is_taken(command: str) -> None:
    """A list as JSON: of words, or of lists, each of which runs only if the one before succeeded."""
    run = blockers.with_blocker(START, KEY, "high", NOW)
    with pytest.raises(Refused) as refusal:
        blockers.awaiting(run, "0", "x", NOW, command)
    (way,) = re.findall(r"(?:write|shell:) (\[.*\])", str(refusal.value))
    fix = blockers.awaiting(run, "0", "x", NOW, way).fix
    assert fix is not None
    words = {"ls *.py": ("sh", "-c", command), "A=1 b": ("env", "A=1", "b")}
    assert fix.check_command == words.get(command, ("sh", "-c", command))


@pytest.mark.parametrize("text", ["[x", pytest.param("[" * 7_000, id="deep")])
def test_a_command_that_is_no_list_is_text_however_deep_its_brackets_are(text: str) -> None:
    """It is refused as a text with a bracket is; no limit of the reader's reaches the agent."""
    run = blockers.with_blocker(START, KEY, "high", NOW)
    with pytest.raises(Refused, match="needs a shell"):
        blockers.awaiting(run, "0", "x", NOW, text)


def test_what_a_stopped_run_waited_for_may_be_fixed_meanwhile() -> None:
    """The run stays stopped, and waits for nobody once it goes on."""
    run = blockers.stopped(waiting(), NOW + 2, "terminal")
    run = blockers.resolved(run, blockers.to_resolve(run)[0], NOW + 3, "terminal")
    assert run.status is RunStatus.STOPPED
    assert blockers.resumed(run, NOW + 4, "terminal").status is RunStatus.ACTIVE


def test_a_brake_is_not_undone_by_another() -> None:
    """A stopped run waits for nobody; a completed one neither."""
    run = blockers.with_blocker(START, KEY, "high", NOW)
    for status in (RunStatus.STOPPED, RunStatus.COMPLETED):
        with pytest.raises(Refused):
            blockers.awaiting(replace(run, status=status), "0", "x", NOW)


def test_a_stopped_run_says_why_it_waits_for_nobody() -> None:
    """As far as somebody said it."""
    run = blockers.with_blocker(START, KEY, "high", NOW)
    for why, told in (("too dear", r" \(too dear\)"), ("", "")):
        with pytest.raises(Refused, match=f"The run is stopped{told}, .* lifecycle run resume"):
            blockers.awaiting(replace(run, status=RunStatus.STOPPED, why=why), "0", "x", NOW)


def test_what_a_person_is_waited_for_knows_where_the_run_goes_on() -> None:
    """The blocker's own story, or that at work; the phase; and how long the command may take."""
    run = replace(START, phase=RunPhase.SETUP)
    run = blockers.with_blocker(run, KEY, "low", NOW)
    run = blockers.with_blocker(run, "no mail server", "low", NOW, "S2")
    free = replace(run, stories=())
    for before, name, story in ((run, "B1", "S1"), (run, "B2", "S2"), (free, "B1", "")):
        fix = blockers.demanded_fix(blockers.awaiting(before, name, "x", NOW + 1, timeout=90))
        assert fix == UserFix(name, "x", NOW + 1, (), 90, story, RunPhase.SETUP)
    assert blockers.demanded_fix(blockers.awaiting(run, "B1", "x", NOW)).timeout == 60


def test_where_no_command_checks_it_the_designs_json_says_so() -> None:
    """In its instructions, and as nothing in its field."""
    data = blockers.awaiting_data(UserFix("B1", "Add the key", NOW), "")
    assert data["check_command"] is None
    assert data["instructions"][1] == "2. Run verification: (no command checks it)"


def test_the_check_decides_and_else_the_persons_word() -> None:
    """The command's end is what counts where there is one."""
    run = waiting()
    fix = blockers.demanded_fix(run)
    no = {"is_fixed": False, "verified": False, "can_resume": False}
    assert blockers.fix_data(fix) == no
    passed = blockers.demanded_fix(blockers.fix_checked(run, fix, NOW + 2, passed=True))
    assert (passed.checked_at, passed.verified) == (NOW + 2, True)
    assert blockers.fix_data(passed) == {"is_fixed": True, "verified": True, "can_resume": True}
    told, _ = blockers.to_resolve(run)
    done = blockers.resolved(run, told, NOW + 3, "terminal")
    assert blockers.fix_data(blockers.demanded_fix(done)) == no
    plain = blockers.awaiting(run, "0", "by hand", NOW)
    plain = blockers.resolved(plain, told, NOW + 3, "terminal")
    assert blockers.fix_data(blockers.demanded_fix(plain)) == {
        "is_fixed": True,
        "verified": False,
        "can_resume": True,
    }
    later = replace(run, fix=replace(fix, asked_at=NOW + 9))
    assert blockers.fix_checked(later, fix, NOW + 10, passed=True) == later
    assert blockers.fix_checked(START, fix, NOW + 10, passed=True) == START
    with pytest.raises(Refused):
        blockers.demanded_fix(START)


def test_a_persons_word_resolves_what_was_waited_for_and_no_more() -> None:
    """Another blocker that stands is resolved by its own name, from when it was recorded on."""
    run = blockers.with_blocker(waiting(), "another", "low", NOW + 3)
    told, asked_at = blockers.to_resolve(run)
    assert ([one.id for one in told], asked_at) == (["B1"], NOW + 1)
    assert run.fix is not None
    asked = replace(run, fix=replace(run.fix, asked_at=NOW + 9, others=("B3",)))
    asked = blockers.with_blocker(asked, "a third", "low", NOW + 4)
    for name, since in (("B1", NOW + 9), ("B2", NOW + 3), ("B3", NOW + 9)):
        told, asked_at = blockers.to_resolve(asked, name)
        assert ([one.id for one in told], asked_at) == ([name], since)
    never = blockers.with_blocker(START, KEY, "low", NOW + 3)
    assert blockers.to_resolve(never, "B1")[1] == NOW + 3


def test_a_story_that_goes_on_beside_its_blocker_goes_on_after_it() -> None:
    """Where it is; only one that stood still for it is begun again."""
    at_work = START.story("S1").but(status=StoryStatus.TESTING, iteration=2)
    run = blockers.with_blocker(START.with_story(at_work), KEY, "high", NOW, "S1")
    run = run.with_story(at_work)
    told, _ = blockers.to_resolve(run, "B1")
    after = blockers.resolved(run, told, NOW + 3, "terminal").story("S1")
    assert (after.status, after.retries_from) == (StoryStatus.TESTING, 2)


def test_where_nobody_is_waited_for_the_blockers_that_stand_are_named() -> None:
    """So that one of them can be resolved by its name; a run that is over has none to resolve."""
    run = blockers.with_blocker(blockers.with_blocker(START, KEY, "low", NOW), "x", "low", NOW)
    for one, stand in (
        (run, "B1, B2"),
        (START, "none"),
        (replace(run, fix=waiting().fix), "B1, B2"),
    ):
        with pytest.raises(Refused, match=rf"unresolved blockers: {stand}\."):
            blockers.to_resolve(one)
    with pytest.raises(Refused, match="waits for nobody"):
        blockers.to_resolve(replace(run, status=RunStatus.AWAITING_USER))
    with pytest.raises(Refused, match="is completed"):
        blockers.to_resolve(replace(run, status=RunStatus.COMPLETED), "B1")


def two_waited_for() -> Run:
    """A run that waits for two blockers at once, since a minute ago, with a third beside them."""
    run = START
    for text in ("one", "two", "beside"):
        run = blockers.with_blocker(run, text, "low", NOW)
    return blockers.awaiting(blockers.awaiting(run, "B2", "do two", NOW), "B1", "do one", NOW)


def test_what_is_asked_for_while_the_run_waits_is_waited_for_too() -> None:
    """Each with its words and its command; what is asked for the same one anew takes their place."""
    run = blockers.with_blocker(waiting(), "no account", "low", NOW)
    run = blockers.awaiting(run, "B2", "Make an account", NOW + 2, "test -f account", 30)
    fix = blockers.demanded_fix(run)
    assert fix.waited == ("B1", "B2")
    assert fix.description == "B1: Add Stripe API key to .env file; B2: Make an account"
    assert fix.check_command == ("sh", "-c", "dotnet build && test -f account")
    assert fix.timeout == 90
    assert blockers.awaiting_data(fix, "test -f account")["check_command"] == (
        "sh -c dotnet build && test -f account"
    )
    told, asked_at = blockers.to_resolve(run)
    assert ([blocker.id for blocker in told], asked_at) == (["B1", "B2"], NOW + 2)
    run = blockers.awaiting(run, "B2", "Take mine", NOW + 3)
    fix = blockers.demanded_fix(run)
    assert fix.description == "B1: Add Stripe API key to .env file; B2: Take mine"
    assert fix.check_command == ("dotnet", "build")
    run = blockers.resolved(run, told, NOW + 4, "terminal")
    checks = [line for line in resuming(run)[0] if line.startswith("**Verification:**")]
    assert ["NOT RUN" in line for line in checks] == [True, False]
    assert "NOT CHECKED" in checks[1]


def test_each_command_has_its_time_however_often_it_is_asked_for() -> None:
    """Also where the run stopped meanwhile, and waits by itself again."""
    run = blockers.with_blocker(waiting(), "no account", "low", NOW)
    for _ in range(3):
        run = blockers.awaiting(run, "B2", "Make an account", NOW + 2, "test -f account", 30)
    assert blockers.demanded_fix(run).timeout == 90
    run = blockers.with_blocker(replace(START, stories=(WORKING,)), KEY, "high", NOW)
    run = blockers.awaiting(run, "B1", "Add it", NOW, "true", 600)
    run = replace(run, status=RunStatus.ACTIVE)
    fix = blockers.demanded_fix(blockers.with_blocker(run, "no mail", "high", NOW, "S1"))
    assert (fix.waited, fix.timeout) == (("B2",), 60)
    both = replace(run, blockers=(replace(run.blockers[0], story="S1"),))
    fix = blockers.demanded_fix(blockers.with_blocker(both, "no mail", "high", NOW, "S1"))
    assert (fix.waited, fix.timeout) == (("B1", "B2"), 600)


def test_the_time_in_which_a_person_was_waited_for_does_not_count_when_more_is_asked_for() -> None:
    """A night lies between two questions, and none of it in the caps."""
    night = 30_000.0
    run = blockers.awaiting(waiting(), "B1", "Add it", NOW + 1 + night)
    assert run.forgiven.seconds == night
    run = blockers.resolved(run, run.blockers, NOW + 1 + 2 * night, "terminal")
    assert run.forgiven.seconds == 2 * night


def test_a_run_that_waits_by_itself_keeps_the_others_when_one_is_asked_for() -> None:
    """What to do about that one stands in the place of its description."""
    stories = (Story("S1", "Pay", status=StoryStatus.IN_PROGRESS), Story("S2", "Mail"))
    run = replace(START, stories=stories)
    for story, text in (("S2", "no account"), ("S1", "no key")):
        run = blockers.with_blocker(run, text, "high", NOW, story)
    assert run.status is RunStatus.AWAITING_USER
    fix = blockers.demanded_fix(blockers.awaiting(run, "B2", "Add the key", NOW, "true"))
    assert (fix.description, fix.check_command) == (
        "B1: no account; B2: Add the key",
        ("true",),
    )


def test_a_run_goes_on_once_all_that_it_waits_for_is_resolved() -> None:
    """In whatever order; the time of waiting is no time of the run, and each word is kept."""
    for order in (("B1", "B2"), ("B2", "B1")):
        run = two_waited_for()
        for name, status in zip(order, (RunStatus.AWAITING_USER, RunStatus.ACTIVE), strict=True):
            told, _ = blockers.to_resolve(run, name)
            run = blockers.resolved(run, told, NOW + 60, "terminal")
            assert run.status is status
        assert run.forgiven.seconds == 60
        assert run.acts == (PersonAct(NOW + 60, "user-fix-complete", "terminal"),) * 2
    told, _ = blockers.to_resolve(run, "B3")
    later = blockers.resolved(run, told, NOW + 90, "terminal", "by the way")
    assert (later.fix, later.forgiven) == (run.fix, run.forgiven)


def test_what_nobody_waits_for_frees_no_story() -> None:
    """Its retries begin anew only with what the story was waited for with."""
    run = blockers.awaiting(blockers.with_blocker(START, KEY, "low", NOW), "0", "x", NOW)
    run = run.with_story(replace(run.story("S1"), iteration=2))
    run = blockers.with_blocker(run, "beside", "low", NOW)
    told, _ = blockers.to_resolve(run, "B2")
    assert blockers.resolved(run, told, NOW, "terminal").story("S1").retries_from == 0


def test_only_what_weighs_and_is_its_own_lets_a_story_stand() -> None:
    """A blocker of low severity, and one of another story, hold nothing back; what was not begun waits."""
    blocked = replace(WORKING, status=StoryStatus.BLOCKED)
    new = Story("S2", "Mail", status=StoryStatus.BLOCKED)
    run = replace(START, stories=(blocked, new))
    rows = (("x", "high", "S1"), ("x", "high", "S2"), ("little", "low", "S1"))
    for text, severity, story in rows:
        run = blockers.added(run, text, severity, NOW, story=story)
    assert blockers.resolved(run, run.blockers[:1], NOW, "terminal").story("S1") == WORKING
    mended = blockers.resolved(run, run.blockers[1:2], NOW, "terminal")
    assert mended.story("S2").status is StoryStatus.PENDING


@pytest.mark.parametrize("status", [RunStatus.STOPPED, RunStatus.COMPLETED])
def test_a_run_that_does_not_go_on_begins_to_wait_for_nobody(status: RunStatus) -> None:
    """A brake holds, whatever is blocked."""
    blocked = replace(START, stories=(replace(WORKING, status=StoryStatus.BLOCKED),), status=status)
    assert blockers.awaiting_if_blocked(blocked, NOW) == blocked


def test_whom_a_run_waits_for_where_only_blocked_stories_are_left() -> None:
    """What blocks them, one more where nobody said it; not what stands before nothing that is left."""
    run = replace(START, phase=RunPhase.SETUP)
    run = blockers.added(run, "of the run", "low", NOW)
    run = replace(run, stories=(replace(WORKING, status=StoryStatus.BLOCKED),))
    run = blockers.awaiting_if_blocked(run, NOW + 1)
    why = "S1 is blocked, and nobody said by what"
    assert run.blockers[1] == Blocker("B2", why, "high", NOW + 1, story="S1")
    assert run.fix == UserFix("B2", f"B2: {why}", NOW + 1, story="S1", phase=RunPhase.SETUP)


def test_after_the_persons_word_the_run_goes_on() -> None:
    """The blocker is resolved with the notes, and who said it stands in the run."""
    run = waiting()
    told, asked_at = blockers.to_resolve(run)
    assert asked_at == NOW + 1
    run = blockers.resolved(run, told, NOW + 5, "terminal", "Added test API key")
    assert run.status is RunStatus.ACTIVE
    assert run.fix is not None
    assert (run.fix.completed_at, run.fix.notes) == (NOW + 5, "Added test API key")
    assert (run.blockers[0].resolved_at, run.blockers[0].notes) == (NOW + 5, "Added test API key")
    assert [(one.what, one.by) for one in run.acts] == [("user-fix-complete", "terminal")]
    with pytest.raises(Refused, match="waits for nobody"):
        blockers.to_resolve(run)
    with pytest.raises(Refused, match="resolved"):
        blockers.to_resolve(run, "B1")
    with pytest.raises(Refused, match="resolved"):
        blockers.awaiting(run, "B1", "x", NOW)


@pytest.mark.parametrize(
    ("severity", "status"),
    [
        ("low", "in_progress"),
        ("medium", "in_progress"),
        ("high", "blocked"),
        ("critical", "blocked"),
    ],
)
def test_a_storys_blocker_lets_it_stand_still(severity: str, status: str) -> None:
    """Unless it weighs little; the run goes on with the next story."""
    run = blockers.with_blocker(START, KEY, severity, NOW, "s1")
    assert run.story("S1").status.value == status
    assert run.status is RunStatus.ACTIVE
    assert run.blockers[0].story == "S1"


def test_only_blocked_stories_left_means_waiting_for_a_person() -> None:
    """For all of them at once, also where nobody said what blocks one; then all go on."""
    run = replace(START, stories=(WORKING, replace(WORKING, id="S2"), Story("S3", "x")))
    run = run.with_story(replace(run.story("S3"), depends_on=("S1",)))
    run = blockers.with_blocker(run, KEY, "high", NOW, "S1")
    assert run.status is RunStatus.ACTIVE
    run = blockers.with_blocker(run, "no mail server", "high", NOW + 1, "S2")
    assert run.status is RunStatus.AWAITING_USER
    assert run.fix is not None
    assert (run.fix.blocker, run.fix.others) == ("B1", ("B2",))
    assert KEY in run.fix.description
    assert "no mail server" in run.fix.description
    told, _ = blockers.to_resolve(run)
    run = blockers.resolved(run, told, NOW + 2, "prompt")
    assert run.status is RunStatus.ACTIVE
    waits = StoryStatus.PENDING
    assert [one.status for one in run.stories] == [StoryStatus.IN_PROGRESS, waits, waits]
    mute = replace(WORKING, status=StoryStatus.BLOCKED)
    alone = blockers.awaiting_if_blocked(replace(START, stories=(mute,)), NOW)
    assert (alone.status, alone.blockers[0].story) == (RunStatus.AWAITING_USER, "S1")


def test_a_story_that_was_given_up_is_tried_again_after_a_persons_word() -> None:
    """With all its iterations before it, and only once nothing else blocks it."""
    run = START
    for tree in "abc":
        run = failed(run, "S1", f"KeyError on {tree}", NOW, tree=tree)
    run = blockers.with_blocker(run, "and this", "high", NOW, "S1")
    first, _ = blockers.to_resolve(run, "B1")
    run = blockers.resolved(run, first, NOW, "terminal")
    assert run.story("S1").status is StoryStatus.BLOCKED
    second, _ = blockers.to_resolve(run, "1")
    run = blockers.resolved(run, second, NOW, "terminal")
    story = run.story("S1")
    assert (story.status, story.retries_from) == (StoryStatus.IN_PROGRESS, 3)
    assert failed(run, "S1", "again", NOW, tree="d").story("S1").status is StoryStatus.IN_PROGRESS


def test_a_blocker_that_was_logged_by_itself_is_described_by_whoever_adds_it() -> None:
    """So that the first blocker of a run keeps its index."""
    run = failed(START, "S1", "API key not configured", NOW)
    described = blockers.with_blocker(run, KEY, "critical", NOW + 1)
    (only,) = described.blockers
    assert (only.id, only.description, only.severity) == ("B1", KEY, "critical")
    more = blockers.with_blocker(described, "another", "low", NOW + 1)
    assert [entry.id for entry in more.blockers] == ["B1", "B2"]
    (only,) = blockers.with_blocker(run, "never mind", "low", NOW + 1).blockers
    assert only.severity == "high"  # words do not take its weight away


@pytest.mark.parametrize(
    ("story", "resolved_at", "is_the_same"),
    [("", 0.0, True), ("s1", 0.0, True), ("S2", 0.0, False), ("", NOW, False)],
)
def test_only_one_that_stands_for_that_story_is_described(
    story: str, resolved_at: float, *, is_the_same: bool
) -> None:
    """In its place, those beside it as they were; another story's, and what is resolved, get one more."""
    run = blockers.added(START, "before", "low", NOW)
    run = failed(run, "S1", "API key not configured", NOW)
    run = blockers.added(run, "behind", "low", NOW)
    one, own, other = run.blockers
    run = replace(run, blockers=(one, replace(own, resolved_at=resolved_at), other))
    after = blockers.with_blocker(run, KEY, "low", NOW + 1, story).blockers
    changed = replace(own, description=KEY, failure="", resolved_at=resolved_at)
    new = Blocker("B4", KEY, "low", NOW + 1, story=story)
    assert after == ((one, changed, other) if is_the_same else (*run.blockers, new))


@pytest.mark.parametrize(("text", "story"), [(" ", ""), ("x", "S9"), ("x", "S3")])
def test_what_is_no_blocker(text: str, story: str) -> None:
    """No text, no such story, or a completed one; none in a run that is over."""
    done = Story("S3", "Done", status=StoryStatus.COMPLETED)
    run = replace(START, stories=(*START.stories, done))
    with pytest.raises(Refused):
        blockers.with_blocker(run, text, "high", NOW, story)
    with pytest.raises(Refused):
        blockers.with_blocker(replace(START, status=RunStatus.COMPLETED), "x", "high", NOW)


def test_the_story_that_was_waited_with_is_tried_again_too() -> None:
    """Also where the blocker itself names no story: what failed before a person came counts no more."""
    run = blockers.with_blocker(START, KEY, "high", NOW)
    run = failed(run, "S1", "API key not configured", NOW)
    assert advice(run.story("S1"))["reason"] == EXTERNAL
    run = blockers.awaiting(run, "0", "Add it", NOW + 1)
    told, _ = blockers.to_resolve(run)
    run = blockers.resolved(run, told, NOW + 5, "terminal")
    assert advice(run.story("S1")) == {"should_retry": True, "backoff_seconds": 0}
