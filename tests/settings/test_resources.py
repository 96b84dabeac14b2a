"""What a person copies to install something is what installed the command that says it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle.settings.resources import install_line


@pytest.mark.parametrize(
    ("file", "lines"),
    [
        (
            "pipx_metadata.json",
            ("pipx install --force x", "pipx inject agent-lifecycle x", "pipx reinstall"),
        ),
        (
            "uv-receipt.toml",
            ("uv tool install --force x", "uv pip install --python ", "uv tool upgrade"),
        ),
        ("pyvenv.cfg", ("'", "'", "'")),
    ],
)
def test_the_installer_is_told_by_what_it_leaves(
    tmp_path: Path, file: str, lines: tuple[str, ...]
) -> None:
    """pipx and uv know nothing of each other's environments, and neither does of pip's."""
    place = tmp_path / "a place"
    place.mkdir()
    for name in (file, "pyvenv.cfg"):  # which every environment has
        (place / name).touch()
    for verb, line in zip(("install", "add", "renew"), lines, strict=True):
        assert install_line(verb, "x", prefix=place).startswith(line)
    adding = install_line("add", "x", prefix=place)
    assert (f"'{place}/bin/python3'" in adding) == (file != "pipx_metadata.json")
