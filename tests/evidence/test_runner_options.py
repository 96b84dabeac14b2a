"""What a test program's options leave of a run, program by program."""

from __future__ import annotations

import shlex

import pytest

from lifecycle.evidence.runners import runner_table
from lifecycle.evidence.runners.runner_table import (
    UNKNOWN,
    RunnerRow,
    RunScope,
    are_known,
    is_status_hidden,
    scope_of,
)
from tests.batches import each_row


def row_of(name: str) -> RunnerRow:
    """The row that knows a command."""
    return next(row for row in runner_table.rows() if name in row.commands)


SUITE, PART, NOTHING = RunScope.SUITE, RunScope.PART, RunScope.NOTHING


@each_row(
    ("name", "words", "scope"),
    [
        ("pytest", "", SUITE),
        ("pytest", "--collect-only", NOTHING),
        ("pytest", "--list=x", NOTHING),
        ("pytest", "-n=0", NOTHING),
        ("pytest", "-n 4", SUITE),
        ("make test", "-n", NOTHING),
        ("make test", "-kq", NOTHING),
        ("make test", "-t", NOTHING),
        ("make test", "-p", NOTHING),
        ("make test", "-k", SUITE),
        ("make test", "-Ctnq", SUITE),
        ("make test", "-kCtests", SUITE),
        ("make test", "--no-print-directory", SUITE),
        ("make test", "-m", SUITE),
        ("just test", "-n", NOTHING),
        ("just test", "-l", NOTHING),
        ("task test", "-a", NOTHING),
        ("task test", "--status", NOTHING),
        ("tox", "-l", NOTHING),
        ("tox", "devenv", NOTHING),
        ("nox", "-l", NOTHING),
        ("ninja test", "-t", NOTHING),
        ("ctest", "-N", NOTHING),
        ("ctest", "-V", SUITE),
        ("pytest", "-V", NOTHING),
        ("mvn test", "-V", SUITE),
        ("mvnw test", "-V", SUITE),
        ("gradle test", "-m", NOTHING),
        ("gradlew test", "-m", NOTHING),
        ("go test", "-n", NOTHING),
        ("go test", "-c", NOTHING),
        ("dotnet test", "-t", NOTHING),
        ("vitest", "bench", NOTHING),
        ("vitest", "list", NOTHING),
        ("playwright test", "show-report", NOTHING),
        ("jest", "bench", PART),
        ("pytest", "-k name", PART),
        ("pytest", "-kname", PART),
        ("pytest", "-xvsmsmoke", PART),
        ("py.test", "-ksmoke", PART),
        ("unittest", "-kname", PART),
        ("jest", "-kname", SUITE),
        ("pytest", "--deselect=x", PART),
        ("ctest", "-R x", PART),
        ("ctest", "-LE x", PART),
        ("pytest", "-R", SUITE),
        ("rspec", "-e x", PART),
        ("mocha", "-f x", PART),
        ("gradle test", "-x lint", PART),
        ("gradlew test", "-x lint", PART),
        ("pytest", "-x", SUITE),
        ("flutter test", "-n x", PART),
        ("flutter test", "-x y", PART),
        ("dart test", "-N x", PART),
        ("go test", "--run x", PART),
        ("go test", "-run=x", PART),
        ("node --test", "--test", SUITE),
        ("unittest", "-t .", PART),
        ("unittest", "discover -t .", SUITE),
        ("mvn test", "-t x", SUITE),
        ("mvnw test", "-t x", SUITE),
        ("gradle test", "-t", SUITE),
        ("gradle test", "-g x", SUITE),
        ("npm test", "-g", SUITE),
        ("npm test", "-t x", PART),
        ("tox", "-k x", SUITE),
        ("pytest", "tests/test_a.py", PART),
        ("pytest", "tests::name", PART),
        ("pytest", "a.py:3", PART),
        ("jest", "a.test.tsx", PART),
        ("go test", "a_test.go", PART),
        ("pytest", "-c x.py", SUITE),
        ("pytest", "-o python_classes=A", PART),
        ("ctest", "tests/a", PART),
        ("ctest", "a", SUITE),
        ("mocha", "test/**/*.spec.js", SUITE),
        ("jest", "--projects a b", SUITE),
        ("jest", "a b", PART),
        ("jest", "--verbose 4", SUITE),
        ("jest", "--config=x.js", SUITE),
        ("mocha", "--require x.js a.js", PART),
        ("unittest", "", SUITE),
        ("unittest", "discover", SUITE),
        ("unittest", "package.tests", PART),
        ("unittest", "-v", SUITE),
        ("cargo test", "", SUITE),
        ("cargo test", "name", PART),
        ("cargo test", "--workspace -p core", PART),
        ("cargo test", "-p core name", PART),
        ("cargo test", "+nightly", SUITE),
        ("cargo test", "-- --nocapture", SUITE),
        ("cargo test", "-- name", PART),
        ("cargo test", "name -- --nocapture", PART),
        ("sbt test", "testOnly", PART),
        ("sbt test", "testQuick", PART),
        ("sbt test", "clean", SUITE),
        ("bazel test", "testOnly", PART),
        ("bazel test", "//...", SUITE),
        ("make test", "testOnly", SUITE),
        ("make test", "TEST=a", PART),
        ("make test", "V=1", SUITE),
        ("tox", "", SUITE),
        ("tox", "-e py311", SUITE),
        ("tox", "-e py311,unit", PART),
        ("tox", "-e py311-django42", SUITE),
        ("tox", "-e py311-integration", PART),
        ("tox", "-m unit", PART),
        ("nox", "-s unit", PART),
        ("nox", "-s unit-tests", PART),
        ("tox", "-e lint", PART),
        ("tox", "-e py311,lint", PART),
        ("tox", "-e=lint", PART),
        ("tox", "-f lint", PART),
        ("tox", "-m lint", PART),
        ("nox", "-s lint", PART),
        ("nox", "-s tests", SUITE),
        ("nox", "-e lint", PART),
        ("pytest", "-e lint", SUITE),
        ("gmake test", "-n", NOTHING),
        ("jest", "--onlyChanged", PART),
        ("jest", "--onlyChanged=false", SUITE),
    ],
)
def test_how_much_runs(name: str, words: str, scope: RunScope) -> None:
    """By the program's own manual: a letter means what it means to that program."""
    assert scope_of(name, tuple(words.split()), (), row_of(name)) is scope


