"""Faults: which requests fail, how, and how often. Only values; `outage.py` carries them out."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from lifecycle.sandbox.base.errors import ActionRefused

Kind = Literal["status", "graphql_error", "hang", "cut", "reset", "trickle", "truncate"]
Measure = Literal["nodes", "points", "fields"]
Weight = Mapping[Measure, int]
"""The size of a GraphQL query."""
LIGHT: Weight = {"nodes": 0, "points": 0, "fields": 0}
"""The weight of a request that is not a GraphQL query, or that does not run."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault, which strikes matching requests.

    Attributes:
        kind: `status` answers with `status`, `headers` and `body`; `graphql_error` answers with HTTP
            200 and an error of `error_type` and `message`, without data, or if `null_paths` are given,
            with the real data in which these become null, one error each (`*` is every field of the
            data); `hang` never answers; `cut` closes the connection without an answer, `reset` resets
            it; `trickle` sends one byte every `seconds`, for ever; `truncate` announces the real
            answer's whole length and sends half.
        method: Only requests with this method.
        path: Only requests whose path matches this regular expression anywhere.
        operation: Only GraphQL requests for this operation.
        when: `before` the request has any effect, or `after` all of its effects.
        count: How many requests it strikes.
        skip: How many matching requests it lets through first.
        probability: The chance that it strikes a matching request, from 0 to 1.
        seed: The seed of that chance: the same seed strikes the same requests in every run.
        above: Only GraphQL requests larger than this: `nodes` and `points` as GitHub counts them,
            `fields` at the root of the operation (a repository by an alias is one).
        spared: With null_paths that begin with `*`, how many fields of the data stay.
        headers: The answer's; a value `+60` of `x-ratelimit-reset` is that many seconds from then.
    """

    kind: Kind
    method: str | None = None
    path: str | None = None
    operation: str | None = None
    when: Literal["before", "after"] = "before"
    count: int = 1
    skip: int = 0
    status: int = 502
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    error_type: str | None = None
    message: str = "Something went wrong while executing your query."
    null_paths: list[list[str | int]] = field(default_factory=list)
    seconds: float = 0.1
    probability: float = 1.0
    seed: int = 0
    above: dict[Measure, int] = field(default_factory=dict)
    spared: int = 0

    def matches(self, method: str, path: str, operation: str | None, weight: Weight) -> bool:
        """Whether a request matches this fault."""
        return (
            self.method in {None, method}
            and all(weight[name] > bound for name, bound in self.above.items())
            and self.operation in {None, operation}
            and (self.path is None or re.search(self.path, path) is not None)
        )


@dataclass(slots=True)
class Active:
    """An active fault: how many requests it still skips and strikes, and its source of chance."""

    fault: Fault
    skip: int
    count: int
    chance: random.Random

    def strikes(self) -> bool:
        """Whether it strikes a matching request; the request is counted."""
        if self.skip > 0:
            self.skip -= 1
            return False
        if self.count <= 0 or self.chance.random() >= self.fault.probability:
            return False
        self.count -= 1
        return True


@dataclass(slots=True)
class FaultBoard:
    """The active faults, in the order in which they are tried. Used under the world's lock."""

    active: list[Active] = field(default_factory=list)
    struck: int = 0
    latency: float = 0.0
    """Seconds by which each API request is delayed, as by a network."""
    git_latency: float = 0.0
    """Seconds by which each request of git is delayed."""

    def add(self, fault: Fault) -> None:
        """Add a fault after the existing ones.

        Raises:
            ActionRefused: Its path is not a regular expression, or it cannot strike as asked.
        """
        try:
            re.compile(fault.path or "")
        except re.error as error:
            raise ActionRefused(f"The fault's path is not a regular expression: {error}.") from None
        if fault.kind == "truncate" and fault.when == "before":
            raise ActionRefused("Only a real answer can be truncated: set when to 'after'.")
        if fault.null_paths and fault.when == "before":
            raise ActionRefused("Only a real answer has parts to null: set when to 'after'.")
        if not 0 <= fault.probability <= 1:
            raise ActionRefused("A fault's probability is a number from 0 to 1.")
        chance = random.Random(fault.seed)  # noqa: S311  no secret: it has to be the same in each run
        self.active.append(Active(fault, fault.skip, fault.count, chance))

    def clear(self) -> None:
        """Remove all faults."""
        self.active.clear()

    @property
    def weighs(self) -> bool:
        """Whether any fault depends on the size of a query."""
        return any(active.fault.above for active in self.active)

    def strike(
        self, method: str, path: str, operation: str | None, weight: Weight = LIGHT
    ) -> Fault | None:
        """The first fault that strikes this request, or None; a strike is counted."""
        for active in self.active:
            if active.fault.matches(method, path, operation, weight) and active.strikes():
                self.struck += 1
                return active.fault
        return None
