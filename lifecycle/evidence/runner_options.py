"""What a test program's options leave of a run: the whole suite, a part of it, or nothing at all.

Sources: the manuals of the programs, as https://docs.pytest.org/en/stable/reference/reference.html,
https://www.gnu.org/software/make/manual/make.html#Options-Summary, https://tox.wiki/en/latest/cli_interface.html,
https://pkg.go.dev/cmd/go#hdr-Testing_flags and https://doc.rust-lang.org/cargo/commands/cargo-test.html.
"""

from __future__ import annotations

import re
from enum import StrEnum
from itertools import pairwise

from lifecycle.evidence.command_lines import each


class RunScope(StrEnum):
    """How much of a suite runs."""

    SUITE = "suite"
    PART = "part"
    NOTHING = "nothing"


_NOTHING = each("""
    --version -V --help -h --collect-only --collectonly --co --list --listTests --list-tests
    --no-run --dry-run --dry --fixtures --fixtures-per-test --markers --showConfig --showconfig
    --setup-plan --setup-only --cache-show --notest --listenvs --listenvs-all --list-sessions
    --install-only --summary --evaluate --dump --show --show-only --nobuild --just-print --recon
    --question --touch -n=0 -list -DskipTests -Dmaven.test.skip
""")
"""Options that make any of the programs only list, build or say something."""

_NOTHING_OF = {
    "make": "",  # its letters are read one by one
    "just": "-n -l",
    "task": "-n -l -a --list-all --status",
    "tox": "-l -a -n list l config c devenv d legacy quickstart",
    "nox": "-l",
    "ninja": "-n -t",
    "ctest": "-N",
    "gradle": "-m",
    "gradlew": "-m",
    "go": "-n -c",
    "dotnet": "-t",
    "vitest": "list bench",
    "playwright": "show-report",
}
"""The same by program: letters that mean something else to another one."""

_PART = each("""
    -k -t -g --grep --testNamePattern -run -skip --lf --last-failed --filter --only --related
    --changed --onlyChanged --only-changed --findRelatedTests --tests --test-name-pattern
    --test-only --test-skip-pattern --sw --stepwise --sw-skip -Dtest -Dit.test -DskipITs
    --testPathPattern --testPathPatterns --testPathIgnorePatterns --last-failed-only --deselect
    --ignore --ignore-glob -m --testmon --picked --splits --shard --exclude --exclude-group --group
    --example --tag --only-failures --next-failure --failed --stale --skip --fgrep --grep-invert
    --invert --name --plain-name --tags --exclude-tags --suite --no-suite --exclude-testsuite
    --test_filter --test_tag_filters --doc --lib --bins --bin --test --exclude-task --rerun-failed
    -pl --projects
""")
"""Options that pick some tests, or leave some out."""

_PART_OF = {
    "ctest": "-R -L -E -LE -I -FA",
    "rspec": "-e",
    "mocha": "-f -i",
    "gradle": "-x",
    "gradlew": "-x",
    "flutter": "-n -N -x",
    "dart": "-n -N -x",
    "go": "--run --skip",
}

_WHOLE_OF = {
    "make": "-k -t -m",
    "node": "--test",
    "unittest": "-t",
    "mvn": "-t",
    "mvnw": "-t",
    "gradle": "-t -g --tests-from",
    "npm": "-g",
    "tox": "-k -m",
}
"""What would pick tests elsewhere, and does not here."""

_VERBOSE = {"ctest": {"-V"}, "mvn": {"-V"}, "mvnw": {"-V"}}
_SETTINGS = each("""
    -c --config --configuration --require -r --import --loader --tsconfig --bootstrap --globalSetup
    --setupFiles --setupFilesAfterEnv --reporter --env-file --environment --testEnvironment
""")
"""Options whose value may be a file of the language without being a test."""

_HIDDEN = each("""
    --ignore-errors --if-present --fail-never -fn -Dmaven.test.failure.ignore --ignore-exit-code
    --suppress-tests-failed-exit-code --suppress-no-test-exit-code --exit-zero --pass-on-failure
    -Dsurefire.testFailureIgnore
""")
"""With these a status 0 does not say that all passed."""

_VARIABLES = each("""
    PYTEST_ADDOPTS MAKEFLAGS MFLAGS GNUMAKEFLAGS GOFLAGS TESTOPTS TESTARGS TESTFLAGS ARGS SPEC_OPTS
    MAVEN_ARGS JEST_ARGS PYTEST_ARGS CARGOFLAGS
""")
"""Variables whose value is further options."""

_PICKING_VARIABLES = each("TEST TESTS SPEC TOX_SKIP_ENV TEST_NAME TEST_FILTER")
_ENVIRONMENTS = {"tox": ("-e", "TOXENV", "-f", "-m"), "nox": ("-s", "-e", "-t", "-k", "NOXSESSION")}
_OF_TESTS = re.compile(r"test|unit|^ALL$|^py|\d", re.IGNORECASE)
"""How an environment of tox or a session of nox is called that runs the tests."""