PLACES: list[tuple[str, str, RunScope]] = [
    # A glob stands for all where no folder, kind or name is left out of it.
    *(("pytest", word, SUITE) for word in ("tests/*.py", "tests/test_*.py", "tests/**/test_*.py")),
    *(
        ("pytest", word, PART)
        for word in ("tests/api/test_*.py", "tests/api/*", "tests/test_a*.py")
    ),
    *(("rspec", word, PART) for word in ("spec/models/*_spec.rb", "spec/models/**/*_spec.rb")),
    *(("rspec", word, SUITE) for word in ("spec/**/*_spec.rb", "spec/*_spec.rb")),
    *(
        ("mocha", word, SUITE)
        for word in (
            "src/**/*.{test,spec}.ts",
            "src/test/*.js",
            "lib/test/**/*.js",
            "**/__tests__/*.js",
        )
    ),
    *(
        ("mocha", word, PART)
        for word in (
            "src/auth/**/*.test.ts",
            "src/auth/**/*.{js,ts}",
            "**/*.unit.test.js",
            "src/auth",
        )
    ),
    *(("prove", word, SUITE) for word in ("t", "./t", "t/", "t/*.t")),
    *(("prove", word, PART) for word in ("t/api", "t/api/*.t", "xt", "t/a.t")),
    # A folder below another one is one of some tests, unless it is that of its tests.
    *(("pytest", word, SUITE) for word in ("backend/tests", "tests", "./tests", ".", "src")),
    *(("pytest", word, PART) for word in ("src/api", "app/api/", "engines/a/test")),
    *(
        ("robot", "suites/api", PART),
        ("behave", "features/login", PART),
        ("bats", "test/api", PART),
    ),
    *(("rails test", "engines/a/test", PART), ("pest", "src/api", PART), ("ava", "src/api", PART)),
    *(("cucumber", "features", SUITE), ("cucumber", "features/admin", PART)),
    *(("node --test", "test", SUITE), ("node --test", "src/api", PART)),
    *(("deno test", "src", SUITE), ("deno test", "src/api", PART), ("deno test", "jobs/", PART)),
    *(("mix test", "test", SUITE), ("mix test", "apps/web", PART)),
    *(("flutter test", "test", SUITE), ("flutter test", "integration_test", PART)),
    *(("zig test", "src/a.zig", PART), ("tape", "test/api/*.js", PART)),
    # Packages, targets and names.
    *(("gotestsum", word, SUITE) for word in ("", "./...", "-- ./...", "-f dots -- -race ./...")),
    *(("gotestsum", word, PART) for word in ("./a", "-- ./a/...", "-- -short ./...")),
    *(("ginkgo", "-r -p", SUITE), ("ginkgo", "./...", SUITE), ("ginkgo", "-r ./a", PART)),
    *(("go test", "-C web ./...", SUITE), ("go test", "-C web ./a", PART)),
    *(("bazel test", word, SUITE) for word in ("//...", "...", "//...:all")),
    *(("bazel test", word, PART) for word in ("//a/...", "//a:all", "//a:t", "//... //a/...")),
    *(("meson test", "-C build", SUITE), ("meson test", "-C build sums", PART)),
    *(("stack test", "", SUITE), ("stack test", "core", PART), ("cabal test", "all", SUITE)),
    *(("lein test", "", SUITE), ("lein test", "my.ns", PART), ("lein test", ":slow", PART)),
    *(("sbt test", "clean coverage", SUITE), ("sbt test", "'project core'", PART)),
    *(("dotnet test", "App.sln", SUITE), ("dotnet test", "-c Release", SUITE)),
    *(("dotnet test", "src/App.Tests", PART), ("dotnet test", "App.slnf", PART)),
    *(("just test", "lint", SUITE), ("just test", "unit", PART), ("task test", "unit", PART)),
    *(("poe test", "lint", SUITE), ("poe test", "src/api", PART)),
    # Projects of a workspace, folders that are looked through, files that are looked for.
    *(("vitest", word, PART) for word in ("run --project web", "run --dir src/api")),
    *(("yarn workspaces foreach run test", word, PART) for word in ("-R", "--from a")),
    ("yarn workspaces foreach run test", "-Ap", SUITE),
    *(("manage.py test", "tests/", SUITE), ("manage.py test", "users/", PART)),
    *(("jest", "--roots src/api", PART), ("tox", "-x testenv.commands=true", PART)),
    *(("unittest", f"discover -p {word}", SUITE) for word in ("test_*.py", "*_test.py", "*.py")),
    *(
        ("unittest", f"discover -p {word}", PART)
        for word in ("test_a*.py", "test_*_a.py", "*a.py", "a*.py", "test_a.py", "a_test.py")
    ),
    # What make hands on to CTest, and what it calls a path.
    *(("make test", "ARGS='-R one'", PART), ("make test", "ARGS='-LE slow'", PART)),
    *(("make test", f"{name}=tests/a", PART) for name in ("m", "file", "f")),
    *(("make test", "out=build/a", SUITE), ("make test", "output=tests/a.xml", SUITE)),
    *(("make test", "path=tests/a", PART), ("make test", "PATH=/usr/bin", SUITE)),
]
"""(command, what follows it, how much runs)."""


