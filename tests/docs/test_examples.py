"""The examples in Python on the pages are typed as strictly as the product is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Page, every_page


def _programs(page: Path) -> str:
    blocks = [block.code for block in Page(page).blocks if block.language == "python"]
    return "\n".join(blocks)


@pytest.mark.parametrize(
    "page", [page for page in every_page() if _programs(page)], ids=lambda page: page.name
)
def test_every_example_is_typed(tmp_path: Path, page: Path) -> None:
    """`mypy --strict` accepts what a page shows, read by somebody who has the product installed.

    The examples of a page follow one another, so they are one program.
    """
    (tmp_path / "example.py").write_text(_programs(page), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary",
         "--follow-imports=silent", f"--cache-dir={ROOT / '.mypy_cache/examples'}", "example.py"],
        cwd=tmp_path, env={**os.environ, "MYPYPATH": str(ROOT)}, capture_output=True, text=True,
        check=False, timeout=110,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("", 0), done.stderr
