"""Installs the runners into `.cache/runners`, at the versions that `requirements/runners` pins.

What Debian has is installed by apt-get, at Debian's version. What cannot be had here is told in one line.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
CACHE = ROOT / ".cache" / "runners"
PINS = ROOT / "requirements" / "runners"
GOTESTSUM = "gotest.tools/gotestsum@v1.13.0"
SBT = "1.10.7"
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"


class Lacking(Exception):
    """What a runner needs is not here, and cannot be installed: one sentence says why."""


@dataclass(frozen=True)
class Install:
    """How what a runner needs comes here.

    Attributes:
        make: installs it; raises Lacking.
        pins: the files that say which version, from requirements/runners; a change installs anew.
    """

    make: Callable[[], None]
    pins: tuple[str, ...] = ()


def path_of_programs() -> str:
    """PATH with what was installed for the runners first."""
    npm = CACHE / "npm" / "node_modules"
    first = (
        CACHE / "python" / "bin",
        npm / ".bin",
        npm / "@oven" / "bun-linux-x64" / "bin",
        npm / "@deno" / "linux-x64-glibc",
        CACHE / "go",
        CACHE / "sbt",
    )
    return os.pathsep.join([*map(str, first), os.environ["PATH"]])


def _demand(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise Lacking(f"{program} is not installed")
    return path


def _quietly(*argv: str, cwd: Path | None = None, **more: str) -> None:
    """Run an installer; what it prints is shown only where it fails."""
    ended = subprocess.run(
        argv, cwd=cwd, env={**os.environ, **more}, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        last = (ended.stderr or ended.stdout).strip().splitlines()[-15:]
        raise Lacking(f"`{' '.join(argv[:3])} ...` failed: " + "\n".join(last))


def _python() -> None:
    folder = CACHE / "python"
    _quietly(sys.executable, "-m", "venv", "--clear", str(folder))
    pip = (str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--require-hashes")
    _quietly(*pip, "--disable-pip-version-check", "-r", str(PINS / "python.txt"))


def _npm() -> None:
    npm = _demand("npm")
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise Lacking("the programs that are pinned from npm are for Linux on x86-64")
    folder = CACHE / "npm"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PINS / name, folder / name)
    # Not `npm ci`: it refuses a lock in which versions for other systems are left out.
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--silent")
    _quietly(npm, "install", "--prefix", str(folder), *quiet)


def _gotestsum() -> None:
    _quietly(_demand("go"), "install", GOTESTSUM, GOBIN=str(CACHE / "go"), GOFLAGS="")


def _sbt() -> None:
    """sbt's launcher, which fetches sbt itself; all that it fetches stays in the cache."""
    mvn, java, folder = _demand("mvn"), _demand("java"), CACHE / "sbt"
    folder.mkdir(parents=True, exist_ok=True)
    launcher = f"-Dartifact=org.scala-sbt:sbt-launch:{SBT}"
    _quietly(
        *(mvn, "-q", "-B", f"-Dmaven.repo.local={CACHE / 'm2'}", COPY, launcher),
        f"-DoutputDirectory={folder}",
    )
    repositories = folder / "repositories"
    repositories.write_text("[repositories]\n  local\n  maven-central\n", "ascii")
    options = {
        "boot.directory": folder / "boot",
        "coursier.home": folder / "coursier",
        "global.base": folder / "global",
        "ivy.home": folder / "ivy",
        "override.build.repos": "true",
        "repository.config": repositories,
        "server.autostart": "false",
    }
    words = [f"-Dsbt.{name}={value}" for name, value in options.items()]
    program = folder / "sbt"
    jar = folder / f"sbt-launch-{SBT}.jar"
    line = shlex.join([java, "-Xmx1g", *words, "-jar", str(jar)])
    program.write_text(f'#!/bin/sh\nexec {line} "$@"\n', "utf-8")
    program.chmod(0o755)


def _debian(*packages: str) -> Callable[[], None]:
    """Installs packages of Debian, where one of the programs is lacking."""

    def make() -> None:
        apt = _demand("apt-get")
        if os.geteuid() != 0:
            apt = f"{_demand('sudo')} {apt}"
        _quietly(*apt.split(), "update", "-qq")
        _quietly(*apt.split(), "install", "-qq", "--yes", "--no-install-recommends", *packages)

    return make


def _program(name: str, *packages: str) -> Install:
    """A program that is on PATH, or comes with Debian's packages."""

    def make() -> None:
        if shutil.which(name) is not None:
            return
        if not packages:
            raise Lacking(f"{name} is not installed")
        _debian(*packages)()

    return Install(make)


INSTALLS: dict[str, Install] = {
    "python": Install(_python, ("python.txt",)),
    "npm": Install(_npm, ("package.json", "package-lock.json")),
    "gotestsum": Install(_gotestsum),
    "sbt": Install(_sbt),
    "go": _program("go"),
    "cargo": _program("cargo"),
    "make": _program("make"),
    "maven": _program("mvn", "maven", "default-jdk-headless"),
    "gradle": _program("gradle", "gradle", "default-jdk-headless"),
    "bazel": _program("bazel", "bazel-bootstrap", "bazel-rules-java"),
    "rspec": _program("rspec", "ruby-rspec"),
    "bats": _program("bats", "bats"),
    "prove": _program("prove", "perl"),
    "minitest": _program("rake", "ruby-minitest", "rake"),
    "phpunit": _program("phpunit", "phpunit"),
    "ctest": _program("ctest", "cmake", "g++"),
    "mix": _program("mix", "elixir"),
}
"""By what `needs` names, how it comes here."""

PINNED = frozenset({"python", "npm", "gotestsum", "sbt", "go", "cargo", "make"})
"""Installed at a version that is pinned here, or a toolchain that prints the same for years."""


@functools.cache
def installed(name: str) -> None:
    """Have what a runner needs, installed anew where its pins changed; raises Lacking."""
    install = INSTALLS[name]
    pins = b"".join((PINS / pin).read_bytes() for pin in install.pins)
    stamp = CACHE / f"{name}.stamp"
    mark = hashlib.sha256(pins).hexdigest()
    if install.pins and stamp.exists() and stamp.read_text("ascii") == mark:
        return
    own = {"gotestsum": CACHE / "go" / name, "sbt": CACHE / "sbt" / f"sbt-launch-{SBT}.jar"}
    if name in own and own[name].exists():
        return
    install.make()
    CACHE.mkdir(parents=True, exist_ok=True)
    stamp.write_text(mark, "ascii")
