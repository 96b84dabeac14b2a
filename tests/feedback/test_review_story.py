"""A review of twelve comments, from GitHub to the agent and back: with real entrypoints."""

from __future__ import annotations

import json
import re
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.api import Wake
from lifecycle.app.wiring import WorktreeWorld
from lifecycle.core.timing import Deadline
from lifecycle.feedback.reviews.review_ledger import LONGEST_QUIET, QUIET_SECONDS
from lifecycle.feedback.reviews.review_reading import read
from lifecycle.storage.state_file import StateFile
from lifecycle.storage.store import Folder
from tests.conftest import BRANCH
from tests.e2e.client import Session, ended, heard
from tests.factories import client, texts

SOAKED = pytest.mark.soak(
    "feedback/test_review_story.py::test_a_review_of_twelve_comments_is_one_wake_and_is_answered",
    "feedback/test_review_ledger.py::test_a_packet_that_nobody_heard_takes_nothing_from_an_earlier_one",
    "feedback/test_review_ledger.py::test_a_request_for_changes_stands_until_its_author_takes_it_back",
    "storage/test_ledger.py::test_what_is_over_is_taken_back_if_it_waits_and_may_come_again",
    "feedback/test_review_reading.py::test_a_part_that_is_refused_refuses_all_of_it",
    "feedback/test_review_ledger.py::test_a_stranger_speaks_to_the_user_alone",
    "feedback/test_review_ledger.py::test_what_could_not_be_read_now_is_read_at_the_next_look",
    "feedback/test_review_ledger.py::test_a_packet_that_waits_is_packed_anew_without_what_was_taken_back",
)

if TYPE_CHECKING:
    from tests.conftest import Place

COUNT = 12


@pytest.fixture
def number(place: Place) -> int:
    """The claim's open pull request, of a file with twelve lines, whose checks are green."""
    place.git("switch", "--quiet", "-c", BRANCH)
    (place.root / "lines.txt").write_text("".join(f"line {n}\n" for n in range(COUNT)))
    place.git("add", "lines.txt")
    place.git("commit", "--quiet", "-m", "Work")
    place.git("push", "--quiet", "origin", BRANCH)
    place.ready()
    place.tree().tick(Wake.STOP)
    place.tree().tick(Wake.TICK)
    return place.pull()


def push(place: Place) -> None:
    """Another head that leaves the twelve lines alone."""
    place.git("switch", "--quiet", BRANCH)
    (place.root / "more.txt").write_text("more\n")
    place.git("add", "more.txt")
    place.git("commit", "--quiet", "-m", "More")
    place.git("push", "--quiet", "origin", BRANCH)


def remarks(count: int = COUNT) -> list[dict[str, Any]]:
    """One for each line."""
    return [{"path": "lines.txt", "line": n + 1, "body": f"Why line {n}?"} for n in range(count)]


