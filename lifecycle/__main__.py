"""`lifecycle` and `python -m lifecycle`.

Hooks go straight to `wake.py`: they run after every response and import no CLI library. A stop that the
staged workflow sees, a session's start and a compaction go to their quick paths first, which import less.
"""

from __future__ import annotations

import gc
import os
import sys

_HOME = __file__.rpartition("/lifecycle/")[0]
"""The folder that the package lies in; told without a module of the standard library, see below."""


def command() -> None:
    """Run the command line and end the process with its exit code; a hook's ends where it is."""
    code = main()
    if sys.argv[1:2] == ["hook"] and "click" not in sys.modules:
        # A hook writes to the descriptors. To take its modules apart would be a tenth of its time.
        os._exit(code)
    sys.exit(code)


def main() -> int:
    """Run the command line and return the exit code."""
    try:
        return _run()
    except KeyboardInterrupt:  # so early that nobody below could answer: in the middle of an import
        sys.stderr.write("Interrupted; what was done so far is kept.\n")
        return 130


def _run() -> int:
    arguments = sys.argv[1:]
    if arguments[:1] == ["hook"] and arguments[1:] != ["ci-waiter"]:
        gc.disable()  # it ends before anything is worth collecting, and looking takes a twentieth of it
    if arguments == ["hook", "on-stop"]:
        return _stop()
    if arguments == ["hook", "ci-waiter"]:
        return _waiter()
    if arguments in (["hook", "session-start"], ["hook", "pre-compact"]):
        return _recovery(arguments[1])
    if arguments[:1] == ["hook"] and len(arguments) == 2:
        from lifecycle.core.plan import REPLIES

        if arguments[1] in REPLIES:
            from lifecycle.hooks.wake import run

            return run(arguments[1])
    if arguments in (["status"], ["status", "--json"]):
        from lifecycle.cli.views import quick_status

        return quick_status.run(as_json=len(arguments) == 2)
    from lifecycle.cli.main import run as run_cli

    return run_cli(arguments)


def _stop() -> int:
    """A stop: most often the staged workflow alone has something to look at, and nothing to say."""
    from lifecycle.hooks import quick_stop

    seen = quick_stop.run()
    if seen == quick_stop.SETTLED:
        return 0
    from lifecycle.hooks.wake import run

    return run("on-stop", seen if isinstance(seen, dict) else None)


def _waiter() -> int:
    """A waiter: where nothing happens for minutes it goes on with little."""
    from lifecycle.hooks import quick_wait

    seen = quick_wait.run()
    if not isinstance(seen, dict):
        return seen
    from lifecycle.hooks.wake import run

    return run("ci-waiter", seen)


def _recovery(hook: str) -> int:
    """A start or a compaction: what is told of a workflow was prepared when it was last changed."""
    from lifecycle.hooks import quick_recovery

    seen = quick_recovery.run(hook)
    if seen == 0:
        return 0
    from lifecycle.hooks.wake import run

    return run(hook, seen if isinstance(seen, dict) else None)


if __name__ == "__main__":
    # `python -m` puts the current folder first on the path, and a hook's current folder is somebody's
    # project: a file called queue.py there must not become our standard library.
    if not sys.flags.safe_path and sys.path and sys.path[0] != _HOME:
        del sys.path[0]
    command()
