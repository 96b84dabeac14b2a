"""Runs a case in a folder of its own, as a process without a terminal, and takes down what it printed."""

from __future__ import annotations

import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.evidence.runners.installing import CACHE, ROOT, path_of_programs
from tests.evidence.runners.projects import Case

STARTED = "started"
"""The file that a test makes when it is time to stop its run."""

LIMIT_S = 300
"""After so long a case that does not end is a failure of this harness."""

_KEPT = ("JAVA_HOME", "SYSTEMROOT")
_SECONDS = re.compile(
    r"(?:(?<![\w.:-])|(?<=\\t))(\d+)(\.\d+)?(?=(?:\s|\x1b\[\d+m)?(?:ms|µs|us|ns|s|secs?|seconds?|msecs?|milliseconds?)\b)"
)
_LABELLED = re.compile(
    r"(duration_ms:? |Time: |Time elapsed: |elapsed\"?[:=]\s?\"?|time=\"|took )(\d+)(\.\d+)?(?![\d:])",
    re.IGNORECASE,
)
_PROPERTIES = re.compile(r"^[ \t]*<properties>.*?</properties>\n", re.DOTALL | re.MULTILINE)
"""In a report: what the machine, its user and its virtual machine are like."""

_SHAPED = (
    (
        re.compile(r"\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:?\d\d)?"),
        r"2026-01-01\g<1>00:00:00\g<3>",
    ),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "00:00:01"),
    (re.compile(r"\b\d\d:\d\d\.\d{3}\b"), "00:00.001"),
    (re.compile(r"\b\d+\.\d\d MB\b"), "4.00 MB"),
    (re.compile(r"0x[0-9a-f]{6,}"), "0x1"),
    (re.compile(r"(?<=-)[0-9a-f]{16}\b"), "0123456789abcdef"),
    (re.compile(r"(?<=thread ')([^'\n]+)' \(\d+\)"), r"\1' (1)"),
    (re.compile(r"\b(transform|import|worker|tests|setup|environment) \d+%"), r"\1 10%"),
    (
        re.compile(r"\(\d+\.\d+=setup\[\d+\.\d+\]\+cmd\[\d+\.\d+\] seconds\)"),
        "(0.02=setup[0.01]+cmd[0.01] seconds)",
    ),
    (re.compile(r"\bpid=\d+"), "pid=1"),
    (
        re.compile(r"\b[A-Z][a-z]{2} \d\d?, \d{4}, \d\d?:\d\d:\d\d\s[AP]M\b"),
        "Jan 1, 2026, 1:00:00 AM",
    ),
    (re.compile(r"\b_bazel_\w+/[0-9a-f]{32}\b"), "_bazel_user/0123456789abcdef"),
    (
        re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"),
        "00000000-0000-4000-8000-000000000001",
    ),
    (re.compile(r"(seed[: ]+|seed=)\d+"), r"\g<1>1"),
    (re.compile(r"hostname=\"[^\"]*\""), 'hostname="host"'),
)


@dataclass(frozen=True)
class Ended:
    """How a case's command ended.

    Attributes:
        status: its exit status; of one that a signal ended 128 and the signal's number, as a shell says it.
        output: stdout and stderr as one text, without what is only this machine's.
        junit: the JUnit XML that it wrote, or None.
    """

    status: int
    output: str
    junit: str | None


def _constant(match: re.Match[str]) -> str:
    """The same form of a number, but always the same digits."""
    *label, _, fraction = match.groups()
    digits = "0." + "0" * (len(fraction) - 2) + "1" if fraction else "1"
    return "".join(label) + digits


def normalised(text: str, folders: dict[str, str]) -> str:
    """A text without this machine's paths, its user, and how long things took.

    Args:
        text: what a command printed.
        folders: by path, the word that stands for it.
    """
    for path, word in folders.items():
        text = text.replace(path, word)
    for pattern, instead in _SHAPED:
        text = pattern.sub(instead, text)
    return _LABELLED.sub(_constant, _SECONDS.sub(_constant, text))


@functools.cache
def _go_root() -> dict[str, str]:
    """Where Go's own sources lie, if Go is here."""
    if shutil.which("go") is None:
        return {}
    told = subprocess.run(["go", "env", "GOROOT"], capture_output=True, text=True, check=True)
    return {told.stdout.strip(): "<go>"}


@contextmanager
def _place(case: Case) -> Iterator[tuple[Path, dict[str, str]]]:
    """A case's project in a new folder, with what npm installed beside it, and a run's variables."""
    with tempfile.TemporaryDirectory(prefix="run-", ignore_cleanup_errors=True) as made:
        top = Path(made).resolve()
        root = top / "ex"
        root.mkdir()
        (top / "node_modules").symlink_to(CACHE / "npm" / "node_modules")
        for path, text in case.files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            if text.startswith("#!"):
                file.chmod(0o755)
        home = top / "home"
        home.mkdir()
        user = Path.home()
        env = {
            "PATH": path_of_programs(),
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "CARGO_HOME": os.environ.get("CARGO_HOME", str(user / ".cargo")),
            "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(user / ".rustup")),
            "GOCACHE": str(CACHE / "gocache"),
            "GOPATH": str(CACHE / "gopath"),
            "GRADLE_USER_HOME": str(CACHE / "gradle"),
            "MAVEN_OPTS": f"-Dmaven.repo.local={CACHE / 'm2'}",
            **{name: os.environ[name] for name in _KEPT if name in os.environ},
            **case.env,
        }
        yield root, env


def _signalled(process: subprocess.Popen[bytes], root: Path, name: str) -> None:
    """Send a signal to the whole group once a test has said that it runs."""
    until = time.monotonic() + LIMIT_S
    while not (root / STARTED).exists():
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"{process.args!r}: no test made the file {STARTED!r}")
        time.sleep(0.05)
    time.sleep(0.3)  # what it has printed so far is on its way
    os.killpg(process.pid, signal.Signals[f"SIG{name}"])


def run(case: Case) -> Ended:
    """Run a case's command, and say how it ended."""
    with _place(case) as (root, env):
        for argv in case.before:
            made = subprocess.run(
                argv,
                cwd=root,
                env=env,
                capture_output=True,
                text=True,
                timeout=LIMIT_S,
                check=False,
            )
            if made.returncode:
                raise RuntimeError(f"{argv} failed:\n{made.stdout}{made.stderr}")
        (root / STARTED).unlink(missing_ok=True)
        program = shutil.which(case.argv[0], path=f"{root}:{env['PATH']}")
        if program is None:
            raise FileNotFoundError(case.argv[0])
        with tempfile.TemporaryFile() as printed:
            process = subprocess.Popen(
                case.argv,
                cwd=root,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                start_new_session=True,
            )
            if case.stop is not None:
                _signalled(process, root, case.stop)
            try:
                status = process.wait(LIMIT_S)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
            printed.seek(0)
            output = printed.read().decode("utf-8", "replace")
        report = root / case.junit if case.junit else None
        folders = {
            f"{sys.base_prefix}/lib/": "<python>/lib/",
            **_go_root(),
            str(root): "<root>",
            str(root.parent / "home"): "<home>",
            str(root.parent): "<top>",
            str(CACHE): "<runners>",
            str(ROOT): "<repository>",
            str(Path.home()): "<home>",
        }
        return Ended(
            status=status if status >= 0 else 128 - status,
            output=normalised(output, folders),
            junit=normalised(_PROPERTIES.sub("", report.read_text("utf-8")), folders)
            if report and report.exists()
            else None,
        )
