"""What counts as a test run, and when it was green."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.evidence import command_lines, line_effects, reading, suite_runs
from lifecycle.evidence.outcomes import CallEnd, Outcome
from lifecycle.evidence.records import Evidence
from lifecycle.evidence.runners import runner_table
from tests.batches import each_row

OWN = ("make verify", "cd web && npm run check")


@each_row("name", runner_table.names())
def test_every_runner_of_the_table_is_a_run(name: str) -> None:
    """Each known runner is found, also behind others and with options; its suite counts, if it runs all."""
    line = name.replace("yarn workspace ", "yarn workspace web ")
    run = suite_runs.run_in(f"cd x && FOO=1 {line}{' ./...' if name == 'go test' else ''}")
    assert run is not None
    is_part = any(words in name for words in ("affected", "yarn workspace ", "nx test"))
    assert (run.name, run.is_suite, run.decides) == (name, not is_part, True)


def test_one_package_of_go_is_the_suite_where_the_project_says_so() -> None:
    """`go test` is the package in the current folder; whoever configures it has no other."""
    own = suite_runs.run_in("go test", ("go test",))
    assert own is not None
    assert (own.is_suite, own.is_own) == (True, True)


@each_row(
    ("line", "is_suite"),
    [
        ("pytest -q tests", True),
        ("pytest -q backend/tests", True),
        ("pytest -q tests/unit", False),
        ("pytest -x --cov=src", True),
        ("uv run pytest -n 2", True),
        ("python -m unittest", True),
        ("npm run test:ci", True),
        ("npm run test:unit", False),
        ("npm --silent test", True),
        ("go test ./...", True),
        ("go test -race -count=1 all", True),
        ("go test", False),  # the package in the current folder alone
        ("go test -v .", False),
        ("go test -coverpkg=./...", False),
        ("cmake --build build --target test", True),
        ("cmake --build build/debug -j4 -t all test", True),
        ("cmake --build . --target RUN_TESTS --config Release", True),
        ('cmake --build build --target=test -- ARGS="-R one"', False),
        ("nx run-many --target=test", True),
        ("npx nx run-many -t lint test --parallel=3", True),
        ("nx run-many --targets test -p web", False),
        ("nx run-many --target=test:unit", False),
        ("nx run-many --targets=test,lint", True),
        ("nx run-many -t lint,test", True),
        ("nx affected -t test", False),
        ("npx nx affected --targets=lint,test --base=main", False),
        ("pnpm --filter web test", False),
        ("pnpm -F ./packages/web... run test", False),
        ("npm --workspace web test", False),
        ("npm exec -w web jest", False),
        ("npx --workspace=web -- jest", False),
        ("npm exec -ws -- jest", True),
        ("npm exec jest -w web", False),
        ("npm exec -- jest -w 2", True),
        ("npx jest -w 2", True),
        ("docker compose exec -w /app web pytest", True),
        ("docker compose exec -w /app web npx jest", True),
        ("docker compose exec web npx -w web jest", False),
        ("yarn workspaces foreach -A --no-private exec jest", False),
        ("yarn workspaces foreach -A --no-private run test", False),
        ("pnpm -r exec jest", True),
        ("pnpm --stream --recursive exec vitest run", True),
        ("pnpm -r --filter web exec jest", False),
        ("pnpm -r exec jest src/a.test.js", False),
        ("yarn workspaces foreach -A exec jest --ci", True),
        ("yarn workspaces foreach -R exec jest", False),
        ("yarn workspaces foreach -A --include web exec vitest run", False),
        ("bun --bun jest", True),
        ("bun run --bun vitest run", True),
        ("bun -b jest src/a.test.js", False),
        ("bun run --filter '*' test", False),
        ("turbo --filter web run test", False),
        ("yarn workspace web test", False),
        ("yarn workspace web run test", False),
        ("npx nx test web", False),
        ("node --run test", True),
        ("node --run test:unit", False),
        ("node --run=test -- --grep one", False),
        ("hatch run test", True),
        ("hatch run dev:test", True),
        ("hatch run test:unit", False),
        ("hatch run dev:pytest", True),
        ("hatch run test:pytest tests/test_one.py", False),
        ("just test", True),
        ("task test", True),
        ("make check", True),
        ("cargo test --workspace", True),
        ("make -j4 test", True),
        ("npx playwright test --project=chromium", True),
        ("make verify", True),
        ("make verify V=1", True),
        ("npm run check", True),
        ("pytest tests/test_a.py", False),
        ("pytest tests/test_a.py::test_b", False),
        ("pytest -k name", False),
        ("pytest --lf", False),
        ("vitest run src/a.test.ts", False),
        ("jest -t 'one thing'", False),
        ("go test -run TestOne ./...", False),
        ("pytest tests/test_a.py && pytest", True),
    ],
)
def test_a_run_of_single_files_or_tests_is_no_suite(line: str, is_suite: bool) -> None:
    """The folder of all tests is a suite; one below it, a kind, a file or a name are a part."""
    run = suite_runs.run_in(line, OWN)
    assert run is not None
    assert run.is_suite is is_suite


@each_row(
    "line",
    [
        "echo pytest",
        "grep -rn pytest .",
        "pip install pytest",
        "uv add --dev vitest",
        "cat pytest.ini",
        "pytest --version",
        "pytest --collect-only -q",
        "jest --listTests",
        "cargo test --no-run",
        "cat <<EOF > run.sh\npytest\nEOF",
        "git commit -m 'run pytest'",
        "# pytest",
        "pnpm --filter test build",
        "yarn workspace test build",
        "npm run build",
        "make tests-docs",
        "make",
        "which pytest",
        "rake build",
        "bundle exec rake db:migrate",
        "rake build[x=1]",
        "rake -T",
        "prove --version",
        "cargo +nightly build",
        "node --import tsx build.ts",
        "tsx a.ts",
        "sail test",
        "mage -l",
        "cargo llvm-cov report",
        "-q",
        "",
    ],
)
def test_words_about_tests_are_no_run(line: str) -> None:
    """Naming, installing, listing and building run nothing."""
    assert suite_runs.run_in(line, OWN) is None


@each_row(
    ("line", "outcome", "output", "wanted"),
    [
        ("pytest", "ok", "==== 12 passed in 0.1s ====", "passed"),
        ("pytest -q", "ok", "", "passed"),
        ("pytest", "ok", "3 passed, 2 xfailed, 1 skipped", "passed"),
        ("pytest | tail", "ok", "==== 12 passed in 0.1s ====", "passed"),
        ("cargo test | tail", "ok", "test result: ok. 5 passed; 0 failed; 0 ignored", "passed"),
        ("go test ./... 2>&1 | tail", "ok", "ok  \texample.com/a\t0.01s", "passed"),
        ("npm test | cat", "ok", "Tests:  5 passed, 5 total", "passed"),
        ("vitest run | cat", "ok", " ✓ counts 2 errors\n Tests  3 passed (3)", "passed"),
        ("make test", "ok", "fine", "unknown"),  # nobody configured it, and it names no test
        ("make test", "ok", "3 passed in 0.1s", "passed"),
        ("pytest", "ok", "ERROR: logged on purpose\n12 passed", "passed"),
        ("pytest | cat", "ok", "ERROR: not found: x\n12 passed", "failed"),
        ("pytest", "failed", "1 failed, 4 passed", "failed"),
        ("pytest", "failed", "", "failed"),
        ("pytest; true", "ok", "3 passed, 1 failed in 0.1s", "failed"),
        ("pytest | tail", "ok", "3 passed, 1 error in 0.1s", "failed"),
        ("pytest", "ok", "3 passed, 1 failed", "failed"),
        ("cargo test | cat", "ok", "test result: FAILED. 3 passed; 1 failed", "failed"),
        ("go test ./... | cat", "ok", "--- FAIL: TestA\nFAIL", "failed"),
        ("jest | cat", "ok", "Tests: 1 failed, 3 passed, 4 total", "failed"),
        ("make test | tail", "ok", "make: *** [Makefile:3: test] Error 1", "failed"),
        ("nosuch; pytest || true", "ok", "bash: pytest: command not found", "failed"),
        (
            "pytest; true",
            "ok",
            "ERROR: file or directory not found: x\n\nno tests ran in 0.6s",
            "failed",
        ),
        ("pytest", "ok", "no tests ran in 0.01s", "nothing_ran"),
        ("go test ./...", "ok", "?   example.com/a [no test files]", "nothing_ran"),
        ("python -m unittest", "ok", "Ran 0 tests in 0.000s\n\nOK", "nothing_ran"),
        ("pytest | tail", "ok", "0 passed", "nothing_ran"),
        ("pytest | tail", "ok", "no tests passed", "nothing_ran"),
        ("pytest > out.txt; true", "ok", "", "unknown"),
        ("pytest", "unknown", "12 passed", "unknown"),
    ],
)
def test_green_is_what_is_seen_to_be_green(
    line: str, outcome: str, output: str, wanted: str
) -> None:
    """The exit status counts where it is the run's own; elsewhere the output has to say it."""
    run = suite_runs.run_in(line)
    assert run is not None
    assert reading.read_run(run, CallEnd(outcome), output).outcome is Outcome(wanted)


