"""Checks of GitHub: token (its value is never shown), repository, board, checks; and of the clock."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from lifecycle.core import errors, timing
from lifecycle.core.messages import figures
from lifecycle.core.redact import visible
from lifecycle.core.values.model import BoardSchema, Repository, RepositoryAccess, TokenFacts
from lifecycle.core.values.priorities import Status
from lifecycle.settings import config, user_folder
from lifecycle.setup.doctor.examined import Examined, cause, remedy, table

FEW_REQUESTS = 100
"""Fewer of the hour's requests left than this are a remark; a claim's polls use about thirty an hour."""

DAY = 86_400.0
FEW_DAYS = 7
"""If the token ends in fewer days, that is a remark."""


def check_token(case: Examined) -> None:
    """Findings on the token: its owner, end, scopes or permissions, rate limit."""
    facts = case.facts
    if isinstance(facts, errors.LifecycleError):
        _nothing(case, facts)
        return
    case.find("token.found.whose", whose=_owner(facts), source=case.token_source)
    if facts.server_version:
        case.find("token.server", version=facts.server_version, api=case.addresses.api_url)
    _end(case, facts)
    for of_user in (False, True):
        app = config.app(case.environment, of_user=of_user)
        file = app.key_file if app is not None else None
        # Others on this machine can read the App's private key.
        if file is not None and file.exists() and file.stat().st_mode & 0o077:
            case.find("token.key", file=file, quoted=shlex.quote(str(file)))
    _scopes(case, facts)
    _kind(case, facts)
    if facts.remaining is not None and facts.limit is not None:
        is_little = facts.remaining < FEW_REQUESTS
        case.find("token.rate.few" if is_little else "token.rate.enough", facts=facts)


def _nothing(case: Examined, error: errors.LifecycleError) -> None:
    if error is case.settings_problem:
        return  # reported with the settings
    token = f"export GH_TOKEN=$(gh auth token{case.gh})"
    if isinstance(error, errors.NoToken) and error.is_absent:
        path = config.own_path(config.CONFIG, case.environment)
        case.find("token.found.none", path=path, gh=case.gh)
    elif error is case.token and isinstance(error, errors.Rejected):
        case.find("token.app", cause=cause(error), fix=remedy(error))
    elif isinstance(error, errors.BadCredentials):
        source = case.token_source
        fix = f"unset GH_TOKEN GITHUB_TOKEN; gh auth login{case.gh} && {token}"
        if not isinstance(case.token, errors.LifecycleError) and case.token.renew is not None:
            # The next one is a new one.
            fix = f"rm {config.own_path(user_folder.TOKENS, case.environment)}"
        elif source == "token_command":
            fix = remedy(error)
        case.find("token.valid.refused", source=source, fix=fix)
    elif isinstance(error, errors.Transient):
        _unanswered(case, "token", error)
    else:
        is_set = isinstance(error, errors.BadConfig)
        way = "correct that, then: lifecycle doctor" if is_set else token
        case.find("token.valid.other", cause=cause(error), fix=remedy(error) or way)


def _granted(error: errors.LifecycleError) -> str:
    """What grants a permission that is missing, such as a single sign-on; "" for any other error."""
    return remedy(error) if isinstance(error, errors.NoPermission) else ""


def _unanswered(case: Examined, part: str, error: errors.Transient) -> None:
    """A finding that GitHub did not answer, and until when it does not, if it said so."""
    silence = cause(error).partition(" when asked")[0].rstrip(".")
    api, wait = case.addresses.api_url, error.retry_after
    key = "token.answer" if part == "token" else f"{part}.found.answer"
    until = f", until {timing.render_time(case.clock.now() + wait)}" if wait else ""
    way = remedy(error)
    fix = f"curl -sSI {api}" if not way or way.startswith("Try again") else way
    fix = f"sleep {round(wait)}; lifecycle doctor" if wait else fix
    case.find(key, cause=silence, until=until, api=api, fix=fix)


def _owner(facts: TokenFacts) -> str:
    kind = table()["words"]["token"].get(facts.kind, "A token of unknown kind")
    return f"{kind} of {facts.login}" if facts.login else kind


def _end(case: Examined, facts: TokenFacts) -> None:
    """Findings on the end of the token; an App's token is renewed automatically, if its key is good.

    Source: https://docs.github.com/authentication/keeping-your-account-and-data-secure/token-expiration-and-revocation
    """
    token = case.token
    now = facts.server_time or case.clock.now()
    if not isinstance(token, errors.LifecycleError) and token.expires_at is not None:
        minutes = max(int((token.expires_at - case.clock.now()) / 60), 0)
        check = token.check
        try:
            if check is not None:
                case.ask(lambda _clients: check())
        except errors.LifecycleError as error:
            case.find("token.app", cause=cause(error), fix=remedy(error))
        else:
            case.find("token.expires.renewed", minutes=minutes)
    elif facts.expires_at is not None:
        days, date = int((facts.expires_at - now) / DAY), timing.render_time(facts.expires_at)[:10]
        key = "token.expires.late" if days >= FEW_DAYS else "token.expires.soon"
        page = "personal-access-tokens" if facts.kind == "fine-grained" else "tokens"
        span = figures.count(days, "day") if days else "less than a day"
        case.find(key, date=date, span=span, page=f"{case.web}/settings/{page}")


def _by_labels(case: Examined) -> str:
    """The end of a sentence about where the Status is kept without a board; "" if nowhere."""
    if case.settings.project_number is None or case.settings.labels_use == "never":
        return ""
    return f'; the Status is kept as a label ("{case.settings.labels_prefix}in progress")'


def _scopes(case: Examined, facts: TokenFacts) -> None:
    """A finding on the scopes of an OAuth token; none for other tokens, which list no scopes."""
    if facts.scopes is None:
        return None
    is_public = isinstance(case.access, RepositoryAccess) and not case.access.is_private
    missing: dict[str, str] = {}
    if "repo" not in facts.scopes and not (is_public and "public_repo" in facts.scopes):
        missing["repo"] = "the repository"
    if case.settings.project_number is not None and "project" not in facts.scopes:
        missing["project"] = "board sync"
    if not missing:
        return case.find("token.scopes.enough", given=", ".join(facts.scopes))
    words = {
        "plural": "s" if len(missing) > 1 else "",
        "names": " and ".join(missing),
        "given": ", ".join(facts.scopes) or "none",
        "labels": _by_labels(case) if "project" in missing else "",
    }
    fix, source = f"gh auth refresh -s {','.join(missing)}{case.gh}", case.token_source
    if source != "token_command":  # while the variable is set, gh refreshes nothing
        fix = f"unset {source}; {fix} && export {source}=$(gh auth token{case.gh})"
    return case.find("token.scopes.missing", **words, fix=fix, hinders=missing.values())


def _kind(case: Examined, facts: TokenFacts) -> None:
    has_board = case.settings.project_number is not None
    if case.permissions is not None:
        _permissions(case, case.permissions, has_board=has_board)
    elif facts.kind == "fine-grained":
        board = "; Projects: read and write, on boards of an organisation only" if has_board else ""
        case.find("token.permissions.unlisted", board=board, web=case.web)
    elif facts.kind == "actions":
        labels = _by_labels(case)
        if has_board and not labels:
            case.find("token.permissions.boardless")
            return
        board = f" and cannot touch a board{labels}" if has_board else ""
        hinders = ("board sync",) if has_board else ()
        case.find("token.permissions.actions", board=board, hinders=hinders)


_LEVELS = {"read": 1, "write": 2, "admin": 3}
_PROJECTS = "organization_projects"


def _allows(given: Mapping[str, str], name: str, level: str) -> bool:
    """True if an App's token has this permission; names and levels are those of GitHub's answer."""
    return _LEVELS.get(given.get(name, ""), 0) >= _LEVELS[level]


def _permissions(case: Examined, given: Mapping[str, str], *, has_board: bool) -> None:
    """The finding on an App's permissions that no other check tests."""
    rows = table()["words"]["permissions"]
    needed = {name: row for name, row in rows.items() if has_board or name != _PROJECTS}
    missing = [row for name, row in needed.items() if not _allows(given, name, row["level"])]
    if not missing:
        return case.find("token.permissions.enough")
    return case.find(
        "token.permissions.missing",
        names="; ".join(row["name"] for row in missing),
        labels=_by_labels(case) if rows[_PROJECTS] in missing else "",
        path=config.own_path(user_folder.TOKENS, case.environment),
        hinders=[step for row in missing for step in row["hinders"]],
    )


