"""Read which tasks there are in a scope, each once.

If the board can be read, the tasks are its cards, and whatever is claimed besides them; if it cannot, or if
several runs share the work, the tasks are the repositories' own issues.

A board lists its cards in its own order, so the holdings of all repositories are kept until their cards
come. Only what may belong to a task is kept, and of a pull request's text only the lines about an issue.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from sys import intern

from lifecycle.claim.decisions import derive
from lifecycle.core.errors import LifecycleError, NotFound, Rejected
from lifecycle.core.light_dataclass import dataclass, field, replace
from lifecycle.core.values.branch_names import named_issue
from lifecycle.core.values.model import BoardItem, PullRequest, Repository
from lifecycle.core.values.priorities import STATUSES
from lifecycle.core.values.survey import LEASES, BoardTooLarge, Holding, Swept
from lifecycle.core.world import World
from lifecycle.reconcile.finding import SweepProblem, WaitingPull, sentence, waiting_pulls
from lifecycle.reconcile.inferred import InferredTask, task_of
from lifecycle.reconcile.scope import Scope

_TELLING = re.compile(r"[#GgLl/](?:(?<=#)\d|(?i:(?<=g)h-\d|(?<=l)ifecycle:|(?<=/)issues/\d))")
"""`#1`, `GH-1`, `/issues/1`, `lifecycle:`; led by one character, it is searched for five times as fast."""
_SHORT = 80
"""The length up to which a text is not worth shortening."""


class KeptCards:
    """What is kept of one repository until its tasks come.

    Args:
        holding: what was read of the repository.

    Attributes:
        holding: the same without its pull requests.
        met: the issues that have come already.
    """

    __slots__ = ("_named", "_pulls", "holding", "met")

    def __init__(self, holding: Holding) -> None:
        # The same text twice is kept once.
        leases = {
            hold.issue: replace(hold, agent=intern(hold.agent), branch=intern(hold.branch))
            for hold in holding.leases.values()
        }
        named = (replace(tip, branch=intern(tip.branch)) for tip in holding.tips.values())
        tips = {tip.branch: tip for tip in named}
        held = {hold.branch: hold.issue for hold in leases.values() if hold.branch}
        self.met: set[int] = set()
        self._pulls: dict[str, tuple[PullRequest, ...]] = {}
        for pull in holding.pulls:
            if pull.branch in held or named_issue(pull.branch):
                owner, base = intern(pull.head_owner), intern(pull.base)
                kept = replace(slim(pull), branch=intern(pull.branch), head_owner=owner, base=base)
                self._pulls[kept.branch] = (*self._pulls.get(kept.branch, ()), kept)
        self._named: dict[int, tuple[str, ...]] = {}
        for branch in dict.fromkeys((*tips, *self._pulls)):
            number = named_issue(branch)
            if number and number != held.get(branch):
                self._named[number] = (*self._named.get(number, ()), branch)
        self.holding = replace(holding, leases=leases, tips=tips, pulls=())

    def of(self, swept: Swept) -> Holding:
        """The part of the holding that may be one issue's own: branches, leases and pull requests."""
        number = swept.observation.issue.number if swept.observation.issue is not None else 0
        hold = self.holding.leases.get(number)
        shown = [pull.branch for pull in swept.observation.by_branch]
        leased = [hold.branch] if hold is not None and hold.branch else []
        branches = dict.fromkeys([*shown, *self._named.get(number, ()), *leased])
        whole, leases = self.holding.tips, {number: hold} if hold is not None else {}
        tips = {name: whole[name] for name in branches if name in whole}
        pulls = tuple([pull for name in branches for pull in self._pulls.get(name, ())])
        name, base = self.holding.repository, self.holding.default_branch
        return Holding(name, default_branch=base, leases=leases, tips=tips, pulls=pulls)

    @property
    def unmet(self) -> Iterable[int]:
        """The leased issues that did not come."""
        return (number for number in self.holding.leases if number not in self.met)


def slim(pull: PullRequest) -> PullRequest:
    """A pull request whose text has only the lines that mention an issue or have a marker of ours.

    A repair reads the text again before it adds to it.
    """
    if len(pull.body) <= _SHORT:
        return pull
    lines = [line.strip("\r") for line in pull.body.split("\n") if _TELLING.search(line)]
    return replace(pull, body="\n".join(lines))


def slimmed(swept: Swept) -> Swept:
    """An issue of a sweep with the pull requests as `slim` makes them."""
    pulls = tuple(map(slim, swept.observation.by_branch))
    return replace(swept, observation=replace(swept.observation, by_branch=pulls))


Progress = Callable[[str, int, int | None], None]
"""Called with what is being done, how much of it is done, and of how many (None if unknown)."""

_RECENT_DAYS = 14
RECENT_SECONDS = _RECENT_DAYS * 24 * 3600
"""How far back closed issues are read if no board lists them."""

_SMALL_BOARD = 300
"""Cards that are read however little the repositories hold: the board is mostly their own."""