def test_what_a_run_is_pointed_at_is_a_part_unless_it_is_all() -> None:
    """Folders, globs, packages, targets: by what each program takes such a word for."""
    found = [
        (name, words, scope_of(name, tuple(shlex.split(words)), (), row_of(name)))
        for name, words, _ in PLACES
    ]
    assert found == PLACES


def test_a_word_of_rakes_picks_tests_wherever_it_is_set() -> None:
    """Minitest's task takes a name, an exclusion and more options out of such variables."""
    for setting in ("N=/one/", "X=/slow/", "A=--verbose"):
        assert scope_of("rake test", (setting,), (), row_of("rake test")) is PART
        assert scope_of("rake test", (), (setting,), row_of("rake test")) is PART
        assert scope_of("make test", (), (setting,), row_of("make test")) is SUITE


@each_row(
    ("name", "setting", "scope"),
    [
        ("pytest", "PYTEST_ADDOPTS=-k x", PART),
        ("pytest", "PYTEST_ADDOPTS='-k x'", PART),
        ("pytest", 'PYTEST_ADDOPTS="--collect-only"', NOTHING),
        ("pytest", "PYTEST_ADDOPTS=-q", SUITE),
        ("pytest", "OTHER=-k x", SUITE),
        ("pytest", "MAKEFLAGS=n", SUITE),
        ("make test", "MAKEFLAGS=n", NOTHING),
        ("make test", "MFLAGS=-n", NOTHING),
        ("make test", "MFLAGS=n", NOTHING),
        ("pytest", "MFLAGS=-k x", SUITE),
        ("make test", "GNUMAKEFLAGS=q", NOTHING),
        ("make test", "MAKEFLAGS=k", SUITE),
        ("make test", "MAKEFLAGS=-t", SUITE),
        ("make test", "MAKEFLAGS=V=1 n", SUITE),
        ("make test", "TESTOPTS=-k x", PART),
        ("make test", "TESTS=a", PART),
        ("tox", "TOXENV=lint", PART),
        ("tox", "TOXENV=py311,py312", SUITE),
        ("tox", "TOX_SKIP_ENV=py", PART),
        ("nox", "NOXSESSION=lint", PART),
        ("nox", "TOXENV=lint", SUITE),
    ],
)
def test_what_variables_add_counts(name: str, setting: str, scope: RunScope) -> None:
    """For the program that reads them; what make hands on is for the one that it starts."""
    assert scope_of(name, (), (setting,), row_of(name)) is scope
    assert scope_of(name, (), ("CI=1", setting), row_of(name)) is scope


