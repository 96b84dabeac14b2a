"""The worktree: git, the remote, the files that are kept here, and the project's settings."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import (
    BadConfig,
    ClaimRefused,
    GitFailed,
    LifecycleError,
    Refused,
    Transient,
)
from lifecycle.core.redact import visible
from lifecycle.git import lease
from lifecycle.git.process import head_repository, is_no_github, parse_remote
from lifecycle.settings import user_folder
from lifecycle.settings.config import CONFIG_FILE, PROJECT_VARIABLES, file_of
from lifecycle.setup.doctor.doctor_finding import (
    ON_GITHUB,
    DoctorFinding,
    FixStep,
    Level,
    cause,
    fail,
    ok,
    warn,
)
from lifecycle.setup.doctor.examined import Examined
from lifecycle.storage import regular_files
from lifecycle.storage.store import CLAIM_FILE, FOLDER, LOCK, STATE

_PUSHES = (FixStep.CLAIM, FixStep.LEASE, FixStep.HANDOFF, FixStep.PR)
_LOST = (FixStep.HANDOFF, FixStep.PR, FixStep.CLOSE, FixStep.BOARD)
_REMOVAL = "Take it out with: "


def check(case: Examined) -> Iterator[DoctorFinding]:
    """What claim to close needs of the folder that it works in."""
    if not case.is_worktree:
        yield fail(
            "worktree.git",
            f"{case.root} is in no git worktree, so what belongs to one was not looked at.",
            (*ON_GITHUB, FixStep.HANDOFF),
            "cd to the repository that you work in, and run: lifecycle doctor",
        )
        return
    try:
        case.world.git.run("rev-parse", "--git-dir")
    except GitFailed as error:
        if "not installed" not in error.sentence:  # that is said with the versions
            yield _unusable(case, error)
        return
    if not case.is_lost:
        yield from _remote(case)
    tracked = list(_tracked(case))
    yield from tracked
    yield from _writable(case)
    if all(finding.level is not Level.FAIL for finding in tracked):  # else it is nobody's claim
        yield from _claim(case)
    yield from _state(case)


def _unusable(case: Examined, error: GitFailed) -> DoctorFinding:
    root = shlex.quote(str(case.root))
    is_ownership = "ownership" in error.evidence
    fix = f"git config --global --add safe.directory {root}" if is_ownership else "git status"
    words = error.evidence or error.sentence
    return fail("worktree.git", f"git cannot work in {case.root}: {words}.", _PUSHES, fix)


def _remote(case: Examined) -> Iterator[DoctorFinding]:
    remote = case.settings.remote
    try:
        head = head_repository(case.world.git, remote, case.addresses.api_url)
    except BadConfig as error:
        known = case.world.git.remotes()
        if case.settings.repository is not None and case.base is not None and remote in known:
            yield ok("worktree.remote", f"Issues and PRs are those of {case.base}, as configured.")
            return
        others = [name for name in known if name != remote]
        fix = (
            f'remote = "{others[0]}" in .lifecycle.toml, or: git remote add {remote} <url>'
            if others
            else f"git remote add {remote} {case.web}/OWNER/NAME.git"
        )
        url = case.world.git.remote_url(remote)
        if url is not None:
            fix = f"git remote set-url {remote} {case.web}/OWNER/NAME.git"
            elsewhere = parse_remote(url)
            if elsewhere and not is_no_github(elsewhere.host):
                fix = f"for a GitHub of its own: gh auth login --hostname {elsewhere.host}; else {fix}"
        says = cause(error).partition("; ")[0].rstrip(".")
        yield fail("worktree.remote", f"{says}.", (*_PUSHES, *ON_GITHUB[2:]), fix)
        return
    pushed = f'The remote "{remote}" leads to {head}'
    if case.base is not None and str(case.base).casefold() != str(head).casefold():
        yield ok("worktree.remote", f"{pushed}, a fork; PRs go to {case.base}.")
    else:
        yield ok("worktree.remote", f"{pushed}.")


def _tracked(case: Examined) -> Iterator[DoctorFinding]:
    try:
        case.world.refuse_tracked()
    except Refused as error:
        says, _, fix = error.sentence.partition(_REMOVAL)
        says = says.replace("nothing was done. ", "nothing is done for it.").strip()
        yield fail("worktree.tracked", says, (FixStep.CLAIM, FixStep.HANDOFF, *ON_GITHUB[1:]), fix)
        return
    names = [CLAIM_FILE] if (case.root / CLAIM_FILE).exists() else []
    if not names or case.world.git.run("check-ignore", "--", *names, check=False):
        yield ok("worktree.tracked", "git keeps out of lifecycle's files.")
        return
    yield warn(
        "worktree.tracked",
        f"git does not ignore {CLAIM_FILE}, so that git add -A would commit it.",
        fix=f"echo '/{CLAIM_FILE}*' >> \"$(git rev-parse --git-path info/exclude)\"",
    )


def strange(case: Examined, error: regular_files.StrangeFileError) -> DoctorFinding:
    """That something else lies in the place of a file of ours."""
    name = str(error.filename).removeprefix(f"{case.root}/")
    return fail(
        "worktree.files",
        f"{name} {error.strerror}, so nothing can be remembered.",
        (FixStep.CLAIM, FixStep.HANDOFF, *ON_GITHUB[1:]),
        f"mv {shlex.quote(name)} {shlex.quote(f'{name}.old')}",
    )


def _writable(case: Examined) -> Iterator[DoctorFinding]:
    folder = case.root / FOLDER
    here = case.claim_store.folder
    for path in (str(case.claim_store.path), here.at(STATE), here.at(LOCK)):
        what = regular_files.strange(path)
        if what:
            raise regular_files.StrangeFileError(path, what)
    closed = [
        path for path in (case.root, folder) if path.exists() and not os.access(path, os.W_OK)
    ]
    if closed:
        yield fail(
            "worktree.files",
            f"{closed[0]} cannot be written.",
            (FixStep.CLAIM, FixStep.HANDOFF, *ON_GITHUB[1:]),
            f"chmod u+w {shlex.quote(str(closed[0]))}",
        )


def _claim(case: Examined) -> Iterator[DoctorFinding]:
    try:
        record = case.claim_store.load(repair=False).record
    except ClaimRefused as error:
        says, _, rest = error.sentence.partition("; ")
        fix = "lifecycle tick" if "lifecycle tick" in rest else f"mv {CLAIM_FILE} {CLAIM_FILE}.old"
        yield fail("worktree.claim", f"{says}.", ON_GITHUB[1:], fix)
        return
    if record is None:
        yield ok(
            "worktree.claim", "No claim is here; the next one begins with: lifecycle claim <number>"
        )
        return
    claim = record.claim
    if Phase.named(claim.phase) is None:
        yield fail(
            "worktree.claim",
            f'The claim of #{claim.issue_number} is in "{claim.phase}", which is no phase.',
            ON_GITHUB[1:],
            "lifecycle nudge coding --force --reason 'unknown phase'",
        )
        return
    about = f"#{claim.issue_number} is claimed here, in phase {claim.phase}"
    if claim.branch and case.world.git.head_of(claim.branch) is None:
        yield fail(
            "worktree.claim",
            f"{about}, and its branch {claim.branch} does not exist.",
            (FixStep.HANDOFF, FixStep.PR),
            f"git switch -c {shlex.quote(claim.branch)}",
        )
        return
    lost, fix = _lost(case, record)
    if lost:
        yield fail("worktree.claim", f"{about}, but {lost}.", _LOST, fix)
        return
    yield ok("worktree.claim", f"{about}, on branch {claim.branch or '(none)'}.")


def _lost(case: Examined, record: Record) -> tuple[str, str]:
    """How the claim lost its task, as the last look or the remote knows it, and the fix; else empty."""
    number, remote = record.claim.issue_number, case.settings.remote
    again, leave = f"lifecycle claim {number}", "lifecycle release"
    if record.taken_by:
        return f"{record.taken_by} took the task over, as its card says", leave
    if record.given_back:
        return "the task was given back while the claim was quiet", again
    if number is None or not record.lease or record.lease_done or case.is_lost:
        return "", ""
    if remote not in case.world.git.remotes():
        return "", ""  # said of the remote itself
    try:
        stands = lease.standing(
            case.world.git, remote, number, sha=record.lease, agent=record.claim.agent_id
        )
    except (GitFailed, Transient):
        return "", ""  # a remote that does not answer says nothing against the claim
    if stands.other is not None:
        return f"{stands.other.agent} holds its lease since {stands.other.since}", leave
    gone = "its lease is gone: the task was given back meanwhile"
    return (gone, again) if stands.is_gone else ("", "")


def _state(case: Examined) -> Iterator[DoctorFinding]:
    path = case.root / FOLDER / STATE
    try:
        is_there = regular_files.mtime_ns(str(path)) >= 0
        is_broken = is_there and not case.claim_store.file.reload(repair=False)
    except (OSError, LifecycleError) as error:
        yield fail("worktree.state", f"{FOLDER}/{STATE} cannot be read ({error}).", ON_GITHUB[1:])
        return
    if is_broken:
        yield warn(
            "worktree.state",
            f"{FOLDER}/{STATE} cannot be read; the next look sets it aside and learns all again but the "
            "lease.",
            (FixStep.LEASE,),
            "lifecycle tick",
        )


def check_settings(case: Examined) -> Iterator[DoctorFinding]:
    """What .lifecycle.toml, the user's config.toml and the variables say."""
    problem = case.settings_problem
    if problem is not None:
        where = CONFIG_FILE if CONFIG_FILE in problem.sentence else "the setting"
        says = problem.sentence.replace("; nothing was done", "").rstrip(".")
        end = "" if says.endswith("?") else "."
        yield fail(
            "settings.file", f"{says}{end}", ON_GITHUB, f"correct {where}, then: lifecycle doctor"
        )
        return
    if not case.is_worktree:
        return
    path = file_of(case.root)
    if path.is_file():
        whose = "" if path.parent == case.root else f", the main worktree's ({visible(str(path))}),"
        yield ok("settings.file", f"{CONFIG_FILE}{whose} is valid.")
    elif any(case.environment.get(name) for name in PROJECT_VARIABLES):
        yield ok("settings.file", f"There is no {CONFIG_FILE}: defaults, and variables.")
    else:
        yield ok(
            "settings.file",
            f"There is no {CONFIG_FILE}: defaults, and hooks that are silent without a claim.",
        )
    yield from _repository(case)
    yield from _trust(case)


