"""Files of tests: which they are, and in which of them a test stands."""

# ruff: noqa: RUF001

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lifecycle.evidence import file_kinds
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
    found = file_kinds.of_tests(tmp_path, [identity], files)
    assert list(found) == expected
    assert all(files[path].endswith(content) for path, content in found.items())


def written(root: Path, **texts: str) -> dict[str, str]:
    """Files of tests by their names, the first one the newest; what a tree says of them."""
    for age, (name, text) in enumerate(texts.items()):
        file = root / f"test_{name}.py"
        file.write_text(text)
        os.utime(file, (1_000_000 - age, 1_000_000 - age))
    return {f"test_{name}.py": f"100644 {name}" for name in texts}


def test_of_one_test_at_most_three_files_are_named(tmp_path: Path) -> None:
    """Those that were written last; a file whose own name is in the identity comes before all others."""
    texts = dict.fromkeys("abcdef", "def test_x(): ...")
    files = written(tmp_path, **texts)
    assert file_kinds.of_tests(tmp_path, ["test_x"], files) == {
        "test_a.py": "a",
        "test_b.py": "b",
        "test_c.py": "c",
    }
    assert file_kinds.of_tests(tmp_path, ["test_e::test_x"], files) == {"test_e.py": "e"}


def test_files_are_named_in_bounds(tmp_path: Path) -> None:
    """Twenty, of the first twenty tests."""
    files = written(tmp_path, **{f"n{number}": f"test_{number}_x" for number in range(30)})
    every = [f"test_{number}_x" for number in range(30)]
    assert len(file_kinds.of_tests(tmp_path, every, files)) == 20
    late = [*["nowhere"] * file_kinds.TESTS, "test_3_x"]
    assert file_kinds.of_tests(tmp_path, late, files) == {}
    assert file_kinds.of_tests(tmp_path, late[1:], files) == {"test_n3.py": "n3"}
    wide = written(tmp_path, **{f"w{number}": "test_wide" for number in range(9)})
    many = [f"test_{number}_x" for number in range(19)]
    both = file_kinds.of_tests(tmp_path, [*many, "test_wide"], {**files, **wide})
    assert len(both) == file_kinds.FILES


def test_a_large_file_is_not_looked_into(tmp_path: Path) -> None:
    """Nor what is not there any more, or is a link."""
    room = file_kinds.LARGEST
    files = written(tmp_path, big=" test_x ".ljust(room + 1), fits=" test_x ".ljust(room), gone="")
    (tmp_path / "test_gone.py").unlink()
    (tmp_path / "test_gone.py").symlink_to(tmp_path / "test_fits.py")
    assert file_kinds.of_tests(tmp_path, ["test_x"], files) == {"test_fits.py": "fits"}


def test_only_the_newest_files_are_read(tmp_path: Path) -> None:
    """In a tree of very many, what was written long ago is not looked for."""
    old = written(tmp_path, old="test_x")
    new = {f"new/test_{number}.py": "100644 1" for number in range(file_kinds.READ)}
    (tmp_path / "new").mkdir()
    for path in new:
        (tmp_path / path).write_text("")
    assert file_kinds.of_tests(tmp_path, ["test_x"], {**old, **new}) == {}
    new.popitem()
    assert file_kinds.of_tests(tmp_path, ["test_x"], {**old, **new}) == {"test_old.py": "old"}


def test_the_last_part_is_looked_for_before_the_one_before_it(tmp_path: Path) -> None:
    """As a word, and without the parameters in brackets; no part further to the left."""
    files = written(tmp_path, a="Far", b="Near", c="test_xy", d="test_x")
    assert file_kinds.of_tests(tmp_path, ["Far.Near.test_x[Far-1]"], files) == {"test_d.py": "d"}
    assert file_kinds.of_tests(tmp_path, ["Far.Near.nowhere"], files) == {"test_b.py": "b"}
    assert file_kinds.of_tests(tmp_path, ["Far.no.nowhere"], files) == {}
