"""Which checks a worktree has: one order of precedence, no shell, and the user's yes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lifecycle.core.errors import Refused
from lifecycle.core.values.configured import Settings, StageSettings
from lifecycle.evidence.checks import known_checks
from lifecycle.evidence.checks.known_checks import KnownCheck
from lifecycle.settings import user_folder

ALL = Settings(
    check_commands={
        "test": "pytest -q",
        "types": ["mypy", "--strict"],
        "all": [["a"], ["b", "c d"]],
    },
    validate=("make lint", "tox", "cd web && npm test"),
    stages=StageSettings(test=("make verify", "npx vitest run")),
)


def platform(root: Path, **commands: object) -> None:
    """A platform of the project's own, which its file marks."""
    folder = root / "Workflows/platforms/ours"
    folder.mkdir(parents=True)
    about = {"name": "ours", "markers": ["here"], "priority": 9, "commands": commands}
    (folder / "platform.json").write_text(json.dumps(about))
    (root / "here").touch()


def found(root: Path, settings: Settings, home: Path) -> dict[str, KnownCheck]:
    """The checks by their names."""
    environment = {"HOME": str(home)}
    return {one.name: one for one in known_checks.known_checks(root, settings, environment)}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The user's."""
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A worktree."""
    path = tmp_path / "worktree"
    (path / ".git").mkdir(parents=True)
    return path


def test_the_coverage_check_alone_says_how_its_number_is_read(root: Path, home: Path) -> None:
    """And only where the platform's file says it."""
    platform(root, test=["t"], coverage=["c"])
    assert found(root, Settings(), home)["coverage"].coverage is None
    path = root / "Workflows/platforms/ours/platform.json"
    about = json.loads(path.read_text()) | {"coverage": {"pattern": "(x)"}}
    path.write_text(json.dumps(about))
    checks = found(root, Settings(), home)
    assert checks["test"].coverage is None
    assert checks["coverage"].coverage is not None
    assert checks["coverage"].coverage.pattern == "(x)"


def test_one_order_for_each_name(root: Path, home: Path) -> None:
    """checks.commands, validate's of this kind, stages.test, the platform; each name once."""
    platform(root, test=["p", "test"], build=["p", "build"], types=["p", "types"])
    checks = found(root, ALL, home)
    assert [*checks] == ["test", "build", "types", "all", "validate"]
    assert checks["test"].commands == (("pytest", "-q"),)
    assert checks["types"].commands == (("mypy", "--strict"),)
    assert checks["all"].commands == (("a",), ("b", "c d"))
    assert checks["build"] == KnownCheck(
        "build", (("p", "build"),), "platform ours (project)", is_projects=True
    )
    assert "checks.commands" in checks["test"].origin
    less = Settings(validate=("make lint", "tox"), stages=ALL.stages)
    assert found(root, less, home)["test"].commands == (("tox",),)
    assert found(root, less, home)["validate"].commands == (("make", "lint"), ("tox",))
    staged = Settings(validate=("make lint",), stages=ALL.stages)
    assert found(root, staged, home)["test"].commands == (
        ("make", "verify"),
        ("npx", "vitest", "run"),
    )
    none = found(root, Settings(), home)
    assert none["test"].commands == (("p", "test"),)
    assert "validate" not in none


def test_what_needs_a_shell_is_refused_with_the_fix(root: Path, home: Path) -> None:
    """Also one of several: the rest alone would be a part."""
    checks = found(root, Settings(validate=ALL.validate), home)
    for name in ("validate", "test"):
        assert checks[name].commands == ()
        assert "needs a shell" in checks[name].problem
        with pytest.raises(Refused, match=r"checks\.commands") as refused:
            known_checks.demanded(name, root, Settings(validate=ALL.validate), {"HOME": str(home)})
        assert "nothing was run" in refused.value.sentence


def test_a_command_of_another_form_is_refused_when_its_check_is_run(root: Path, home: Path) -> None:
    """Other checks can be run meanwhile, and so can all that needs no check."""
    settings = Settings(
        check_commands={"types": 5, "lint": ["ruff"], "all": [["a"], "b"], "x": "\n"}
    )
    checks = found(root, settings, home)
    assert [name for name in settings.check_commands if checks[name].problem] == [
        "types",
        "all",
        "x",
    ]
    assert checks["lint"].commands == (("ruff",),)


def test_a_name_that_is_none_is_told_what_there_is(root: Path, home: Path) -> None:
    """With the nearest name, and where to name one; of nothing no list is begun."""
    with pytest.raises(Refused, match='Did you mean "types"') as refused:
        known_checks.demanded("type", root, ALL, {"HOME": str(home)})
    assert "test, types, all, validate" in refused.value.sentence
    with pytest.raises(Refused, match=r"so nothing was run\. Define its command in"):
        known_checks.demanded("test", root, Settings(), {"HOME": str(home)})


def test_what_comes_with_the_repository_needs_the_yes(root: Path, home: Path) -> None:
    """To each of its commands, whatever name it has; one that changes asks again."""
    environment, clone = {"HOME": str(home)}, root.resolve()
    with pytest.raises(Refused, match=r"`pytest -q`.*lifecycle trust"):
        known_checks.demanded("test", root, ALL, environment)
    user_folder.allow(environment, clone, commands=[], checks=["pytest -q", "a"])
    assert known_checks.demanded("test", root, ALL, environment).lines == ("pytest -q",)
    for name in ("all", "types"):
        with pytest.raises(Refused):
            known_checks.demanded(name, root, ALL, environment)
    user_folder.allow(
        environment, clone, commands=("mypy  '--strict'", "tox && rm -r ."), checks=[]
    )
    assert known_checks.demanded("types", root, ALL, environment).name == "types"
    with pytest.raises(Refused):  # an earlier yes to others ended
        known_checks.demanded("test", root, ALL, environment)
    assert user_folder.revoke(environment, clone)
    with pytest.raises(Refused):
        known_checks.demanded("types", root, ALL, environment)


def test_a_platform_of_the_users_or_of_ours_needs_none(root: Path, home: Path) -> None:
    """Its words are not the repository's; one that comes with the repository does."""
    own = home / ".config/lifecycle/platforms/mine"
    own.mkdir(parents=True)
    about = {
        "name": "mine",
        "markers": ["mine.txt"],
        "priority": 1,
        "commands": {"test": "my-test"},
    }
    (own / "platform.json").write_text(json.dumps(about))
    (root / "mine.txt").touch()
    check = known_checks.demanded("test", root, Settings(), {"HOME": str(home)})
    assert (check.commands, check.is_projects) == ((("my-test",),), False)
    platform(root, test=["p", "test"])
    with pytest.raises(Refused, match="lifecycle trust"):
        known_checks.demanded("test", root, Settings(), {"HOME": str(home)})


def test_what_the_user_is_asked_about(root: Path, home: Path) -> None:
    """All that comes with the repository and can be run; validate stands by itself there."""
    platform(root, build=["p", "build"], lint="a | b")
    wanted = known_checks.wanting_trust(root, ALL, {"HOME": str(home)})
    assert [check.name for check in wanted] == ["test", "types", "all"]
