"""What a hook that asks GitHub imports beyond one that does not, and what Python's own modules take."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from tests.bench.timing import Probe

BARE = "python3 -c pass"
IMPORTS = "the same, import json, http.client, ssl"
HOOK = "the same, import a stop's modules"
TALKS = "the same, and those that ask GitHub"

MOST_IMPORTS = 1.3
"""What a hook needs to ask GitHub takes at most so much of those three modules."""

MOST_STARTS = 11.0
"""A stop whose claim is looked at, with nothing to do, takes at most so many bare starts of Python, on a
busy machine as well; it took 18 before its values were made light."""

_STOP = "import lifecycle.hooks.wake, lifecycle.hooks.answers.on_stop"
_CLIENT = "lifecycle.github.client."
_ASKS = ", ".join(_CLIENT + name for name in ("graph", "rest", "plain_line"))


def start_probes(seen: Mapping[str, str]) -> list[Probe]:
    """Python alone, with the three modules, with what a stop imports, and with what asks GitHub besides.

    Args:
        seen: the environment of the timed processes.
    """
    codes = {
        BARE: "pass",
        IMPORTS: "import json, http.client, ssl",
        HOOK: _STOP,
        TALKS: f"{_STOP}, {_ASKS}",
    }
    return [Probe(name, (sys.executable, "-c", code), seen) for name, code in codes.items()]


def judge_starts(quiet: Mapping[str, float], python: str, looked: str) -> list[str]:
    """What is too slow, in words; empty if all is well.

    Args:
        quiet: the median seconds of every probe.
        python: the probe of Python's bare start.
        looked: the probe of a stop that was looked at, with nothing to do.
    """
    added = (quiet[TALKS] - quiet[HOOK]) / (quiet[IMPORTS] - quiet[BARE])
    starts = quiet[looked] / quiet[python]
    faults = []
    if added > MOST_IMPORTS:
        faults.append(f"what asks GitHub takes {added:.2f} of json, http.client and ssl")
    if starts > MOST_STARTS:
        faults.append(f"{looked} takes {starts:.1f} of {python}")
    return faults
