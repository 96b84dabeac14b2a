"""The simulated `bd`: reads its command line, does it, prints as its build does; or misbehaves as told.

It is started once for each command, so it imports little, and nothing of the product.
"""

# ruff: noqa: PTH109, PTH110, PTH116, PTH118, PTH120, PTH123 -- see database.py
from __future__ import annotations

import os
import sys

from tests.trackers.beads.program import flags
from tests.trackers.beads.program.answers import Build, Refusal
from tests.trackers.beads.program.call import Call
from tests.trackers.beads.program.commands import RUN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

RECORDED = os.path.join(os.path.dirname(os.path.dirname(__file__)), "recorded")
AS_RECORDED = (
    "where --json",
    "info --json",
    "export",
    "sync --json",
    "dolt push --json",
    "show --json",
)
"""Commands whose answers say nothing about issues that anybody asks for."""


def main(name: str, folder: str) -> NoReturn:
    """Run as the build of this name; `folder` holds calls.jsonl and faults.json."""
    arguments = sys.argv[1:]
    fault = _fault(folder, arguments)
    _note(folder, arguments)
    if fault == "die-half":
        arguments = [word for word in arguments if not word.startswith("--labels")]
    code, out, err = _before(fault) or answer(Build(name), arguments, dict(os.environ))
    _after(fault)
    if fault == "garbage":
        out = '[{"id": "demo-'
    elif fault == "empty":
        out = err = ""
    elif fault == "noise":
        err = "Warning: a newer version is available\nnotice: auto-import skipped\n" + err
    sys.stdout.write(out)
    sys.stderr.write(err)
    sys.stdout.flush()
    sys.stderr.flush()
    # Nothing is left to tidy up, and the interpreter's own end takes its time.
    os._exit(code)


def answer(build: Build, arguments: list[str], environment: dict[str, str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of one command."""
    try:
        command, words, given = flags.parse(build.name, arguments)
    except flags.Unknown as unknown:
        return _unknown(build, arguments, unknown)
    if given.get("help"):
        return 0, flags.help_text(build.name, command), ""
    if command not in RUN or " ".join(arguments) in AS_RECORDED:
        return _recorded(build, arguments) or (1, "", f"Error: nothing recorded for {command}\n")
    call = Call(build, words, given, environment)
    try:
        found = RUN[command](call)
    except Refusal as refusal:
        error: dict[str, Any] = {"error": refusal.error} | (
            {"hint": refusal.hint} if refusal.hint else {}
        )
        error |= {"schema_version": 1} if build.is_dolt else {}
        return refusal.code, _text(error) if refusal.error else "", call.noise + refusal.stderr
    if found is None:
        return 0, call.plain, call.noise
    if environment.get("BD_JSON_ENVELOPE") == "1" and build.is_dolt:
        found = {"data": found, "schema_version": 1}
    elif build.is_dolt and command == "create":
        found["schema_version"] = 1
    return 0, _text(found), call.noise


def _text(value: Any) -> str:
    return _json(value, "\n") + "\n"


def _json(value: Any, line: str) -> str:
    """JSON as Go indents it; json itself takes as long to import as Python to start."""
    inner = f"{line}  "
    if isinstance(value, dict):
        parts = [f"{_quoted(key)}: {_json(found, inner)}" for key, found in value.items()]
        return f"{{{inner}{f',{inner}'.join(parts)}{line}}}" if parts else "{}"
    if isinstance(value, list | tuple):
        parts = [_json(found, inner) for found in value]
        return f"[{inner}{f',{inner}'.join(parts)}{line}]" if parts else "[]"
    if isinstance(value, str):
        return _quoted(value)
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return str(value)


_ESCAPES = {number: f"\\u{number:04x}" for number in (*range(32), 0x3C, 0x3E, 0x26, 0x2028, 0x2029)}
_ESCAPES |= {
    ord("\\"): "\\\\",
    ord('"'): '\\"',
    ord("\n"): "\\n",
    ord("\t"): "\\t",
    ord("\r"): "\\r",
}


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _unknown(build: Build, arguments: list[str], unknown: flags.Unknown) -> tuple[int, str, str]:
    recorded = _recorded(build, arguments)
    if recorded:
        return recorded
    if not unknown.flag:
        if arguments[:1] == ["--help"]:
            return 0, flags.help_text(build.name, ""), ""
        text = f'Error: unknown command "{unknown.name}" for "bd"\nRun \'bd --help\' for usage.\n'
        return 1, "", text
    return (
        1,
        "",
        f"Error: unknown flag: {unknown.flag}\n{flags.help_text(build.name, unknown.name)}",
    )


def _recorded(build: Build, arguments: list[str]) -> tuple[int, str, str] | None:
    """The recorded answer to exactly these words."""
    import json

    path = os.path.join(RECORDED, f"{build.name}.jsonl")
    if not os.path.exists(path):
        path = os.path.join(RECORDED, "1.0.5.jsonl")
    with open(path, encoding="utf-8") as file:
        for line in file:
            step = json.loads(line)
            is_same = step["argv"][1:] == arguments
            is_usage = (
                "unknown flag: --claim" in step["stderr"] and step["argv"][1:2] == arguments[:1]
            )
            if is_same or (is_usage and "--claim" in arguments):
                return step["rc"], step["stdout"], step["stderr"]
    return None


def _note(folder: str, arguments: list[str]) -> None:
    """Write down that this was run, and with what around it."""
    keys = ("BEADS_ACTOR", "BD_ACTOR", "BD_NON_INTERACTIVE", "BEADS_NO_DAEMON", "BEADS_DIR")
    said = {
        "argv": arguments,
        "env": {key: os.environ[key] for key in keys if key in os.environ},
        "cwd": os.getcwd(),
        "leads": os.getpgrp() == os.getpid(),
        "stdin_is_null": os.fstat(0).st_rdev == os.stat(os.devnull).st_rdev,
    }
    with open(os.path.join(folder, "calls.jsonl"), "a", encoding="utf-8") as file:
        file.write(_json(said, " ") + "\n")


def _fault(folder: str, arguments: list[str]) -> str:
    """What goes wrong with this run; each entry of faults.json is used up by `times` runs."""
    path = os.path.join(folder, "faults.json")
    if not os.path.exists(path):
        return ""
    import json

    with open(path, encoding="utf-8") as file:
        faults = json.load(file)
    words = " ".join(arguments)
    for fault in faults:
        if fault["times"] and all(word in words for word in fault["on"].split()):
            fault["times"] -= 1
            with open(path, "w", encoding="utf-8") as file:
                json.dump(faults, file)
            return str(fault["do"])
    return ""


def _before(fault: str) -> tuple[int, str, str] | None:
    if fault in ("hang-before", "die-before"):
        _stop(fault)
    if fault == "gone":  # as 1.0.5 says it, which names no task
        return 1, _text({"error": "no issues found matching the provided IDs"}), ""
    if fault == "busy":
        return 1, "", "Error: database is locked (5) (SQLITE_BUSY)\n"
    return None


def _after(fault: str) -> None:
    # A child that lives on holds stdout and stderr open; it ends by itself, later than anybody waits.
    if fault in ("hang-after", "die-after", "die-half") or (fault == "hold-pipe" and not os.fork()):
        _stop(fault)


def _stop(fault: str) -> None:
    import signal

    if fault.startswith("die"):
        os.kill(os.getpid(), signal.SIGKILL)
    signal.alarm(60)
    signal.pause()
