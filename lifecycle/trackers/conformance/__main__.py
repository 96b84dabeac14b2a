"""`python -m lifecycle.trackers.conformance package.module:function`: the suite, as a table.

Exit code 0 if no check failed, 1 if one did, 2 if the function cannot be imported or opens no ground.
"""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

from lifecycle.core.redact import shown
from lifecycle.trackers.conformance.case import Factory
from lifecycle.trackers.conformance.suite import CHECKS, CheckOutcome, Result, run

_WIDTH = 100
_USAGE = "Usage: python -m lifecycle.trackers.conformance package.module:function"


def main(arguments: Sequence[str]) -> int:
    """Run the suite on the ground that the one argument names, and print the results."""
    if len(arguments) != 1 or ":" not in arguments[0]:
        return _refuse(f"Nothing was run: one function has to be named. {_USAGE}")
    module, _, name = arguments[0].partition(":")
    sys.path.insert(0, str(Path.cwd()))
    results = []
    with ExitStack() as opened:
        try:
            factory: Factory = getattr(import_module(module), name)
            ground = opened.enter_context(factory())
        except Exception as error:  # noqa: BLE001 -- it is somebody's own: a crash would be a failed check
            why = f"{arguments[0]} opens no ground ({type(error).__name__}: {error})"
            return _refuse(f"Nothing was run: {why}. {_USAGE}")
        for result in run(ground):
            results.append(result)
            sys.stdout.write(_row(result))
            sys.stdout.flush()
    count = Counter(result.outcome for result in results)
    counts = ", ".join(f"{count[outcome]} {outcome}" for outcome in CheckOutcome)
    sys.stdout.write(f"\n{len(results)} checks: {counts}\n")
    return 1 if count[CheckOutcome.FAILED] else 0


def _row(result: Result) -> str:
    words = textwrap.shorten(" ".join(result.words.split()), 600)
    more = textwrap.indent(textwrap.fill(words, _WIDTH - 4), "    ") + "\n" if words else ""
    width = max(len(check.__name__) for check in CHECKS)
    return f"{result.check:<{width}}  {result.outcome}\n{more}"


def _refuse(sentence: str) -> int:
    sys.stderr.write(f"{shown(' '.join(sentence.split()))}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