@each_row(
    "line",
    [
        "make -n test",
        "make test -n",
        "make test --just-print",
        "make -q test",
        "MAKEFLAGS=n make test",
        "tox -l",
        "tox --listenvs",
        "nox -l",
        "just -n test",
        "task test --dry",
        "ctest -N",
        "go test -n ./...",
        "go test -c",
        "vitest list",
        "mvn -DskipTests verify",
        "gradle test --dry-run",
        "dotnet test -t",
        "pytest --setup-only",
    ],
)
def test_what_lists_or_says_what_it_would_do_is_no_run(line: str) -> None:
    """Each program has its own word for it."""
    assert suite_runs.run_in(line) is None


@each_row(
    ("line", "is_suite"),
    [
        ("PYTEST_ADDOPTS='-k one' pytest", False),
        ("export PYTEST_ADDOPTS='-k one'; pytest", False),
        ("set -a; PYTEST_ADDOPTS='-k one'; pytest", False),
        ("TESTS=one; export TESTS; make test", False),
        ("set -a; TESTS=x; make test", False),
        ("LOG=out.txt; make test", True),
        ("env PYTEST_ADDOPTS=--lf pytest", False),
        ("pytest --deselect tests/test_a.py::test_b", False),
        ("pytest --ignore tests/hard", False),
        ("pytest --ignore=tests/hard", False),
        ("pytest -m smoke", False),
        ("pytest -msmoke", False),
        ("pytest -qk one", False),
        ("make test ARGS='-k one'", False),
        ("make test TESTS=one", False),
        ("cargo test one_name", False),
        ("cargo test --lib", False),
        ("python -m unittest tests.test_a", False),
        ("ctest -R one", False),
        ("go test -skip Slow ./...", False),
        ("tox -e lint", False),
        ("nox -s docs", False),
        ("TOXENV=lint tox", False),
        ("tox -e py311,py312", True),
        ("nox -s tests", True),
        ("make -k test", True),
        ("make -C web test", True),
        ("npm --prefix web test", True),
        ("ctest -V", True),
        ("mvn -V -B verify", True),
        ("vitest --run", True),
        ("jest --config jest.config.js", True),
        ("python -m unittest discover", True),
        ("cargo test -p core --features full -- --nocapture", False),
        ("cargo test --workspace --features full -- --nocapture", True),
        ("go test -tags slow ./...", True),
        ("PYTEST_ADDOPTS=-q pytest -ra", True),
        ("python -m pytest", True),
    ],
)
def test_what_leaves_tests_out_is_no_suite(line: str, is_suite: bool) -> None:
    """Options, variables and names that pick; and those that only look like it."""
    run = suite_runs.run_in(line)
    assert run is not None
    assert run.is_suite is is_suite


