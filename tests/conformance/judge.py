"""All oracles at once, for what one or more sandboxes wrote down."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.conformance import headers
from tests.conformance.exchange import from_line
from tests.conformance.lies import LIES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conformance.exchange import Exchange, Finding
    from tests.conformance.graph_shape import GraphOracle
    from tests.conformance.openapi import RestOracle

REMEMBERED = 50_000
SHOWN = 12


@dataclass(slots=True)
class Judge:
    """Holds each answer against the oracles; the same answer to the same question only once."""

    rest: RestOracle
    graph: GraphOracle
    right: set[int] = field(default_factory=set)

    def findings(self, exchange: Exchange) -> list[Finding]:
        """What is wrong with an answer; empty if nothing is."""
        if exchange.path == "/graphql":
            key = hash((exchange.status, str(exchange.sent), exchange.text, exchange.fault))
        else:
            asked = (exchange.method, exchange.path, str(exchange.asked))
            key = hash((*asked, exchange.status, exchange.text, exchange.fault))
        if key in self.right:
            return self._of_headers(exchange)
        body = self.graph if exchange.path == "/graphql" else self.rest
        found = [one for one in body.findings(exchange) if not _is_excused(exchange, one)]
        if not found and len(self.right) < REMEMBERED:
            self.right.add(key)
        return found + self._of_headers(exchange)

    def _of_headers(self, exchange: Exchange) -> list[Finding]:
        """A fault has the headers that the test gave it; a call not imitated has none of GitHub's."""
        if exchange.fault or exchange.status == 501:
            return []
        return headers.findings(exchange)


WISHES = ("null, though", "undocumented status", "JSON was documented", "the body")


def _is_strange_success(exchange: Exchange) -> bool:
    return exchange.path != "/graphql" and exchange.status < 400


def _is_excused(exchange: Exchange, finding: Finding) -> bool:
    """Whether a finding is the description's fault, or what a test wanted of a fault.

    A fault answers what and where the test says, also what GitHub does not: its status may fit no
    call, it may be no JSON, and null may stand where no null can.
    """
    if exchange.fault and (finding.what.startswith(WISHES) or _is_strange_success(exchange)):
        return True
    return any(lie.excuses(finding) for lie in LIES)


@dataclass(slots=True)
class Watch:
    """Follows a file to which sandboxes append what they answer.

    Attributes:
        judge: Makes the judge, or gives the one that there is: a run without answers needs none.
    """

    path: Path
    judge: Callable[[], Judge]
    offset: int = 0
    seen: int = 0

    def fresh(self) -> list[Exchange]:
        """What was added since the last look. A line under way is left for the next."""
        with self.path.open("rb") as file:
            file.seek(self.offset)
            added = file.read()
        whole = added[: added.rfind(b"\n") + 1]
        self.offset += len(whole)
        found = [from_line(line) for line in whole.decode("utf-8").splitlines()]
        self.seen += len(found)
        return found

    def report(self) -> str:
        """What is wrong with what was added, as text; empty if nothing is."""
        told: dict[str, int] = {}
        for exchange in self.fresh():
            for finding in self.judge().findings(exchange):
                words = f"{finding} [{exchange.method} {exchange.path}]"
                told[words] = told.get(words, 0) + 1
        if not told:
            return ""
        lines = [f"  {words}" + (f" ({n} times)" if n > 1 else "") for words, n in told.items()]
        if len(lines) > SHOWN:
            lines[SHOWN:] = [f"  and {len(lines) - SHOWN} more"]
        return "The embedded GitHub answered as GitHub does not:\n" + "\n".join(lines)
