"""What weakens checks in a diff: where the guard fires, and where it does not."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from lifecycle.feedback.failures.tampering import (
    ADDED,
    REMOVED,
    TamperFinding,
    files_of,
    findings,
    table,
)

TESTS, WORKFLOW, MAKE = "tests/test_shop.py", ".github/workflows/ci.yml", "Makefile"


def change(
    path: str, removed: Sequence[str] = (), added: Sequence[str] = (), *, deleted: bool = False
) -> str:
    """A diff of one file as git prints it without context."""
    head = [f"diff --git a/{path} b/{path}"]
    head += ["deleted file mode 100644"] if deleted else []
    head += ["index 1111111..2222222 100644", f"--- a/{path}"]
    head += ["+++ /dev/null" if deleted else f"+++ b/{path}"]
    if not (removed or added):
        return "\n".join(head)
    hunk = f"@@ -1,{len(removed)} +1,{len(added)} @@ def before():"
    lines = [*(f"{REMOVED}{line}" for line in removed), *(f"{ADDED}{line}" for line in added)]
    return "\n".join([*head, hunk, *lines])


def said(*changes: str) -> list[tuple[str, str]]:
    """What is found, and where."""
    return [(one.what, one.path) for one in findings("\n".join(changes))]


def test_a_fix_of_the_code_and_more_tests_is_no_tampering() -> None:
    """The guard does not fire: code changes, tests come, a test is renamed, moved or rewritten."""
    assert said("") == []
    assert (
        said(
            change("shop.py", ["    return a - b"], ["    return a + b"]),
            change(TESTS, ["def test_old():"], ["def test_new():", "def test_more():"]),
            change(WORKFLOW, ["    - run: make test"], ["    - run: make check"]),
            change("docs/ci.md", [], ["Never write `|| true`, nor `continue-on-error: true`."]),
            change("pyproject.toml", ["fail_under = 80"], ["fail_under = 85"]),
        )
        == []
    )
    body = [f"    assert {n}" for n in range(8)]
    moved = ["def test_a():", *body]
    assert (
        said(change(TESTS, moved, deleted=True), change("tests/unit/test_shop.py", [], moved)) == []
    )
    assert said(change(TESTS, ["def test_a():"]), change("tests/b.py", [], ["def test_a():"])) == []


def test_a_deleted_file_of_tests_is_named() -> None:
    """And a deleted workflow; not what is deleted elsewhere."""
    assert said(change(TESTS, ["def test_a():"], deleted=True)) == [
        ("deletes a file of tests", TESTS)
    ]
    assert said(change(WORKFLOW, ["on: push"], deleted=True)) == [("deletes a workflow", WORKFLOW)]
    assert said(change("shop.py", ["def test_a():"], deleted=True)) == []
    assert said(change("tests/empty.py", deleted=True)) == [
        ("deletes a file of tests", "tests/empty.py")
    ]


def test_a_file_was_moved_if_most_of_it_stands_elsewhere() -> None:
    """Four lines of five; three are a deletion."""
    lines = [f"line {n}" for n in range(5)]
    there = change("tests/new.py", [], lines[:4])
    assert said(change(TESTS, [*lines, "", " "], deleted=True), there) == []
    one = change("tests/one.py", [lines[0]], deleted=True)
    assert said(one, there) == []
    fewer = change("tests/new.py", [], lines[:3])
    assert said(change(TESTS, lines, deleted=True), fewer) == [("deletes a file of tests", TESTS)]


def test_tests_that_go_are_counted() -> None:
    """Those that others came for in the same file, and those that stand elsewhere now, are not."""
    gone = ["def test_a():", "    assert 1", "def test_b():", "async def test_c(x):"]
    (one,) = findings(change(TESTS, gone, ["def test_new():"]))
    assert one == TamperFinding("takes out 2 tests", TESTS, "def test_a():")
    (one,) = findings(change(TESTS, gone, ["def test_c():", "def test_new():"]))
    assert one == TamperFinding("takes out a test", TESTS, "def test_a():")
    assert said(change("shop.py", gone)) == []
    # What came in this file and stood elsewhere before makes up for nothing.
    assert said(
        change(TESTS, gone[:1], ["def test_x():"]), change("tests/b.py", ["def test_x():"])
    ) == [("takes out a test", TESTS)]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (TESTS, "    def test_a(self) -> None:"),
        ("src/cart.test.ts", "  it('adds', () => {"),
        ("spec/cart_spec.rb", '  it "adds" do'),
        ("pkg/cart_test.go", "func TestAdds(t *testing.T) {"),
        ("src/CartTest.java", "    @Test"),
        ("tests/cart.rs", "#[tokio::test]"),
        ("CartTests/CartTest.cs", "    [Fact]"),
        ("tests/CartTest.php", "    public function testAdds()"),
        ("features/cart.feature", "  Scenario: adds"),
        ("tests/cart.cc", "TEST_F(Cart, Adds) {"),
    ],
)
def test_tests_of_many_languages_are_known(path: str, line: str) -> None:
    """By their files and by how one begins."""
    assert said(change(path, [line])) == [("takes out a test", path)]


@pytest.mark.parametrize("row", table()["added"], ids=lambda row: row["what"])
def test_every_row_of_added_lines_knows_its_own(row: dict[str, object]) -> None:
    """In the files that count; what was there before is not added, and what is said aside is none."""
    path = {"tests": TESTS, "running": MAKE, "workflow": WORKFLOW}[str(row["of"])]
    lines = row["lines"]
    assert isinstance(lines, list)
    assert lines
    for line in lines:
        assert (row["what"], path) in said(change(path, [], [line])), line
        assert findings(change(path, [], [line]))[0].line == line.strip()
        assert said(change("src/shop.py", [], [line])) == []
        assert said(change(path, [line], [f"  {line.strip()}"])) == []
    assert said(change(path, [], [f"# {lines[0]}", f"// {lines[0]}"])) == []


def test_what_is_said_aside_is_told_from_an_attribute() -> None:
    """Rust's `#[ignore]` begins like a comment and is none."""
    assert said(change("tests/cart.rs", [], ["    #[ignore]"])) == [
        ("skips a test", "tests/cart.rs")
    ]