FOLDERS = {
    True: ("web", "tests", "./backend/", "backend/tests", "src/../web", "build/debug", "."),
    False: ("tests/unit", "src/api", "packages/a", "unit", "packages/a/tests", "./src/api/"),
}
"""Folders that can be all of a project, and that cannot."""


@pytest.mark.parametrize("is_suite", [True, False])
@pytest.mark.parametrize("own", [(), ("pytest", "make test")])
def test_a_folder_says_as_much_wherever_it_stands(own: tuple[str, ...], *, is_suite: bool) -> None:
    """As a word, as the folder that the line goes to or begins in, and as an option's value."""
    lines = [way.format(folder) for folder in FOLDERS[is_suite] for way in WAYS]
    runs = [suite_runs.run_in(line, own, root="/w") for line in lines]
    begun = [suite_runs.run_in("pytest", own, None, "/w", f"/w/{f}") for f in FOLDERS[is_suite]]
    wanted = {is_suite}
    assert {run.is_suite for run in (*runs, *begun) if run is not None} == wanted
    assert None not in runs


WAYS = (
    *("cd {} && pytest", "pushd {} && npx vitest run", "cd .. && cd /w/{} && pytest"),
    *("make -C {} test", "npm --prefix={} test", "uv run --directory {} pytest"),
)
"""How a line names the folder in which tests run."""


@each_row(
    ("line", "own", "is_suite"),
    [
        ("cd internal && go test ./...", "go test ./...", False),
        ("go test -C internal ./...", "", False),
        ("cd backend && go test ./...", "", True),
        ("cd services/api && pytest", "cd services/api && pytest", True),
        ("cd services/api && pytest -q", "cd services/api && pytest", True),
        ("cd services/web && pytest", "cd services/api && pytest", False),
        ("cd tools/x && ./verify", "cd tools/x && ./verify", True),
        ("make -C services/api test", "make -C services/api test", True),
        ("mvn -f services/api/pom.xml test", "", False),
        ("mvn -f backend/pom.xml test", "", True),
        ("gradle -p services/api test", "", False),
        ("cargo test --manifest-path crates/a/Cargo.toml", "", False),
        ("python -m unittest discover -s src/api", "", False),
        ("python -m unittest discover -s tests", "", True),
        ("hatch run unit:test", "", False),
        ("hatch run py311:test", "", True),
        ("docker compose -f deploy/dev/compose.yml run web make test", "", True),
        ("cd a/b && cd ../.. && pytest", "", True),
        ("cd a/b && cd $(git rev-parse --show-toplevel) && pytest", "", True),
        ("cd packages/next.js && npm test", "", False),
        ("make -f ci/Makefile test", "", True),
        ("make -f services/api/Makefile test", "", False),
        ("(cd packages/a && npm ci) && npm test", "", True),
        ("(cd packages/a && npm ci); (cd web && npm test)", "", True),
        ("sh -c 'cd packages/a && npm ci' && npm test", "", True),
        ("cd packages && (cd a && npm ci && npm test)", "", False),
        ("(cd web && npm ci); cd packages/a && npm test", "", False),
    ],
)
def test_where_a_run_may_run_is_the_projects_word(line: str, own: str, is_suite: bool) -> None:
    """The folder of the project's own command is no part; of a monorepo one folder by its name is all."""
    run = suite_runs.run_in(line, (own,) if own else (), root="/w")
    assert run is not None
    assert run.is_suite is is_suite


