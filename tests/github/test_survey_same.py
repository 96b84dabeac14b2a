"""A sweep shows what a single look shows: the same values, read another way."""

from __future__ import annotations

from dataclasses import replace
from dataclasses import replace as model_replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.core.values.model import Look, Observation, PullRequest
from lifecycle.core.values.priorities import STATUSES
from lifecycle.core.values.survey import Swept
from lifecycle.github.board.status_fallback import Choice
from lifecycle.github.board.status_labels import StatusLabels
from lifecycle.github.client.rest import Calls
from lifecycle.github.pulls.forge import GitHubForge
from lifecycle.github.sweep.sweeping import GitHubSurvey
from lifecycle.sandbox.seed import Seed, SeedIssue, SeedItem, SeedMark, SeedPull
from tests.github.hub import Hub, MemoryCache, keeper, survey_on
from tests.github.survey_world import at, branch, hub_of, issue, pull, repository, seconds, seed

LOGINS = ["octocat", "maria", "sam"]
minutes = st.integers(0, 600)
BASE, HEAD = "b" * 40, "a" * 40


@st.composite
def issues_of(draw: st.DrawFn, number: int) -> SeedIssue:
    """An issue of any kind."""
    is_open = draw(st.booleans())
    ended = {} if is_open else {"state": "closed", "closed_at": at(draw(minutes))}
    if not is_open and draw(st.booleans()):
        ended["state_reason"] = "not_planned"
    labels = draw(st.lists(st.sampled_from(["bug", *(f"status: {s.lower()}" for s in STATUSES)]),
                           max_size=2, unique=True))  # fmt: skip
    return issue(
        number,
        assignees=draw(st.lists(st.sampled_from(LOGINS), max_size=2, unique=True)),
        updated_at=at(draw(minutes)),
        labels=labels,
        **ended,
    )


@st.composite
def pulls_of(draw: st.DrawFn, number: int, issues: int) -> SeedPull:
    """A pull request of any kind that mentions some issue, or none."""
    words = draw(st.sampled_from(["Refs", "Closes", "See"]))
    body = f"{words} #{draw(st.integers(1, issues))}" if draw(st.booleans()) else "Nothing."
    state = draw(st.sampled_from(["open", "closed", "merged"]))
    moment = at(draw(minutes))
    ended: dict[str, Any] = {} if state == "open" else {"state": "closed", "closed_at": moment}
    if state == "merged":
        ended |= {"merged_at": moment, "merged_by": "maria", "merge_sha": "c" * 40}
    return pull(
        number,
        f"claude/b{number}",
        body,
        draft=draw(st.booleans()) and state == "open",
        head_sha=HEAD,
        base_sha=BASE,
        updated_at=at(draw(minutes)),
        **ended,
    )


@st.composite
def cards_of(draw: st.DrawFn, number: int) -> SeedItem:
    """A card with or without Status and Agent, archived or not."""
    values: dict[str, str | int | float] = {}
    marks = {}
    if draw(st.booleans()):
        values["Status"] = draw(st.sampled_from(STATUSES))
        marks["Status"] = SeedMark(updated_at=at(draw(minutes)))
    if draw(st.booleans()):
        values["Agent"] = "octocat-1"
    return SeedItem(issue=number, values=values, marks=marks, archived=draw(st.booleans()))


@st.composite
def worlds(draw: st.DrawFn) -> Seed:
    """One repository and the board."""
    count = draw(st.integers(1, 6))
    issues = [draw(issues_of(n)) for n in range(1, count + 1)]
    pulls = [draw(pulls_of(n, count)) for n in range(50, 50 + draw(st.integers(0, 4)))]
    carded = draw(st.lists(st.integers(1, count), unique=True))
    home = repository(issues=issues, branches=[branch(one.head) for one in pulls], pulls=pulls)
    return seed([home], [draw(cards_of(n)) for n in carded])


