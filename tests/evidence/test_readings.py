"""What an output says, runner by runner, and what a command line around it makes of that."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.evidence import reading, suite_runs
from lifecycle.evidence.outcomes import CallEnd, Counts, Outcome
from lifecycle.evidence.runners import runner_table
from lifecycle.platforms.platform_file import CoverageSource
from tests.batches import each_row
from tests.evidence.commands_read import read_check
from tests.repeated import soaked

PASSED, FAILED, PARTIAL = Outcome.PASSED, Outcome.FAILED, Outcome.PARTIAL
NOTHING, UNKNOWN = Outcome.NOTHING_RAN, Outcome.UNKNOWN
YARN = "➤ YN0000: [a]: Tests:       {}\n➤ YN0000: [a]: Ran all test suites.\n➤ YN0000: Done in 1s 32ms\n"
CYPRESS = (
    "    ✔  All specs passed!           00:01        2        {}        -        {}        -  \n"
)
JEST = "Tests:       {}\nRan all test suites.\n"
MAVEN = "[INFO] Tests run: {}, Failures: {}, Errors: 0, Skipped: {}\n[INFO] BUILD SUCCESS\n"
BARE = "[INFO] No tests to run.\n"
CARGO = "test result: ok. {} passed; 0 failed; 0 ignored; 0 measured; {} filtered out\n"
GO = "ok  \tex/a\t0.012s\n"
NEXTEST = "     Summary [   0.005s] {} tests run: {} passed, {} skipped\n"
PROVE = "Files={}, Tests={},  1 wallclock secs ( 0.02 usr  0.00 sys +  0.10 cusr  0.01 csys =  0.13 CPU)\n"
RAKE = "{} runs, {} assertions, {} failures, 0 errors, 0 skips\n"
NODE = "\N{INFORMATION SOURCE} pass {}\n\N{INFORMATION SOURCE} fail {}\n"
GERMAN = (
    "{}: Fehler:     0, erfolgreich:     {}, übersprungen:     {}, gesamt:     3, Dauer: 10 ms\n"
)
COVERED = "ok  \tex/a\t0.1s\tcoverage: {}{}\n"
NO_TESTS = " [no tests to run]"
NO_FILES = "?   \tex/b\t[no test files]\n"

# https://github.com/ziglang/zig/blob/master/lib/compiler/build_runner.zig: nothing without --summary.
ZIG = "Build Summary: {}/3 steps succeeded{}\ntest\n+- run test{}\n"
ZIG_ALL = "zig build test --summary all"
JSON = '{{"numFailedTests":0,"numPassedTests":{},"numPendingTests":2,"success":true}}\n'

PRINTED: list[tuple[str, int, str, Outcome]] = [
    # Parts add up.
    ("go test ./...", 0, GO + NO_FILES, PASSED),
    ("go test ./...", 0, NO_FILES + GO, PASSED),
    ("go test ./...", 0, NO_FILES, NOTHING),
    ("go test ./...", 0, "ok  \tex/a\t0.01s [no tests to run]\n", NOTHING),
    ("go test ./...", 0, "ok  \tex/a\t(cached)\nok  \tex/b\t(cached) [no tests to run]\n", PASSED),
    ("go test -cover ./...", 0, COVERED.format("80.0% of statements", ""), PASSED),
    ("go test -cover ./...", 0, COVERED.format("0.0% of statements", NO_TESTS), NOTHING),
    ("go test -cover ./...", 0, COVERED.format("[no statements]", NO_TESTS), NOTHING),
    ("go test -cover ./...", 0, "\tex/b\t\tcoverage: 0.0% of statements\n", NOTHING),
    ("go test -cover ./...", 0, "\tex/b\t\tcoverage: 0.0% of statements\n" + GO, PASSED),
    ("go test ./...", 1, GO + "FAIL\tex/c [build failed]\nFAIL\n", FAILED),
    ("go test -v ./...", 0, "--- SKIP: TestA (0.00s)\nPASS\nok  \tex/a\t0.01s\n", NOTHING),
    ("mvn -B clean verify", 0, MAVEN.format(3, 0, 0) + BARE, PASSED),
    ("mvn test", 0, BARE + "[INFO] BUILD SUCCESS\n", NOTHING),
    ("mvn test", 0, MAVEN.format(4, 0, 4), NOTHING),
    ("mvn test", 0, "[INFO] BUILD SUCCESS\n", UNKNOWN),
    ("npm test --workspaces", 0, JEST.format("2 passed, 2 total") + "> no test specified\n", PASSED),
    ("yarn workspaces foreach -Apiv run test", 0, YARN.format("2 passed, 2 total"), PASSED),
    ("yarn workspaces foreach -A run test", 1, YARN.format("1 failed, 1 total"), FAILED),
    ("yarn workspaces foreach -pv run test", 0, YARN.format("0 total"), NOTHING),
    # What pnpm and yarn start in each package: with no package, pnpm ends with 0.
    ("pnpm -r exec jest", 0, JEST.format("1 passed, 1 total") * 2, PASSED),
    ("pnpm -r exec jest", 0, 'No projects matched the filters in "/work"\n', NOTHING),
    ("pnpm exec -r jest", 0, 'No projects matched the filters in "/work"\n', NOTHING),
    ("pnpm -r test", 0, 'No projects matched the filters in "/work"\n', NOTHING),
    ("pnpm -r --no-bail exec jest", 1, JEST.format("1 passed, 1 total"), FAILED),
    ("pnpm -r exec jest -o", 0, JEST.format("1 passed, 1 total"), PARTIAL),
    ("pnpm -r exec jest --lastCommit", 0, JEST.format("1 passed, 1 total"), PARTIAL),
    ("yarn workspaces foreach -Apv exec jest", 0, YARN.format("2 passed, 2 total"), PASSED),
    ("bun --bun jest", 0, JEST.format("1 passed, 1 total"), PASSED),
    ("npx cypress run", 0, CYPRESS.format("-", 2), NOTHING),
    ("cypress run --quiet", 0, CYPRESS.format(1, 1), PASSED),
    ("cypress run -q", 0, "  login\n    - one\n\n\n  0 passing (3ms)\n  1 pending\n", NOTHING),
    ("cypress run -q --reporter tap", 0, "1..1\nok 1 login one # SKIP -\n", NOTHING),
    ("cypress run -q --reporter tap", 0, "1..1\nok 1 login one\n", PASSED),
    ("yarn run jest", 1, JEST.format("1 failed, 1 total"), FAILED),
    ("npx --yes jest@29", 1, "No tests found, exiting with code 1\n", NOTHING),
    ("npm test -ws", 0, "> b@1 test\n> mocha\n\n\n  0 passing (1ms)\n", NOTHING),
    ("npm test -ws", 0, "\n  0 passing (1ms)\n\n  3 passing (2ms)\n", PASSED),
    ("cargo test", 0, CARGO.format(0, 0) + CARGO.format(2, 0), PASSED),
    ("cargo test", 0, "running 0 tests\n\n" + CARGO.format(0, 0), NOTHING),
    ("gradle test", 0, "> Task :a:test\n> Task :b:test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s\n", PASSED),
    ("gradle test", 0, "> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s\n", NOTHING),
    ("gradle test", 0, ":test NO-SOURCE\nBUILD SUCCESSFUL\n", NOTHING),
    ("gradle test", 0, "> Task :compileTestJava\n> Task :testClasses\nOK\n", UNKNOWN),
    ("./gradlew test", 0, "BUILD SUCCESSFUL in 3s\n3 actionable tasks: 3 executed\n", PASSED),
    ("gradle test", 0, "> Task :test SKIPPED\nBUILD SUCCESSFUL in 3s\n", UNKNOWN),
    ("go test -short ./...", 0, GO, PARTIAL),
    ("tox", 0, "  py311: OK\n  congratulations :)\n", PASSED),
    ("tox", 0, "  py311: OK (0.1 seconds)\n  congratulations :) (0.2 seconds)\n", NOTHING),
    ("gradle test", 0, "> Task :test UP-TO-DATE\nBUILD SUCCESSFUL in 1s\n", PASSED),
    (ZIG_ALL, 0, ZIG.format(3, "; 2/2 tests passed", " 2 passed 1ms MaxRSS:1M"), PASSED),
    (ZIG_ALL, 0, ZIG.format(3, "", " cached"), PASSED),
    (ZIG_ALL, 1, ZIG.format(1, "; 1 failed; 1/2 tests passed; 1 failed", " 1/2 passed"), FAILED),
    ("zig build test", 0, "", UNKNOWN),
    ("jest --json", 0, JSON.format(1), PASSED),
    ("playwright test --reporter=json", 0, '    "expected": 2,\n    "skipped": 0,\n', PASSED),
    # Nothing ran.
    (ZIG_ALL, 0, ZIG.format(3, "; 0/2 tests passed; 2 skipped", " 2 skipped"), NOTHING),
    ("jest --json --passWithNoTests", 0, JSON.format(0), NOTHING),
    ("vitest run --reporter=json", 0, JSON.format(0), NOTHING),
    ("playwright test --reporter=json", 0, '    "expected": 0,\n    "skipped": 2,\n', NOTHING),
    ("rspec", 0, "0 examples, 0 failures\n", NOTHING),
    ("rspec", 0, "4 examples, 0 failures, 4 pending\n", NOTHING),
    ("phpunit", 0, "No tests executed!\n", NOTHING),
    ("phpunit", 0, "OK, but some tests were skipped!\nTests: 4, Assertions: 0, Skipped: 4.\n", NOTHING),
    ("mocha", 0, "  0 passing (2ms)\n", NOTHING),
    ("make test", 0, "tests: 0 passed\n", NOTHING),
    ("make test", 1, "no tests were run\n", NOTHING),
    ("pytest", 0, "==== 4 skipped in 0.1s ====\n", NOTHING),
    ("pytest", 5, "==== no tests ran in 0.01s ====\n", NOTHING),
    ("pytest", 5, "", NOTHING),
    ("make test", 2, "==== no tests ran in 0.01s ====\nmake: *** [Makefile:2: test] Error 5\n", NOTHING),
    ("pytest", 5, "==== 12 deselected in 0.1s ====\n", NOTHING),
    ("python -m unittest", 0, "\nRan 0 tests in 0.000s\n\nOK\n", NOTHING),
    ("python -m unittest", 5, "\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n", NOTHING),
    ("python -m unittest", 0, "Ran 4 tests in 0.1s\n\nOK (skipped=4)\n", NOTHING),
    ("jest", 1, "No tests found, exiting with code 1\n", NOTHING),
    ("jest --passWithNoTests", 0, "No tests found, exiting with code 0\n", NOTHING),
    ("vitest run", 1, "\nNo test files found, exiting with code 1\n", NOTHING),
    ("npm test", 1, "> test\n\nError: no test specified\n", NOTHING),
    ("make test", 0, "make: Nothing to be done for 'test'.\n", NOTHING),
    ("make test", 0, "make: 'test' is up to date.\n", NOTHING),
    ("make -n test", 0, "pytest\n", NOTHING),
    ("jest --listTests", 0, "/w/a.test.js\n", NOTHING),
    ("pytest --co -q", 0, "tests/a.py::one\n\n1 test collected in 0.1s\n", NOTHING),
    ("ctest", 0, "No tests were found!!!\n", NOTHING),
    ("ctest", 0, "100% tests passed, 0 tests failed out of 1\n\n\t  1 - a (Skipped)\n", NOTHING),
    ("node --test", 0, "# tests 0\n# pass 0\n# fail 0\n", NOTHING),
    ("dotnet test", 0, "No test is available in /w/a.dll.\n", NOTHING),
    ("mix test", 0, "There are no tests to run\n", NOTHING),
    ("deno test", 1, "error: No test modules found\n", NOTHING),
    ("cargo llvm-cov nextest", 4, "error: no tests to run\n", NOTHING),
    ("npx tsx --test", 0, NODE.format(0, 0), NOTHING),
    ("cargo +nightly test", 0, "running 0 tests\n\n" + CARGO.format(0, 0), NOTHING),
    ("prove -lr t", 0, f"t/a.t .. skipped: later\n{PROVE.format(1, 0)}Result: NOTESTS\n", NOTHING),
    ("prove -V", 0, "TAP::Harness v3.44 and Perl v5.36.0\n", NOTHING),
    ("bundle exec rake", 0, RAKE.format(0, 0, 0), NOTHING),
    ("rake", 0, "\n0 examples, 0 failures\n", NOTHING),
    ("rake -T", 0, "rake spec  # Run RSpec code examples\n", NOTHING),
    ("flutter test", 0, "00:01 +0 ~2: All tests skipped.\n", NOTHING),
    # A part.
    ("pytest tests/test_a.py", 0, "1 passed in 0.1s\n", PARTIAL),
    ("pytest -k one", 0, "1 passed, 4 deselected in 0.1s\n", PARTIAL),
    ("pytest", 0, "1 passed, 4 deselected in 0.1s\n", PARTIAL),
    ("npm test -- --testPathPattern one", 0, JEST.format("1 passed, 1 total"), PARTIAL),
    ("npm test -- Button", 0, JEST.format("1 passed, 1 total"), PARTIAL),
    ("npm test", 0, "Tests:  1 passed, 1 total\nRan all test suites matching /a/i.\n", PARTIAL),
    ("npx jest Button", 0, JEST.format("1 passed, 1 total"), PARTIAL),
    ("npx jest --watchAll", 0, JEST.format("1 passed, 1 total"), PARTIAL),
    ("npm test -w a", 0, JEST.format("1 passed, 1 total"), PARTIAL),
    ("go test -run One ./...", 0, GO, PARTIAL),
    ("go test ./a", 0, GO, PARTIAL),
    ("cargo test one", 0, CARGO.format(1, 3), PARTIAL),
    ("cargo test", 0, CARGO.format(1, 3), PARTIAL),
    ("cargo test -- one", 0, "test result: ok. 1 passed; 0 failed\n", PARTIAL),
    ("cargo +nightly test one", 0, CARGO.format(1, 3), PARTIAL),
    ("cargo +1.80.0 nextest run -p core", 0, NEXTEST.format(2, 2, 0), PARTIAL),
    ("cross test --lib", 0, CARGO.format(2, 0), PARTIAL),
    ("prove -lr t/api", 0, f"{PROVE.format(2, 7)}Result: PASS\n", PARTIAL),
    ("prove -lv t/a.t", 0, f"{PROVE.format(1, 3)}Result: PASS\n", PARTIAL),
    ("bundle exec rake SPEC=spec/a_spec.rb", 0, "1 example, 0 failures\n", PARTIAL),
    ("N=/one/ bundle exec rake", 0, RAKE.format(1, 1, 0), PARTIAL),
    ("cargo llvm-cov nextest -E 'test(one)'", 0, NEXTEST.format(2, 2, 0), PARTIAL),
    ("cargo hack test -p core", 0, CARGO.format(2, 0), PARTIAL),
    ("vendor/bin/sail phpunit --filter one", 0, "OK (3 tests, 4 assertions)\n", PARTIAL),
    ("npx tsx --test src/a.test.ts", 0, NODE.format(1, 0), PARTIAL),
    ("mage test:unit", 0, GO, PARTIAL),
    ("tox -p auto -e lint", 0, "3 passed in 0.1s\n", PARTIAL),
    ("nox --session docs", 0, "3 passed in 0.1s\n", PARTIAL),
    ("mise run test:unit", 0, "3 passed in 0.1s\n", PARTIAL),
    ("node --import tsx --test src/a.test.ts", 0, NODE.format(1, 0), PARTIAL),
    ("gradle :app:test", 0, "> Task :app:test\nBUILD SUCCESSFUL\n", PARTIAL),
    ("bazel test //app:unit", 0, "Executed 1 out of 1 test: 1 test passes.\n", PARTIAL),
    ("rspec spec/a_spec.rb:3", 0, "1 example, 0 failures\n", PARTIAL),
    ("bundle exec rspec spec/models/*_spec.rb", 0, "..\n\n2 examples, 0 failures\n", PARTIAL),
    ("pytest src/api", 0, "1 passed in 0.1s\n", PARTIAL),
    ("gotestsum ./a", 0, "✓  a (10ms)\n\nDONE 3 tests in 0.100s\n", PARTIAL),
    ("bazel test //app/...", 0, "Executed 1 out of 1 test: 1 test passes.\n", PARTIAL),
    ("mix test apps/web", 0, "2 tests, 0 failures\n", PARTIAL),
    ("deno test jobs/", 0, "\nok | 3 passed | 0 failed (10ms)\n", PARTIAL),
    ("flutter test integration_test", 0, "00:01 +3: All tests passed!\n", PARTIAL),
    ("meson test -C build sums", 0, "Ok:                 1   \nFail:               0   \n", PARTIAL),
    ("npx vitest run --project web", 0, "      Tests  3 passed (3)\n", PARTIAL),
    ("make test ARGS='-R one'", 0, "100% tests passed, 0 tests failed out of 1\n", PARTIAL),
    ("python -m unittest discover -p 'test_a*.py'", 0, "Ran 3 tests in 0.1s\n\nOK\n", PARTIAL),
    ("yarn workspaces foreach -R run test", 0, JEST.format("1 passed, 1 total"), PARTIAL),
    ("yarn workspaces foreach -Rpv --from '*' run test", 0, JEST.format("1 passed, 1 total"), PARTIAL),
    ("yarn workspaces foreach -A --exclude b run test", 0, YARN.format("1 passed, 1 total"), PARTIAL),
    ("timeout 5 pytest", 124, "", PARTIAL),
    ("pytest", 2, "!!!! KeyboardInterrupt !!!!\n==== 3 passed in 2.1s ====\n", PARTIAL),
    ("pytest", 130, "", PARTIAL),
    # Failures.
    ("pytest -x", 1, "!!!! stopping after 1 failures !!!!\n==== 1 failed, 3 passed in 0.2s ====\n", FAILED),
    ("pytest", 2, "!!!! Interrupted: 1 error during collection !!!!\n==== 1 error in 0.2s ====\n", FAILED),
    ("pytest", 1, "FAIL Required test coverage of 90% not reached.\n3 passed in 1s\n", FAILED),
    ("jest", 1, JEST.format("3 passed, 3 total") + 'Jest: "global" coverage threshold not met', FAILED),
    ("pytest", 1, "", FAILED),
    ("make test", 2, "sh: 1: pytset: not found\nmake: *** [Makefile:2: test] Error 127\n", FAILED),
    ("npm test", 1, "npm error Missing script: \"test\"\n", FAILED),
    ("mvn test", 1, "[ERROR] COMPILATION ERROR :\n[INFO] BUILD FAILURE\n", FAILED),
    ("cargo test", 101, "error: could not compile `a` (lib test) due to 1 previous error\n", FAILED),
    ("pytest", 1, "==== 4 skipped in 0.1s ====\nTraceback (most recent call last):\n", FAILED),
    ("make test", 1, "SyntaxError: x\nno tests were run\n", FAILED),
    ("./verify.sh", 0, "ran all: 2 scenarios failing\n", FAILED),
    ("cargo +nightly test", 101, "test result: FAILED. 1 passed; 1 failed; 0 ignored\n", FAILED),
    ("cargo +nightly nextest run", 100, NEXTEST.format(2, 1, "1 failed, 0"), FAILED),
    ("prove -lr t", 1, f"Failed 1/3 subtests \n{PROVE.format(2, 7)}Result: FAIL\n", FAILED),
    ("bundle exec rake", 1, RAKE.format(3, 3, 1) + "rake aborted!\n", FAILED),
    ("rake", 1, "rake aborted!\nDon't know how to build task 'default'\n", FAILED),
    ("node --import tsx --test", 1, NODE.format(1, 1), FAILED),
    ("cargo llvm-cov nextest", 100, NEXTEST.format(2, 1, "1 failed, 0"), FAILED),
    ("npx tsx --test", 1, NODE.format(1, 1), FAILED),
    ("fvm flutter test", 1, "00:01 +2 -1: Some tests failed.\n", FAILED),
    ("tox", 1, "  py311: FAIL code 1 (0.5 seconds)\n  evaluation failed :( (0.5 seconds)\n", FAILED),
    # Whole and well.
    ("pytest", 0, "==== 3 passed, 1 xfailed, 1 xpassed, 2 warnings in 0.1s ====\n", PASSED),
    ("pytest", 0, "a.py::test_failed PASSED\nWarning: error ignored\n1 passed in 0.1s\n", PASSED),
    ("pytest", 0, "\x1b[32m==== \x1b[1m3 passed\x1b[0m in 0.1s ====\x1b[0m\r\n", PASSED),
    ("npx playwright test", 0, "  2 flaky\n    [a] b.spec.ts:1:1 c\n  3 passed (2.1s)\n", PASSED),
    ("docker compose run --rm -e A=b web pytest -q", 0, "3 passed in 0.1s\n", PASSED),
    ("docker compose -f c.yml exec -T web npm test", 0, JEST.format("3 passed, 3 total"), PASSED),
    ("docker-compose run web pytest tests/test_a.py", 0, "3 passed in 0.1s\n", PARTIAL),
    ("docker exec -it web python -X dev -m pytest", 0, "3 passed in 0.1s\n", PASSED),
    ("pnpm -r test", 0, "a test:  Tests  3 passed (3)\nb test$ echo none\nb test: none\n", PASSED),
    ("npx turbo run test", 0, "web:test: Tests:       3 passed, 3 total\n", PASSED),
    ("yarn jest", 0, JEST.format("3 passed, 3 total"), PASSED),
    ("yarn test --ci", 0, JEST.format("3 passed, 3 total"), PASSED),
    ("make lint test", 0, "==== 3 passed in 0.1s ====\n", PASSED),
    ("just test", 0, "==== 3 passed in 0.1s ====\n", PASSED),
    ("coverage run -m pytest", 0, "==== 3 passed in 0.1s ====\n", PASSED),
    ("python manage.py test", 0, "Ran 3 tests in 0.1s\n\nOK\n", PASSED),
    ("python -m unittest discover -s tests -p 'test_*.py'", 0, "Ran 3 tests in 0.1s\n\nOK\n", PASSED),
    ("pytest --cov src/app --junitxml reports/a.xml tests", 0, "3 passed in 0.1s\n", PASSED),
    ("ctest", 0, "100% tests passed, 0 tests failed out of 3\n", PASSED),
    ("dotnet test", 0, "Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3\n", PASSED),
    ("dotnet test", 0, GERMAN.format("Bestanden!   ", 3, 0), PASSED),
    ("dotnet test", 0, GERMAN.format("Übersprungen!", 0, 3), NOTHING),
    ("make test", 0, "Échoué!  - échec : 1, réussite : 2, ignorée(s) : 0, total : 3\n", FAILED),
    ("flutter test", 0, "00:01 +3 ~1: All tests passed!\n", PASSED),
    ("phpunit", 0, "OK (3 tests, 4 assertions)\n", PASSED),
    ("bundle exec rake test", 0, "3 runs, 4 assertions, 0 failures, 0 errors, 0 skips\n", PASSED),
    ("mix test", 0, "1 doctest, 3 tests, 0 failures\n", PASSED),
    ("cargo +nightly test --workspace", 0, CARGO.format(2, 0), PASSED),
    ("cargo +1.80.0 nextest run", 0, NEXTEST.format(2, 2, 0), PASSED),
    ("cross test --target aarch64-unknown-linux-gnu", 0, CARGO.format(2, 0), PASSED),
    ("prove -lr t", 0, f"t/a.t .. ok\n{PROVE.format(2, 7)}Result: PASS\n", PASSED),
    ("prove -lvrj8 -Ilib --norc ./t", 0, f"{PROVE.format(2, 7)}Result: PASS\n", PASSED),
    ("carton exec prove -l t", 0, f"{PROVE.format(2, 7)}Result: PASS\n", PASSED),
    ("./Build test", 0, f"{PROVE.format(2, 7)}Result: PASS\n", PASSED),
    ("bundle exec rake", 0, RAKE.format(3, 3, 0), PASSED),
    ("rake -t -j 4 COVERAGE=1", 0, "\n3 examples, 0 failures\n12 files inspected\n", PASSED),
    ("bin/rake spec", 0, "\n3 examples, 0 failures\n", PASSED),
    ("cargo llvm-cov nextest", 0, NEXTEST.format(2, 2, 0), PASSED),
    ("cargo llvm-cov", 0, CARGO.format(2, 0), PASSED),
    ("cargo hack test --each-feature", 0, CARGO.format(2, 0) * 2, PASSED),
    ("xcrun swift test --package-path web", 0, "\t Executed 3 tests, with 0 failures\n", PASSED),
    ("sail artisan test", 0, "  Tests:    3 passed (4 assertions)\n", PASSED),
    ("symfony php vendor/bin/paratest -p 4", 0, "OK (3 tests, 4 assertions)\n", PASSED),
    ("bin/spring rspec -fd", 0, "3 examples, 0 failures\n", PASSED),
    ("npx tsx --test", 0, NODE.format(3, 0), PASSED),
    ("npx craco test --watchAll=false", 0, JEST.format("3 passed, 3 total"), PASSED),
    ("mage test", 0, GO, PASSED),
    ("tox -p auto", 0, "3 passed in 0.1s\n  py311: OK\n", PASSED),
    ("nox --sessions tests", 0, "3 passed in 0.1s\n", PASSED),
    ("mise run test", 0, "3 passed in 0.1s\n", PASSED),
    ("corepack pnpm turbo run test", 0, "web:test: Tests:       3 passed, 3 total\n", PASSED),
    ("node --import tsx --test 'src/**/*.test.ts'", 0, NODE.format(3, 0), PASSED),
    ("swift test", 0, "\t Executed 3 tests, with 0 failures (0 unexpected) in 0.1 seconds\n", PASSED),
    ("mocha 'test/**/*.spec.js'", 0, "  3 passing (2ms)\n", PASSED),
    ("./verify.sh", 0, "all is well\n", PASSED),
    ("make test", 0, "all is well\n", PASSED),
    ("make test", 0, "all is well\n✓ counts 2 errors\n", PASSED),
    ("make test", 0, "Traceback (most recent call last):\nall is well\n", PASSED),
    ("jest", 0, "all is well\n", PASSED),
    ("go test -v ./...", 0, "    a_test.go:5: saw 2 errors\n" + GO, PASSED),
    ("pytest", 0, "  2 failing\n==== 3 passed in 0.1s ====\n", PASSED),
    ("./verify.py", 0, "all is well\n", PASSED),
    ("./verify.sh", 0, "12 passed in 0.3s\n\n  0 passing (1ms)\n", PASSED),
    ("./verify.sh -k one", 0, "all is well\n", PARTIAL),
    ("sh -c 'pytest; true'", 0, "nothing that can be read\n", UNKNOWN),
    ("sh -c 'pytest; true'", 0, "==== 3 passed in 0.1s ====\n", PASSED),
]  # fmt: skip
"""(command, its exit status, what it printed, what it came to)."""

WHY = {
    PASSED: ("", "by its exit status alone: its output has no count that is known"),
    FAILED: ("", "no test failed, but it ended with an error", "pytset is not installed"),
    PARTIAL: ("it was stopped before its end", "tests were left out", "it picks single tests"),
    NOTHING: ("it ran no test", "it only lists or builds tests"),
    UNKNOWN: ("its output has no summary that is known",),
}
"""The clauses for people that stand beside an outcome of the engine's."""


