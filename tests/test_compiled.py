"""In a fresh clone the cores share what is to be compiled, before workers begin."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from tests import compiled

BY_PATHS = pytest.Config.ArgsSource.TESTPATHS
BY_HAND = pytest.Config.ArgsSource.ARGS


@pytest.mark.parametrize(
    ("source", "many", "lacking"), [(BY_PATHS, 3, 1), (BY_HAND, 3, 3), (BY_PATHS, 4, 3)]
)
def test_a_whole_run_of_a_fresh_clone_compiles_first(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    source: pytest.Config.ArgsSource,
    many: int,
    lacking: int,
) -> None:
    """What lacks is compiled; not for a run of chosen files, nor for a few. What is broken stays so."""
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "test_small.py").write_text("def test_it() -> None:\n    assert 1\n")
    (folder / "test_large.py").write_text("# large\n\ndef test_it() -> None:\n    assert 1\n")
    (folder / "test_broken.py").write_text("(")
    monkeypatch.setattr(compiled, "ROOT", tmp_path)
    monkeypatch.setattr(compiled, "MANY", many)
    every = [path.stem for path in compiled.not_compiled(folder)]
    assert every == ["test_large", "test_small", "test_broken"]
    config = SimpleNamespace(args_source=source, ArgsSource=pytest.Config.ArgsSource)
    compiled.pytest_xdist_setupnodes(cast("pytest.Config", config))
    left = [path.stem for path in compiled.not_compiled(folder)]
    assert left == every[-lacking:]
