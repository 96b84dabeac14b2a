"""Markers are looked for below the worktree's root, and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lifecycle.platforms import selection
from lifecycle.platforms.platform_file import Condition
from lifecycle.platforms.selection import holds, matches


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A worktree with a few files, and a neighbour that is none of its."""
    made = tmp_path / "root"
    for name in ("a.sln", "b.sln", "src/one/one.csproj", "src/.hidden/x.csproj", ".dot.sln"):
        path = made / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.sln").touch()
    return made


def names(root: Path, marker: str, most: int = 100) -> list[str]:
    """What a marker means, from the root."""
    return [str(path.relative_to(root)) for path in matches(root, marker, most)]


@pytest.mark.parametrize(
    ("marker", "means"),
    [
        ("a.sln", ["a.sln"]),
        ("A.sln", []),
        ("*.sln", ["a.sln", "b.sln"]),
        ("?.sln", ["a.sln", "b.sln"]),
        ("[b-z].sln", ["b.sln"]),
        (".*.sln", [".dot.sln"]),
        (".dot.sln", [".dot.sln"]),
        ("src", ["src"]),
        ("src/", ["src"]),
        ("a.sln/", []),
        ("*/", ["src"]),
        ("src/*/*.csproj", ["src/one/one.csproj"]),
        ("*/*/*.csproj", ["src/one/one.csproj"]),
        ("src/one/one.csproj", ["src/one/one.csproj"]),
        ("a.sln/x", []),
        ("none/*", []),
        ("x" * 200, []),
        ("[", []),
    ],
)
def test_a_marker_is_a_file_or_a_pattern(root: Path, marker: str, means: list[str]) -> None:
    """As a shell reads it: case counts, and a pattern means no hidden name."""
    assert names(root, marker) == means


def test_a_link_counts_only_inside_of_the_root(root: Path) -> None:
    """A link out of the worktree, to a file or on the way, a broken one and a loop are not there."""
    (root / "in.sln").symlink_to("a.sln")
    (root / "out.sln").symlink_to("../outside/secret.sln")
    (root / "broken.sln").symlink_to("nothing")
    (root / "loop.sln").symlink_to("loop.sln")
    (root / "ring").symlink_to("gnir")
    (root / "gnir").symlink_to("ring")
    (root / "away").symlink_to("../outside")
    (root / "up").symlink_to("..")
    assert names(root, "*.sln") == ["a.sln", "b.sln", "in.sln"]
    for marker in ("out.sln", "loop.sln", "ring", "ring/x", "away/secret.sln", "away/*", "*/*.sln"):
        assert names(root, marker) == [], marker
    assert names(root, "up/outside/secret.sln") == []


def test_a_worktree_that_is_reached_by_a_link_is_a_worktree(root: Path, tmp_path: Path) -> None:
    """The root itself may be a link: what is inside is measured at where it leads."""
    (root / "in.sln").symlink_to(root / "a.sln")
    linked = tmp_path / "linked"
    linked.symlink_to(root)
    assert names(linked, "in.sln") == ["in.sln"]


def test_a_folder_without_end_is_given_up(root: Path) -> None:
    """Of a folder only so many entries are looked at."""
    for number in range(50):
        (root / f"{number:02}.x").touch()
    assert len(names(root, "*.x")) == 50
    assert len(names(root, "*.x", most=10)) <= 10


def test_what_cannot_be_read_is_not_there(root: Path) -> None:
    """A pipe counts as a file that is there, and is never opened; a closed folder is empty."""
    os.mkfifo(root / "pipe")
    assert names(root, "pipe") == ["pipe"]
    assert not holds(root, [Condition(files=["pipe"], pattern="x")])


def test_a_condition_is_a_file_and_what_a_line_of_it_matches(root: Path) -> None:
    """Any file of any condition is enough; without a pattern the file is."""
    (root / "a.toml").write_text("[project]\n[tool.x]\n")
    (root / "out.toml").symlink_to("../outside/secret.sln")
    assert holds(root, [Condition(files=["a.toml"])])
    assert holds(root, [Condition(files=["b.toml", "a.toml"], pattern=r"^\[tool\.x")])
    assert holds(root, [Condition(files=["b.toml"]), Condition(files=["*.toml"])])
    assert not holds(root, [Condition(files=["a.toml"], pattern=r"^tool")])
    assert not holds(root, [Condition(files=["out.toml"])])
    assert not holds(root, [Condition(files=["src"], pattern="x")])
    assert not holds(root, [])


def test_a_pattern_is_tried_on_the_beginning_of_each_line(root: Path) -> None:
    """The worst that is taken ends on a file of one endless line; each line stands by itself, CR or not."""
    (root / "long").write_bytes(b"a" * 900_000 + b"x\nlast\r\n")
    assert not holds(root, [Condition(files=["long"], pattern="a*a*x")])
    assert holds(root, [Condition(files=["long"], pattern="^last$")])


def test_a_file_that_takes_too_long_is_looked_at_for_its_time_only(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not found within it counts as not there."""
    (root / "many").write_text("a\n" * 10 + "x\n")
    assert holds(root, [Condition(files=["many"], pattern="x")])
    monkeypatch.setattr(selection, "_SECONDS", -1.0)
    assert not holds(root, [Condition(files=["many"], pattern="x")])