WAITS = 100
"""Of about so many repositories it is read whom their pull requests wait for: three points for each."""

_MOST_MENTIONED = 20
"""How many of the issues that one pull request mentions are looked at."""


@dataclass(slots=True)
class Sweep:
    """One reading of a scope.

    Attributes:
        holdings: every repository that could be read, by its name in lower case; without its pulls.
        problems: those that could not.
        has_board: the Status is kept somewhere that can be seen.
        is_blind: a board is configured, and what it shows is not known.
        is_by_repository: the board has too many cards of others to be read card by card.
        notes: what a person should know of how it was read.
        tasks: how many issues were met so far.
        waiting: the open pull requests with whom they wait for, in no order.
        agents: who holds the task of a pull request, by its repository and number.
        unread: how many more there are.
        ahead: seconds by which this clock is ahead of GitHub's, if that is more than claims allow.
    """

    world: World
    scope: Scope
    progress: Progress
    holdings: dict[str, Holding] = field(default_factory=dict)
    problems: list[SweepProblem] = field(default_factory=list)
    has_board: bool = False
    is_by_repository: bool = False
    is_blind: bool = False
    notes: list[str] = field(default_factory=list)
    tasks: int = 0
    waiting: list[WaitingPull] = field(default_factory=list)
    agents: dict[tuple[str, int], str] = field(default_factory=dict)
    unread: int = 0
    ahead: float = 0.0
    _has_agent: bool | None = None
    _statuses: set[str] = field(default_factory=set)
    _shelves: dict[str, KeptCards] = field(default_factory=dict)

    @property
    def now(self) -> float:
        """The time by GitHub's clock, or by this machine's where that is behind it."""
        return self.world.clock.now() - self.ahead

    def read_holdings(self) -> None:
        """Read every repository of the scope; those that cannot be read become problems.

        Raises:
            LifecycleError: GitHub could not be asked; what was read so far is kept.
        """
        scope, survey = self.scope, self.world.survey
        holdings: Iterator[Holding]
        total: int | None = None
        if scope.owner and scope.shard is None:
            holdings = survey.holdings_of(scope.owner, WAITS)
        else:
            # Of an owner's repositories a shard reads the names of all, and no more of the others'.
            named = survey.repositories_of(scope.owner) if scope.owner else scope.repositories
            wanted = [repository for repository in named if scope.has(str(repository))]
            holdings, total = survey.holdings(wanted, WAITS), len(wanted)
        for done, holding in enumerate(holdings, 1):
            self.progress("repositories", done, total)
            if holding.problem is not None:
                self._note(holding.repository, holding.problem)
            else:
                if holding.is_archived:  # nobody can merge there, whatever GitHub shows
                    self.notes.append(sentence("archived", repository=holding.repository))
                else:
                    waiting = [*waiting_pulls(holding)]
                    self.waiting += waiting
                    self.unread += len(holding.pulls) - len(waiting)
                kept = KeptCards(holding)
                self._shelves[holding.repository.casefold()] = kept
                self.holdings[holding.repository.casefold()] = kept.holding

    def read_tasks(self) -> Iterator[InferredTask]:
        """Every task of the repositories that were read, one after the other.

        Raises:
            LifecycleError: GitHub could not be asked any more; what was given so far stands.
        """
        settings = self.world.settings
        self.has_board = settings.has_board
        if self.scope.issues or self.scope.pulls:
            own = set(self.scope.pulls)
            all_waiting, self.unread = self.waiting, 0
            self.waiting = [pull for pull in all_waiting if pull.number in own]
            for task in self._known(self.world.survey.issues(self._named())):
                own |= {task.pull.number} if task.pull is not None else set()
                self.waiting = [pull for pull in all_waiting if pull.number in own]
                yield task
            for kept in self._shelves.values():
                for number in self.scope.issues:
                    if number not in kept.met:
                        where = f"{kept.holding.repository}#{number}"
                        self._note(where, NotFound(sentence("not-shown")))
            return
        is_whole = settings.project_number is not None and self.scope.shard is None
        if is_whole and not self.world.choice.uses_labels:
            yield from self._cards()
        is_whole = is_whole and not self.is_by_repository
        if not is_whole or self.world.choice.uses_labels or not self.has_board:
            since = self.now - RECENT_SECONDS
            yield from self._known(self.world.survey.issues_of(self.holdings.values(), since))
        shelves = self._shelves.values()
        unmet = [(shelf.holding.repository, number) for shelf in shelves for number in shelf.unmet]
        yield from self._known(self.world.survey.issues(unmet))
        for shelf in shelves:
            lost = ", ".join(f"{shelf.holding.repository}#{number}" for number in shelf.unmet)
            if lost:
                words = {"url": shelf.holding.url, "leases": LEASES}
                self.notes.append(sentence("unmet-leases", lost=lost, **words))

    def _cards(self) -> Iterator[InferredTask]:
        """The cards of the board; none if it cannot be seen: from then on labels tell the Status."""
        try:
            yield from self._known(self.world.survey.cards(self._worth))
        except BoardTooLarge as large:
            self.is_by_repository = True
            self.notes.append(sentence("large-board", cards=large.cards, days=_RECENT_DAYS))
        except Rejected as error:
            if self.tasks:
                raise
            self.has_board = self.world.choice.gives_up(error)
            if not self.has_board:
                self._is_unseen(error.sentence)

    @property
    def _worth(self) -> int | None:
        """How many cards are worth reading for what the repositories hold; None for however many."""
        if self.scope.owner:
            return None
        # Mostly the leased issues are the assigned ones: counted twice, others' cards would be read.
        held = sum(max(len(holding.leases), holding.claimed) for holding in self.holdings.values())
        return max(_SMALL_BOARD, 3 * held)

    def _named(self) -> list[tuple[str, int]]:
        """The issues that the scope names, and those of the pull requests that it names."""
        issues: list[tuple[str, int]] = []
        for holding in self.holdings.values():
            numbers = dict.fromkeys(self.scope.issues)
            target = self.there(holding)
            for number in self.scope.pulls:
                try:
                    pull = target.forge.pull_request(number)
                except NotFound:
                    self._note(f"{holding.repository}#{number}", NotFound(sentence("no-pull")))
                else:
                    numbers |= dict.fromkeys(_issues_of(pull, holding))
            issues += [(holding.repository, number) for number in numbers]
        return issues

    def _known(self, issues: Iterator[Swept]) -> Iterator[InferredTask]:
        """The tasks of these issues, each once, if their repositories were read."""
        for swept in issues:
            kept = self._shelves.get(swept.repository.casefold())
            if kept is None:
                continue
            if swept.problem is not None:
                self._note(kept.holding.repository, swept.problem)
            if unseen := swept.observation.board_problem:
                self._is_unseen(unseen)
            shown, holding, item = slimmed(swept), kept.of(swept), swept.observation.item
            self._statuses.add(item.status.casefold() if item is not None and item.status else "")
            if holding.leases and not self._names_agent(item, kept):
                shown = replace(shown, lacks_agent=True)
            task = task_of(shown, holding, self.world.settings.base or "")
            if task is None or task.issue.number in kept.met:
                continue
            kept.met.add(task.issue.number)
            self.tasks += 1
            if task.pull is not None and task.agent:
                self.agents[task.repository, task.pull.number] = task.agent
            self.progress("tasks", self.tasks, None)
            yield task

    def _names_agent(self, item: BoardItem | None, kept: KeptCards) -> bool:
        """False if a card names no agent, and the board has no field for one; that is read once."""
        if (item is not None and item.agent) or not self.has_board or self.is_blind:
            return True
        if self._has_agent is None:
            try:
                # The run may be for an owner, and may be begun outside of any repository.
                board = self.there(kept.holding).board
                self._has_agent = board is None or board.schema().has_agent
            except Rejected:
                self._has_agent = True
        return self._has_agent

    def note_lacking(self, statuses: Container[str]) -> None:
        """Note which of these Statuses the board cannot take; it is asked if no card has one of them."""
        wanted = (name for name in STATUSES if name in statuses)
        unseen = [name for name in wanted if name.casefold() not in self._statuses]
        is_seen = bool(unseen) and self.has_board and not self.is_blind
        board = self.there(next(iter(self.holdings.values()))).board if is_seen else None
        if board is None:
            return
        with suppress(LifecycleError):  # the run says why it cannot be read
            schema = board.schema()
            status = schema.field("Status")
            lacking = [f'"{name}"' for name in unseen if not (status and status.option(name))]
            if lacking:
                lacks = sentence("lacks-status", schema=schema, lacking=", ".join(lacking))
                self.notes.append(lacks)

    def there(self, holding: Holding, place: Path | None = None) -> World:
        """The world of a repository that nobody checked out; `place` is an empty folder for git."""
        owner, _, name = holding.repository.partition("/")
        return self.world.elsewhere(Repository(owner, name), holding.url, place or Path())

    def _is_unseen(self, why: str) -> None:
        """Note that the board that is configured cannot be seen, and that nothing takes its place."""
        self.is_blind = True
        self._note(self.world.settings.board_name, Rejected(why), "NoBoard")

    def _note(self, where: str, error: LifecycleError, kind: str = "") -> None:
        """Note what could not be read, or not all of it; once for each reason."""
        problem = SweepProblem(where, kind or type(error).__name__, error.sentence)
        if problem not in self.problems:
            self.problems.append(problem)


def _issues_of(pull: PullRequest, holding: Holding) -> tuple[int, ...]:
    """The issues that a pull request may belong to: mentioned, named by its branch, or leased for it."""
    held = [number for number, hold in holding.leases.items() if hold.branch == pull.branch]
    named = re.search(r"(?:^|[-/])(\d{1,9})$", pull.branch)
    own = [*held, int(named[1])] if named else held
    return tuple(dict.fromkeys([*own, *derive.mentioned(pull)]))[:_MOST_MENTIONED]
