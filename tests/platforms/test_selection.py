"""Which platform a worktree is of, and what commands that gives it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lifecycle.platforms import platform_tables, selection
from lifecycle.platforms.command_argv import as_line
from lifecycle.platforms.selection import Detection, Place
from tests.platforms.conftest import Ground
from tests.platforms.platform_ground import put


def detected(ground: Ground) -> Detection:
    """What is found for the worktree."""
    return selection.detect(ground.root, ground.environment)


def selected(ground: Ground) -> str:
    """The name of the one that is selected; "" for none."""
    one = detected(ground).selected
    return one.about.name if one is not None else ""


def test_what_a_file_says_is_data_in_each_text_about_platforms(ground: Ground) -> None:
    """It may come with a repository: in no field a stage's marker, a link, or the end of a cell."""
    evil = "::: [it](http://x) | y"
    words = dict.fromkeys(("displayName", "version", "structure"), evil)
    put(ground.project, "mine", conventions={evil: evil}, skills=[evil], **words)
    (ground.root / "marker").touch()
    for name, search in (
        ("discovery", selection.discover(ground.root, ground.environment)),
        ("detection", detected(ground)),
        ("context", detected(ground)),
    ):
        text = "\n".join(platform_tables.drawn(name, search))
        assert ": : : [it] (http://x) \\| y" in text
        assert not [words for words in (":::", "](", "x) | y") if words in text]


def test_commands_say_where_they_come_from_and_whether_they_need_the_yes(ground: Ground) -> None:
    """A project's own commands need the yes; those of the user's own folder do not."""
    path = put(ground.project, "mine", commands={"test": "x -q", "lint": [["a"], ["b"]]})
    detection = detected(ground)
    assert detection.commands == {"test": (("x", "-q"),), "lint": (("a",), ("b",))}
    assert detection.selected is not None
    assert (detection.selected.path, detection.selected.place.needs_trust) == (path, True)
    put(ground.own, "own", priority=1, commands={"test": ["y"]})
    detection = detected(ground)
    assert detection.commands == {"test": (("y",),)}
    assert detection.selected is not None
    assert (detection.selected.about.name, detection.selected.place) == ("own", Place.USER)
    assert not detection.selected.place.needs_trust


def test_no_platform_has_no_commands(ground: Ground) -> None:
    """Where nothing matches there is none, and the reason says so."""
    detection = detected(ground)
    assert detection.commands == {}
    assert detection.selected is None
    assert detection.reason == "No markers of any platform were found here."
    assert not any(match.is_match for match in detection.matches)


def test_any_marker_or_all(ground: Ground) -> None:
    """`matchMode` says whether one is enough; each marker's row is told."""
    markers = ["marker", "other*"]
    put(ground.project, "some", markers=markers, matchMode="any")
    put(ground.project, "every", markers=markers, matchMode="all", priority=5)
    assert selected(ground) == "some"
    matches = {match.platform.about.name: match for match in detected(ground).matches}
    assert matches["some"].found == (("marker", True), ("other*", False))
    assert matches["every"].found == matches["some"].found
    (ground.root / "other.txt").touch()
    assert selected(ground) == "every"


def test_the_highest_priority_wins_wherever_it_lies(ground: Ground) -> None:
    """A higher number counts before a nearer place, and the reason says so."""
    put(ground.project, "near", priority=1)
    put(ground.own, "far", priority=2)
    assert selected(ground) == "far"
    assert detected(ground).reason == "It has the highest priority of 2 that match."


def test_of_equals_the_nearest_then_the_first_name(ground: Ground) -> None:
    """The rule for a tie is one rule, and the reason says which part of it decided."""
    put(ground.own, "a")
    assert selected(ground) == "a"
    assert detected(ground).reason == "It is the only one whose markers were found here."
    put(ground.neighbour, "b")
    assert selected(ground) == "b"
    assert "a has the same priority, but b is nearer (neighbour)" in detected(ground).reason
    put(ground.project, "d")
    put(ground.project, "c")
    assert selected(ground) == "c"
    assert "the first name counts" in detected(ground).reason


def test_whatever_is_anybodys_own_wins_over_what_is_shipped(ground: Ground) -> None:
    """Shipped priorities are below that of a file that names none."""
    shipped = [
        json.loads(path.read_text())["priority"]
        for path in selection._SHIPPED.glob("*/platform.json")
    ]
    assert shipped
    assert max(shipped) < 0
    assert len(set(shipped)) == len(shipped)