@each_row(
    ("line", "folder", "own", "is_suite"),
    [
        ("cd web && npm test", "/w/web", "", True),
        ("cd ./services/api && pytest", "/w/services/api", "cd services/api && pytest", True),
        ("cd services/api && pytest", "/w/services/api", "", False),
        ("cd tests && pytest", "/w/packages/a", "", False),
        ("cd w && pytest", "/w", "", True),
    ],
)
def test_a_client_may_name_the_folder_in_which_the_line_ended(
    line: str, folder: str, own: str, *, is_suite: bool
) -> None:
    """Its shell goes on where the line left it, and that is the event's `cwd` then."""
    run = suite_runs.run_in(line, (own,) if own else (), root="/w", folder=folder)
    assert run is not None
    assert run.is_suite is is_suite


@each_row(
    ("line", "own", "wanted"),
    [
        *(
            (line, "", "unknown")
            for line in (
                *("make -f fast.mk test", "MAKEFILES=fast.mk make test", "just -f fast.just test"),
                *("mvn -f fast.xml test", "gradle -b fast.gradle test", "ant -f fast.xml test"),
                *("task --taskfile fast.yml test", "make --makefile=fast.mk test"),
                "pytest -c fast.ini",
            )
        ),
        ("make -f fast.mk test", "make test", "unknown"),
        ("make -f fast.mk test", "make -f fast.mk test", "passed"),
        *((line, "", "passed") for line in ("make -f Makefile test", "mvn -f web/pom.xml test")),
        *((line, "", "passed") for line in ("just -f justfile test", "pytest -c tox.ini")),
    ],
)
def test_another_file_of_settings_may_call_another_thing_the_suite(
    line: str, own: str, wanted: str
) -> None:
    """Whichever program reads it; the usual files are what is read anyway, and the project's own counts."""
    run = suite_runs.run_in(line, (own,) if own else ())
    assert run is not None
    assert reading.read_run(run, CallEnd.OK, f"BUILD SUCCESS\n{PASSED}").outcome is Outcome(wanted)


@pytest.mark.parametrize(
    ("line", "suites"),
    [
        ("make unit", ("make unit",)),
        ("make api -j2; make unit", ("make api", "make unit")),
        ("cd web && npm test", ("cd web && npm test",)),
        ("npm test", ("npm test",)),
        ("pytest", ()),
        ("make test", ()),
    ],
)
def test_which_of_the_projects_own_commands_a_line_runs(line: str, suites: tuple[str, ...]) -> None:
    """Where it runs tells those apart that are worded alike."""
    own = ("make unit", "make api", "npm test", "cd web && npm test")
    run = suite_runs.run_in(line, own)
    assert run is not None
    assert run.suites == suites


@pytest.mark.parametrize("own", [("pytest", "pytest -m slow"), ("pytest -m slow", "pytest")])
def test_of_commands_that_begin_alike_the_one_that_says_more_is_meant(own: tuple[str, ...]) -> None:
    """In whichever order they are configured; neither is a part of the other."""
    for line in (*own, "pytest -m slow -x"):
        run = suite_runs.run_in(line, own)
        assert run is not None
        assert (run.suites, run.is_suite) == ((line.removesuffix(" -x"),), True)


def test_variables_tell_commands_apart_that_are_worded_alike() -> None:
    """A run with none of their values says nothing of them."""
    own = ("DB=small pytest", "DB=big pytest", "npm test", "CI=1 npm test")
    lines = (
        *own,
        "export DB=big; pytest",
        "DB=big COLOR=0 pytest",
        "DB=none pytest",
        "CI=0 npm test",
    )
    runs = [suite_runs.run_in(line, own) for line in lines]
    big = ("DB=big pytest",)
    assert [run and run.suites for run in runs] == [
        *((line,) for line in own),
        *(big, big, (), ("npm test",)),
    ]


def test_a_command_of_the_projects_own_may_pick() -> None:
    """Its options and variables are the project's word for the suite; further ones are not."""
    own = ("SLOW=1 PYTEST_ADDOPTS='-m fast' pytest -k unit | tail -5",)
    line = "SLOW=1 PYTEST_ADDOPTS='-m fast' pytest -k unit"
    run = suite_runs.run_in(line, own)
    assert run is not None
    assert run.is_suite
    for more in (f"{line} -m slow", line.replace("fast", "none")):
        part = suite_runs.run_in(more, own)
        assert part is not None
        assert not part.is_suite
    assert suite_runs.run_in("tail -5 log", own) is None


PASSED = "==== 12 passed in 0.1s ===="


