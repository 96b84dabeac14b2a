"""Test runs: which command line is one, and whether it was green.

What counts is a run of a suite. One that picks single files or tests, one that lists or only builds,
and the words in an `echo` or a search do not.

Source: the manuals of the runners, as https://docs.pytest.org/en/stable/reference/exit-codes.html and
https://doc.rust-lang.org/cargo/commands/cargo-test.html: exit status 0 says that all passed.
"""

from __future__ import annotations

import re
from enum import StrEnum

from lifecycle.stages.shell import commands
from lifecycle.stages.turn import Outcome


class Colour(StrEnum):
    """What a test run showed."""

    GREEN = "green"
    RED = "red"
    UNKNOWN = "unknown"
    """Nothing ran, it is still running, or its end cannot be seen."""


RUNNERS: tuple[str, ...] = (
    *("pytest", "py.test", "unittest", "tox", "nox", "vitest", "jest", "mocha", "ava", "tap"),
    *(
        "rspec",
        "phpunit",
        "ctest",
        "playwright test",
        "cypress run",
        "cargo test",
        "cargo nextest run",
    ),
    *("go test", "make test", "make check", "just test", "task test", "npm test", "npm t"),
    *("npm run test", "pnpm test", "pnpm run test", "yarn test", "yarn run test", "bun test"),
    *(
        "bun run test",
        "deno test",
        "node --test",
        "rails test",
        "rake test",
        "mvn test",
        "mvn verify",
    ),
    *(
        "mvnw test",
        "mvnw verify",
        "gradle test",
        "gradlew test",
        "dotnet test",
        "mix test",
        "swift test",
    ),
    *(
        "hatch test",
        "bazel test",
        "meson test",
        "ninja test",
        "sbt test",
        "flutter test",
        "dart test",
    ),
)
"""How the runs of well-known test runners begin; `npm run test:unit` counts as `npm run test`."""

_NO_RUN = {
    *(
        "--version",
        "-V",
        "--help",
        "-h",
        "--collect-only",
        "--co",
        "--list",
        "--listTests",
        "--list-tests",
    ),
    *("--no-run", "--dry-run", "-n=0", "--fixtures", "--markers", "--showConfig", "--setup-plan"),
}
_PICKS = {
    *(
        "-k",
        "-t",
        "-g",
        "--grep",
        "--testNamePattern",
        "-run",
        "--run",
        "--lf",
        "--last-failed",
        "--filter",
    ),
    *(
        "--only",
        "--related",
        "--changed",
        "--onlyChanged",
        "--only-changed",
        "--findRelatedTests",
        "--tests",
    ),
    *(
        "--test-name-pattern",
        "--sw",
        "--stepwise",
        "-Dtest",
        "--testPathPattern",
        "--last-failed-only",
    ),
}
_FILE = re.compile(
    r"::|\.(?:py|[cm]?[jt]sx?|rb|php|exs|rs|cs|java|kt|swift|dart)(?::\d+)?$|_test\.go$"
)

_GOOD_LINE = re.compile(r"^\s*(?:✓|√|✔|ok \d|PASS\b|\[32m).*$", re.MULTILINE)
_FAILED = re.compile(
    r"\b[1-9]\d*\s+(?:tests?\s+|suites?\s+|scenarios?\s+|examples?\s+)?"
    r"(?:failed|failing|failures?|errors?)\b"
    r"|\b(?:failed|failures?|errors?|fail)\s*[:=]\s*[1-9]|^#\s*fail\s+[1-9]"
    r"|^\s*(?:-{3} )?FAIL(?:ED)?\b|\bBUILD FAIL|\btest result: FAILED",
    re.MULTILINE,
)
_CRASHED = re.compile(
    r"^E {3}|^error(?:\[\w+\])?:|^ERROR\b|^npm ERR!|^make(?:\[\d+\])?: \*\*\*|\bpanicked at\b"
    r"|^Traceback \(most recent|\bcommand not found\b",
    re.MULTILINE,
)
_NOTHING = re.compile(
    r"\bno tests? (?:ran|run|found|passed|to run|files? found|were)\b|\bcollected 0 items\b|\bRan 0 tests\b"
    r"|\bno test files\b|\brunning 0 tests\b(?!.*\brunning [1-9])",
    re.IGNORECASE | re.DOTALL,
)
_GREEN = re.compile(
    r"\b[1-9]\d*\s+(?:tests?\s+|specs?\s+)?(?:passed|passing)\b|\b(?:passed|pass)\s*[:=]?\s+[1-9]\d*\b"
    r"|^OK\b|\btest result: ok\. [1-9]|^ok\s+\S|\bBUILD SUCCESS|\b0 failures\b|\b100% tests passed\b"
    r"|\ball\b.{0,20}\btests?\b.{0,20}\bpass",
    re.MULTILINE | re.IGNORECASE,
)


class Run:
    """A test run in a command line.

    Attributes:
        name: what runs, in a few words.
        is_suite: it is not only of single files or tests.
        decides: the command line's exit status is that of the run.
    """

    __slots__ = ("decides", "is_suite", "name")

    def __init__(self, name: str, *, is_suite: bool, decides: bool) -> None:
        self.name = name
        self.is_suite = is_suite
        self.decides = decides


def run_in(line: str, tests: tuple[str, ...] = ()) -> Run | None:
    """The test run in a command line; None if there is none.

    Args:
        line: the command line.
        tests: the project's own test commands; one of them with further words counts as well.
    """
    own = [found[-1].words for found in map(commands, tests) if found]
    found = [
        run for command in commands(line) if (run := _run(command.words, command.is_last, own))
    ]
    if not found:
        return None
    suites = [run for run in found if run.is_suite]
    decides = all(run.decides for run in found)
    return Run((suites or found)[-1].name, is_suite=bool(suites), decides=decides)


def _run(words: tuple[str, ...], decides: bool, own: list[tuple[str, ...]]) -> Run | None:
    for mine in own:
        if words[: len(mine)] == mine:
            return _checked(" ".join(mine), words[len(mine) :], decides)
    plain = [word for word in words if not word.startswith("-") or word == "--test"]
    for name in RUNNERS:
        begin = name.split()
        head = plain[: len(begin)]
        if head == begin or (
            head[:-1] == begin[:-1] and head[-1:] and _is_kind(head[-1], begin[-1])
        ):
            return _checked(name, words[1:], decides)
    return None


def _is_kind(word: str, name: str) -> bool:
    return name == "test" and word.startswith(("test:", "test-"))


def _checked(name: str, rest: tuple[str, ...], decides: bool) -> Run | None:
    if not _NO_RUN.isdisjoint(rest):
        return None
    picks = any(word.partition("=")[0] in _PICKS for word in rest)
    return Run(name, is_suite=not picks and not any(map(_FILE.search, rest)), decides=decides)


def colour(run: Run, outcome: Outcome, output: str) -> Colour:
    """What the run showed, from how the command line ended and the end of what it printed.

    The exit status counts where it is the run's own. Where it is another command's (`pytest | tail`),
    what the output says does. Failures that are counted in the output are red whatever the status was.
    A run of which nothing can be seen is unknown.
    """
    if outcome is Outcome.UNKNOWN:
        return Colour.UNKNOWN
    said = _GOOD_LINE.sub("", output)
    if outcome is Outcome.FAILED or _FAILED.search(said):
        return Colour.RED
    if not run.decides and _CRASHED.search(said):
        return Colour.RED
    if _NOTHING.search(said):
        return Colour.UNKNOWN
    return Colour.GREEN if run.decides or _GREEN.search(output) else Colour.UNKNOWN
