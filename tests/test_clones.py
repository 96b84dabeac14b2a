"""A copied clone is what `git clone` makes, to git as to everybody."""

from __future__ import annotations

import subprocess
from pathlib import Path

from lifecycle.sandbox.git.store.repository import content_of
from lifecycle.sandbox.server import Sandbox
from tests.clones import clone
from tests.conftest import environment_of


def test_a_copy_is_what_git_makes(tmp_path: Path) -> None:
    """The same files, and an index that knows them: git has nothing to refresh."""
    with Sandbox() as sandbox:
        info = sandbox.info
        first, copy = tmp_path / "first", tmp_path / "copy"
        for root in (first, copy):
            clone(info.git_url, root, environment_of(info, root))
        index = copy / ".git" / "index"
        before = index.read_bytes()

        def git(*arguments: str) -> str:
            return subprocess.run(
                ["git", *arguments], cwd=copy, capture_output=True, text=True, check=True
            ).stdout

        assert git("diff-files") == ""
        assert index.read_bytes() == before
        git("update-index", "--really-refresh")
        assert index.read_bytes() == before
        assert git("status", "--porcelain") == ""
        listed = [
            {n for n in content_of(root) if not n.endswith(".sample")} for root in (first, copy)
        ]
        assert listed[0] == listed[1]
        (copy / "README.md").write_text("changed")
        assert git("diff-files", "--name-only") == "README.md\n"