_FILE = re.compile(
    r"::|\.(?:py|[cm]?[jt]sx?|rb|php|exs|rs|cs|java|kt|swift|dart)(?::\d+)?$|_test\.go$"
)
_MAKE = "nqtp"
"""Letters with which make says, asks, touches or prints, and runs nothing."""

_MAKE_VALUED = "CfIjlOoW"
_CARGO_VALUED = each("-p --package --features -F --target --profile -j --jobs --manifest-path")


def scope_of(name: str, words: tuple[str, ...], sets: tuple[str, ...] = ()) -> RunScope:
    """How much runs.

    Args:
        name: the program's name, with its command: `pytest`, `make test`.
        words: what follows it.
        sets: variables that are set for it, as `NAME=value`.
    """
    program = name.split(maxsplit=1)[0]
    rest = [*words, *_further(program, (*words, *sets))]
    if _is_nothing(program, rest):
        return RunScope.NOTHING
    whole = each(_WHOLE_OF.get(program, ""))
    picks = _PART | each(_PART_OF.get(program, ""))
    names = [word.partition("=")[0] for word in rest]
    # What a variable of make's holds is for the program that it starts.
    if any(
        word in picks and (word not in whole or at >= len(words)) for at, word in enumerate(names)
    ):
        return RunScope.PART
    if _picks_attached(program, rest):
        return RunScope.PART
    if _picks_file(words) or _picks_named(program, words, sets):
        return RunScope.PART
    return RunScope.SUITE


def is_status_hidden(name: str, words: tuple[str, ...], sets: tuple[str, ...] = ()) -> bool:
    """True if the program ends with 0 also where tests fail."""
    program = name.split(maxsplit=1)[0]
    rest = [*words, *_further(program, (*words, *sets))]
    if any(word.partition("=")[0] in _HIDDEN for word in rest):
        return True
    return program == "make" and any("i" in _letters(word) for word in rest)


def _is_nothing(program: str, rest: list[str]) -> bool:
    none = _NOTHING | each(_NOTHING_OF.get(program, ""))
    none -= _VERBOSE.get(program, set())
    if any(word in none or word.partition("=")[0] in none for word in rest):
        return True
    return program == "make" and any(set(_letters(word)) & set(_MAKE) for word in rest)


def _letters(word: str) -> str:
    """The letters of a word like `-ki` that are options of make's of their own."""
    if not word.startswith("-") or word.startswith("--"):
        return ""
    valued = next((i for i, letter in enumerate(word) if letter in _MAKE_VALUED), len(word))
    return word[1:valued]


def _further(program: str, words: tuple[str, ...]) -> list[str]:
    """The options that variables hold."""
    options: list[str] = []
    for word in words:
        name, _, value = word.partition("=")
        if name not in _VARIABLES:
            continue
        parts = [part.strip("'\"") for part in value.split()]
        if "MAKE" in name or name == "MFLAGS":
            parts = [f"-{p}" if i == 0 and p.isalpha() else p for i, p in enumerate(parts)]
            options += [p for p in parts if p not in ("-k", "-t")] if program == "make" else []
        else:
            options += parts
    return options


def _picks_file(words: tuple[str, ...]) -> bool:
    return any(
        _FILE.search(word) and last not in _SETTINGS and word.partition("=")[0] not in _SETTINGS
        for last, word in zip(("", *words), words, strict=False)
    )


def _picks_attached(program: str, rest: list[str]) -> bool:
    """`-kname`, `-msmoke`: pytest takes a value without a space."""
    is_pytest = program in ("pytest", "py.test", "unittest")
    return is_pytest and any(re.match(r"-[qxvsl]*[km]", word) for word in rest)


def _picks_named(program: str, words: tuple[str, ...], sets: tuple[str, ...]) -> bool:
    """True if a name of tests is given, in the program's own way."""
    if any(word.partition("=")[0] in _PICKING_VARIABLES for word in (*words, *sets)):
        return True
    if program in _ENVIRONMENTS:
        return not all(map(_OF_TESTS.search, _environments(program, words, sets)))
    plain = [word for word in words if not word.startswith("-")]
    if program == "unittest":
        return bool(plain) and plain[0] != "discover"
    if program == "cargo":
        ours = words[: words.index("--")] if "--" in words else words
        return any(
            not word.startswith(("-", "+")) and last not in _CARGO_VALUED
            for last, word in zip(("", *ours), ours, strict=False)
        )
    return program == "sbt" and any("testOnly" in word for word in words)


def _environments(program: str, words: tuple[str, ...], sets: tuple[str, ...]) -> list[str]:
    options = _ENVIRONMENTS[program]
    named = [after for word, after in pairwise(words) if word in options]
    named += [value for n, _, value in (w.partition("=") for w in (*words, *sets)) if n in options]
    return [part for value in named for part in value.split(",") if part]