@each_row(("line", "status", "output", "outcome"), PRINTED)
def test_what_a_command_of_the_engine_came_to(
    line: str, status: int, output: str, outcome: Outcome
) -> None:
    """By its own summary and its own status; no words of another program's."""
    seen = read_check("test", tuple(shlex.split(line)), status, output)
    assert seen.outcome is outcome, seen.why
    assert seen.why in WHY[outcome]


@each_row(
    ("line", "status", "output", "outcome"),
    [case for case in PRINTED if case[3] is not PASSED],
)
def test_what_proves_nothing_for_the_engine_proves_nothing_for_an_agent(
    line: str, status: int, output: str, outcome: Outcome
) -> None:
    """The same command on an agent's line is never evidence, however it is put."""

    def proves(text: str) -> bool:
        run = suite_runs.run_in(text)
        if run is None or not run.is_suite:
            return False
        is_own = status == 0 or not run.decides
        said = output if is_own else f"Exit code {status}\n{output}"
        return reading.proof(run, CallEnd.OK if is_own else CallEnd.FAILED, said).outcome is PASSED

    put = (line, f"{line}; true", f"{line} || true", f"{line} | tee log", f"cd . && {line}")
    assert [text for text in put if proves(text)] == []


@each_row(
    ("line", "output", "outcome"),
    [
        ("npm test", JEST.format("3 passed, 3 total"), PASSED),
        ("npm test || true", JEST.format("3 passed, 3 total"), PASSED),
        ("npm test || true", JEST.format("1 failed, 3 passed, 4 total"), FAILED),
        ("pytest || true", "  2 passing (1ms)\n", UNKNOWN),
        ("pytest || true", "Traceback (most recent call last):\n", FAILED),
        ("make test | grep .", "3 passed in 0.1s\n", UNKNOWN),
        ("npm test; echo done", JEST.format("3 passed, 3 total") + "done", UNKNOWN),
        ("npm test 2>&1 | tail -3", JEST.format("3 passed, 3 total"), UNKNOWN),
        ("cargo test 2>&1 | grep 'test result: ok'", CARGO.format(3, 0), UNKNOWN),
        ("go test ./... | grep -v FAIL", GO, UNKNOWN),
        ("pytest; npm test", "3 passed in 0.1s\n" + JEST.format("1 failed, 1 total"), FAILED),
        ("pytest; npm test", "3 passed in 0.1s\n" + JEST.format("3 passed, 3 total"), UNKNOWN),
        ("pytest && npm test", "3 passed in 0.1s\n" + JEST.format("3 passed, 3 total"), PASSED),
        ("git stash; pytest; git stash pop", "3 passed in 0.1s\n", UNKNOWN),
        ("rspec > log", "", UNKNOWN),
        ("make test", "all is well", UNKNOWN),
        ("make -i test", "1 failed, 3 passed in 0.1s\n", FAILED),
        ("mvn -fn test", MAVEN.format(3, 0, 0), PASSED),
        ("mvn -fn test", "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0\n", FAILED),
        ("mvn -fn test", MAVEN.format(3, 0, 0) + "[ERROR] Failed to execute goal a:b:1:c\n", FAILED),
    ],
)  # fmt: skip
def test_what_an_agents_own_run_proves(line: str, output: str, outcome: Outcome) -> None:
    """It is believed where it can be read with certainty, and nowhere else."""
    run = suite_runs.run_in(line)
    assert run is not None
    assert reading.proof(run, CallEnd.OK, output).outcome is outcome