@each_row(
    ("line", "output", "wanted"),
    [
        ("pytest", "", "passed"),
        ("cd web && npx vitest run", "", "passed"),
        ("cd web || exit 1; pytest", "", "passed"),
        ("source .venv/bin/activate && pytest", "", "passed"),
        ("pytest && echo ok", "ok", "passed"),
        ("pytest && npx vitest run", "", "passed"),
        ("pytest && git status", "", "passed"),
        ("git stash && pytest", "", "unknown"),  # what is put aside is no known part of a run
        ("set -o pipefail; pytest | tail -1", PASSED, "passed"),
        ("pytest > log", "", "passed"),
        ("pytest 2>&1 | tee log", PASSED, "passed"),
        ("pytest | cat", PASSED, "passed"),
        ("pytest || true", PASSED, "passed"),
        ("pytest; true", PASSED, "passed"),
        # What the files were is not known.
        ("git stash && pytest && git stash pop", PASSED, "unknown"),
        ("pytest && sed -i s/1/2/ code.py", PASSED, "unknown"),
        ("pytest && sed s/1/2/ code.py", PASSED, "passed"),
        ("pytest && echo x > code.py", PASSED, "unknown"),
        ("pytest && git commit -am x", PASSED, "unknown"),
        ("pytest && ./deploy", PASSED, "unknown"),
        ("trap 'git stash pop' EXIT; git stash; pytest", PASSED, "unknown"),
        # Whether it passed is not known.
        ("pytest | tail -1", PASSED, "unknown"),
        ("pytest | grep passed", PASSED, "unknown"),
        ("make test | tail", PASSED, "unknown"),
        ("set -o pipefail; set +o pipefail; pytest | tail", PASSED, "unknown"),
        ("pytest; echo OK", "OK", "unknown"),
        ("pytest >/dev/null; echo OK", "OK", "unknown"),
        ("pytest > log 2>&1; tail log", PASSED, "unknown"),
        ("bash -c pytest >/dev/null; echo OK", "OK", "unknown"),
        ("cat old.log; pytest | tee log", PASSED, "unknown"),
        ("pytest | cat old.log", PASSED, "unknown"),
        ("! pytest > log", "", "unknown"),
        ("! pytest", PASSED, "unknown"),
        ("true || pytest", "", "unknown"),
        ("[ -d nope ] || pytest", "", "unknown"),
        ("test -d nope || exit 0; pytest", "", "unknown"),
        ("pytest &", "", "unknown"),
        ("(pytest) &", "", "unknown"),
        ("{ pytest; } &", "", "unknown"),
        ("echo $(pytest)", PASSED, "unknown"),
        ("pytest() { true; }; pytest", "", "unknown"),
        ("alias pytest=true; pytest", "", "unknown"),
        ("make -i test", "", "unknown"),
        ("npm test --if-present", "", "unknown"),
        ("if false; then pytest; fi", "", "unknown"),
        # A failure that is counted is one, whatever hides the status.
        ("! pytest", "3 failed", "failed"),
        ("pytest || true", "FAIL Required test coverage of 90% not reached\n3 passed", "failed"),
    ],
)
def test_green_is_proven_or_unknown(line: str, output: str, wanted: str) -> None:
    """The run's own status or all that it printed, and nothing after it that may have changed a file."""
    run = suite_runs.run_in(line)
    assert run is not None
    if line.startswith("! "):
        assert reading.proof(run, CallEnd.FAILED, output).outcome is Outcome(wanted)
    assert reading.proof(run, CallEnd.OK, output).outcome is Outcome(wanted)


def test_of_a_hidden_status_the_whole_output_has_to_be_there() -> None:
    """A green beginning, or a green end, says nothing of the rest; of its own status it need not."""
    hidden, own = suite_runs.run_in("go test ./... | tee log"), suite_runs.run_in("go test ./...")
    assert hidden is not None
    assert own is not None
    green = "ok  \texample.com/a\t0.1s\n"
    assert reading.proof(hidden, CallEnd.OK, green).outcome is Outcome.PASSED
    assert reading.proof(hidden, CallEnd.OK, green, is_cut=True).outcome is Outcome.UNKNOWN
    assert reading.proof(hidden, CallEnd.OK, f"{green}FAIL", is_cut=True).outcome is Outcome.FAILED
    assert reading.proof(own, CallEnd.OK, green, is_cut=True).outcome is Outcome.PASSED


def test_a_failure_that_is_another_commands_is_no_red_run() -> None:
    """`grep` that finds nothing fails; a run that fails of its own is red."""
    piped, own = suite_runs.run_in("pytest | grep -c FAILED"), suite_runs.run_in("pytest")
    assert piped is not None
    assert own is not None
    assert reading.read_run(piped, CallEnd.FAILED, "0").outcome is Outcome.UNKNOWN
    assert reading.read_run(own, CallEnd.FAILED, "0").outcome is Outcome.FAILED


@given(st.text(), st.sampled_from([CallEnd.FAILED, CallEnd.UNKNOWN]))
def test_what_failed_or_is_not_over_is_never_green(output: str, outcome: CallEnd) -> None:
    """No output makes a failed or unfinished run green."""
    run = suite_runs.run_in("pytest")
    assert run is not None
    assert reading.read_run(run, outcome, f"{output}\n12 passed").outcome is not Outcome.PASSED


def test_an_output_of_empty_lines_is_read_once() -> None:
    """A test run that printed many line breaks holds nothing up: else this ends by its time."""
    run = suite_runs.run_in("pytest")
    assert run is not None
    assert reading.read_run(run, CallEnd.OK, "\n" * 200_000 + "1 failed").outcome is Outcome.FAILED