def test_a_command_is_there_where_what_it_needs_is(ground: Ground) -> None:
    """A condition takes a command away where it does not hold, and no other."""
    needs = {"lint": [{"files": ["a.toml"], "pattern": "^lint"}]}
    put(ground.project, "x", commands={"test": ["t"], "lint": ["l"], "none": None}, needs=needs)
    assert set(detected(ground).commands) == {"test"}
    (ground.root / "a.toml").write_text("x\nlint = 1\n")
    assert set(detected(ground).commands) == {"test", "lint"}


PACKAGE = '{"scripts": {"test": "jest", "build": "tsc"}}'

PROJECTS: tuple[tuple[dict[str, str], str, dict[str, str]], ...] = (
    (
        {"pyproject.toml": "[tool.ruff]\n", "tests/test_a.py": ""},
        "python",
        {"test": "python3 -m pytest", "lint": "ruff check ."},
    ),
    ({"setup.py": ""}, "python", {"test": "python3 -m pytest", "lint": "", "coverage": ""}),
    (
        {"requirements.txt": "pytest-cov\n", ".venv/pyvenv.cfg": ""},
        "python-venv",
        {"test": ".venv/bin/python -m pytest"},
    ),
    (
        {"pyproject.toml": "pytest-cov", "uv.lock": "", ".venv/pyvenv.cfg": ""},
        "python-uv",
        {"coverage": "uv run python -m pytest --cov --cov-report=term"},
    ),
    (
        {"pyproject.toml": "", "poetry.lock": ""},
        "python-poetry",
        {"test": "poetry run python -m pytest"},
    ),
    (
        {"package.json": PACKAGE},
        "node",
        {"test": "npm test", "build": "npm run build", "lint": "", "coverage": ""},
    ),
    ({"package.json": "{}"}, "node", {"test": "npm test", "build": ""}),
    (
        {"package.json": PACKAGE, "pnpm-lock.yaml": ""},
        "node-pnpm",
        {"test": "pnpm run test", "build": "pnpm run build"},
    ),
    ({"package.json": PACKAGE, "yarn.lock": ""}, "node-yarn", {"test": "yarn run test"}),
    ({"package.json": PACKAGE, "bun.lock": ""}, "node-bun", {"test": "bun run test"}),
    (
        {"go.mod": "", "package.json": "{}"},
        "go",
        {
            "build": "go build ./...",
            "coverage": "go test -coverprofile=coverage.out ./... && go tool cover -func=coverage.out",
        },
    ),
    ({"Cargo.toml": ""}, "rust", {"test": "cargo test --workspace"}),
    ({"App.sln": ""}, "dotnet", {"build": "dotnet build", "test": "dotnet test"}),
    ({"App.csproj": ""}, "dotnet", {"lint": "dotnet format --verify-no-changes"}),
    ({"pom.xml": "<x/>"}, "java", {"test": "mvn -B test", "lint": "", "coverage": ""}),
    (
        {"pom.xml": "jacoco-maven-plugin", "mvnw": ""},
        "java-mvnw",
        {"coverage": "./mvnw -B test jacoco:report"},
    ),
    ({"build.gradle.kts": ""}, "java-gradle", {"test": "gradle cleanTest test"}),
    ({"build.gradle": "", "gradlew": ""}, "java-gradlew", {"test": "./gradlew cleanTest test"}),
)  # fmt: skip
"""Projects as they are often laid out, what they are, and commands that they have; "" for none."""


@pytest.mark.parametrize(("files", "name", "commands"), PROJECTS)
def test_usual_projects_are_known(
    tmp_path: Path, files: dict[str, str], name: str, commands: dict[str, str]
) -> None:
    """What is shipped knows a project by its files, and names commands that fit it."""
    root = tmp_path / "work" / "root"
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    detection = selection.detect(root, {})
    assert detection.notes == ()
    assert detection.selected is not None
    assert detection.selected.about.name == name
    for action, line in commands.items():
        assert as_line(detection.commands.get(action, ())) == line, action


def test_every_shipped_platform_is_seen_in_a_usual_project() -> None:
    """No file is shipped that no case above selects."""
    shipped = {path.parent.name for path in selection._SHIPPED.glob("*/platform.json")}
    assert {name for _, name, _ in PROJECTS} == shipped
