"""Run a command and print what it took, as JSON: `python -I -S measured.py OUTPUT COMMAND …`.

A process of its own, and a small one: on Linux a new process counts what its maker used at its peak as its
own until it uses more (`signal->maxrss` in fs/exec.c), so whoever starts it must be smaller than it.
"""

from __future__ import annotations

import json
import os
import sys
import time

KILOBYTE = 1 if sys.platform == "darwin" else 1024
"""The unit of `ru_maxrss`; source: https://man7.org/linux/man-pages/man2/getrusage.2.html."""


def main(output: str, *command: str) -> int:
    """Run it with its stdout in a file; 0 whatever its own exit code is, which is printed."""
    file = (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    started = time.perf_counter()
    process = os.posix_spawn(command[0], command, os.environ, file_actions=[file])
    _, status, used = os.wait4(process, 0)
    took = {
        "seconds": time.perf_counter() - started,
        "cpu": used.ru_utime + used.ru_stime,
        "peak": used.ru_maxrss * KILOBYTE,
        "code": os.waitstatus_to_exitcode(status),
    }
    sys.stdout.write(json.dumps(took) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
