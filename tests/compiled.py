"""Compiled modules are kept, also where the shell says otherwise (PYTHONDONTWRITEBYTECODE).

Every worker, and every command that is started, would compile thousands of modules anew: half a minute of
CPU in each. It is imported before whatever else the suite imports.

In a fresh clone nothing is compiled yet, and workers begin together: each would compile all of it. So the
cores share that first.

PYTEST_DONT_REWRITE: it is a plug-in as well, imported before pytest registers it, and asserts nothing.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

# Modules and tests are made once and stay: the garbage collector would look at them again and again.
gc.disable()

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

ROOT = Path(__file__).parents[1]

MANY = 100
"""From so many test modules on it takes longer to compile them in each worker than to begin twice."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Compile the test modules that were not, before the workers of a whole run begin."""
    lacking = not_compiled(ROOT / "tests")
    if config.args_source is not config.ArgsSource.TESTPATHS or len(lacking) < MANY:
        return
    cores = os.cpu_count() or 1
    collecting = [sys.executable, "-m", "pytest", "--collect-only", "--quiet"]
    shares = [
        subprocess.Popen(
            [*collecting, *map(str, lacking[core::cores])],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for core in range(cores)
    ]
    for share in shares:
        share.wait()  # what cannot be collected, the workers tell


def not_compiled(folder: Path) -> list[Path]:
    """The test modules of which pytest keeps nothing for this Python, the largest first."""
    tag = sys.implementation.cache_tag
    kept = {path.name.partition(f".{tag}-pytest-")[0] for path in folder.rglob(f"*.{tag}-pytest-*")}
    lacking = (path for path in folder.rglob("test_*.py") if path.stem not in kept)
    return sorted(lacking, key=lambda path: path.stat().st_size, reverse=True)