def check_repository(case: Examined) -> None:
    """Findings on the repository: found, archived, issues, name, push access, default branch."""
    access = case.access
    if access is None:
        return None
    if isinstance(access, errors.Transient):
        return _unanswered(case, "repository", access)
    if isinstance(access, errors.LifecycleError):
        fix = _granted(access) or f"gh repo view {case.base}"
        return case.find("repository.found.failed", cause=cause(access), fix=fix)
    if access.is_archived:
        case.find("repository.archived", access=access)
    if access.parent and case.settings.repository is None:
        key = "repository.fork.unset" if access.has_issues else "repository.fork.closed"
        case.find(key, access=access)
    elif not access.has_issues:
        case.find("repository.issues", access=access)
    if str(case.base).casefold() != access.name.casefold():
        renaming = config.renaming(access.name, _remote_of(case))
        case.find("repository.name", base=case.base, access=access, renaming=renaming)
    if not access.is_archived:
        head = case.world.head
        standing = {True: "allowed", False: "refused", None: "unknown"}[access.can_push]
        if str(head).casefold() not in (str(case.base).casefold(), access.name.casefold()):
            standing = "fork"
        case.find(f"repository.push.{standing}", head=head, access=access)
    return _default_branch(case, access)


def _remote_of(case: Examined) -> str:
    """The remote of the repository of issues and PRs; the configured one to push to, even if missing."""
    try:
        return case.world.base_remote
    except errors.BadConfig:
        return case.settings.remote