@pytest.mark.parametrize(
    "line",
    [
        *("ssh host pytest", "ssh host 'cd x && pytest'", "vagrant ssh -c pytest"),
        *("kubectl exec pod -- pytest", "docker run image pytest"),
    ],
)
def test_what_runs_on_other_files_is_no_run_here(line: str) -> None:
    """Another machine, or an image with files of its own."""
    assert suite_runs.run_in(line) is None


KINDS: list[tuple[str, int, str, Outcome, str]] = [
    ("build", 0, "1 failed", PASSED, ""),
    ("build", 2, "", FAILED, "exit status 2"),
    ("lint", 0, "", PASSED, ""),
    ("lint", 1, "", FAILED, "exit status 1"),
    ("docs", 0, "", PASSED, ""),
    ("lint", 124, "", PARTIAL, "it was stopped before its end"),
    ("lint", 143, "", PARTIAL, "it was stopped before its end"),
    ("test", 143, "==== 3 passed in 0.1s ====", PARTIAL, "it was stopped before its end"),
    ("coverage", 0, "TOTAL    10   2   80%\n", PASSED, "coverage 80 %"),
    ("coverage", 0, "All files |   85.7 | 100\n", PASSED, "coverage 85.7 %"),
    ("coverage", 0, "total:\t(statements)\t80.5%\n", PASSED, "coverage 80.5 %"),
    ("coverage", 0, "nothing", UNKNOWN, "no percentage of coverage was read"),
    ("coverage", 1, "TOTAL    10   2   80%\n", FAILED, "exit status 1"),
]
"""(kind, exit status, what was printed, what it came to, why)."""


