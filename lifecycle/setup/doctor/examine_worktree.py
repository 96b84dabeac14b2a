"""Checks of the worktree: git, the remote, the files that are kept here, and the project's settings."""

from __future__ import annotations

import os
import shlex
import shutil

from lifecycle.claim.decisions import decide, derive
from lifecycle.claim.decisions.table import PHASES
from lifecycle.core.errors import BadConfig, ClaimRefused, GitFailed, Refused
from lifecycle.core.redact import visible
from lifecycle.evidence.checks import known_checks
from lifecycle.evidence.outcomes import NOT_INSTALLED
from lifecycle.evidence.runners import runner_table
from lifecycle.git.process import head_repository, parse_remote, way_to
from lifecycle.settings import config, user_folder
from lifecycle.setup.doctor.examined import Examined, cause
from lifecycle.storage import regular_files, store
from lifecycle.storage.store import CLAIM_FILE, FOLDER, LOCK, STATE
from lifecycle.trackers import registry


def check(case: Examined) -> None:
    """Findings on the git repository, its remote, and the files of a claim."""
    if not case.is_worktree:
        case.find("worktree.git.none", root=case.root)
        return
    try:
        case.world.git.run("rev-parse", "--git-dir")
    except GitFailed as error:
        if "not installed" not in error.sentence:  # reported with the versions
            words, _, fix = (error.evidence or error.sentence).partition("; trust it with: ")
            case.find("worktree.git.failed", root=case.root, words=words, fix=fix or "git status")
        return
    if not case.is_lost:
        _remote(case)
    try:
        case.world.refuse_tracked()
    except Refused as error:
        problem, _, fix = error.sentence.partition("Take it out with: ")
        problem = problem.replace("nothing was done. ", "nothing is done for it. ").strip()
        case.find("worktree.tracked.ours", what=problem, fix=fix)
        writable(case)
        return  # a tracked claim does not count
    is_there = (case.root / CLAIM_FILE).exists()
    is_seen = is_there and not case.world.git.run("check-ignore", "--", CLAIM_FILE, check=False)
    case.find("worktree.tracked.seen" if is_seen else "worktree.tracked.ignored")
    writable(case)
    _claim(case)


def _remote(case: Examined) -> None:
    remote = case.settings.remote
    try:
        head = head_repository(case.world.git, remote, case.addresses.api_url)
    except BadConfig as error:
        remotes = case.world.git.remotes()
        if case.settings.repository is not None and case.base is not None and remote in remotes:
            return case.find("worktree.remote.configured", base=case.base)
        if case.settings.repository is not None and case.base is None:
            return None  # `settings.repository` reports it, and its fix solves this, too
        others = [name for name in remotes if name != remote]
        fix = f"git remote add {remote} {case.web}/OWNER/NAME.git"
        if others:
            fix = f'remote = "{others[0]}" in .lifecycle.toml, or: git remote add {remote} <url>'
        url = case.world.git.remote_url(remote)
        if url is not None:
            fix = f"git remote set-url {remote} {case.web}/OWNER/NAME.git"
            parsed = parse_remote(url)
            way = way_to(parsed.host, config.web_host(case.addresses.api_url)) if parsed else ""
            fix = f"{way}; else {fix}" if way else fix
        problem = cause(error).partition("; ")[0].rstrip(".")
        return case.find("worktree.remote.none", what=problem, fix=fix)
    if case.base is not None and str(case.base).casefold() != str(head).casefold():
        return case.find("worktree.remote.fork", remote=remote, head=head, base=case.base)
    return case.find("worktree.remote.found", remote=remote, head=head)


def strange(case: Examined, error: regular_files.StrangeFileError) -> None:
    """The finding that one of our files' paths holds a folder, a link or the like."""
    name = str(error.filename).removeprefix(f"{case.root}/")
    old, new = shlex.quote(name), shlex.quote(f"{name}.old")
    return case.find("worktree.files.strange", name=name, what=error.strerror, old=old, new=new)


def writable(case: Examined) -> None:
    """Findings if our files cannot be written here; StrangeFileError if one is not a regular file."""
    claim_folder = case.claim_store.folder
    for path in (str(case.claim_store.disk.path), claim_folder.at(STATE), claim_folder.at(LOCK)):
        regular_files.refuse_strange(path)
    for place in filter(os.path.exists, (case.root, case.root / FOLDER)):
        if not os.access(place, os.W_OK):
            case.find("worktree.files.closed", path=place, quoted=shlex.quote(str(place)))
    room = os.statvfs(case.root)
    if room.f_blocks and not room.f_bavail:  # some file systems do not report it
        case.find("worktree.files.full", path=case.root, quoted=shlex.quote(str(case.root)))