def _default_branch(case: Examined, access: RepositoryAccess) -> None:
    base, remote, git = case.settings.base, case.settings.remote, case.world.git
    if base is None:
        state = "default" if access.default_branch else "none"
    else:
        source, ref = _remote_of(case), f"refs/heads/{base}"
        try:
            is_there = bool(git.run("ls-remote", "--heads", source, ref, remote=source))
            state = "configured" if is_there else "missing"
        except errors.LifecycleError:  # not asked: what git knows of the branch from earlier
            state = "configured" if git.remote_head_of(base, remote) else "unread"
    default = access.default_branch or "main"
    case.find(f"repository.base.{state}", base=base, access=access, default=default, remote=remote)


def check_board(case: Examined) -> None:
    """Findings on the board: readable, open, with the fields and options that are needed."""
    prefix = case.settings.labels_prefix
    if case.settings.labels_use == "always":
        return case.find("board.labels.always", prefix=prefix)
    if case.settings.project_number is None:
        return case.find("board.found.none")
    facts = case.facts
    owner = case.settings.project_owner or (case.base.owner if case.base else "")
    if not owner or not case.is_answering or not isinstance(facts, TokenFacts):
        return None
    has_none = facts.scopes is not None and "project" not in facts.scopes
    if case.permissions is not None:
        has_none = not _allows(case.permissions, _PROJECTS, "read")
    if has_none or facts.kind == "actions":
        return None  # reported with the token
    try:
        case.world.refuse_strange_board()
    except errors.BadConfig as error:
        return case.find("board.owner", cause=cause(error), owner=owner)
    from lifecycle.github.board.board_client import ProjectRef

    project = ProjectRef(owner, case.settings.project_number)
    try:
        # Without a cache: the board's present fields and options.
        schema = case.ask(lambda clients: clients.board(project).schema(refresh=True))
    except errors.LifecycleError as error:
        return _unread(case, error, owner)
    return _read(case, schema, prefix)


def _read(case: Examined, schema: BoardSchema, prefix: str) -> None:
    """Findings on a board that could be read."""
    if schema.is_closed:
        case.find("board.closed", title=visible(schema.title), schema=schema)
    case.find("board.found.read", title=visible(schema.title), schema=schema)
    # A read alone does not show that a write to the board was refused.
    if why := case.world.choice.refused_write(case.claim_store.file):
        case.find("board.labels.unwritten", cause=cause(errors.LifecycleError(why)), prefix=prefix)
    _status(case, schema)
    key = "board.agent.none" if schema.field("Agent") is None else "board.agent.other"
    case.find("board.agent.text" if schema.has_agent else key, schema=schema)


