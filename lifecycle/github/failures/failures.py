"""Every way in which GitHub says no, as a leaf of `lifecycle.core.errors` and one sentence.

One table for each client library: `rest_failures` for HTTP answers, which PyGithub and gql both get,
`graph_failures` for the problems inside a GraphQL answer, and `transport.silence` for what requests raises
when no answer comes. The first row that fits wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lifecycle.core import timing
from lifecycle.core.errors import LifecycleError, Transient
from lifecycle.core.ports import Clock
from lifecycle.core.redact import as_data, redact
from lifecycle.github.failures.failure_case import Answer, AnswerProblem, AskedRequest, FailureCase
from lifecycle.github.failures.graph_failures import PROBLEMS
from lifecycle.github.failures.rest_failures import ANSWERS

__all__ = ["SECONDARY_WAIT", "Answer", "AnswerProblem", "AskedRequest", "Failures"]

SECONDARY_WAIT = 60.0
"""Seconds to wait after a rate limit that names no time.

Source: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#handle-rate-limit-errors-appropriately
"""
_LONGEST_EVIDENCE = 300


@dataclass(frozen=True, slots=True)
class Failures:
    """Turns what came back into errors. Knows the token only to keep it out of every text."""

    token: str = field(repr=False)
    token_source: str
    clock: Clock

    def of_answer(self, answer: Answer, asked: AskedRequest) -> LifecycleError:
        """The error that an HTTP answer amounts to."""
        case = FailureCase(
            asked, self.token_source, self.clean(answer.words), self._wait(answer.headers), answer
        )
        return next(make(case) for fits, make in ANSWERS if fits(case))

    def of_problem(
        self, problem: AnswerProblem, asked: AskedRequest, headers: Mapping[str, str] | None = None
    ) -> LifecycleError:
        """The error that one GraphQL problem amounts to."""
        wait = self._wait(headers or {})
        words = self.clean(problem.message)
        case = FailureCase(asked, self.token_source, words, wait, problem=problem)
        return next(make(case) for fits, make in PROBLEMS if fits(case))

    def of_problems(
        self,
        problems: Iterable[AnswerProblem],
        asked: AskedRequest,
        headers: Mapping[str, str] | None = None,
    ) -> LifecycleError:
        """The most telling of several: one that passes by itself, else the first."""
        found = [self.of_problem(problem, asked, headers) for problem in problems]
        return next((error for error in found if isinstance(error, Transient)), found[0])

    def of_silence(
        self, words: str, asked: AskedRequest, *, may_have_landed: bool, evidence: str = ""
    ) -> Transient:
        """The error for a request to which no answer came."""
        is_ambiguous = asked.is_write and may_have_landed
        kept = "it may have been done" if is_ambiguous else "nothing was changed"
        return Transient(
            f"GitHub {words} when asked for {asked.subject}; {kept}. Try again later.",
            is_ambiguous=is_ambiguous,
            evidence=self.clean(evidence),
        )

    def of_nonsense(self, asked: AskedRequest) -> Transient:
        """The error for an answer that cannot be understood: not JSON, cut, or of another shape."""
        return self.of_silence(
            "gave an answer that cannot be read", asked, may_have_landed=asked.is_write
        )

    def clean(self, text: str) -> str:
        """Somebody else's words on one line, shortened, without the token and other secrets."""
        plain = text.replace(self.token, "***") if self.token else text
        return as_data(redact(" ".join(plain.split()), environment={}))[:_LONGEST_EVIDENCE]

    def _wait(self, headers: Mapping[str, str]) -> float:
        """Seconds to wait, in GitHub's order: Retry-After, the reset of a spent limit, a minute."""
        now = timing.parse_time(headers.get("date")) or self.clock.now()
        named = headers.get("retry-after", "").strip()
        moment = None if named.isdecimal() else timing.parse_time(named)
        if named.isdecimal():
            return float(named)
        if moment is not None:
            return max(moment - now, 0.0)
        reset = headers.get("x-ratelimit-reset", "")
        if headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
            return max(float(reset) - now, 1.0)
        return SECONDARY_WAIT