@pytest.mark.parametrize(
    ("name", "words", "sets", "is_hidden"),
    [
        ("make test", "", "", False),
        ("make test", "-i", "", True),
        ("make test", "-ki", "", True),
        ("make test", "-Ci", "", False),
        ("make test", "--ignore-errors", "", True),
        ("make test", "ARGS=--exit-zero", "", True),
        ("gmake test", "-i", "", True),
        ("make test", "", "MAKEFLAGS=i", True),
        ("pytest", "-i", "", False),
        ("npm test", "--if-present", "", True),
        ("mvn test", "-fn", "", True),
        ("mvn test", "-Dmaven.test.failure.ignore=true", "", True),
        ("pytest", "", "PYTEST_ADDOPTS=--exit-zero", True),
    ],
)
def test_whose_status_says_nothing(name: str, words: str, sets: str, is_hidden: bool) -> None:
    """With such an option a failure ends with 0 as well."""
    settings = (sets,) if sets else ()
    assert is_status_hidden(name, tuple(words.split()), settings, row_of(name)) is is_hidden


@pytest.mark.parametrize(
    ("name", "word"), [("tox", "-k"), ("make test", "-k"), ("jest", "--projects")]
)
def test_what_stands_behind_two_dashes_is_for_another_program(name: str, word: str) -> None:
    """There an option means what it means to most, and not what it means to the one before them."""
    assert scope_of(name, (word,), (), row_of(name)) is SUITE
    assert scope_of(name, ("--", word), (), row_of(name)) is PART


