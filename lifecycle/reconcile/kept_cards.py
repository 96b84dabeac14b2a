"""What a run keeps of a repository until its tasks come by: no more than may be a task's own.

A board lists its cards in an order of its own, so what all repositories hold is kept at once. Of that only
what may belong to a task is kept, each text once, and of a pull request's text only what says something of
issues. Which of it is a task's own is for `claim.inferred` to say; here it is only laid out by issue, so
that a repository with many tasks is not searched for each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from sys import intern

from lifecycle.core.values.model import PullRequest
from lifecycle.core.values.survey import Holding, Swept

_NAMED = re.compile(r"claude/(?:.*-)?([0-9]+)")
_TELLING = re.compile(r"#\d|GH-\d|/issues/\d|lifecycle:", re.IGNORECASE)
_SHORT = 80
"""Characters of a text that is not worth shortening."""


class KeptCards:
    """One repository.

    Args:
        holding: what was read of it.

    Attributes:
        holding: the same without its pull requests.
        met: the issues that came by already.
    """

    __slots__ = ("_named", "_pulls", "holding", "met")

    def __init__(self, holding: Holding) -> None:
        texts: dict[str, str] = {}  # the same text twice is kept once

        def once(text: str) -> str:
            return texts.setdefault(text, text)

        leases = {
            one.issue: replace(one, agent=intern(one.agent), branch=once(one.branch))
            for one in holding.leases.values()
        }
        tips = {
            once(one.branch): replace(one, branch=once(one.branch)) for one in holding.tips.values()
        }
        held = {one.branch: one.issue for one in leases.values() if one.branch}
        self.met: set[int] = set()
        self._pulls: dict[str, tuple[PullRequest, ...]] = {}
        for pull in holding.pulls:
            if pull.branch in held or _NAMED.fullmatch(pull.branch):
                kept = replace(
                    slim(pull),
                    branch=once(pull.branch),
                    head_owner=intern(pull.head_owner),
                    base=intern(pull.base),
                )
                self._pulls[kept.branch] = (*self._pulls.get(kept.branch, ()), kept)
        self._named: dict[int, tuple[str, ...]] = {}
        for branch in dict.fromkeys((*tips, *self._pulls)):
            found = _NAMED.fullmatch(branch)
            number = int(found[1]) if found else 0
            if number and number != held.get(branch):
                self._named[number] = (*self._named.get(number, ()), branch)
        self.holding = replace(holding, leases=leases, tips=tips, pulls=())

    def of(self, swept: Swept) -> Holding:
        """The part of the holding that may be one issue's own."""
        number = swept.observation.issue.number if swept.observation.issue is not None else 0
        hold = self.holding.leases.get(number)
        branches = dict.fromkeys(one.branch for one in swept.observation.by_branch)
        branches |= dict.fromkeys(self._named.get(number, ()))
        if hold is not None and hold.branch:
            branches[hold.branch] = None
        tips = self.holding.tips
        return replace(
            self.holding,
            leases={number: hold} if hold is not None else {},
            tips={name: tips[name] for name in branches if name in tips},
            pulls=tuple(pull for name in branches for pull in self._pulls.get(name, ())),
        )

    @property
    def unmet(self) -> Iterable[int]:
        """The leased issues that did not come by."""
        return (number for number in self.holding.leases if number not in self.met)


def slim(pull: PullRequest) -> PullRequest:
    """A pull request whose text has only the lines that mention an issue or hold a marker of ours.

    A repair reads the text again before it adds to it.
    """
    if len(pull.body) <= _SHORT:
        return pull
    lines = (line for line in pull.body.splitlines() if _TELLING.search(line))
    return replace(pull, body="\n".join(lines))


def slimmed(swept: Swept) -> Swept:
    """An issue of a sweep with the pull requests as `slim` makes them."""
    pulls = swept.observation.by_branch
    if not pulls:
        return swept
    observation = replace(swept.observation, by_branch=tuple(slim(one) for one in pulls))
    return replace(swept, observation=observation)
