"""`make mutants`: small changes of the modules that decide, drawn from a seed, and whether tests notice."""

from __future__ import annotations

import argparse
import secrets
import sys
from importlib import import_module

import tests.in_memory  # noqa: F401 -- before anything asks for a folder: it goes with this run
from tests.mutants.modules import ALSO_MUTATED, FOLDERS, PURE, ROOT, named
from tests.mutants.mutation_run import run
from tests.mutants.running import Project

IMPORTED_BEFORE = ("graphql", "gql", "github", "requests", "responses", "werkzeug", "jinja2", "jwt")
"""Third-party packages that the tests load: imported once, before anything is forked."""


def main() -> int:
    """Run them; 1 if too few were killed, or if the ledger is too long or out of date."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--n", type=int, default=200, help="how many mutants; 0 for all")
    parser.add_argument("--seed", type=int, default=None, help="which ones; by chance if not given")
    parser.add_argument(
        "--modules", default="", help="of these modules alone, as in claim.decisions.*"
    )
    asked = parser.parse_args()
    modules = named((*PURE, *ALSO_MUTATED))
    if asked.modules:
        modules = named(tuple(asked.modules.replace(",", " ").split()))
    for name in IMPORTED_BEFORE:
        import_module(name)
    seed = secrets.randbelow(10**6) if asked.seed is None else asked.seed
    project = Project(ROOT, "lifecycle", FOLDERS, processes=frozenset({"forked"}))
    return run(project, modules, ROOT / "tests/mutants/ledger.toml", count=asked.n, seed=seed)


if __name__ == "__main__":
    sys.exit(main())