TOP = "$(git rev-parse --show-toplevel)"


@each_row(
    ("line", "steps"),
    [
        ("pytest", []),
        ("cd web && pytest", [("web", True)]),
        ("pushd web && pytest && popd", [("web", True)]),
        ("cd web && pytest && cd .. && pytest", [("web", True), ("..", True)]),
        ("popd && pytest", [("", True)]),
        ("cd && pytest", [("", True)]),
        ("cd a b && pytest", [("", True)]),
        ("cd -P web && pytest", [("web", True)]),
        ("cd -L web && pytest", [("web", True)]),
        ("cd -- web && pytest", [("web", True)]),
        ("cd -e web && pytest", [("web", True)]),
        ("cd -@ web && pytest", [("web", True)]),
        ("cd - && pytest", [("", True)]),
        ("cd $WEB && pytest", [("", True)]),
        ("cd web* && pytest", [("", True)]),
        ("cd we? && pytest", [("", True)]),
        (f'cd "{TOP}" && pytest', [(command_lines.TOP, True)]),
        (f"cd {TOP} && pytest", [(command_lines.TOP, True)]),
        ("pytest /srv/other", [("/srv/other", False)]),
        ("pytest ~/other", [("~/other", False)]),
        ("pytest $OTHER", [("$OTHER", False)]),
        ("pytest ../other", [("../other", False)]),
        ("pytest a/../../b", [("a/../../b", False)]),
        ("pytest a..b", []),
        ("pytest tests", []),
        ("make -C /srv test", [("/srv", False)]),
        ("make -C/srv test", [("/srv", False)]),
        ("make -C web test", []),
        ("pytest --rootdir=/srv", [("/srv", False)]),
        ("pytest --rootdir /srv", [("/srv", False)]),
        ("pytest --rootdir= /srv", [("/srv", False)]),
        ("pytest --junitxml /tmp/x.xml", []),
        ("pytest --junitxml=/tmp/x.xml", []),
        ("pytest -o /tmp/x", []),
        ("pytest --unknown /srv", [("/srv", False)]),
    ],
)
def test_where_a_line_goes_and_what_its_run_is_given(
    line: str, steps: list[tuple[str, bool]]
) -> None:
    """Folders that a line goes to, in order; of a run's words those that may lie elsewhere."""
    run = suite_runs.run_in(line)
    assert run is not None
    assert list(dict.fromkeys(run.steps)) == steps


@each_row(
    ("line", "is_shown", "is_whole", "is_end"),
    [
        ("pytest", True, True, True),
        ("pytest > log", False, False, True),
        ("! pytest", False, False, True),
        ("pytest; echo x", True, False, True),
        ("echo x; pytest", True, False, True),
        ("cd web; pytest", True, True, True),
        ("pytest && npm test", True, False, True),
        ("pytest | tee log", True, True, True),
        ("pytest |& tee log", True, True, True),
        ("pytest | cat", True, True, True),
        ("pytest | cat | tee log", True, True, True),
        ("pytest | cat notes", True, False, True),
        ("pytest; cat", True, False, True),
        ("pytest | tail", True, False, True),
        ("pytest | cat > log", True, False, False),
        ("pytest | cat > /dev/null", True, False, True),
        ("pytest &", True, False, True),
        ("pytest; true &", True, False, True),
        ("pytest; true", True, True, True),
        ("pytest && rm x", True, False, False),
        ("pytest && sed s/1/2/ x", True, False, True),
        ("pytest && sed -i s/1/2/ x", True, False, False),
        ("pytest && sed --in-place s/1/2/ x", True, False, False),
        ("pytest | sort", True, False, True),
        ("pytest | sort -o x", True, False, False),
        ("pytest | sort --output=x", True, False, False),
        ("pytest && git status", True, False, True),
        ("pytest && git log", True, False, True),
        ("pytest && git stash pop", True, False, False),
        ("pytest && git", True, False, False),
        ("pytest && cd web && npm test", True, False, True),
        ("pytest && cd web", True, True, True),
        ("pytest && rm x && npm test", True, False, False),
    ],
)
def test_what_is_known_of_a_runs_output_and_of_what_comes_after_it(
    line: str, is_shown: bool, is_whole: bool, is_end: bool
) -> None:
    """Put away, mixed with other commands' words, or followed by what may change a file."""
    run = suite_runs.run_in(line)
    assert run is not None
    assert (run.is_shown, run.is_whole, run.is_end) == (is_shown, is_whole, is_end)


def test_outcomes_and_evidence_have_the_words_of_the_files() -> None:
    """The records and the instructions hold them."""
    assert [str(one) for one in Outcome] == [
        "passed",
        "failed",
        "nothing_ran",
        "partial",
        "unknown",
    ]
    assert [str(one) for one in Evidence] == [
        *("not_needed", "green", "missing", "red", "changed", "unknown", "nothing", "partial"),
        *("other", "spoiled", "unreadable"),
    ]


