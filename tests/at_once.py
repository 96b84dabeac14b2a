"""Processes that do the same at the same moment: forks of one that has imported what they need."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

_FORKED = """
import os, sys
{imports}
gate, opened = os.pipe()
for number in range({count}):
    if not os.fork():
        os.close(opened)
        os.read(gate, 1)  # until all are there
        sys.stdout = open(1, "w", 65536, closefd=False)  # whatever PYTHONUNBUFFERED says: lines stay whole
{work}
        sys.stdout.flush()
        os._exit(0)
os.close(opened)
sys.exit(any([os.wait()[1] for _ in range({count})]))
"""


def at_once(count: int, imports: str, work: str, *words: str, **environment: str) -> list[str]:
    """The lines that so many processes printed, which have to end well.

    Args:
        count: how many.
        imports: what Python does once, before there are so many.
        work: what each of them does; `number` tells them apart.
        words: its `sys.argv`, from 1 on.
        environment: variables beside those of the tests.
    """
    work = textwrap.indent(textwrap.dedent(work), " " * 8)
    code = _FORKED.format(imports=textwrap.dedent(imports), count=count, work=work)
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode:
        raise ChildProcessError(done.stderr)
    return done.stdout.splitlines()
