"""Files of tests: which they are, and in which of them a test stands."""

# ruff: noqa: RUF001

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle.evidence import test_sources
from lifecycle.evidence.file_kinds import FileKind, kind_of

TEST, DOCS, CODE = FileKind.TEST, FileKind.DOCS, FileKind.CODE
CONFIGURATION = FileKind.CONFIGURATION


@pytest.mark.parametrize(
    ("kind", "paths"),
    [
        (TEST, "tests/test_a.py a/test_b.py b_test.py conftest.py app/tests.py pkg/a_test.go"),
        (TEST, "src/a.test.ts src/a.spec.tsx e2e/login.ts cypress/x.cy.js src/__tests__/a.js"),
        (
            TEST,
            "src/test/java/org/AppTest.java AppTests.cs src/AppIT.java spec/a_spec.rb a.feature",
        ),
        (TEST, "testdata/in.json tests/data.md test/README.md Tests/AppTests.swift CartTest.php"),
        (TEST, "lib/a_test.dart test/a_test.exs tests/it.rs src/__snapshots__/a.snap t/basic.t"),
        (DOCS, "README.md docs/api.py CHANGELOG LICENSE a/notes.rst README.rst"),
        (
            CONFIGURATION,
            "pyproject.toml .github/workflows/ci.yml Makefile package.json go.mod .env",
        ),
        (CONFIGURATION, "jest.config.js Dockerfile requirements.txt pom.xml build.gradle.kts"),
        (CODE, "src/app.py main.go attest.py src/contest.ts latest/a.py src/testify.rs index.html"),
        (CODE, "src/inspection.js protest.c src/Testament.java lib/spectrum.rb"),
    ],
)
def test_a_file_is_what_its_path_says(kind: FileKind, paths: str) -> None:
    """By folder and name; a word that only has "test" in it makes no test."""
    assert {path: kind_of(path) for path in paths.split()} == dict.fromkeys(paths.split(), kind)


@pytest.mark.parametrize(
    ("identity", "expected"),
    [
        ("tests/test_a.py::TestA::test_one[x.y]", ["tests/test_a.py"]),
        ("./spec/a_spec.rb:3", ["spec/a_spec.rb"]),
        ("a.test.js > sums > two", ["a.test.js"]),
        ("a.test.js:4:1 › two", ["a.test.js"]),
        ("tests.test_a.TestA::test_one", ["tests/test_a.py"]),
        ("test_a.TestA.test_one", ["tests/test_a.py"]),
        ("org.example.AppTest::red", ["src/test/java/org/example/AppTest.java"]),
        ("AppTest.red", ["src/test/java/org/example/AppTest.java"]),
        ("TestTwo/odd", ["pkg/a_test.go"]),
        ("ex/pkg::TestTwo", ["pkg/a_test.go"]),
        ("sums › two", ["a.test.js"]),
        ("tests::works", ["src/lib.rs"]),
        ("nobody::knows_it", []),
        ("app.run", []),
        ("", []),
        ("../../etc/passwd::nowhere", []),
    ],
)
def test_the_file_of_a_test_is_found(tmp_path: Path, identity: str, expected: list[str]) -> None:
    """From its identity where that has a path, else by its name in files of tests; code is none of them."""
    texts = {
        "tests/test_a.py": "class TestA:\n    def test_one(self): ...\n",
        "tests/test_b.py": "class TestB:\n    def test_one(self): ...\n",
        "spec/a_spec.rb": "it 'x'\n",
        "a.test.js": 'describe("sums", () => test("two", f))\n',
        "src/test/java/org/example/AppTest.java": "class AppTest { void red() {} }\n",
        "pkg/a_test.go": "func TestTwo(t *testing.T) { }\n",
        "src/lib.rs": "mod tests { fn works() {} }\n",
        "app.py": "def run(): ...\n",
    }
    for path, text in texts.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    files = {path: f"100644 {number:040x}" for number, path in enumerate(texts)}
    found = test_sources.of_tests(tmp_path, [identity], files)
    assert list(found) == expected
    assert all(files[path].endswith(content) for path, content in found.items())