def test_each_kind_has_its_own_demand() -> None:
    """Build and lint finish well; tests besides run and pass; coverage besides is a number."""
    seen = [(row, read_check(row[0], ("tool",), row[1], row[2])) for row in KINDS]
    assert [(*row[:3], read.outcome, read.why) for row, read in seen] == KINDS


def test_a_number_of_coverage_may_be_read_elsewhere() -> None:
    """A platform says how; a pattern's last number counts."""
    source = CoverageSource(pattern=r"at (\S+)")
    assert read_check("coverage", ("tool",), 0, "at 3\nat 81.5", coverage=source).percent == 81.5
    assert read_check("coverage", ("tool",), 0, "\x1b[1mTOTAL 3 0 100%\x1b[0m").percent == 100.0
    assert read_check("coverage", ("tool",), 0, "100% of it").percent is None


def test_what_the_configured_command_leaves_out_is_the_suites_definition() -> None:
    """Further words, as of `lifecycle check test -- -k one`, make the run a part."""
    argv = ("pytest", "-m", "not slow")
    output = "==== 3 passed, 2 deselected in 0.1s ===="
    assert read_check("test", argv, 0, output).outcome is PARTIAL
    assert read_check("test", argv, 0, output, configured=argv).outcome is PASSED
    more = (*argv, "-k", "one")
    assert read_check("test", more, 0, output, configured=argv).outcome is PARTIAL


