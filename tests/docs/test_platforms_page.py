"""docs/platforms.md shows what the product takes, refuses and prints."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from lifecycle.platforms import coverage_number, selection
from lifecycle.platforms.command_argv import commands_in
from lifecycle.platforms.platform_file import CoverageSource
from lifecycle.platforms.selection import Place
from tests.conftest import COMMAND
from tests.docs.pages import Page, codes_in
from tests.docs.platform_parts import PLATFORMS, SCHEMA, schema

PAGE = Page(PLATFORMS)


def example() -> str:
    """The platform.json of the page."""
    (text,) = [block.code for block in PAGE.blocks if block.language == "json"]
    return text


def test_the_schema_that_is_shipped_is_that_of_the_reader() -> None:
    """The file is what `make docs` writes, it is a schema, and it takes the example."""
    text = SCHEMA.read_text(encoding="utf-8")
    assert text == schema(), "platform.schema.json is stale: run make docs"
    jsonschema_rs.meta.validate(json.loads(text))
    jsonschema_rs.validate(json.loads(text), json.loads(example()))


def test_the_example_is_a_platform(tmp_path: Path) -> None:
    """Put where the page says, it is selected by each of its markers, with the commands it has there."""
    data = json.loads(example())
    root = tmp_path / "work/root"
    path = root / f"Workflows/platforms/{data['name']}/platform.json"
    assert str(path.relative_to(root)) in PAGE.text
    path.parent.mkdir(parents=True)
    path.write_text(example())
    assert selection.detect(root, {}).selected is None
    for marker in data["markers"]:
        (root / marker).parent.mkdir(parents=True, exist_ok=True)
        (root / marker).touch()
        detection = selection.detect(root, {})
        assert detection.notes == ()
        assert detection.selected is not None
        assert detection.selected.path == path
        assert set(detection.commands) == {"build", "test", "coverage"}
        (root / marker).unlink()
    (root / data["markers"][0]).touch()
    (root / ".markdownlint-cli2.yaml").touch()
    (root / "package.json").write_text('{"devDependencies": {\n"markdownlint-cli2": "1"}}')
    assert set(selection.detect(root, {}).commands) == set(data["commands"])
    source = CoverageSource(**data["coverage"])
    assert coverage_number.percent(source, "x\nchecked: 81.5 %\ny\n", root, 0) == 81.5


def test_every_key_of_the_form_is_explained_and_shown() -> None:
    """The table has each key with a meaning, and the example each key of the top."""
    table = PAGE.table("A file of your own")
    assert all(row[3] or row[0] == "`coverage.files`" for row in table.rows)
    tops = {key.partition(".")[0] for key in table.codes(0)}
    assert tops == set(json.loads(example()))


def test_what_is_refused_is_refused_and_what_is_written_instead_is_taken() -> None:
    """Each row of the table, and the refusal itself names what stands beside it."""
    rows = PAGE.table("Commands").rows
    assert len(rows) > 3
    for refused, instead in rows:
        (text,) = (code.replace("\\|", "|") for code in codes_in(refused))
        (fix,) = (code.replace("\\|", "|") for code in codes_in(instead))
        with pytest.raises(ValueError, match="shell") as refusal:
            commands_in(text)
        assert fix in str(refusal.value)
        assert commands_in(json.loads(fix))


def test_the_places_are_those_of_the_code() -> None:
    """In their order, and with whether the user has to say yes."""
    table = PAGE.table("Where they are looked for")
    assert table.codes(0) == [place.value for place in Place]
    needs = [row[2].startswith("yes") for row in table.rows]
    assert needs == [place.needs_trust for place in Place]


def test_the_script_runs_what_a_platform_names(tmp_path: Path) -> None:
    """The page's script, in a shell, with a platform that has no lint and with one that has."""
    (script,) = [
        block.code for block in PAGE.blocks if block.language == "sh" and "eval" in block.code
    ]
    root = tmp_path / "root"
    subprocess.run(["git", "init", "--quiet", root], check=True)
    path = root / "Workflows/platforms/p/platform.json"
    path.parent.mkdir(parents=True)
    build = ["echo", "it's", "built"]
    data: dict[str, Any] = {"name": "p", "markers": ["Workflows"], "commands": {"build": build}}
    for commands, printed in (
        ({}, "it's built\n"),
        ({"lint": "echo clean"}, "it's built\nclean\n"),
    ):
        path.write_text(json.dumps({**data, "commands": {**data["commands"], **commands}}))
        done = subprocess.run(
            ["sh", "-c", f'lifecycle() {{ "{COMMAND}" "$@"; }}\n{script}'],
            cwd=root,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, printed, "")