def plain(found: PullRequest) -> PullRequest:
    """A pull request without what a sweep does not read."""
    return replace(
        found,
        checks=None,
        mergeable="UNKNOWN",
        merge_state="",
        review_decision="",
        changes_requested=(),
        queue=None,
        ejection=None,
        is_auto_merge=False,
        node_id="",
    )


def demand_same(hub: Hub, forge: GitHubForge, swept: Swept) -> None:
    """What the sweep shows of an issue is what a look at it shows."""
    found = swept.observation
    assert found.issue is not None
    # Since when the issue is on the board, only a sweep asks: who remembers has no need of it.
    item = found.item and model_replace(found.item, added_at=None)
    looks = [Look(found.issue.number, "claude/none", board=True)]
    looks += [
        Look(found.issue.number, one.branch, one.number, board=True) for one in found.by_branch
    ]
    for look in looks:
        seen: Observation = forge.observe(look)
        assert (seen.repository, seen.issue, seen.item) == (
            found.repository,
            found.issue,
            item,
        )
        assert (seen.board_problem, seen.board_note) == (found.board_problem, found.board_note)
        if look.pr_number is not None:
            assert seen.by_number is not None
            assert plain(seen.by_number) in found.by_branch
            assert [plain(one) for one in seen.by_branch] == [plain(seen.by_number)]
    numbers = [one.number for one in found.by_branch]
    assert numbers == sorted(numbers, reverse=True)
    mentioning = {
        int(number)
        for number, one in hub.world()["pulls"].items()
        if f"#{found.issue.number}" in one["body"].split()
    }
    assert set(numbers) == mentioning


def by_number(found: list[Swept]) -> dict[int, Swept]:
    """Each issue's values."""
    return {one.observation.issue.number: one for one in found if one.observation.issue}


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(worlds())
def test_a_sweep_shows_what_a_look_shows(world: Seed) -> None:
    """Read from the board, from the repository or by number: each the same as the hooks' own look."""
    with hub_of(world, Deadline(SystemClock(), None)) as hub:
        home = str(hub.repository)
        survey = survey_on(hub.graph, hub.rest, hub.project)
        wanted = world.repositories[0].issues
        named = by_number(list(survey.issues((home, one.number) for one in wanted)))
        assert sorted(named) == sorted(one.number for one in wanted)
        for one in named.values():
            demand_same(hub, hub.forge, one)
        cards = list(survey.cards())
        assert by_number(cards).items() <= named.items()
        shown = [one.issue for one in world.projects[0].items if not one.archived]
        assert [one.observation.issue.number for one in cards if one.observation.issue] == shown
        claimed = by_number(list(survey.issues_of(survey.holdings([hub.repository]), seconds(300))))
        assert claimed.items() <= named.items()
        assert set(claimed) == {one.number for one in wanted if is_claimed(one)}


def is_claimed(one: SeedIssue) -> bool:
    """Open and assigned, or closed and changed since minute 300."""
    if one.state == "open":
        return bool(one.assignees)
    return one.updated_at is not None and one.updated_at >= at(300)


@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(worlds())
def test_a_sweep_by_labels_shows_what_a_look_by_labels_shows(world: Seed) -> None:
    """Where the token may not see the board, both read the labels and say why."""
    with hub_of(world, Deadline(SystemClock(), None)) as hub:
        hub.control.set_scopes(["repo"])
        clock, cache = hub.graph.deadline.clock, MemoryCache()
        tokens = keeper(hub.info.token)
        choice = Choice(hub.project, "auto", StatusLabels(), tokens, cache, clock)
        survey = GitHubSurvey(hub.graph, hub.rest, choice)
        forge = GitHubForge(Calls(hub.rest, hub.repository), hub.graph, choice)
        wanted = [(str(hub.repository), one.number) for one in world.repositories[0].issues]
        found = list(survey.issues(wanted))
        assert len(found) == len(wanted)
        for one in found:
            demand_same(hub, forge, one)
