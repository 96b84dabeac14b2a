"""All that is said of a pull request is read, however many pages that takes; less counts as nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.core import hidden_marker
from lifecycle.core.errors import NotFound, Transient
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.core.values.configured import Addresses
from lifecycle.core.values.model import Look, Repository
from lifecycle.feedback.reviews import review_reading
from lifecycle.feedback.reviews.remarks import Trusted
from lifecycle.github.clients import GitHubClients
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.server import Sandbox
from tests.github.hub import sending
from tests.sandbox.crowd import crowd

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Repository("octo-org", "hello-service")
COUNT = 120


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """The built-in world with everybody's tokens."""
    with Sandbox(crowd()) as running:
        yield running


@pytest.fixture
def control(sandbox: Sandbox) -> Control:
    """Somebody at GitHub."""
    return Control(sandbox.info.control_url)


@pytest.fixture
def clients(sandbox: Sandbox) -> Iterator[GitHubClients]:
    """What speaks with octocat's token."""
    info = sandbox.info
    addresses = Addresses(info.api_url, info.graphql_url)
    made = GitHubClients(addresses, sending(info.token, Deadline.after(SystemClock(), 60.0)))
    yield made
    made.close()


@pytest.fixture
def number(control: Control) -> int:
    """An open pull request with as many lines as there are threads."""
    text = "".join(f"line {n}\n" for n in range(COUNT))
    control.push_commit("work", {"a.txt": text}, "Work", by="octocat")
    return control.open_pull("work", "Work", by="octocat")


def asked(control: Control) -> list[str | None]:
    """The operations since the last time."""
    found = [one.operation for one in control.requests() if one.kind == "graphql"]
    control.clear_requests()
    return found


def test_every_page_is_read_and_each_list_only_while_it_has_more(
    control: Control, clients: GitHubClients, number: int
) -> None:
    """120 threads are three requests, in which the reviews and comments are asked for once."""
    said: list[dict[str, Any]] = [
        {"path": "a.txt", "line": n + 1, "body": f"Why {n}?"} for n in range(COUNT)
    ]
    control.review(number, "COMMENTED", login="maria", body="Many.", comments=said)
    control.comment(number, "And docs?", by="visitor")
    asked(control)
    found = review_reading.read(clients.graph, REPOSITORY, number)
    assert asked(control) == ["ReadReviews"] * 3
    assert [one.remarks[0].body for one in found.threads] == [f"Why {n}?" for n in range(COUNT)]
    assert len({one.id for one in found.threads}) == COUNT
    many, docs = found.texts
    assert (many.remark.body, many.review_state) == ("Many.", "COMMENTED")
    assert (docs.remark.body, docs.remark.trusted) == ("And docs?", Trusted.STRANGER)
    assert (docs.key, docs.review_state) == (f"C{docs.remark.id}", "")


def test_a_remark_on_several_lines_has_all_of_them(
    control: Control, clients: GitHubClients, number: int
) -> None:
    """A suggested change replaces all lines from the first to the last, also once it is outdated."""
    several = {"path": "a.txt", "start_line": 2, "line": 5, "body": "```suggestion\none\n```"}
    control.review(number, "COMMENTED", login="maria", comments=[several])
    (thread,) = review_reading.read(clients.graph, REPOSITORY, number).threads
    assert (thread.place, thread.is_of_base, thread.is_outdated) == (":2-5", False, False)
    control.push_commit("work", {"a.txt": "all else\n"}, "Again", by="octocat")
    (thread,) = review_reading.read(clients.graph, REPOSITORY, number).threads
    assert (thread.place, thread.is_outdated) == (":2-5", True)


