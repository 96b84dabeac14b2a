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


@pytest.mark.soak("docs/test_pages.py::test_the_examples_print_what_the_page_says")
def test_every_example_is_typed(tmp_path: Path) -> None:
    """`mypy --strict` accepts what each page shows, read by somebody who has the product installed.

    The examples of a page follow one another, so they are one program. The cache lies apart: a client that
    copies the plugin's folder meanwhile finds no file that goes.
    """
    programs = {page.stem.replace("-", "_"): _programs(page) for page in every_page()}
    programs = {f"of_{name}.py": program for name, program in programs.items() if program}
    assert len(programs) > 2
    for name, program in programs.items():
        (tmp_path / name).write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary",
         "--follow-imports=silent", f"--cache-dir={tmp_path / 'cache'}", *programs],
        cwd=tmp_path, env={**os.environ, "MYPYPATH": str(ROOT)}, capture_output=True, text=True,
        check=False, timeout=110,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("", 0), done.stderr
