"""Turns what a command returns or raises into an exit code and a sentence.

Exit codes: 0 done; 1 refused, rejected or not reachable now; 2 a usage error; 3 a defect of ours, with
the log's path; 4 held by another; 130 interrupted. Those of `wait` are in `feedback/waiting/endings.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from lifecycle.cli.terminal import CleanStream, json_text, say
from lifecycle.core.errors import HeldByAnother, LifecycleError
from lifecycle.core.redact import visible
from lifecycle.core.timing import DeadlineReached
from lifecycle.storage import log, regular_files, store


def answered(work: Callable[[], object], *, as_json: bool) -> int:
    """Do a command's work and return the exit code; no traceback ever reaches a person.

    Args:
        work: returns the exit code, or anything else for 0.
        as_json: print an error as a JSON object.
    """
    try:
        result = work()
        if sys.stdout is not None:  # None: it was closed before we were started
            sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except (KeyboardInterrupt, DeadlineReached) as stop:
        return stopped(stop, as_json=as_json)
    except LifecycleError as error:
        tell(error.sentence, type(error).__name__, as_json=as_json)
        return 4 if isinstance(error, HeldByAnother) else 1
    except BrokenPipeError:
        sys.stdout = None  # nobody reads: nothing is flushed at exit
        return 1
    except OSError as error:
        tell(_unwritable(error), type(error).__name__, as_json=as_json)
        return 1
    except Exception as error:  # noqa: BLE001 -- the one place that turns a defect into a sentence
        tell(_defect(error), "Defect", as_json=as_json)
        return 3


def stopped(stop: BaseException, *, as_json: bool) -> int:
    """Print why the command ended early (its time was up, or Ctrl-C); returns the exit code.

    An interrupted command may add words as arguments of the exception, which click keeps as its cause.
    """
    if isinstance(stop, DeadlineReached):
        from lifecycle.cli.command_session import TOO_LATE

        tell(TOO_LATE, "Transient", as_json=as_json)
        return 1
    errors = (stop, stop.__cause__)
    words = [str(word) for error in errors if error is not None for word in error.args]
    say(" ".join(["Interrupted; what was done so far is kept.", *words]).rstrip(), sys.stderr)
    return 130


def tell(sentence: str, kind: str, *, as_json: bool) -> None:
    """Print what went wrong: on standard error, or with `as_json` as an object on standard output."""
    if as_json and sys.stdout is not None:
        try:
            say(json_text({"error": {"kind": kind, "sentence": sentence}}))
        except OSError:
            sys.stdout = None  # it accepts nothing: the sentence goes where a person can read it
        else:
            return
    say(f"lifecycle: {visible(sentence)}", sys.stderr)


def _unwritable(error: OSError) -> str:
    if isinstance(error, regular_files.StrangeFileError):
        return error.sentence
    # Nothing but the current folder has no name.
    if isinstance(error, FileNotFoundError) and not error.filename:
        return "The current folder no longer exists, so nothing was done; go to another one."
    where = error.filename or ("standard output" if _is_of_output(error) else "writing a file")
    return f"{where}: {error.strerror or error}; what was done until then is kept. Fix that and try again."


def _is_of_output(error: OSError) -> bool:
    """True if standard output did not accept what was printed; it is then given up."""
    from traceback import walk_tb

    # Without a buffer, or if the text is larger than it, nothing is left that a flush would try again.
    frames = walk_tb(error.__traceback__)
    is_printed = any(frame.f_code is CleanStream.write.__code__ for frame, _ in frames)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        is_printed = True
    if is_printed:
        sys.stdout = None  # else it is tried again at exit, with a traceback
    return is_printed


def _defect(error: Exception) -> str:
    """The sentence on an unexpected exception; its traceback is written to the worktree's log."""
    import traceback

    # The error and its origin first: a log line has a limited length.
    trace = " | ".join(reversed(traceback.format_exception(error)))
    above = (Path.cwd(), *Path.cwd().parents)
    root = next((folder for folder in above if (folder / store.FOLDER).is_dir()), None)
    kind = type(error).__name__
    if root is None:
        return f"An unexpected error: {kind}: {error}. Please report it."
    log.write(root, trace)
    where = root / store.FOLDER / log.LOG
    return f"An unexpected error ({kind}); please report it with the end of {where}."
