"""The doctor as a whole: a healthy project, what is written, and what does not stop the rest."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest

from lifecycle.core import timing
from lifecycle.core.timing import SystemClock
from lifecycle.github.client import plain_line
from lifecycle.github.failures import Answer, AskedRequest, Failures
from lifecycle.sandbox.control.faults import Fault
from lifecycle.setup.doctor import examine_github, examined
from lifecycle.setup.doctor.examination import FAMILIES, examine
from lifecycle.setup.doctor.examined import Examined
from tests.cli.outcome import ok
from tests.setup.doctor.conftest import Patient

SOAKED = pytest.mark.soak(
    "setup/doctor/test_run.py::test_a_wired_project_is_healthy",
    "setup/doctor/test_table.py::test_every_row_is_said_somewhere",
)


def _tree(root: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of a folder but git's own, with its content and its time."""
    found = {}
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name != ".git"]
        for name in files:
            path = Path(folder, name)
            found[str(path)] = (path.read_bytes(), path.stat().st_mtime_ns)
    return found


def test_a_wired_project_is_healthy(patient: Patient) -> None:
    """After `lifecycle init`, every family finds that all is well, and nothing asks for a fix."""
    report = patient.report()
    assert report["ok"] is True
    assert [one for one in report["findings"] if one["level"] != "ok" or one["fix"]] == []
    groups = [one["name"].partition(".")[0] for one in report["findings"]]
    silent = ("waiter", "statusline", "session")  # neither is at work here
    assert list(dict.fromkeys(groups)) == [name for name, *_ in FAMILIES if name not in silent]


def test_nothing_is_written_to_github_or_the_project(patient: Patient) -> None:
    """GitHub sees GET and queries only, git's server nothing, and no file of the project changes."""
    before, refs = _tree(patient.root), patient.place.git("for-each-ref")
    patient.place.control.clear_requests()
    patient.report()
    asked = [(one.method, one.kind, one.operation) for one in patient.place.control.requests()]
    assert {(method, kind) for method, kind, _ in asked} == {("GET", "rest"), ("POST", "graphql")}
    assert {name for _, kind, name in asked if kind == "graphql"} == {"DiscoverBoard"}
    assert (_tree(patient.root), patient.place.git("for-each-ref")) == (before, refs)
    assert not list((patient.root / ".git").glob("lifecycle-*"))


@SOAKED
def test_a_claim_at_work_is_healthy(patient: Patient) -> None:
    """With a claim the list says which task, in which phase, on which branch."""
    ok(patient.place.cli("claim", "42"))
    found = patient.findings()
    assert all(one["level"] == "ok" for one in found.values())
    says = found["worktree.claim"]["says"]
    assert "#42" in says
    assert "coding" in says
    assert str(patient.place.claim()["branch"]) in says