@each_row(
    ("variable", "scope"),
    [
        *((name, PART) for name in ("GTEST_FILTER=A*", "npm_config_grep=x", "CYPRESS_grepTags=@x")),
        *(
            (name, PART)
            for name in ("TEST_NAME=x", "GO_TEST_RUN=x", "SHARD_INDEX=0", "CI_NODE_INDEX=0")
        ),
        *(
            (name, PART)
            for name in ("SKIP_E2E=1", "PKG=./a", "ONLY=unit", "TESTFILE=a", "testNamePattern=x")
        ),
        *((name, PART) for name in ("MY_JEST_OPTS=-t x", "PYTEST_ADDOPTS=tests/test_a.py")),
        *(
            (name, SUITE)
            for name in ("CI=1", "NODE_ENV=test", "TZ=UTC", "PYTHONPATH=src", "A.TESTS=x")
        ),
        *(
            (name, SUITE)
            for name in ("TEST_DATABASE_URL=x", "RUST_TEST_THREADS=1", "TEST_TIMEOUT=3")
        ),
        *(
            (name, SUITE)
            for name in ("GTEST_FILTER=*", "GTEST_FILTER=", "SKIP_E2E=0", "SPEC_REPORT=x")
        ),
        *(
            (name, SUITE)
            for name in ("CFLAGS=-g", "MY_CFLAGS=-g", "JAVA_OPTS=-Xmx1g", "TESTCONTAINERS_X=1")
        ),
    ],
)
def test_a_variable_picks_tests_if_its_name_speaks_of_which_ones(
    variable: str, scope: RunScope
) -> None:
    """One that says where or how tests run, or lets all of them through, leaves the suite whole."""
    assert scope_of("ctest", (), (variable,), row_of("ctest")) is scope


@pytest.mark.parametrize(
    ("words", "known"),
    [
        ("-c pytest.ini", True),
        ("-c ./pyproject.toml", True),
        ("-c fast.ini", False),
        ("--config-file=ci/pytest.ini", False),
        ("--config jest.config.ts", True),
        ("-c", True),
        ("-c folder", True),
        ("--tb short.ini", True),
    ],
)
def test_another_file_of_settings_may_call_another_thing_the_suite(words: str, known: bool) -> None:
    """Only the file that a runner reads by itself says what it does without the option."""
    row = row_of("jest") if "jest" in words else row_of("pytest")
    assert are_known(tuple(words.split()), row) is known


KNOWN: list[tuple[str, str, bool]] = [
    # What leaves a suite whole, lists, picks, hides the status, or is of settings, by any runner.
    *(("pytest", words, True) for words in ("", "tests", "-q -x --tb=short", "--version", "--lf")),
    *(("make test", words, True) for words in ("--ignore-errors", "-k", "--globalSetup x")),
    # What is the runner's own: with a value, kept, picked or listed by it.
    *(("jest", "--roots --strange", True), ("pytest", "--roots --strange", False)),
    *(("gradle test", "--tests-from x", True), ("pytest", "--tests-from x", False)),
    *(("jest", "--changedSince main", True), ("pytest", "--changedSince main", False)),
    *(("bazel test", "--nocache", True), ("pytest", "--nocache", False)),
    # With these anything may be set, or run.
    *(
        ("gradle test", "-D x", False),
        ("gradle test", "-P x", False),
        ("go test", "-exec x", False),
    ),
    # A toolchain is a word of cargo's.
    *(
        ("cargo test", "+nightly", True),
        ("cargo nextest run", "+1.80.0", True),
        ("mix test", "+x", False),
    ),
    # Letters, and what is known only with the next word.
    *(("pytest", words, True) for words in ("-vvs", "-rA", "-p no:cacheprovider -q", "-q -p no:x")),
    *(("pytest", words, False) for words in ("-p strange", "-q -p", "-p -q no:cacheprovider")),
    # One that nobody knows is enough, wherever it stands.
    *(("pytest", words, False) for words in ("--strange", "-q --strange", "--strange -q", "+x -q")),
]
"""(command, what follows it, whether each of its options is known)."""


def test_each_option_has_to_be_known() -> None:
    """By its name: in the runner's manual, or one that means the same to all; a project knows its own."""
    found = [
        (name, words, are_known(tuple(words.split()), row_of(name))) for name, words, _ in KNOWN
    ]
    assert found == KNOWN
    own = runner_table.rows(({"name": "mine", "commands": ["mine"]},))[0]
    lines = (("--lf",), ("--strange",), ("-c", "fast.ini"))
    assert [are_known(words, UNKNOWN) for words in lines] == [True, False, False]
    assert [are_known(words, own) for words in lines] == [True, True, True]
