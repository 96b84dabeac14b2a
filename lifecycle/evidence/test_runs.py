"""Test runs: which command line is one, and whether it was green.

What counts is a run of a suite. One that picks single files or tests, one that lists or only builds,
and the words in an `echo` or a search do not.

Source: the manuals of the runners, as https://docs.pytest.org/en/stable/reference/exit-codes.html and
https://doc.rust-lang.org/cargo/commands/cargo-test.html: exit status 0 says that all passed.
"""

from __future__ import annotations

import re

from lifecycle.evidence import runner_options
from lifecycle.evidence.command_lines import Command, commands, each
from lifecycle.evidence.outcomes import Outcome
from lifecycle.evidence.printed_output import CallEnd
from lifecycle.evidence.runner_options import RunScope


def _listed(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


RUNNERS: tuple[str, ...] = _listed("""
    pytest, py.test, unittest, tox, nox, vitest, jest, mocha, ava, tap, rspec, phpunit, ctest,
    playwright test, cypress run, cargo test, cargo nextest run, go test, make test,
    make check, just test, task test, npm test, npm t, npm run test, pnpm test, pnpm run test,
    yarn test, yarn run test, bun test, bun run test, deno test, node --test, rails test,
    rake test, mvn test, mvn verify, mvnw test, mvnw verify, gradle test, gradlew test,
    dotnet test, mix test, swift test, hatch test, bazel test, meson test, ninja test,
    sbt test, flutter test, dart test
""")
"""How the runs of well-known test runners begin; `npm run test:unit` counts as `npm run test`."""

_FILTERS = each("tail head grep egrep fgrep rg less more cut sort uniq wc tr nl fold column jq")
_KEEPING = {"tee", "cat"}
"""Filters that let everything through, given nothing else to read."""

_QUIET = each(": true false exit cd export set unset source . mkdir ulimit umask sleep wait")
"""Commands that print nothing."""

_IDLE = _FILTERS | _KEEPING | _QUIET | each("echo printf date ls pwd sed git fi done esac }")
"""Commands that change no file behind a run; `sed` and `git` as far as they only show."""

_LOOKING = {"status", "diff", "log", "show", "rev-parse"}
_PLACES = each("""
    -C --directory --dir --rootdir --prefix --cwd --chdir --manifest-path --file --makefile -f
    --project-dir --project-directory --root -p --project --config-settings
""")
"""Options that may say in which folder to run."""

_BEFORE = _PLACES - {"-p", "--project"}
"""Those that stand before the name of what is to run, as in `make -C web test`."""

_OUTPUTS = each("""
    --junitxml --junit-xml --basetemp --log-file -o --output --outputFile --output-file --report-log
    --reporter-options --cov-report --cov-config --cache-dir --cacheDirectory -c --config --rcfile
    --coverprofile -coverprofile --logger --results-directory --override-ini
""")
"""Options whose value is a file of results or of settings."""

TOP = "$(git rev-parse --show-toplevel)"
"""How a command line names the worktree's top folder."""

_GOOD_LINE = re.compile(r"^[ \t]*(?:✓|√|✔|ok \d|PASS\b|\[32m).*$", re.MULTILINE)
_FAILED = re.compile(
    r"\b[1-9]\d*\s+(?:tests?\s+|suites?\s+|scenarios?\s+|examples?\s+)?"
    r"(?:failed|failing|failures?|errors?)\b"
    r"|\b(?:failed|failures?|errors?|fail)\s*[:=]\s*[1-9]|^#\s*fail\s+[1-9]"
    r"|^[ \t]*(?:-{3} )?FAIL(?:ED)?\b|\bBUILD FAIL|\btest result: FAILED",
    re.MULTILINE,
)
_CRASHED = re.compile(
    r"^E {3}|^error(?:\[\w+\])?:|^ERROR\b|^npm ERR!|^make(?:\[\d+\])?: \*\*\*|\bpanicked at\b"
    r"|^Traceback \(most recent|\bcommand not found\b",
    re.MULTILINE,
)
_NOTHING = re.compile(
    r"\bno tests? (?:ran|run|found|passed|to run|files? found|were)\b|\bcollected 0 items\b|\bRan 0 tests\b"
    r"|\bno test files\b",
    re.IGNORECASE,
)
_MAKE_FIVE = re.compile(r"^make(?:\[\d+\])?: \*\*\* .* Error 5$", re.MULTILINE)
"""How make passes on that pytest found no test."""
_EMPTY, _FULL = re.compile(r"\brunning 0 tests\b"), re.compile(r"\brunning [1-9]")
_GREEN = re.compile(
    r"\b[1-9]\d*\s+(?:tests?\s+|specs?\s+)?(?:passed|passing)\b|\b(?:passed|pass)\s*[:=]?\s+[1-9]\d*\b"
    r"|^OK\b|\btest result: ok\. [1-9]|^ok\s+\S|\bBUILD SUCCESS|\b0 failures\b|\b100% tests passed\b"
    r"|\ball\b.{0,20}\btests?\b.{0,20}\bpass",
    re.MULTILINE | re.IGNORECASE,
)


class FolderStep:
    """A place that a command line names: a folder it goes to, or one that a run is given.

    Attributes:
        path: as it is written; "" if it cannot be told.
        moves: what follows runs there.
    """

    __slots__ = ("moves", "path")

    def __init__(self, path: str, *, moves: bool) -> None:
        self.path = path
        self.moves = moves


class SuiteRun:
    """A test run in a command line.

    Attributes:
        name: what runs, in a few words.
        is_suite: it is not only of single files or tests.
        decides: the command line's exit status is that of the run.
        is_shown: what it prints is not put into a file, and tells how the line ended.
        is_whole: what the command line prints is all that the run prints, and nothing else.
        is_end: nothing that may change a file comes after it.
        steps: where the line goes before it, and places that it is given, in order.
    """

    __slots__ = ("decides", "is_end", "is_shown", "is_suite", "is_whole", "name", "steps")

    def __init__(self, name: str, *, is_suite: bool, decides: bool) -> None:
        self.name = name
        self.is_suite = is_suite
        self.decides = decides
        self.is_shown = self.is_whole = self.is_end = True
        self.steps: tuple[FolderStep, ...] = ()


def run_in(line: str, tests: tuple[str, ...] = ()) -> SuiteRun | None:
    """The test run in a command line; None if there is none.

    Args:
        line: the command line.
        tests: the project's own test commands; one of them with further words counts as well.
    """
    own = [command for text in tests if (command := _meant(text))]
    every = commands(line)
    hits: dict[int, tuple[SuiteRun, tuple[str, ...]]] = {}
    exported: tuple[str, ...] = ()
    for index, command in enumerate(every):
        if command.words[0] in ("export", "declare"):
            exported += command.words[1:]
        run = _run(command, own, (*exported, *command.sets))
        if run is not None:
            hits[index] = run
    if not hits:
        return None
    runs = [run for run, _ in hits.values()]
    suites = [run for run in runs if run.is_suite]
    decides = all(run.decides for run in runs)
    whole = SuiteRun((suites or runs)[-1].name, is_suite=bool(suites), decides=decides)
    whole.is_shown = not any(every[index].files or "!" in every[index].raw[:2] for index in hits)
    whole.is_whole = whole.is_shown and len(hits) == 1 and _is_whole(every, next(iter(hits)))
    whole.is_end = _is_end(every, set(hits))
    whole.steps = _steps(every, {index: rest for index, (_, rest) in hits.items()})
    return whole


def _meant(text: str) -> Command | None:
    """The command of a configured line that runs the tests: the last one that does anything."""
    every = commands(text)
    return next(
        (c for c in reversed(every) if c.words[0] not in _IDLE), every[-1] if every else None
    )


def _run(
    command: Command, own: list[Command], sets: tuple[str, ...]
) -> tuple[SuiteRun, tuple[str, ...]] | None:
    """The run that a command is, and the words behind what makes it one."""
    words = command.words
    for mine in own:
        if words[: len(mine.words)] == mine.words:
            rest = words[len(mine.words) :]
            added = tuple(word for word in sets if word not in mine.sets)
            return _checked(" ".join(mine.words), rest, added, command)
    plain = [
        word
        for last, word in zip(("", *words), words, strict=False)
        if (not word.startswith("-") and last not in _BEFORE) or word == "--test"
    ]
    for name in RUNNERS:
        begin = name.split()
        head = plain[: len(begin)]
        is_kind = begin[-1] == "test" and "".join(head[-1:]).startswith(("test:", "test-"))
        if head == begin or (head[:-1] == begin[:-1] and is_kind):
            return _checked(name, _behind(words, head), sets, command)
    return None


def _behind(words: tuple[str, ...], head: list[str]) -> tuple[str, ...]:
    """The words of a command without those that name it."""
    rest = list(words)
    for word in head:
        rest.remove(word)
    return tuple(rest)


def _checked(
    name: str, rest: tuple[str, ...], sets: tuple[str, ...], command: Command
) -> tuple[SuiteRun, tuple[str, ...]] | None:
    scope = runner_options.scope_of(name, rest, sets)
    if scope is RunScope.NOTHING:
        return None
    decides = command.is_last and not runner_options.is_status_hidden(name, rest, sets)
    return SuiteRun(name, is_suite=scope is RunScope.SUITE, decides=decides), rest


def _is_end(every: list[Command], runs: set[int]) -> bool:
    """True if what comes after the last run, and between runs, leaves the files as they are."""
    behind = range(min(runs) + 1, len(every))
    return all(
        index in runs or _is_idle(every[index], is_before=index < max(runs)) for index in behind
    ) and all(every[index].is_clear for index in runs)


def _is_idle(command: Command, *, is_before: bool) -> bool:
    name, words = command.words[0], command.words
    if name not in _IDLE or any(file != "/dev/null" for file in command.files):
        return is_before and name == "cd"
    if name == "sed":
        return not any(word.startswith(("-i", "--in-place")) for word in words)
    if name == "sort":
        return not any(word.startswith(("-o", "--output")) for word in words)
    return name != "git" or not _LOOKING.isdisjoint(words[1:2])


def _is_whole(every: list[Command], index: int) -> bool:
    """True if the line prints all that the run prints, and nothing else."""
    run = every[index]
    if not run.is_clear or run.after == "&":
        return False
    if any(command.words[0] not in _QUIET for command in every[:index]):
        return False
    is_piped = run.after in ("|", "|&")
    for command in every[index + 1 :]:
        name, rest = command.words[0], command.words[1:]
        is_kept = is_piped and name in _KEEPING and (name == "tee" or not rest)
        if command.files or not (is_kept or name in _QUIET):
            return False
        is_piped = is_kept and command.after in ("|", "|&")
        if command.after == "&":
            return False
    return True


def _steps(every: list[Command], rests: dict[int, tuple[str, ...]]) -> tuple[FolderStep, ...]:
    """Where the line goes up to its last run, and the places that its runs are given."""
    steps: list[FolderStep] = []
    for index, command in enumerate(every[: max(rests) + 1]):
        if command.words[0] in ("cd", "pushd", "popd"):
            after = every[index + 1].words if index + 1 < len(every) else ()
            steps.append(FolderStep(_target(command.words, after), moves=True))
        elif index in rests:
            steps += [FolderStep(path, moves=False) for path in _places(command, rests[index])]
    return tuple(steps)


def _target(words: tuple[str, ...], after: tuple[str, ...]) -> str:
    """The folder that a `cd` goes to; "" if the line alone does not say."""
    names = [word for word in words[1:] if word not in ("-P", "-L", "--", "-e", "-@")]
    if words[0] == "popd" or len(names) != 1:
        return ""
    if names[0] == TOP or (names[0] == "$" and " ".join(after) == TOP[2:-1]):
        return TOP
    return "" if re.search(r"[$`*?]", names[0]) or names[0] == "-" else names[0]


def _places(command: Command, rest: tuple[str, ...]) -> list[str]:
    """Paths in a run's words that may say where it runs, or whose tests."""
    before = command.raw[: len(command.raw) - len(rest)]
    paths: list[str] = []
    for words, is_argument in ((before, False), (rest, True)):
        for last, word in zip(("", *words), words, strict=False):
            name, _, value = word.partition("=")
            if last in _PLACES or (name in _PLACES and value):
                paths.append(word if last in _PLACES else value)
            elif word.startswith("-C") and len(word) > 2:
                paths.append(word[2:])
            elif is_argument and not word.startswith("-") and last not in _OUTPUTS:
                paths.append(word)
    return [path for path in paths if path.startswith(("/", "~", "$")) or ".." in path.split("/")]


def colour(run: SuiteRun, outcome: CallEnd, output: str) -> Outcome:
    """What the run showed, from how the command line ended and the end of what it printed.

    The exit status counts where it is the run's own. Where it is another command's (`pytest | tail`),
    what the output says does, as far as the run printed it. Failures that are counted in the output are
    red whatever the status was. A run of which nothing can be seen is unknown.
    """
    if outcome is CallEnd.UNKNOWN:
        return Outcome.UNKNOWN
    plain = _GOOD_LINE.sub("", output)
    if (outcome is CallEnd.FAILED and run.decides) or _FAILED.search(plain):
        return Outcome.FAILED
    if not run.decides and _CRASHED.search(plain):
        return Outcome.FAILED
    if outcome is CallEnd.FAILED or _NOTHING.search(plain):
        return Outcome.UNKNOWN
    if _EMPTY.search(plain) and not _FULL.search(plain):
        return Outcome.UNKNOWN
    is_told = run.is_shown and _GREEN.search(output) is not None
    return Outcome.PASSED if run.decides or is_told else Outcome.UNKNOWN


def proof(run: SuiteRun, outcome: CallEnd, output: str, *, is_cut: bool = False) -> Outcome:
    """What the run proves of the files as they are after the command line; stricter than `colour`.

    Green needs more here: nothing behind the run may have changed a file, and where its exit status is
    not the line's own, all that it printed has to be known, with nothing of another command in it.

    Args:
        run: the run.
        outcome: how the command line ended.
        output: what it printed.
        is_cut: the beginning or the end of what was printed is missing in `output`.
    """
    if _is_empty(outcome, output):
        return Outcome.NOTHING_RAN
    seen = colour(run, outcome, output)
    if seen is not Outcome.PASSED:
        return seen
    is_known = run.decides or (run.is_whole and not is_cut)
    return seen if run.is_end and is_known else Outcome.UNKNOWN


def _is_empty(outcome: CallEnd, output: str) -> bool:
    """True if a run that ended says that there was no test to run; one that crashed ran into more.

    pytest ends with status 5 then, unittest with 0 before Python 3.12.
    """
    plain = _MAKE_FIVE.sub("", _GOOD_LINE.sub("", output))
    if outcome is CallEnd.UNKNOWN or _FAILED.search(plain) or _CRASHED.search(plain):
        return False
    is_none = _EMPTY.search(plain) is not None and not _FULL.search(plain)
    return (is_none or _NOTHING.search(plain) is not None) and not re.search(
        r"\b[1-9]\d* passed\b", plain
    )
