"""What a run keeps of a repository tells as much of each task as all that was read."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.claim.decisions import derive
from lifecycle.core import hidden_marker
from lifecycle.core.values.model import Hold, Issue, Observation, PullState
from lifecycle.core.values.survey import Holding, Swept, Tip
from lifecycle.reconcile.inferred import task_of
from lifecycle.reconcile.sweep import KeptCards, slim, slimmed
from tests.factories import NOW
from tests.reconcile.worlds import REPOSITORY, pull

NUMBERS = st.integers(1, 4)
BRANCHES = st.sampled_from(
    ["claude/1", "claude/a-1", "claude/b-1", "claude/a-2", "claude/a-01", "claude/x3", "topic-4"]
)
STATES = st.sampled_from(list(PullState))
PULLS = st.builds(
    lambda number, branch, state: pull(number=number, branch=branch, state=state),
    st.integers(10, 16),
    BRANCHES,
    STATES,
)
HOLDS = st.builds(
    lambda issue, branch: Hold(issue, f"{issue:040x}", "octocat-1", NOW, branch),
    NUMBERS,
    BRANCHES | st.just(""),
)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Holding, list[Swept]]:
    """A repository, and its four issues as a sweep shows them."""
    every = {one.number: one for one in draw(st.lists(PULLS, max_size=6))}
    tips = draw(st.lists(BRANCHES, unique=True))
    holding = Holding(
        REPOSITORY,
        "https://github.com/octo-org/hello",
        "main",
        {one.issue: one for one in draw(st.lists(HOLDS, max_size=4))},
        {name: Tip(name, f"{n:040x}", NOW) for n, name in enumerate(tips)},
        tuple(one for one in every.values() if one.state is PullState.OPEN),
        4,
    )
    return holding, [draw(swepts(number, list(every.values()))) for number in range(1, 5)]


@st.composite
def swepts(draw: st.DrawFn, number: int, pulls: list[Any]) -> Swept:
    """One issue, which some of the pull requests mention; some of those say that they close it."""
    some = draw(
        st.lists(st.sampled_from(pulls), unique_by=lambda one: one.number) if pulls else st.just([])
    )
    closing = draw(st.lists(st.sampled_from(some)) if some else st.just([]))
    issue = Issue(number, f"I_{number}", "Task", "", True)
    seen = Observation(REPOSITORY, "", issue, by_branch=tuple(some))
    return Swept(REPOSITORY, seen, None, frozenset(one.number for one in closing))


@given(worlds())
def test_the_shelf_tells_each_task_what_the_whole_repository_does(
    world: tuple[Holding, list[Swept]],
) -> None:
    """Whose branch and pull request it is does not depend on how the rest is laid out."""
    holding, issues = world
    shelf = KeptCards(holding)
    for swept in issues:
        assert task_of(swept, shelf.of(swept)) == task_of(swept, holding)


@given(
    st.lists(
        st.sampled_from(["#4", "#42", "a", "/", "\n", " ", "x#42", "\u2028", "#"]), max_size=60
    )
)
def test_a_slim_pull_request_mentions_what_the_whole_one_does(words: list[str]) -> None:
    """A text is shortened by what says nothing of issues, and by nothing else."""
    whole = pull(title="Task", body="".join(words) + "\n" + "word " * 30)
    assert derive.mentioned(slim(whole)) == derive.mentioned(whole)
    assert [derive.mentions(slim(whole), n) for n in (4, 42)] == [
        derive.mentions(whole, n) for n in (4, 42)
    ]


def test_a_slim_pull_request_keeps_a_marker_and_little_else() -> None:
    """Who took the link out again is remembered by its marker; a text of kilobytes is not kept."""
    mark = hidden_marker.of("link", issue=42)
    whole = pull(body="A long story.\n" * 500 + f"{mark}\nRefs #42\n")
    assert slim(whole) == replace(whole, body=f"{mark}\nRefs #42")
    short = pull(body="Nothing to shorten")
    assert slim(short) is short


def test_an_issue_without_pull_requests_is_kept_as_it_is() -> None:
    """Most issues of a sweep are not copied."""
    swept = Swept(REPOSITORY, Observation(REPOSITORY, "", Issue(1, "I", "Task", "", True)))
    assert slimmed(swept) is swept


def test_a_task_is_not_searched_for_among_all_of_the_repository() -> None:
    """Out of thousands a task gets its own branch and pull request to look at, and no others."""
    numbers = range(1, 3001)
    branch = partial("claude/task-{}".format)
    holding = Holding(
        REPOSITORY,
        leases={n: Hold(n, f"{n:040x}", "octocat-1", NOW, branch(n)) for n in numbers},
        tips={branch(n): Tip(branch(n), f"{n:040x}", NOW) for n in numbers},
        pulls=(
            *(pull(number=5000 + n, branch=branch(n)) for n in numbers),
            *(pull(number=9000 + n, branch=f"topic-{n}") for n in numbers),
        ),
    )
    shelf = KeptCards(holding)
    swept = Swept(REPOSITORY, Observation(REPOSITORY, "", Issue(42, "I", "Task", "", True)))
    own = shelf.of(swept)
    assert list(own.leases) == [42]
    assert list(own.tips) == [branch(42)]
    assert [one.number for one in own.pulls] == [5042]


@pytest.mark.parametrize("named", [True, False])
def test_one_text_for_one_branch(named: bool) -> None:
    """Lease, tip and pull request of a branch name it by the same text, which is there once."""
    parts: list[str] = [json.loads('"claude/task-7"') for _ in range(3)]
    hold = Hold(7, "a" * 40, "octocat-1", NOW, parts[0] if named else "")
    tips = {parts[1]: Tip(parts[1], "a" * 40, NOW)}
    shelf = KeptCards(
        Holding(REPOSITORY, leases={7: hold}, tips=tips, pulls=(pull(branch=parts[2]),))
    )
    swept = Swept(REPOSITORY, Observation(REPOSITORY, "", Issue(7, "I", "Task", "", True)))
    own = shelf.of(swept)
    texts = [*(one.branch for one in own.pulls), *(one.branch for one in own.tips.values())]
    texts += [own.leases[7].branch] if named else []
    assert len({id(text) for text in texts}) == 1
    assert len(texts) == 2 + named


@pytest.mark.parametrize("said", ["Gh-42", "/o/n/ISSUES/42", "<!-- Lifecycle: x -->", "é\nGH-42"])
def test_a_slim_pull_request_keeps_every_word_that_tells(said: str) -> None:
    """Also where no number sign is, in capitals or small letters, and beside letters of other languages."""
    whole = pull(body="word " * 30 + f"\n{said}\nno word")
    assert slim(whole).body == said.rpartition("\n")[2]
