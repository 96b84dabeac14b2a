"""`python -m lifecycle.trackers.conformance package.module:function`: the suite, as a table.

Exit code 0 if no check failed, 1 if one did, 2 if the function cannot be imported or opens no ground.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

from lifecycle.core.redact import short, shown
from lifecycle.trackers.conformance.case import Factory
from lifecycle.trackers.conformance.suite import CHECKS, CheckOutcome, run

_USAGE = "Usage: python -m lifecycle.trackers.conformance package.module:function"


def main(arguments: Sequence[str]) -> int:
    """Run the suite on the ground that the one argument names, and print the results."""
    named, count = " ".join(arguments), Counter[CheckOutcome]()
    module, _, name = named.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    with ExitStack() as opened:
        try:
            factory: Factory = getattr(import_module(module), name)
            ground = opened.enter_context(factory())
        except Exception as error:  # noqa: BLE001 -- it is somebody's own: a crash would be a failed check
            why = f"{type(error).__name__}: {error}"
            refusal = f'Nothing was run: "{named}" opens no ground ({why}). {_USAGE}'
            sys.stderr.write(f"{shown(' '.join(refusal.split()))}\n")
            return 2
        width = max(len(check.__name__) for check in CHECKS)
        for result in run(ground):
            count[result.outcome] += 1
            words = short(" ".join(result.words.split()), 600)
            more = f"    {words}\n" if words else ""
            sys.stdout.write(f"{result.check:<{width}}  {result.outcome}\n{more}")
            sys.stdout.flush()
    counts = ", ".join(f"{count[outcome]} {outcome}" for outcome in CheckOutcome)
    sys.stdout.write(f"\n{count.total()} checks: {counts}\n")
    return 1 if count[CheckOutcome.FAILED] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