def _unread(case: Examined, error: errors.LifecycleError, owner: str) -> None:
    """The finding on a board that could not be read: labels in its place, not now, or not at all."""
    if case.world.choice.gives_up(error):
        prefix = case.settings.labels_prefix
        fix = _granted(error) or "use a token of somebody who may see the board"
        return case.find("board.labels.instead", cause=cause(error), prefix=prefix, fix=fix)
    if isinstance(error, errors.Transient):
        return _unanswered(case, "board", error)
    return case.find("board.found.failed", cause=cause(error), owner=owner, gh=case.gh)


def _status(case: Examined, schema: BoardSchema) -> None:
    field = schema.field("Status")
    if field is None or not field.options:
        return case.find("board.status.none", schema=schema)
    moves_to = table()["words"]["status"]
    missing = [name for name in moves_to if field.option(name) is None]
    if not missing:
        return case.find("board.status.whole", names=", ".join(moves_to))
    names = " and ".join(f'"{name}"' for name in missing)
    moves = " and ".join(moves_to[name] for name in missing)
    hinders = ("claiming", "releasing") if Status.TODO in missing else ()
    key = "board.status.missing"
    return case.find(key, names=names, moves=moves, schema=schema, hinders=hinders)


def check_checks(case: Examined) -> None:
    """Findings on whether the token can read a commit's checks; a fine-grained one reads them over REST."""
    base, facts, access = case.base, case.facts, case.access
    if base is None or not case.is_answering or not isinstance(facts, TokenFacts):
        return
    if not isinstance(access, RepositoryAccess):
        return
    branch = case.settings.base or access.default_branch
    try:
        sha = case.world.git.remote_head_of(branch, case.settings.remote) if branch else None
        if sha is None:
            return  # no commit to try it on
        checks = case.ask(lambda clients: clients.forge(base).checks(sha))
    except errors.NoPermission as error:
        why = f"{error.evidence.rstrip('.')}." if error.evidence else cause(error)
        case.find("checks.read.refused", cause=why, gh=case.gh)
    except errors.Rejected:
        return  # GitHub does not know this commit (any more), so it cannot be tried
    except errors.LifecycleError as error:
        case.find("checks.read.failed", cause=cause(error))
    else:
        key = "checks.read.rest" if facts.kind == "fine-grained" else "checks.read.whole"
        unseen = checks.unseen or "every check"
        case.find(key if checks.is_complete else "checks.read.part", unseen=unseen, gh=case.gh)
        _logs(case, base)
        if case.settings.ci_rerun and not access.is_archived:
            _rerun(case, facts, access)


def _rerun(case: Examined, facts: TokenFacts, access: RepositoryAccess) -> None:
    """The finding on whether the token may rerun failed jobs, judged by its facts: a try would write.

    Source: https://docs.github.com/rest/actions/workflow-runs#re-run-failed-jobs-from-a-workflow-run
    """
    if access.can_push is False:
        return case.find("checks.rerun.refused", whose=_owner(facts), access=access)
    if case.permissions is not None:
        is_allowed = _allows(case.permissions, "actions", "write")
        return case.find("checks.rerun.allowed" if is_allowed else "checks.rerun.missing")
    return case.find("checks.rerun.unlisted" if facts.scopes is None else "checks.rerun.allowed")


def _logs(case: Examined, base: Repository) -> None:
    """A finding on whether the token can read a job's log, tried on the newest run of a workflow."""
    try:
        has_run = case.ask(lambda clients: clients.reports(base).may_read_logs())
    except errors.NoPermission as error:
        case.find("checks.logs.refused", cause=cause(error), gh=case.gh)
    except errors.LifecycleError as error:
        case.find("checks.logs.failed", cause=cause(error))
    else:
        if has_run:
            case.find("checks.logs.read")


MOST_SECONDS = 30.0
"""Seconds of difference that are tolerated; an answer may take some seconds to arrive."""


def check_clock(case: Examined) -> None:
    """The finding on how far this clock is from GitHub's, by the time in an answer from GitHub."""
    facts, asked_at = case.facts, case.asked_at
    if not isinstance(facts, TokenFacts) or facts.server_time is None:
        return
    apart = asked_at - facts.server_time
    key = "clock.time.right" if abs(apart) <= MOST_SECONDS else "clock.time.wrong"
    case.find(key, span=figures.span(abs(apart)), direction="ahead of" if apart > 0 else "behind")