@each_row(
    "behind",
    [
        *("tail", "head", "grep x", "rg x", "less", "cut -f1", "sort", "uniq", "wc", "tr a b"),
        *("nl", "fold", "column", "jq .", "tee /dev/null", "cat", ": x", "true", "false", "exit 1"),
        *("cd ..", "export A=b", "set -e", "unset A", "source a", ". a", "mkdir x", "ulimit -n 1"),
        *("umask 0", "sleep 1", "wait", "echo x", "printf x", "date", "ls", "pwd", "sed s/a/b/ f"),
        *("git status", "git diff", "git log", "git show", "git rev-parse HEAD"),
        *("coverage report -m", "mypy .", "pyright", "go vet ./..."),
    ],
)
def test_what_is_behind_a_run_and_changes_no_file(behind: str) -> None:
    """The run proves the tree as it is then."""
    run = suite_runs.run_in(f"pytest; {behind}")
    assert run is not None
    assert run.is_end


@pytest.mark.parametrize(
    "behind",
    [
        *("sed -i s/a/b/ f", "sed --in-place x f", "sort -o f f", "sort --output=f f"),
        *("git add .", "git", "python a.py", "ls > f", "touch f", "cat > f"),
        *(
            "coverage",
            "coverage html",
            "coverage report > f",
            "go generate ./...",
            "ruff check --fix",
        ),
    ],
)
def test_what_is_behind_a_run_and_may_change_a_file(behind: str) -> None:
    """Nothing is proved of the tree behind it."""
    run = suite_runs.run_in(f"pytest; {behind}")
    assert run is not None
    assert not run.is_end


@pytest.mark.parametrize(
    ("line", "places"),
    [
        ("uv run --directory ../x pytest", ["../x"]),
        ("uv run --directory=../x pytest", ["../x"]),
        ("uv run --directory x pytest", []),
        ("pytest --rootdir ../x", ["../x"]),
        ("pytest --rootdir=/x", ["/x"]),
        ("pytest --rootdir=", []),
        ("make -C../x test", ["../x"]),
        ("make -C ../x test", ["../x"]),
        ("pytest ~/x $HOME a..b a/../b", ["~/x", "$HOME", "a/../b"]),
        ("pytest -o ../x --junitxml /tmp/a", []),
    ],
)
def test_the_places_that_a_run_is_given(line: str, places: list[str]) -> None:
    """Those that may lead out of the folder, before the run's name as behind it."""
    run = suite_runs.run_in(line)
    assert run is not None
    assert {*run.steps} == {(path, False) for path in places}


@pytest.mark.parametrize(
    ("line", "is_suite", "is_check"),
    [
        ("lifecycle check test", True, True),
        ("cd . && python -m lifecycle check test --seconds 9", True, True),
        ("lifecycle check test -- -k one", False, True),
        ("lifecycle check test && pytest", True, False),
        ("pytest", True, False),
    ],
)
def test_our_own_command_is_a_run_that_is_kept_already(
    line: str, *, is_suite: bool, is_check: bool
) -> None:
    """A check of another name, and the list of them, run no tests."""
    run = suite_runs.run_in(line)
    assert run is not None
    assert (run.is_suite, run.is_check) == (is_suite, is_check)
    for other in ("lifecycle check lint", "lifecycle check --list", "lifecycle check"):
        assert suite_runs.run_in(other) is None


@pytest.mark.parametrize(
    ("line", "is_changing"),
    [
        *(("git checkout .", True), ("git stash pop", True), ("git reset --hard", True)),
        *(("git log checkout", False), ("git branch stash", False), ("git stash list", False)),
        *(("git reset a.py", False), ("git checkout -b next", False), ("git show merge", False)),
    ],
)
def test_what_git_is_told_to_do_changes_files_and_not_what_it_is_told_of(
    line: str, *, is_changing: bool
) -> None:
    """Its first word alone says that: a branch may be called `checkout`."""
    (command,) = command_lines.commands(line)
    assert line_effects.changes_files(command) is is_changing


@pytest.mark.parametrize(
    ("line", "is_plain"),
    [
        *(("pytest | tail -n 20", True), ("pytest | tail -20", True), ("pytest | tail -f", True)),
        *(("pytest | tail --lines=3", True), ("pytest | tail -n 20 a.txt", False)),
        *(("pytest | grep -n x", True), ("pytest | grep -n x a.txt", False)),
        *(("pytest | grep -c x", False), ("pytest; tail -n 20", False)),
    ],
)
def test_a_filter_that_reads_nothing_but_the_run_leaves_its_line_plain(
    line: str, *, is_plain: bool
) -> None:
    """Options and numbers are no files; what is read from a file may look like any run's end."""
    run = suite_runs.run_in(line)
    assert run is not None
    assert run.is_plain is is_plain


@pytest.mark.parametrize(
    ("line", "is_end"),
    [
        ("pytest a && cd .. && pytest", True),
        ("pytest && cd ..", True),
        ("pytest a && pushd x && pytest", False),
        ("pytest && ./x", False),
    ],
)
def test_between_runs_and_behind_them_a_line_may_go_elsewhere(line: str, *, is_end: bool) -> None:
    """That changes no file; of an unknown command nobody knows."""
    run = suite_runs.run_in(line)
    assert run is not None
    assert run.is_end is is_end


