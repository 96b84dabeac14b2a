"""The entry point of `lifecycle` and `python -m lifecycle`.

Hooks go straight to `wake.py`: they run after every response and import no CLI library. A stop, a waiter, a
session's start and a compaction go to their quick paths first, which import less still.
"""

from __future__ import annotations

import gc
import os
import signal
import sys

_HOME = __file__.rpartition("/lifecycle/")[0]
"""The folder of the package; found without a module of the standard library, see the end of the file."""


def command() -> None:
    """Run the command line and end the process with its exit code; a hook's process without cleaning up."""
    # Whoever starts us may ignore it, and that is inherited: every program would seem to end with 0.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    code = main()
    if sys.argv[1:2] == ["hook"] and "click" not in sys.modules:
        # A hook writes to the descriptors, so that no buffer is lost. To take its modules apart would be a
        # tenth of its time.
        os._exit(code)
    gc.freeze()  # all goes with the process: to search it first takes as long as a short command's work
    sys.exit(code)


def main() -> int:
    """Run the command line and return the exit code."""
    try:
        return _run()
    except KeyboardInterrupt:  # before any command could handle it: in the middle of an import
        sys.stderr.write("Interrupted; what was done so far is kept.\n")
        return 130


def _run() -> int:
    """Run what the arguments name, with as few imports as that needs; returns the exit code."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["hook"] and arguments[1:] != ["ci-waiter"]:
        gc.disable()  # a hook ends before anything is worth collecting; searching takes a twentieth of it
    if arguments == ["hook", "on-stop"]:
        from lifecycle.hooks import quick_stop

        return _answered("on-stop", quick_stop.run())
    if arguments == ["hook", "ci-waiter"]:
        from lifecycle.hooks import quick_wait

        return _answered("ci-waiter", quick_wait.run())
    if arguments in (["hook", "session-start"], ["hook", "pre-compact"]):
        from lifecycle.hooks import quick_recovery

        return _answered(arguments[1], quick_recovery.run(arguments[1]))
    if arguments == ["hook", "on-idle"]:
        from lifecycle.hooks import quick_idle

        quick_idle.begin()
    if arguments[:1] == ["hook"] and len(arguments) == 2:
        from lifecycle.core.plan import REPLIES

        if arguments[1] in REPLIES:
            return _answered(arguments[1])
    if arguments in (["status"], ["status", "--json"]):
        from lifecycle.cli.views import quick_status

        return quick_status.run(as_json=len(arguments) == 2)
    if arguments[:1] == ["reconcile"]:
        gc.set_threshold(100_000)  # few cycles; to look for them took a tenth of a sweep
    from lifecycle.cli.main import run as run_cli

    return run_cli(arguments)


def _answered(hook: str, outcome: object = None) -> int:
    """The exit code with which a quick path settled a hook; else that of `wake`, with the event it read."""
    if isinstance(outcome, int):
        return outcome
    from lifecycle.hooks.wake import run

    return run(hook, outcome if isinstance(outcome, dict) else None)


if __name__ == "__main__":
    # `python -m` puts the current folder first on the path, and a hook's current folder is somebody's
    # project: a file called queue.py there must not become our standard library.
    if not sys.flags.safe_path and sys.path and sys.path[0] != _HOME:
        del sys.path[0]
    command()