def _repository(case: Examined) -> Iterator[DoctorFinding]:
    named = case.settings.repository
    if named is None or case.environment.get("LIFECYCLE_REPOSITORY"):
        return
    try:
        base = case.world.base
    except (BadConfig, GitFailed):
        yield fail(
            "settings.repository",
            f"{CONFIG_FILE} names the repository {named}, which no git remote here points to.",
            ON_GITHUB,
            f"git remote add upstream {case.web}/{named}.git",
        )
        return
    yield ok("settings.repository", f"{CONFIG_FILE} names {base}, which is a remote's.")


def _trust(case: Examined) -> Iterator[DoctorFinding]:
    commands = case.settings.validate
    if not commands:
        return
    shown = ", ".join(f"`{visible(command)}`" for command in commands)
    try:
        is_trusted = user_folder.is_trusted(case.environment, case.world.common_dir, commands)
    except BadConfig:
        path = user_folder.shown(user_folder.TRUST, case.environment)
        yield fail(
            "settings.trust",
            f"{path} cannot be read, so no command of {CONFIG_FILE} may run.",
            (FixStep.HANDOFF,),
            f"rm {path} && lifecycle trust",
        )
        return
    except GitFailed:
        return  # the worktree's checks say what is wrong with git
    if is_trusted:
        yield ok("settings.trust", f"A handoff runs {shown}, as you allowed.")
        return
    yield fail(
        "settings.trust",
        f"A handoff wants to run {shown}, which nobody has allowed.",
        (FixStep.HANDOFF,),
        "lifecycle trust",
    )