def test_one_outage_is_said_once(patient: Patient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where GitHub cannot be reached, one finding says it, and the rest is looked at all the same."""
    monkeypatch.setattr(timing, "SHORTEST", 0.01)  # between two attempts
    with (
        socket.socket() as held
    ):  # and nobody listens: a port that was given back may be another test's
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        patient.place.git("remote", "set-url", "origin", f"{url}/octo-org/hello-service.git")
        elsewhere = {"GITHUB_API_URL": url, "GITHUB_GRAPHQL_URL": f"{url}/graphql"}
        finding = patient.only("token.answer", "fail", **elsewhere)
        found = patient.findings(**elsewhere)
    assert url in finding["says"]
    assert finding["fix"] == f"curl -sSI {url}"
    assert "polling CI" in finding["hinders"]
    assert {"hooks.installed", "worktree.remote", "settings.file"} <= set(found)
    assert not {"board.found", "repository.push", "clock.time"} & set(found)


@SOAKED
def test_a_limit_is_mended_by_waiting(patient: Patient) -> None:
    """GitHub said how long, and no other command would end it, whichever question it did not answer."""
    asked = {"": "token.answer", "^/repos/": "repository.found", "^/graphql": "board.found"}
    for path, name in asked.items():
        patient.place.control.add_fault("primary-limit", path=path, count=9)
        finding = patient.only(name, "fail")
        assert re.fullmatch(r"sleep \d+; lifecycle doctor", finding["fix"])
        assert re.match(r"GitHub's rate limit is used up, until 2\S+Z \(http", finding["says"])
        patient.place.control.clear_faults()
    patient.place.control.add_fault("primary-limit", path="^/user$", skip=1, count=9)
    assert re.fullmatch(r"Try again in \d+ seconds", patient.only("tracker.found", "fail")["fix"])


@SOAKED
def test_a_github_that_never_answers_ends_in_time(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first question that hangs is given up, and no further one is asked."""
    monkeypatch.setattr(examined, "ANSWER_SECONDS", 0.3)
    monkeypatch.setattr(examined, "_GRACE", 0.1)
    patient.place.control.add_fault(Fault("trickle", path="^/user$", count=9))
    patient.place.control.clear_requests()
    report = examine(patient.root, patient.place.environment, SystemClock())
    assert [one.name for one in report.findings if one.level != "ok"] == ["token.answer"]
    assert {one.path for one in patient.place.control.requests()} == {"/user"}


def test_a_proxy_that_is_none_is_what_has_to_be_corrected(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is found where the token is tried, and no other token helps."""
    monkeypatch.setenv("HTTP_PROXY", "not a url")
    report = examine(patient.root, patient.place.environment, SystemClock())
    (wrong,) = [one for one in report.findings if one.level == "fail"]
    assert "the proxy that the environment names is not an http or https address" in wrong.sentence
    assert (wrong.name, wrong.fix) == ("token.valid", "Correct that")


def test_what_nobody_but_a_person_can_grant_is_the_fix(patient: Patient) -> None:
    """A certificate that curl may trust all the same, and a single sign-on: neither passes by itself."""
    case = Examined(patient.root, patient.place.environment, SystemClock())
    failures = Failures("t", "GH_TOKEN", SystemClock())
    case.facts = failures.of_silence(plain_line.UNSAFE, AskedRequest("the token"))
    saml = Answer(403, "Resource protected by organization SAML enforcement.")
    case.access = failures.of_answer(saml, AskedRequest("repository octo-org/hello-service"))
    examine_github.check_token(case)
    examine_github.check_repository(case)
    unsafe, unauthorized = case.findings
    assert unsafe.name == "token.answer"
    assert unsafe.fix.endswith(": export REQUESTS_CA_BUNDLE=FILE")
    assert unauthorized.name == "repository.found"
    assert unauthorized.fix.startswith("authorize it for the organisation's single sign-on")


@SOAKED
def test_the_board_alone_may_fail(patient: Patient) -> None:
    """An outage in the middle is said where it was noticed; what was seen before is said too."""
    patient.place.control.add_fault(Fault("status", operation="DiscoverBoard", status=502, count=9))
    finding = patient.only("board.found", "fail")
    assert finding["hinders"] == ["board sync", "the briefing at a session's start"]
    found = patient.findings()
    assert "repository.push" in found
    assert "checks.read" not in found  # asked after the board, of a GitHub that did not answer


@SOAKED
def test_a_folder_outside_of_any_worktree(patient: Patient, tmp_path: Path) -> None:
    """The command, the versions and the token are looked at; the missing worktree is one finding."""
    outside = tmp_path / "outside"
    outside.mkdir()
    patient.place.root, patient.is_process = outside, True
    finding = patient.only("worktree.git", "fail")
    assert "cd to the repository" in finding["fix"]
    found = patient.findings()
    assert {"versions.lifecycle", "command.found", "token.found", "clock.time"} <= set(found)


@SOAKED
def test_no_secret_is_shown(patient: Patient) -> None:
    """The token's value is nowhere, though the remote's URL carries it, and whether it works or not."""
    token = patient.place.environment["GH_TOKEN"]
    for value in (token, "ghp_abcdefghijklmnop"):
        done = patient.place.cli("doctor", GH_TOKEN=value)
        assert value not in done.stdout + done.stderr
        assert token not in done.stdout + done.stderr