@each_row(
    ("line", "is_plain"),
    [
        *(("pytest; echo over", True), ("pytest; cat a.txt", False), ("pytest; git status", True)),
        *(("pytest | sed 1d", True), ("pytest | sed 1d a.txt", False)),
        *(("pytest | awk 1", True), ("pytest | rg x", True), ("pytest | rg x a", False)),
        *(("pytest; git log `x`", False), ("pytest; git log $(x)", False)),
        *(("export A=b; pytest", True), ("declare A=b; pytest", True)),
        *((". .venv/bin/activate && pytest", True), (". ./x && pytest", False)),
        *(("source .venv/bin/activate && pytest", True), ("source ./x && pytest", False)),
    ],
)
def test_a_line_is_plain_while_each_of_its_parts_is_known(line: str, *, is_plain: bool) -> None:
    """What prints a file, fills words in or reads a script may make anything of a run."""
    run = suite_runs.run_in(line)
    assert run is not None
    assert run.is_plain is is_plain


@pytest.mark.parametrize(
    ("line", "root", "is_away"),
    [
        *(
            ("pytest", "/w", False),
            ("cd a && pytest", "/w", False),
            ("cd /w && pytest", "/w", False),
        ),
        *(("cd .. && pytest", "/w", True), ("cd /wx && pytest", "/w", True)),
        *(("cd $X && pytest", "/w", True), ("cd ~/w && pytest", "/w", True)),
        *(("cd - && pytest", "/w", True), ("cd a && cd .. && pytest", "/w", False)),
        ("pytest $X/a", "/w", True),
        *(("cd /tmp/x && pytest", "", True), ("cd a && pytest", "", False)),
        *((f"cd {TOP}/a && pytest", root, False) for root in ("/w", "")),
        (f"cd {TOP}/../a && pytest", "/w", True),
    ],
)
def test_a_line_leads_away_by_any_place_that_is_not_below_the_top(
    line: str, root: str, *, is_away: bool
) -> None:
    """Or of which nobody knows where it is."""
    run = suite_runs.run_in(line)
    assert run is not None
    assert suite_runs.leads_away(run, root) is is_away


ASKED = ("is_suite", "decides", "is_shown", "is_plain", "is_end", "is_single")
PARTS = [
    ("pytest", set(), False),
    ("sbt core/test", {"is_suite"}, False),
    ("declare PYTEST_ADDOPTS=-k; pytest", {"is_suite"}, False),
    *((f"{sets} pytest", {"is_plain"}, False) for sets in ("PATH=/x:$PATH", "set -a; PATH=/x;")),
    *((f"{name} PATH=/x; pytest", {"is_plain"}, False) for name in ("export", "declare")),
    (f"cd {TOP} && pytest", set(), False),
    ("source .venv/bin/activate x && pytest", set(), False),
    ("pytest; git log a; true", {"decides", "is_plain"}, False),
    ("grep x; pytest; true", {"decides", "is_plain"}, False),
    *((f"pytest; echo {word}; true", {"decides", "is_plain"}, False) for word in ('"$(x)"', "`x`")),
    ("pytest | awk 1 a", {"decides", "is_shown", "is_end"}, True),
    ("pytest | grep --count x", {"decides", "is_plain"}, True),
    ("pytest | cat | tail | tee x", {"decides"}, False),
    ("pytest; ! pytest", {"decides", "is_shown", "is_single"}, False),
    ("pytest --strange; pytest", {"decides", "is_plain", "is_single"}, False),
    ("pytest -x/../y", {"is_plain"}, False),
    ("pytest && git x log", {"is_plain", "is_end"}, False),
]
"""Lines, what is not true of the run of each that is of `pytest`, and whether a filter leaves some out."""


def test_what_is_not_true_of_a_run_by_the_parts_of_its_line() -> None:
    """Variables, scripts, other commands, filters: each takes away what it makes doubtful, no more."""
    runs = [(line, suite_runs.run_in(line)) for line, *_ in PARTS]
    found = [
        (line, {name for name in ASKED if not getattr(run, name)}, getattr(run, "is_sifted", None))
        for line, run in runs
    ]
    assert found == PARTS
    assert suite_runs.run_in("pytest -x/../y").steps == ()  # type: ignore[union-attr]  # it is a run


def test_an_option_changes_files_only_behind_a_program_that_is_known_to_have_it() -> None:
    """And what is installed by name may change the lock file."""
    changing = {
        line: [line_effects.changes_files(one) for one in command_lines.commands(line)]
        for line in ("echo --fix", "eslint --fix .")
    }
    assert changing == {"echo --fix": [False], "eslint --fix .": [True]}
    assert not line_effects.may_change_files("echo --fix")
    (install,) = command_lines.commands("npm install x")
    assert line_effects.may_lock(install)


def test_a_program_without_a_name_is_no_runner() -> None:
    """Two quotes are a word, also where the project says that they test it: nothing is raised."""
    run = suite_runs.run_in("''", ("''",))
    assert run is not None
    assert (run.name, run.is_own, run.rows) == ("", True, ())
    assert suite_runs.run_in("''") is None