def test_counts_and_identities_are_read() -> None:
    """Parts add up; of a failed run the failed tests are named, each once."""
    output = (
        "FAILED tests/test_a.py::test_one[a b] - assert 1 == 2\n"
        "FAILED tests/test_a.py::test_two\n"
        "==== 2 failed, 3 passed, 1 skipped, 1 error in 0.1s ====\n"
    )
    seen = read_check("test", ("pytest",), 1, output)
    assert seen.counts is not None
    assert (seen.counts.passed, seen.counts.failed) == (3, 2)
    assert (seen.counts.skipped, seen.counts.errors, seen.counts.total) == (1, 1, 7)
    assert seen.failures == ("tests/test_a.py::test_one[a b]", "tests/test_a.py::test_two")
    both = read_check("test", ("tox",), 0, "a: commands[0]> x\n==== 3 passed in 0.1s ====\n" * 2)
    assert isinstance(both.counts, Counts)
    assert both.counts.passed == 6


@given(st.text(), st.sampled_from(runner_table.names()))
def test_no_output_makes_a_failed_command_pass(output: str, name: str) -> None:
    """Nor one that was stopped."""
    argv = tuple(name.split())
    for status in (1, 2, 124, 137):
        assert read_check("test", argv, status, f"{output}\n12 passed").outcome is not PASSED