@pytest.mark.parametrize(
    "line",
    ["continue-on-error: false", "if: github.ref == 'refs/heads/main'", "run: grep -q x || exit 1"],
)
def test_harmless_lines_of_workflows_are_none(line: str) -> None:
    """They look like the others."""
    assert said(change(WORKFLOW, [], [f"        {line}"])) == []


@pytest.mark.parametrize(
    ("path", "before", "after", "what"),
    [
        ("pyproject.toml", "fail_under = 80", "fail_under = 79.5", "lowers a threshold"),
        (MAKE, "\tpytest --cov-fail-under=90 -q", "\tpytest --cov-fail-under=50 -q", "lowers a threshold"),
        ("jest.config.js", "      branches: 80,", "      branches: 70", "lowers a threshold"),
        (MAKE, "\teslint --max-warnings 0 .", "\teslint --max-warnings 9 .", "lowers a threshold"),
        (MAKE, "\teslint --max-warnings 9 .", "\teslint --max-warnings 0 .", ""),
        ("pyproject.toml", "fail_under = 80", "fail_under = 80.0", ""),
        ("pyproject.toml", "fail_under = 80", "", "takes out a threshold"),
        ("jest.config.js", "      branches: 80,", "", ""),
        (MAKE, "\tpytest --cov-fail-under=90 -q", "\tpytest --cov-fail-under=90 -n 2", ""),
        (MAKE, "# fail_under = 80", "# fail_under = 8", ""),
        ("shop.py", "fail_under = 80", "fail_under = 8", ""),
    ],
)  # fmt: skip
def test_bars_that_are_lower_are_named(path: str, before: str, after: str, what: str) -> None:
    """What has to be reached and is less, what may not be exceeded and is more, and what is gone."""
    found = findings(change(path, [before], [after] if after else []))
    shown = after.strip() if what.startswith("lowers") else before.strip()
    assert found == ((TamperFinding(what, path, shown),) if what else ())


@pytest.mark.parametrize(
    ("removed", "added", "events"),
    [
        (["  pull_request:"], [], ["pull_request"]),
        (["on: [push, pull_request]"], ["on: [push]"], ["pull_request"]),
        (["on: push"], ["on: [push, pull_request]"], []),
        (["  - merge_group", "  schedule:"], [], ["merge_group", "schedule"]),
        (["    - run: git push origin main"], [], []),
        (["  pull_request:"], ["  pull_request_target:"], ["pull_request"]),
    ],
)
def test_triggers_that_go_are_named(
    removed: list[str], added: list[str], events: list[str]
) -> None:
    """Events at which a workflow does not run any more; one more event is none less."""
    found = findings(change(WORKFLOW, removed, added))
    assert [(one.what, one.line) for one in found] == [("takes out a trigger", e) for e in events]
    assert said(change("docs/ci.yml", removed, added)) == []


def test_the_same_is_said_once() -> None:
    """However many lines have it."""
    assert len(findings(change(TESTS, [], ["@pytest.mark.skip", "    @pytest.mark.skip"]))) == 1


def test_no_line_of_a_file_is_taken_for_the_head_of_one() -> None:
    """Each has git's mark before it, which no line of a head has."""
    lines = (
        "diff --git a/x.md b/y.md",
        "--- a/x.md",
        "+++ b/y.md",
        "@@ -1,2 +1 @@ here",
        "<-- a/tests/test_a.py",
        "<diff --git a/q b/q",
        ">@@ -9 +9 @@",
        "\\ No newline at end of file",
        "@@ -7 +6,0 @@",
        "<deleted file mode 100644",
        "@@ -9,2 +8,2 @@",
        " kept",
        "<old",
        "\\ No newline at end of file",
        ">new",
        'diff --git "a/t\\"x" "b/t\\"x"',
        "deleted file mode 100644",
        "@@ -1 +0,0 @@",
        "<gone",
        "@@ -0,0 +3 @@",
        ">come",
    )
    one, two = files_of("\n".join(lines))
    assert (one.path, one.is_deleted) == ("y.md", False)
    assert one.removed == [
        "-- a/tests/test_a.py",
        "diff --git a/q b/q",
        "deleted file mode 100644",
        "old",
    ]
    assert one.added == ["@@ -9 +9 @@", "new"]
    assert (two.path, two.is_deleted) == ('t\\"x', True)
    assert (two.removed, two.added) == (["gone"], ["come"])
    assert files_of("") == ()


def test_the_tables_patterns_are_patterns() -> None:
    """Those of numbers have the number in a group of its own."""
    for name in ("least", "most"):
        assert re.compile(table()[name]).groupindex == {"number": 1}