def test_what_has_more_pages_than_are_read_is_not_done(
    control: Control, clients: GitHubClients, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody says that nothing is unanswered who has not seen all."""
    said = [{"path": "a.txt", "line": n + 1, "body": "?"} for n in range(COUNT)]
    control.review(number, "COMMENTED", login="maria", comments=said)
    monkeypatch.setattr(review_reading, "MOST_PAGES", 2)
    with pytest.raises(
        Transient, match="more review threads, reviews or comments than can be read"
    ):
        review_reading.read(clients.graph, REPOSITORY, number)
    monkeypatch.setattr(review_reading, "MOST_PAGES", 3)
    assert len(review_reading.read(clients.graph, REPOSITORY, number).threads) == COUNT


def test_a_part_that_is_refused_refuses_all_of_it(
    control: Control, clients: GitHubClients, number: int
) -> None:
    """A null in the place of the threads is not "no threads"; and no pull request is one sentence."""
    nulls = [["repository", "pullRequest", "reviewThreads"]]
    control.add_fault("resource-limits", operation="ReadReviews", count=9, null_paths=nulls)
    with pytest.raises(Transient):
        review_reading.read(clients.graph, REPOSITORY, number)
    control.clear_faults()
    with pytest.raises(NotFound, match="GitHub shows no pull request #999"):
        review_reading.read(clients.graph, REPOSITORY, 999)


def test_a_long_thread_is_its_first_remark_and_the_newest(
    sandbox: Sandbox, control: Control, clients: GitHubClients, number: int
) -> None:
    """What lies between is counted; a bot's is a bot's, and what we wrote is ours."""
    first = {"path": "a.txt", "line": 1, "body": "Why?"}
    control.review(number, "COMMENTED", login="sam", comments=[first])
    (thread,) = review_reading.read(clients.graph, REPOSITORY, number).threads
    calls = clients.calls(REPOSITORY)
    path = f"pulls/{number}/comments/{thread.remarks[0].id}/replies"
    for n in range(24):
        calls.create("POST", path, "a reply", lambda found: found, {"body": f"{n}"})
    (thread,) = review_reading.read(clients.graph, REPOSITORY, number).threads
    assert [one.body for one in thread.remarks] == ["Why?", *map(str, range(4, 24))]
    assert thread.left_out == 4
    assert {one.trusted for one in thread.remarks[1:]} == {Trusted.OURS}
    assert thread.is_answered


def test_what_the_tokens_account_began_is_its_persons_and_what_it_answers_is_ours(
    sandbox: Sandbox, control: Control, clients: GitHubClients, number: int
) -> None:
    """But for an answer with our marker; the look, which reads one remark of each thread, counts alike."""
    first = {"path": "a.txt", "line": 1, "body": "Why?"}
    for login in ("octocat", "sam"):
        control.review(number, "COMMENTED", login=login, body="Look.", comments=[first])
    mine, theirs = review_reading.read(clients.graph, REPOSITORY, number).threads
    calls = clients.calls(REPOSITORY)

    def unanswered(text: str) -> tuple[int, list[str]]:
        for thread in (mine, theirs):
            path = f"pulls/{number}/comments/{thread.remarks[0].id}/replies"
            calls.create("POST", path, "a reply", lambda answer: answer, {"body": text})
        look = Look(issue=42, branch="", pr_number=number, reviews=True)
        pull = clients.forge(REPOSITORY).observe(look).by_number
        assert pull is not None
        assert pull.conversations is not None
        read = review_reading.read(clients.graph, REPOSITORY, number)
        return pull.conversations.unanswered, [thread.id for thread in read.unanswered]

    assert unanswered("Not so.") == (1, [mine.id])
    assert unanswered(hidden_marker.signed("So.", hidden_marker.of("reply", to=1))) == (0, [])
    read = review_reading.read(clients.graph, REPOSITORY, number)
    whose = [[remark.trusted for remark in thread.remarks] for thread in read.threads]
    assert whose == [
        [Trusted.OWNER, Trusted.OWNER, Trusted.OURS],
        [Trusted.PERSON, Trusted.OURS, Trusted.OURS],
    ]
    assert [review.remark.trusted for review in read.texts][:2] == [Trusted.OWNER, Trusted.PERSON]
