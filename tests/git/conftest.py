"""Where git is, in tests: a worktree without a commit."""

from __future__ import annotations

from tests.run.conftest import ground  # noqa: F401 -- the fixture
