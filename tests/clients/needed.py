"""Skips what is not installed, unless it has to be."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OCTOKIT = ROOT / ".cache" / "clients" / "node_modules"
REQUIRED = "LIFECYCLE_REQUIRE_CLIENTS"


def missing(what: str) -> None:
    """Skip for want of a client; fail where `LIFECYCLE_REQUIRE_CLIENTS=1` wants it."""
    reason = f"{what} is not installed; `make clients` installs it"
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def demand_program(name: str) -> None:
    """Demand a program on PATH."""
    if shutil.which(name) is None:
        missing(name)
