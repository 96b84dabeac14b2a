"""The project's settings: whether they can be used, and whether their commands may run."""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.core.errors import BadConfig, GitFailed
from lifecycle.core.redact import visible
from lifecycle.settings import user_folder
from lifecycle.settings.config import CONFIG_FILE, PROJECT_VARIABLES, file_of
from lifecycle.setup.doctor.doctor_finding import ON_GITHUB, DoctorFinding, FixStep, fail, ok
from lifecycle.setup.doctor.examined import Examined


def check(case: Examined) -> Iterator[DoctorFinding]:
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