def test_a_long_output_is_read_in_time() -> None:
    """Up to a megabyte of lines of all kinds, by every row: else this ends by its time."""
    lines = "x = 1, y: 2 failures? ok 3 - passed [tests] > a (b) ::\n" * 15_000
    assert read_check("test", ("make", "test"), 0, lines + "3 passed in 0.1s\n").outcome is PASSED
    assert read_check("test", ("make", "test"), 0, "a" * 300_000).outcome is PASSED
    assert read_check("test", ("make", "test"), 0, " " * 100_000 + "\n" * 100_000).outcome is PASSED


REPEATED = (
    ("____ test_a ____\n", 50_000),
    ("____ test_a ____\n" + "E   assert x\n" * 399, 150),
    ("][", 200_000),
    ("--- FAIL: TestA (0.0s)\n    log\n", 30_000),
    ("---- a stdout ----\nx\n", 40_000),
    ("  1) a\n     Failure/Error: x\n       expected: 4\n", 15_000),
    ("  1) a\n       b\n", 50_000),
    ("error: expect(\n", 60_000),
    (" FAIL  a > b\n", 60_000),
    ("  ● a\n\n", 100_000),
)


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("part", "times"),
    [case for part, n in REPEATED for case in ((part, n // 6), soaked(part, n))],
)
def test_why_tests_failed_is_read_in_time(part: str, times: int) -> None:
    """Whatever stands a thousand times in a failed run's output: else this ends by its time."""
    head = "FAILED a.py::x[" if part == "][" else ""
    output = f"{head}{part * times}\n1 failed in 1s\n"
    assert read_check("test", ("make", "test"), 1, output).outcome is FAILED


RSPEC = "Finished in 0.01 seconds (files took 0.1 seconds to load)\n2 examples, 1 failure\n"
CUCUMBER = "2 scenarios (1 failed, 1 passed)\n3 steps (1 failed, 2 passed)\n0m0.01s\n"
STEPS = "4 scenarios (2 failed, 2 passed)\n6 steps (2 failed, 4 passed)\n\nTook 3 seconds (1:04)\n"
GROUP = "Tests have failed for a parallel_test"
COUNTED: list[tuple[str, str, tuple[int, int, int, int]]] = [
    ("pytest", "==== 1 failed, 2 passed, 3 skipped, 4 errors in 0.1s ====\n", (2, 1, 3, 4)),
    # What is left of a total passed, and nothing is counted below zero.
    ("rake test", "9 runs, 9 assertions, 1 failures, 2 errors, 3 skips\n", (3, 1, 3, 2)),
    ("phpunit", "Tests: 9, Assertions: 4, Errors: 2, Failures: 1, Skipped: 3.\n", (3, 1, 3, 2)),
    ("python -m unittest", "Ran 1 test in 0.1s\n\nFAILED (failures=2)\n", (0, 2, 0, 0)),
    ("bats test", "ok 1 a\nok 2 b\n2 tests, 0 failures\n", (2, 0, 0, 0)),
    ("ctest", "100% tests passed, 0 tests failed out of 3\n  1 - a (Skipped)\n", (2, 0, 1, 0)),
    # One line counts once, whoever reads it; lines of two runners add up.
    ("make test", "3 tests, 0 failures\n", (3, 0, 0, 0)),
    ("make test", "a\n3 passed in 0.1s\na\n  2 passing (1ms)\n", (5, 0, 0, 0)),
    ("make test", f"3 passed in 0.1s{' ' * 400}\n  2 passing (1ms)\n", (5, 0, 0, 0)),
    ("make test", "3 passed in 0.1s\n3 passed in 0.1s\n", (6, 0, 0, 0)),
    # parallel_tests prints the sum of its processes last, and each process prints its own counts.
    (
        "parallel_rspec",
        f"{RSPEC}\n{RSPEC}\n\n4 examples, 2 failures\n\nTook 3 seconds\n",
        (2, 2, 0, 0),
    ),
    ("rake parallel:spec", f"{RSPEC}\n\n2 examples, 1 failure\n\n\n{GROUP} group.\n", (1, 1, 0, 0)),
    ("parallel_cucumber features", f"{CUCUMBER}\n{CUCUMBER}\n\n{STEPS}", (2, 2, 0, 0)),
]
"""(command, what it printed, how many passed, failed, were skipped and ended with an error)."""


def test_what_is_counted_of_each_kind() -> None:
    """By the groups of the summary, added up over all of its parts."""

    def counted(line: str, output: str) -> tuple[int, ...] | None:
        seen = read_check("test", tuple(line.split()), 0, output).counts
        return None if seen is None else (seen.passed, seen.failed, seen.skipped, seen.errors)

    found = [(line, output, counted(line, output)) for line, output, _ in COUNTED]
    assert found == COUNTED


BOTH = "12 passed in 0.3s\n\n"
TWO_RUNS: list[tuple[str, str, Outcome, str]] = [
    ("pytest -q && npm test", BOTH + "  0 passing (1ms)\n", PARTIAL, "one of its runs ran no test"),
    ("pytest -q && npm test", BOTH + "  7 passing (1ms)\n", PASSED, ""),
    ("pytest -q && npm test", BOTH + "No tests found\n", PARTIAL, "one of its runs ran no test"),
    ("npm test && pytest -q", "\n  7 passing (1ms)\n4 skipped in 0.1s\n", PARTIAL,
     "one of its runs ran no test"),
    ("cargo test && go test ./...", CARGO.format(3, 0) + NO_FILES, PARTIAL,
     "one of its runs ran no test"),
    ("cargo test && go test ./...", CARGO.format(3, 0) + GO, PASSED, ""),
    ("go test ./... && pytest", GO + "4 deselected in 0.1s\n", PARTIAL, "tests were left out"),
    ("make test", BOTH + "  0 passing (1ms)\n", PASSED, ""),
    # Parts of one run of them may be empty, and its tests may print what another runner says.
    ("cargo test && pytest", f"running 0 tests\n{CARGO.format(0, 0) * 2}{CARGO.format(2, 0)}{BOTH}",
     PASSED, ""),
    ("npm test --workspaces && pytest", JEST.format("2 passed, 2 total")
     + f"Error: no test specified\n{BOTH}", PASSED, ""),
    ("cabal test && pytest", "All 1 tests passed\n1 of 1 test suites (1 of 1 test cases) passed\n"
     + BOTH, PASSED, ""),
    ("pytest && cargo test", f"{BOTH}No tests found\n{CARGO.format(2, 0)}", PASSED, ""),
]  # fmt: skip
"""(command line, what it printed, what it came to, why)."""


def test_each_run_of_a_line_has_to_run_a_test() -> None:
    """What one of them counts does not stand for the other; the parts of one run add up."""

    def told(line: str, output: str) -> tuple[Outcome, str]:
        run = suite_runs.run_in(line, ("make test",))
        assert run is not None
        seen = reading.read_run(run, CallEnd.OK, output)
        return seen.outcome, seen.why

    assert [(line, output, *told(line, output)) for line, output, *_ in TWO_RUNS] == TWO_RUNS


LOST, HIDDEN = "its output has no summary that is known", "its exit status is hidden"
STRANGE = "a part of its command line is not known"
AGENTS: list[tuple[str, CallEnd, str, Outcome, str]] = [
    ("pytest", CallEnd.UNKNOWN, "3 passed in 0.1s\n", UNKNOWN, ""),
    ("pytest", CallEnd.OK, "", PASSED, WHY[PASSED][1]),
    # A status of 0 is enough where each of its runners ends otherwise if there was no test.
    ("make test", CallEnd.OK, "fine\n", UNKNOWN, LOST),
    ("make own", CallEnd.OK, "fine\n", PASSED, WHY[PASSED][1]),
    ("npm test", CallEnd.OK, "fine\n", PASSED, WHY[PASSED][1]),
    ("make test && make own", CallEnd.OK, "fine\n", PASSED, WHY[PASSED][1]),
    ("pytest && make test", CallEnd.OK, "fine\n", UNKNOWN, LOST),
    # What a project's own command leaves out is its word; beside another run it is not.
    ("make own", CallEnd.OK, "3 passed, 4 deselected in 0.1s\n", PASSED, ""),
    ("pytest && make own", CallEnd.OK, "3 passed, 4 deselected in 0.1s\n", PARTIAL,
     "tests were left out"),
    ("pytest && make own", CallEnd.OK, "3 passed in 0.1s\n  2 failing\n", FAILED, ""),
    # The status that the client tells is the run's where it is the line's.
    ("pytest", CallEnd.FAILED, "Exit code 5\n", NOTHING, "it ran no test"),
    ("pytest && make test", CallEnd.FAILED, "Exit code 5\n", NOTHING, "it ran no test"),
    ("pytest", CallEnd.FAILED, "Exit code 5\n1 failed in 0.1s\n", FAILED, ""),
    ("pytest", CallEnd.FAILED, "Exit code 5\n!!! KeyboardInterrupt !!!\n", PARTIAL,
     "it was stopped before its end"),
    ("pytest", CallEnd.FAILED, "Exit code 124\n", PARTIAL, "it was stopped before its end"),
    ("pytest; nice ls", CallEnd.FAILED, "Exit code 124\nTraceback (most recent call last):\n",
     FAILED, ""),
    # Where it is not, the output has to be all there, and the line to have ended well.
    ("pytest --exit-zero", CallEnd.OK, "", UNKNOWN, LOST),
    ("pytest | cat", CallEnd.OK, "3 passed in 0.1s\n", PASSED, ""),
    ("pytest | cat", CallEnd.FAILED, "3 passed in 0.1s\n", UNKNOWN, HIDDEN),
    ("time ! pytest", CallEnd.OK, "3 passed in 0.1s\n", UNKNOWN, HIDDEN),
    ("pytest | cut -c1-99", CallEnd.OK, "3 passed in 0.1s\n", UNKNOWN, HIDDEN),
    ("pytest | cut -c1-99", CallEnd.OK, "no tests ran in 0.1s\n", NOTHING, "it ran no test"),
    ("pytest; pytest -q", CallEnd.OK, "3 passed in 0.1s\n" * 2, UNKNOWN, HIDDEN),
    ("pytest | grep passed", CallEnd.OK, "3 passed in 0.1s\n", PASSED, ""),
    ("go test ./... | grep ok", CallEnd.OK, GO, UNKNOWN, HIDDEN),
    ("make test | grep .", CallEnd.OK, "3 passed in 0.1s\n", PASSED, ""),
    ("make test | grep .", CallEnd.OK, f"3 passed in 0.1s\n{GO}", UNKNOWN, HIDDEN),
    *(
        (f"yarn workspaces foreach -A run test | {tool}", CallEnd.OK, output, outcome, why)
        for tool, output, outcome, why in (
            ("cat", "[a]: 3 passed in 0.1s\n[b]: SyntaxError\nDone in 1s\n", UNKNOWN, HIDDEN),
            ("tee log", YARN.format("2 passed, 2 total"), UNKNOWN, HIDDEN),
            ("cat", JEST.format("2 passed, 2 total"), UNKNOWN, HIDDEN),
            ("cat", YARN.format("1 failed, 1 total"), FAILED, ""),
        )
    ),
    ("yarn test | cat", CallEnd.OK, YARN.format("2 passed, 2 total"), UNKNOWN, HIDDEN),
    ("pytest | cat", CallEnd.OK, "[a]: on\n3 passed in 0.1s\n", PASSED, ""),
    ("make own || true", CallEnd.OK, "3 passed in 0.1s\n", PASSED, ""),
    ("pytest; date", CallEnd.OK, "3 passed in 0.1s\n", PASSED, ""),
    *(
        (line, CallEnd.OK, "3 passed in 0.1s\n", PASSED, "")
        for line in (
            *("pytest; echo x | awk /x/", "pytest; echo x | sed s/x/y/", "pytest; echo x | rg x"),
            *("pytest; echo x | grep x", 'pytest -n "$(cat n)"; date'),
            *("pytest && cd web && pytest", "cd $(git rev-parse --show-toplevel) && pytest"),
            *("A=1 pytest", "export A=1; pytest", "set -a; A=1; pytest", "pytest; git status"),
        )
    ),
    *(
        (line, CallEnd.OK, "3 passed in 0.1s\n", UNKNOWN, STRANGE)
        for line in (
            *("pytest; echo x | grep -v x", "pytest; echo x | rg x old.log", "pytest; tail old.log"),
            *("LD_PRELOAD=x pytest", "export LD_PRELOAD=x; pytest", "set -a; LD_PRELOAD=x; pytest"),
            *("cd $(git rev-parse --git-dir) && pytest", ". ./x.sh && pytest", "./x && pytest"),
            *("pytest --strange && pytest -q", "declare -x LD_PRELOAD=x; pytest", "pytest; git log -1"),
        )
    ),
    ('pytest; date "$(x)"', CallEnd.OK, "3 passed in 0.1s\n", UNKNOWN, STRANGE),
    ("pytest; date `x`", CallEnd.OK, "3 passed in 0.1s\n", UNKNOWN, STRANGE),
    # What a line makes of names is known of none of its runs; a failure is one all the same.
    ("alias a=b; pytest", CallEnd.OK, "3 passed in 0.1s\n", UNKNOWN, STRANGE),
    ("alias a=b; pytest", CallEnd.OK, "1 failed in 0.1s\n", FAILED, ""),
    # The client's own first line is no part of what a run printed.
    ("deno test", CallEnd.FAILED, "Exit code 1\nerror: No test modules found\n", NOTHING,
     "it ran no test"),
    ("cargo nextest run", CallEnd.FAILED, "Exit code 4\nerror: no tests to run\n", NOTHING,
     "it ran no test"),
    # Rake without a goal runs what the project calls its default: it has to say that tests passed.
    ("bundle exec rake", CallEnd.OK, "12 files inspected, no offenses detected\n", UNKNOWN, LOST),
    ("rake", CallEnd.OK, RAKE.format(3, 3, 0), PASSED, ""),
    ("rake -f other.rake", CallEnd.OK, RAKE.format(3, 3, 0), UNKNOWN, STRANGE),
    ("cargo +nightly test", CallEnd.OK, CARGO.format(2, 0), PASSED, ""),
    ("prove -lr t", CallEnd.OK, f"{PROVE.format(2, 7)}Result: PASS\n", PASSED, ""),
    # A part is one only if it passed.
    ("pytest -k one", CallEnd.OK, "3 passed in 0.1s\n", PARTIAL, "it picks single tests"),
    ("pytest -k one", CallEnd.FAILED, "1 failed in 0.1s\n", FAILED, ""),
]  # fmt: skip
"""(command line, how it ended, what it printed, came to, why); the project's: `make own`, `npm test`."""


def test_what_a_run_of_the_agents_came_to_and_why() -> None:
    """By the run's own status, or by all of its output; and the clause for people that goes with it."""

    def told(line: str, end: CallEnd, output: str) -> tuple[Outcome, str]:
        run = suite_runs.run_in(line, ("make own", "npm test"))
        assert run is not None
        seen = reading.read_run(run, end, output)
        return seen.outcome, seen.why

    assert [(*row[:3], *told(*row[:3])) for row in AGENTS] == AGENTS


PROVEN: list[tuple[str, bool, Outcome, str]] = [
    ("make test", False, PASSED, ""),
    ("make test", True, PASSED, ""),
    ("make test && ./deploy", False, UNKNOWN, "a part of its command line is not known"),
    ("make test && git commit -m x", False, UNKNOWN, "something behind it may have changed files"),
    ("make test && git add log", False, UNKNOWN, "something behind it may have changed files"),
    ("make test && git log -1", False, PASSED, ""),
    ("make test | cat", False, PASSED, ""),
    ("make test | cat", True, UNKNOWN, "not all of it was seen"),
    ("make test; true", False, PASSED, ""),
    ("make test; git commit -m x", True, UNKNOWN, "not all of it was seen"),
]
"""(command line, whether a piece of the output is missing, what it proves, why)."""


def test_what_a_run_proves_of_the_files_behind_it_and_why() -> None:
    """Nothing behind it, and all of what it printed; by the rows that a project adds as well."""
    own = {"name": "v", "commands": ["v"], "summary": [r"^(?P<passed>\d+) fine"]}
    rows = runner_table.rows((own,))

    def told(line: str, is_cut: bool) -> tuple[Outcome, str]:
        run = suite_runs.run_in(line, (), rows)
        assert run is not None
        seen = reading.proof(run, CallEnd.OK, "3 fine\n", is_cut=is_cut)
        return seen.outcome, seen.why

    assert [(*row[:2], *told(*row[:2])) for row in PROVEN] == PROVEN
