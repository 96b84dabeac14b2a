"""A GitHub to ask questions of: the embedded one, or a real repository that somebody named for it.

Whatever is made there has a name that begins with `lifecycle-live-`, and is taken away again.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import subprocess
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import requests

from tests.conformance.exchange import Exchange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PREFIX = "lifecycle-live-"
SECONDS = 20
PATIENCE = 15
"""How often a real GitHub is asked again for what it said it has done."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a GitHub is, what repository may be worked in, and how to get in."""

    api_url: str
    graphql_url: str
    git_url: str
    repository: str
    token: str
    is_live: bool
    project: tuple[str, int] | None = None


@dataclass(slots=True)
class Hub:
    """One repository, asked over REST, GraphQL and git.

    Attributes:
        bin: What takes away again what was made, to be run from the last to the first.
        exchanges: Every exchange over HTTP, for the oracles.
        answers: Questions and what this GitHub answered, for the table.
    """

    place: Place
    folder: Path
    bin: list[Callable[[], Any]] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)
    session: requests.Session = field(default_factory=requests.Session)
    serial: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    run: str = field(default_factory=lambda: secrets.token_hex(4))

    def name(self, what: str) -> str:
        """A name that is recognised as ours, and that nothing else has."""
        return f"{PREFIX}{self.run}-{what}-{next(self.serial)}"

    def rest(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: dict[str, str] | None = None,
        follow: bool = False,
    ) -> requests.Response:
        """Ask over REST; a path without a slash is below the repository."""
        if not path.startswith("/"):
            path = f"/repos/{self.place.repository}/{path}".rstrip("/")
        return self._asked(
            method, f"{self.place.api_url}{path}", body, headers or {}, follow=follow
        )

    def made(self, path: str, body: Any, undo: str | None = None) -> dict[str, Any]:
        """POST what must be made; `undo` is a path with the fields of the answer, to be deleted."""
        answer = self.rest("POST", path, body)
        assert answer.status_code == 201, (path, answer.status_code, answer.text)
        thing: dict[str, Any] = answer.json()
        if undo:
            self.bin.append(lambda: self.rest("DELETE", undo.format(**thing)))
        return thing

    def issue(self, **more: Any) -> dict[str, Any]:
        """A new issue of ours, which is closed in the end: REST cannot delete one."""
        made = self.made("issues", {"title": self.name("issue"), **more})
        path, close = f"issues/{made['number']}", {"state": "closed", "state_reason": "not_planned"}
        self.bin.append(lambda: self.rest("PATCH", path, close))
        return made

    def graph(self, document: str, **variables: Any) -> dict[str, Any]:
        """Ask over GraphQL: the whole answer, with its errors."""
        sent = {"query": document, "variables": variables}
        answer = self._asked("POST", self.place.graphql_url, sent, {}, follow=False)
        assert answer.status_code == 200, answer.text
        whole: dict[str, Any] = answer.json()
        return whole

    def _asked(
        self, method: str, url: str, body: Any, headers: dict[str, str], *, follow: bool
    ) -> requests.Response:
        sent = {
            "Authorization": f"Bearer {self.place.token}",
            "Accept": "application/vnd.github+json",
            **headers,
        }
        answer = self.session.request(
            method, url, json=body, headers=sent, timeout=SECONDS, allow_redirects=follow
        )
        base = self.place.api_url if url.startswith(self.place.api_url) else self.place.graphql_url
        path, _, query = url.removeprefix(base).partition("?")
        is_graph = url == self.place.graphql_url
        self.exchanges.append(
            Exchange(
                method=method,
                path="/graphql" if is_graph else path,
                query=query,
                status=answer.status_code,
                asked={name.lower(): value for name, value in headers.items()},
                sent=body,
                headers={name.lower(): value for name, value in answer.headers.items()},
                text=answer.text,
            )
        )
        return answer

    def git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run git in the clone; what it says is never shown, since its URL holds the token."""
        environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        identity = {f"GIT_{who}_{what}": "lifecycle-live@example.com"
                    for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}  # fmt: skip
        quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
                 "GIT_TERMINAL_PROMPT": "0", "NO_PROXY": "127.0.0.1"}  # fmt: skip
        return subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=environment | identity | quiet,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    def clone(self) -> str:
        """Clone what is needed for new commits; the sha of the default branch."""
        if not (self.folder / ".git").exists():
            done = self.git("clone", "--quiet", "--depth", "1", self.place.git_url, ".")
            assert done.returncode == 0, "git could not clone the repository"
        return self.git("rev-parse", "HEAD").stdout.strip()

    def commit(self, words: str) -> str:
        """A new commit on top of the default branch, of one file of ours; its sha."""
        base = self.clone()
        (self.folder / f"{PREFIX}{self.run}.txt").write_text(f"{words}\n", encoding="utf-8")
        assert self.git("add", "--all").returncode == 0
        assert self.git("commit", "--quiet", "-m", f"{PREFIX}{words}").returncode == 0
        sha = self.git("rev-parse", "HEAD").stdout.strip()
        assert self.git("reset", "--quiet", "--hard", base).returncode == 0
        return sha

    def branch(self) -> tuple[str, str]:
        """A pushed branch with one commit on top of the default branch: its name and sha."""
        name = self.name("branch")
        sha = self.commit(name)
        assert self.git("push", "--quiet", "origin", f"{sha}:refs/heads/{name}").returncode == 0
        self.bin.append(lambda: self.rest("DELETE", f"git/refs/heads/{name}"))
        return name, sha

    def until(self, read: Callable[[], Any], is_right: Callable[[Any], object]) -> Any:
        """Read until it is right. A real GitHub says what it has done somewhat later."""
        for _ in range(PATIENCE if self.place.is_live else 2):
            found = read()
            if is_right(found):
                return found
            if self.place.is_live:
                time.sleep(1)  # against a real GitHub only: nothing tells when it has settled
        raise AssertionError(f"GitHub still says {found}")

    def sweep(self) -> None:
        """Take away what this run made, and the refs and labels that an earlier one left behind."""
        for undo in reversed(self.bin):
            with contextlib.suppress(requests.RequestException):
                undo()
        self.bin.clear()
        for space in (f"heads/{PREFIX}", "agent-claims/"):
            found = self.rest("GET", f"git/matching-refs/{space}")
            for ref in found.json() if found.status_code == 200 else ():
                if PREFIX in ref["ref"]:
                    self.rest("DELETE", f"git/{ref['ref']}")

    def say(self, question: str, answer: str) -> None:
        """Keep an answer for the table."""
        self.answers[question] = answer