def _claim(case: Examined) -> None:
    try:
        record = case.claim_store.load(repair=False).record
    except ClaimRefused as error:
        problem, _, way = error.sentence.partition("; ")
        fix = "lifecycle tick" if "lifecycle tick" in way else f"mv {CLAIM_FILE} {CLAIM_FILE}.old"
        return case.find("worktree.claim.broken", what=problem, fix=fix)
    except OSError as error:
        return case.find("worktree.claim.broken", what=error)
    if record is None:
        return case.find("worktree.claim.none", command=registry.to_claim(case.world))
    claim = record.claim
    if PHASES.get(claim.phase) is None:
        return case.find("worktree.claim.phase", claim=claim)
    if claim.branch and case.world.git.head_of(claim.branch) is None:
        return case.find("worktree.claim.branch", claim=claim, quoted=shlex.quote(claim.branch))
    if record.is_lost:
        way = "release" if record.ownership.taken_by else f"claim {claim.issue_number}"
        return case.find("worktree.claim.lost", why=derive.loss_line(record), way=way)
    refusal = next(decide.complaints(record), None)
    if refusal is not None:
        return case.find("worktree.claim.refused", claim=claim, why=refusal.text)
    return case.find("worktree.claim.held", claim=claim, branch=claim.branch or "(none)")


def check_settings(case: Examined) -> None:
    """Findings on .lifecycle.toml, the user's config.toml and the variables; on trust and checks."""
    if case.settings_problem is not None:
        what = case.settings_problem.sentence.replace("; nothing was done", "").rstrip(".")
        what = what if what.endswith("?") else f"{what}."
        return case.find("settings.file.broken", what=what)
    if not case.is_worktree:
        return None
    try:
        runner_table.rows(case.settings.evidence_runners)
    except BadConfig as error:
        return case.find("settings.file.runners", what=error.sentence)
    path = config.file_of(case.root)
    if path.is_file():
        whose = "" if path.parent == case.root else f", the main worktree's ({visible(str(path))}),"
        case.find("settings.file.valid", whose=whose)
    else:
        is_set = any(case.environment.get(name) for name in config.PROJECT_VARIABLES)
        case.find("settings.file.variables" if is_set else "settings.file.none")
    if case.settings.repository is not None and not case.environment.get("LIFECYCLE_REPOSITORY"):
        try:
            case.find("settings.repository.found", base=case.world.base)
        except (BadConfig, GitFailed):
            case.find("settings.repository.strange", named=case.settings.repository, web=case.web)
    try:
        _trust(case)
    except user_folder.BrokenTrust:
        trust = config.own_path(user_folder.TRUST, case.environment)
        case.find("settings.trust.broken", path=trust)


def _trust(case: Examined) -> None:
    """Findings on which commands may and can run: at a hand-off, and in checks, if there are any."""
    root, commands, environment = case.root, case.settings.validate, case.environment
    clone = store.clone_of(root)
    if commands:
        is_trusted = user_folder.allowed(environment, clone, "commands") == [*commands]
        shown = ", ".join(f"`{visible(command)}`" for command in commands)
        case.find("settings.trust.given" if is_trusted else "settings.trust.wanted", commands=shown)
    known = known_checks.known_checks(root, case.settings, environment)
    checks = [check for check in known if check.commands]
    wanted = [check.name for check in checks if not known_checks.may_run(check, clone, environment)]
    if checks:
        key = "settings.checks.wanted" if wanted else "settings.checks.given"
        case.find(key, names=", ".join(check.name for check in checks), wanted=", ".join(wanted))
    for check in (check for check in known if check.name in case.settings.check_commands):
        programs = (words[0] for words in check.commands)
        why = check.problem or next(filter(None, (_absent(case, name) for name in programs)), "")
        if why:
            case.find("settings.checks.broken", check=check, why=why)


def _absent(case: Examined, program: str) -> str:
    """That a check's program is not there, as half a sentence; "" if it is."""
    place = str(case.root / program) if "/" in program else program
    is_there = shutil.which(place, path=case.environment.get("PATH")) is not None
    return "" if is_there else f"{visible(program)} {NOT_INSTALLED}, or not on PATH"