def shown(place: Place, *more: str) -> Any:
    """What `lifecycle feedback reviews --json` says."""
    done = place.cli("feedback", "reviews", "--json", *more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def operations(place: Place) -> list[str]:
    """What GitHub was asked since the last `clear`."""
    return [one.operation or f"{one.method} {one.path}" for one in place.requests()]


def says_by_hand(place: Place, number: int, thread: str, text: str) -> None:
    """Reply to a thread as a person does on the page, with the token's own account."""
    file = StateFile(Folder(place.root))
    deadline = Deadline.after(place.clock, 30.0)
    with closing(
        WorktreeWorld(place.root, place.environment, place.clock, deadline, file)
    ) as world:
        conversation = read(world.clients.graph, world.base, number)
        (root,) = (entry.remarks[0].id for entry in conversation.threads if entry.id == thread)
        path = f"pulls/{number}/comments/{root}/replies"
        world.calls.create("POST", path, "a reply", lambda answer: answer, {"body": text})


@SOAKED
def test_a_thread_of_a_strangers_is_named_where_it_is_asked_for(place: Place, number: int) -> None:
    """It is counted as unanswered, so it is shown; its words are only for the user."""
    place.control.review(number, "COMMENTED", login="visitor", comments=remarks(1))
    refused = place.cli("feedback", "request")
    assert (refused.returncode, "nobody was asked" in refused.stderr) == (1, True)
    said = place.cli("feedback", "reviews").stdout
    assert "1 unanswered" in said
    (thread,) = shown(place)["unanswered"]
    (line,) = [line for line in said.split("\n") if thread in line]
    assert line.startswith(f"- lines.txt:1 · thread {thread} · only people without write access")
    assert "Why line 0?" not in said


def test_a_review_of_twelve_comments_is_one_wake_and_is_answered(place: Place, number: int) -> None:
    """One packet once nobody writes any more; each answered by the command; then nothing is unanswered.

    Until then `status` and a hand-off say how many wait.
    """
    place.control.review(
        number, "CHANGES_REQUESTED", login="maria", body="Twelve things.", comments=remarks()
    )
    place.clear()
    early = place.tree().tick(Wake.IDLE)
    assert "Changes requested" not in texts(early)
    assert operations(place) == ["ObserveClaim", "ReadReviews"]
    place.clear()
    assert "Changes requested" not in texts(place.tree().tick(Wake.IDLE))
    assert operations(place) == ["ObserveClaim"]
    place.clock.offset += QUIET_SECONDS + 1
    (packet,) = place.tree().tick(Wake.IDLE).said
    lines = packet.text.split("\n")
    assert lines[0].startswith(f"Changes requested on PR #{number} by maria: http")
    assert len(packet.text) <= 2_000
    path = place.root / lines[-1].rpartition(": ")[2]
    whole = path.read_text()
    assert path.parent == place.root / ".lifecycle" / "feedback"
    assert all(f"  | Why line {n}?" in whole for n in range(COUNT))
    assert whole.count("  | +line 3\n") >= 1
    assert place.tree().tick(Wake.IDLE).said == ()
    assert "12 review threads of PR" in place.cli("status").stdout

    threads = shown(place)["unanswered"]
    assert len(threads) == COUNT
    push(place)
    handed = place.cli("handoff", "--summary", "Fix race condition")
    assert handed.returncode == 0, handed.stderr
    said = f"12 review threads of PR #{number} are unanswered: lifecycle feedback reviews."
    assert said in handed.stdout
    answer = place.root / "answer.md"
    answer.write_text("Because of the lock.\n")
    place.clear()
    first = place.cli(
        "feedback", "reply", threads[0], "--text-file", str(answer), "--verdict", "fixed"
    )
    assert first.returncode == 0, first.stderr
    assert "left open for maria to resolve" in first.stdout
    assert [one.partition("/comments")[0] for one in operations(place)] == [
        "ReadThread",
        f"POST /repos/octo-org/hello-service/pulls/{number}",
        "ReadThread",
    ]
    assert "11 review threads of PR" in place.cli("status").stdout
    for thread in threads[1:]:
        done = place.cli("feedback", "reply", thread, "--text-file", str(answer))
        assert done.returncode == 0, done.stderr
    assert "review thread" not in place.cli("status").stdout  # each reply is counted at once
    now = shown(place)
    assert (now["unanswered"], now["ask_again"]) == ([], ["maria"])
    assert now["threads"][0] | {"id": ""} == {
        "id": "", "resolved": False, "answered": True, "verdict": "fixed"
    }  # fmt: skip
    # The request for changes stands until maria takes it back.
    assert [one["review_state"] for one in now["points"]] == ["CHANGES_REQUESTED"]
    place.clock.offset += QUIET_SECONDS + 1
    assert texts(place.tree().tick(Wake.IDLE)) == ""
    assert "review threads" not in place.cli("status").stdout
    assert place.cli("feedback", "request").stdout.startswith("Asked for another review of PR #")
    said = place.cli("feedback", "request").stdout
    assert ": each reviewer approved it, reviewed its newest commit" in said


def test_who_asks_by_command_hears_it_at_once_and_once(place: Place, number: int) -> None:
    """Line by line, as it is quoted; a second look has nothing new."""
    place.control.review(number, "COMMENTED", login="maria", comments=remarks(2))
    first = place.cli("tick", CLAUDE_CODE_SESSION_ID="s-1").stdout
    assert f"2 remarks on PR #{number} by maria wait for an answer." in first
    assert "  | Why line 1?" in first
    assert "\\n" not in first
    assert "remarks on PR" not in place.cli("tick", CLAUDE_CODE_SESSION_ID="s-1").stdout


@SOAKED
def test_what_nobody_heard_is_withdrawn_with_the_request(place: Place, number: int) -> None:
    """A packet that waits is packed anew at the next news: without what was taken back."""
    place.control.review(number, "CHANGES_REQUESTED", login="maria", body="Rename it.")
    place.control.review(number, "COMMENTED", login="sam", body="A typo in line 2.")
    before = place.cli("tick").stdout
    assert "Changes requested on PR" in before
    assert "A typo" in before
    place.control.review(number, "APPROVED", login="maria")
    for command in ("tick", "status"):
        after = place.cli(command).stdout
        assert "Changes requested on PR" not in after
        assert "Rename it" not in after
        assert f"One remark on PR #{number} by sam" in after
    heard_now = place.cli("tick", CLAUDE_CODE_SESSION_ID="s-1").stdout
    assert "A typo in line 2." in heard_now
    assert "A typo" not in place.cli("tick").stdout


@SOAKED
def test_who_is_asked_for_another_review_has_the_next_word(place: Place, number: int) -> None:
    """What waits of their request is withdrawn, and others' words stay; what merge saw, status says."""
    place.control.review(number, "CHANGES_REQUESTED", login="maria", body="Rename it.")
    place.control.comment(number, "A typo in line 2.", by="sam")
    assert "Rename it." in place.cli("tick").stdout
    push(place)
    assert "Asked for another review" in place.cli("feedback", "request").stdout
    assert "Changes requested on PR" not in place.cli("status").stdout
    heard_now = place.cli("tick", CLAUDE_CODE_SESSION_ID="s-1").stdout
    assert "A typo in line 2." in heard_now
    assert "Changes requested on PR" not in heard_now
    assert "Rename it" not in heard_now
    assert [one["body"] for one in shown(place)["points"]] == ["A typo in line 2."]
    place.control.review(number, "CHANGES_REQUESTED", login="maria", body="Not so.")
    assert "Changes requested on PR" not in place.cli("status").stdout
    assert "Changes are requested on PR" in place.cli("feedback", "merge").stdout
    assert f"Changes requested on PR #{number} by maria." in place.cli("status").stdout
    assert "  | Not so." in place.cli("tick", CLAUDE_CODE_SESSION_ID="s-1").stdout


def test_a_review_by_the_tokens_own_account_is_its_persons(place: Place, number: int) -> None:
    """What begins a conversation is heard, our answer answers it, and what is said against that is heard.

    A comment on the pull request, and an answer in somebody else's conversation, may be the agent's.
    """
    maria = [{"path": "lines.txt", "line": 2, "body": "Why this?"}]
    place.control.review(number, "COMMENTED", login="maria", comments=maria)
    mine = [{"path": "lines.txt", "line": 1, "body": "Rename this."}]
    place.control.review(number, "COMMENTED", login="octocat", body="Two things.", comments=mine)
    place.control.comment(number, "Done with it.", by="octocat")
    packet = place.cli("tick", CLAUDE_CODE_SESSION_ID="s-1").stdout
    assert f"3 remarks on PR #{number} by maria, octocat wait for an answer." in packet
    assert "  | Rename this." in packet
    assert "octocat · written with the account of this token" in packet
    assert "Done with it." not in packet
    assert "2 review threads of PR" in place.cli("status").stdout
    (_, mine_id) = threads = shown(place)["unanswered"]
    for thread, verdict in zip(threads, ("question", "fixed"), strict=True):
        answer = place.root / "answer.md"
        answer.write_text(f"Of {thread}.\n")
        done = place.cli(
            "feedback", "reply", thread, "--text-file", str(answer), "--verdict", verdict
        )
        assert done.returncode == 0, done.stderr
    assert "left open for octocat to resolve" in done.stdout
    assert shown(place)["unanswered"] == []
    says_by_hand(place, number, mine_id, "Not like that.")
    assert shown(place)["unanswered"] == [mine_id]
    assert "  | Not like that." in place.cli("tick", CLAUDE_CODE_SESSION_ID="s-1").stdout
    assert "One review thread of PR" in place.cli("status").stdout
    assert place.cli("feedback", "request").stdout.count("octocat") == 0


def test_the_closing_question_says_what_is_unanswered(place: Place, number: int) -> None:
    """A merge does not make remarks go away."""
    place.control.review(number, "COMMENTED", login="maria", comments=remarks(3))
    place.tree().tick(Wake.TICK)
    place.control.merge_pull(number)
    said = texts(place.tree().tick(Wake.IDLE))
    assert f"PR #{number} merged! Should I close issue #42? 3 review threads of PR" in said


@SOAKED
def test_reviews_that_cannot_be_read_now_are_read_at_the_next_look(
    place: Place, number: int
) -> None:
    """An incomplete read counts as none: nothing is told of it, and nothing is taken as told."""
    place.control.review(
        number, "CHANGES_REQUESTED", login="maria", body="Three things.", comments=remarks(3)
    )
    place.control.add_fault("bad-gateway", operation="ReadReviews", count=9)
    place.clock.offset += QUIET_SECONDS + 1
    assert "Changes requested" not in texts(place.tree().tick(Wake.IDLE))
    place.control.clear_faults()
    assert "Changes requested" in texts(place.tree().tick(Wake.IDLE))
    place.control.review(number, "CHANGES_REQUESTED", login="sam", body="No.")
    denied = {"error_type": "FORBIDDEN", "message": "Resource not accessible"}
    place.control.add_fault("partial-forbidden", operation="ReadReviews", count=9, **denied)
    place.clock.offset += QUIET_SECONDS + 1
    bare = texts(place.tree().tick(Wake.IDLE))
    assert f"Changes requested on PR #{number} by sam" in bare
    assert "\n" not in bare


def test_the_waiter_wakes_the_session_with_the_packet_once(place: Place, number: int) -> None:
    """Exit 2 with the sentence, the points behind bars and the file, line by line; then silence.

    Where somebody never pauses the packet comes after ten minutes, which have passed here.
    """
    (place.root / ".lifecycle.toml").write_text("[checks]\npoll_seconds = 0.05\n")
    place.control.review(number, "COMMENTED", login="maria", comments=remarks(2))
    assert place.hook("on-idle").returncode == 0
    state = place.root / ".lifecycle" / "state.json"
    content = json.loads(state.read_text())
    known = content["record"]["pull"]["reviews"]
    known["waits_since"] -= LONGEST_QUIET
    known["due"] -= LONGEST_QUIET
    state.write_text(json.dumps(content))
    session = Session(place)
    waiter = session.waiter()
    with ended(waiter):
        woken = heard(waiter)
    assert woken.woke
    lines = woken.model.splitlines()
    assert lines[0].startswith(f"2 remarks on PR #{number} by maria wait for an answer.")
    assert "  | Why line 0?" in lines
    assert (place.root / lines[-1].rpartition(": ")[2]).is_file()
    assert session.idle().is_silent


def test_an_agent_publishes_no_file_from_elsewhere(place: Place, number: int) -> None:
    """It may reply unasked, so its file lies in the worktree; what is no file or no UTF-8 is no text."""
    place.control.review(number, "COMMENTED", login="maria", comments=remarks(1))
    (thread,) = shown(place)["unanswered"]
    outside = place.root.parent / "elsewhere.md"
    outside.write_text("Something of the user's.\n")
    (place.root / "link.md").symlink_to(outside)
    for name in (str(outside), "link.md", "missing.md", "."):
        refused = place.cli("feedback", "reply", thread, "--text-file", name, **client())
        assert refused.returncode == 1
        assert re.search("outside this worktree|No such file|Is a directory", refused.stderr)
    (place.root / "answer.md").write_bytes(b"\xff\xfe\x80")
    for name in ("answer.md", "-"):
        words = ("feedback", "reply", thread, "--text-file", name)
        refused = place.run(str(place.command), *words, stdin=b"\xff\xfe\x80")
        assert (refused.returncode, "is not UTF-8 text" in refused.stderr) == (1, True)
    assert shown(place)["unanswered"] == [thread]
    (place.root / "answer.md").write_text("Fixed by the lock.\n")
    done = place.cli("feedback", "reply", thread, "--text-file", "answer.md", **client())
    assert done.returncode == 0, done.stderr
    assert shown(place)["unanswered"] == []
