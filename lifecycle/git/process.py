"""git, as a process: the repository that the agent works in.

Nothing here prompts, waits for an editor, or outlives the deadline; every call is an argv list.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import compress, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from lifecycle.core.errors import BadConfig, GitFailed, Refused, Transient
from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.core.redact import few, redact
from lifecycle.core.timing import Deadline, ran
from lifecycle.settings.config import for_child, is_known_to_gh, web_host
from lifecycle.settings.resources import Sentences

if TYPE_CHECKING:
    from lifecycle.core.ports import Git
    from lifecycle.core.values.model import Repository

sentence: Final = Sentences("git/refusals.toml")

_URL = re.compile(
    r"(?i)(?P<scheme>https?|ssh|git)://(?:[^/?#]*@)?(?P<host>[^/?#@:]+)(?P<port>:\d+)?:?/(?P<path>[^?#\s]+)"
)
_SCP = re.compile(r"^(?:[^@/\s]+@)?(?P<host>[^:/\s]+):(?!//)(?P<path>[^\s]+)$")
_LISTED = re.compile(r"^([^\t]+)\t(.*) \((fetch|push)\)")
"""A line of `git remote --verbose`: name, URL, and what it is used for."""

_AWAY = re.compile(r"(?:https?|ssh|git|git\+ssh|ssh\+git)://|[^/:]+:(?!:|//)")
"""The beginning of a URL that leads to a server: a scheme or, in scp's form, a host and a colon. A path,
`file://` and a helper of git (`ext::…`) run programs on this machine."""

_PLACES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX")
"""git's own hooks get these variables; they would make our git use another repository."""

_TELLING = ("!", "remote: error", "remote: fatal", "ssh:", "kex_", "fatal:", "error:")
"""The beginnings of lines that give a reason, the most useful first."""

_PUSH_ENDS = "error: failed to push some refs"
"""The end of git's output about any failed push: the reason (a hook's own words, say) comes before it."""

_ADD_ENDS = "fatal: adding files failed"
"""The end of git's output about files that it cannot add: the name of one comes before it."""

_COMMIT_ENDS = "fatal: failed to write commit object"
"""The end of git's output about a commit that it cannot make, or not sign: the reason comes before it."""

_HUNG_UP = "fatal: the remote end hung up"
"""git's words about a filter's program (git-lfs) that ended too early, too: its own words come before."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""Characters that a ref's name never has: https://git-scm.com/docs/git-check-ref-format"""

_OBJECT = re.compile(r"[0-9a-f]{40,64}")
_MOST_BYTES = 1024 * 1024

_WHOLE = ("switch", "merge", "worktree")
"""Commands that change files here, and no remote: a half-done one would obstruct the next one."""

_READING = ("ls-remote", "fetch")
"""Commands that read from a remote, and change nothing there."""

_FINISH_SECONDS = 3.0
"""How long such a command may continue after Ctrl-C, or after the time was up."""

_NOWHERE = "not a git repository (or any"
"""git's words if there is no repository; for one that it cannot use, it says something else."""

_OTHERS = {"gitlab", "bitbucket", "codeberg", "gitea", "forgejo", "sr", "azure", "visualstudio"}
"""Words in the names of hosts that are not GitHub."""

_UNREACHED = re.compile(
    "could not resolve host|connection (refused|timed out|reset|closed by)|operation timed out|"
    "failed to connect|couldn't connect|the remote end hung up|network is unreachable|"
    "no route to host|early eof|returned error: 5|unable to access"
)
"""git's words, in small letters, if the remote could not be reached."""


@dataclass(frozen=True, slots=True)
class Remote:
    """Where a remote URL points: a host (with its port, if any) and a repository.

    `may_be_alias`: the host of an ssh or scp URL may be a name from ssh's own configuration.
    """

    host: str
    repository: Repository
    may_be_alias: bool = False


def parse_remote(url: str) -> Remote | None:
    """The host and repository of a remote URL, or None if it is not an `owner/name` on a host.

    Understands https, ssh and git URLs and the scp form, with or without `.git`, a trailing slash
    or credentials, which are dropped.
    """
    match = _URL.match(url) or _SCP.match(url)
    names = match["path"].strip("/").removesuffix(".git").strip("/").split("/") if match else []
    if match is None or len(names) != 2 or not all(names):
        return None
    parts = match.groupdict("")
    is_web = parts.get("scheme", "").casefold() in ("http", "https")
    host = parts["host"] + (parts["port"] if is_web else "")
    from lifecycle.core.values.model import Repository

    return Remote(host.casefold(), Repository(names[0], names[1]), not is_web)


@dataclass(eq=False)
class GitRepository:
    """One worktree. Fits `ports.Git`.

    Args:
        root: its top folder.
        deadline: when every process has to be over.
        environment: variables beside those of this process.
        places: variables with other places where git reads and writes, for callers that need them.
        for_servers: variables that git sees only when it talks to a remote on a server.
        files: paths that `committed` will be asked for. Which of them a pushed branch lacks is read
            together with its head, so that a missing file costs no process of its own.
        errors: how bytes that are not UTF-8 are decoded; a value for `errors` of `open`.
    """

    root: Path
    deadline: Deadline
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    places: Mapping[str, str] = field(default_factory=dict)
    for_servers: Mapping[str, str] = field(default_factory=dict, repr=False)
    files: Sequence[str] = ()
    errors: str = "replace"
    _lacking: dict[str, set[str]] = field(default_factory=dict, repr=False)

    def run(self, *args: str, check: bool = True, remote: str = "", stdin: str = "") -> str:
        """Run git and return stdout without its last newline.

        Args:
            args: the command's words.
            check: raise a failure.
            remote: the remote that the command talks to, if any. Only such a command sees the user's
                tokens, for a credential helper, and only if the remote is on a server: a remote on this
                machine runs hooks, and a local command runs filters and hooks.
            stdin: what the command reads; if "", it finds the end at once.

        Raises:
            BadConfig: no remote has this name; git would take the word for a path or a URL.
            GitFailed: git failed (only if `check`); the evidence is its last words.
            Transient: the deadline passed, or the remote could not be reached.
        """
        is_away = bool(remote) and all(map(_AWAY.match, self.demand_remote(remote)))
        extra = self.for_servers if is_away else {}
        variables = for_child("git", {**self.environment, **extra}, keeps=is_away)
        # Neither git nor ssh, which has no terminal here, may ask anybody.
        silent = {"GIT_TERMINAL_PROMPT": "0", "SSH_ASKPASS_REQUIRE": "never", "LC_ALL": "C"}
        silent["GIT_OPTIONAL_LOCKS"] = "0"  # a read need not write an index
        environment = {k: v for k, v in variables.items() if k not in _PLACES} | silent
        environment |= self.places
        seconds = self.deadline.remaining(at_most=120.0)
        grace = _FINISH_SECONDS if _verb(args) in _WHOLE else 0.0
        start = (["git", *args], seconds, environment, self.root)
        try:
            code, out, err = ran(*start, errors=self.errors, given=stdin, grace=grace)
        except (FileNotFoundError, NotADirectoryError):
            name = "no-git" if self.root.is_dir() else "no-folder"
            raise GitFailed(sentence(name, root=self.root)) from None
        except subprocess.TimeoutExpired:
            raise Transient(sentence("too-long", verb=_verb(args)), is_ambiguous=True) from None
        if code != 0 and check:
            _refuse(args, f"{err}\n{out}")
        return out.rstrip("\n")

    def remotes(self) -> dict[str, tuple[str, ...]]:
        """Every remote that is set up here with the URLs that git would use, `insteadOf` applied.

        Empty in a folder that is not a repository; GitFailed if git cannot say.
        """
        urls: dict[str, tuple[str, ...]] = {}
        for name, url, _ in self._remote_lines:
            urls[name] = (*urls.get(name, ()), url)
        return urls

    @cached_property
    def _remote_lines(self) -> list[tuple[str, str, str]]:
        """Name, URL and use of each remote: one process for everything that a wake asks about them."""
        try:
            lines = self.run("remote", "--verbose").splitlines()
        except GitFailed as error:
            why = error.evidence
            if _NOWHERE in why:
                return []
            if not why:  # git itself is not there, or no folder
                raise
            raise GitFailed(sentence("remotes-unread", why=why), evidence=why) from None
        return [(m[1], m[2], m[3]) for line in lines if (m := _LISTED.match(line))]

    def demand_remote(self, name: str) -> tuple[str, ...]:
        """The URLs of a remote; BadConfig if the user has not set it up."""
        remotes = self.remotes()
        if name not in remotes:
            listed = f" ({', '.join(remotes)})" if remotes else ""
            raise BadConfig(sentence("no-such-remote", name=name, listed=listed))
        return remotes[name]

    def current_branch(self) -> str | None:
        """The branch that HEAD is on, or None if it is detached or this is no repository."""
        ref = self.run("symbolic-ref", "--quiet", "HEAD", check=False)
        return ref.removeprefix("refs/heads/") or None  # `--short` says "heads/X" beside a tag X

    def head_of(self, branch: str) -> str | None:
        """The commit of a local branch, or None."""
        words = ("rev-parse", "--verify", "--quiet", f"refs/heads/{branch}^{{commit}}")
        return self.run(*words, check=False) or None

    def remote_head_of(self, branch: str, remote: str = "origin") -> str | None:
        """The commit that the remote-tracking ref of a branch shows, or None. No network.

        Source: https://git-scm.com/docs/git-cat-file#_batch_output
        """
        ref = f"refs/remotes/{remote}/{branch}"
        # Such a name is not a ref's, and could be more than the one line that is expected here.
        if _CONTROL.search(ref):
            return None
        # The head is asked first and last: if a fetch changes it in between, the answers count for neither.
        head = f"{ref}^{{commit}}"
        lines = [head, *(f"{ref}:{name}" for name in self.files), head]
        words = ("cat-file", "--batch-check=%(objectname)")
        shown = self.run(*words, check=False, stdin="\n".join(lines)).split("\n")
        commit = shown[0] if _OBJECT.fullmatch(shown[0]) else None
        if commit is not None and len(shown) == len(lines) and shown[-1] == commit:
            absent = [line.endswith(" missing") for line in shown[1:-1]]
            self._lacking[commit] = set(compress(self.files, absent))
        return commit

    def remote_url(self, remote: str) -> str | None:
        """The URL to which a remote is pushed, `pushurl` and `insteadOf` applied; None without a remote."""
        pushed = (url for name, url, use in self._remote_lines if (name, use) == (remote, "push"))
        return next(pushed, None)

    def committed(self, commit: str, names: Sequence[str]) -> str:
        """The text of the first of these files that a commit has, or "".

        Only a regular file counts, of at most `_MOST_BYTES`: the target of a link is not in the commit.

        Args:
            commit: its name, or a branch's. A commit that is not here has no files.
            names: paths from the root; the first that exists wins.

        Raises:
            GitFailed, Transient: the file exists, but could not be read.
        """
        names = [name for name in names if name not in self._lacking.get(commit, ())]
        if not names:
            return ""
        words = ("ls-tree", "-l", "-z", "--full-tree", "--end-of-options", commit, "--", *names)
        blobs: dict[str, str] = {}
        for line in filter(None, self.run(*words, check=False).split("\0")):
            about, _, path = line.partition("\t")
            mode, _, blob, size = about.split()
            if mode in ("100644", "100755") and int(size) <= _MOST_BYTES:
                blobs[path] = blob
        first = next((blobs[name] for name in names if name in blobs), "")
        return self.run("cat-file", "blob", first) if first else ""


def head_repository(git: Git, remote: str, api_url: str) -> Repository:
    """The repository that the remote points to, which must be on the GitHub that we talk to.

    Raises:
        BadConfig: there is no such remote, or it points somewhere else.
    """
    url = git.remote_url(remote)
    if url is None:
        raise BadConfig(sentence("no-remote", remote=remote))
    parsed = parse_remote(url)
    web = web_host(api_url)
    if parsed is None or not _is_host(parsed, web):
        where = parsed.host if parsed else "a place that is not owner/name on a host"
        way = way_to(parsed.host, web) if parsed else ""
        words = {"where": where, "web": web, "way": f"{way}; else " if way else ""}
        raise BadConfig(sentence("remote-elsewhere", remote=remote, **words))
    return parsed.repository


def default_branch(git: Git, remote: str, *, is_asked: bool = False) -> str:
    """The remote's default branch as this clone knows it; "" if it does not.

    Args:
        git: the worktree's git.
        remote: the remote.
        is_asked: if the clone does not know it, ask the remote; GitFailed, Transient.
    """
    ref = git.run("symbolic-ref", "--quiet", f"refs/remotes/{remote}/HEAD", check=False)
    if not ref and is_asked:
        shown = git.run("ls-remote", "--symref", remote, "HEAD", remote=remote)
        ref = shown.partition("\t")[0].replace("ref: refs/heads/", f"refs/remotes/{remote}/")
    return ref.removeprefix(f"refs/remotes/{remote}/")


def is_no_github(host: str) -> bool:
    """True for a host whose name shows that it is not GitHub: there is no `gh auth login` for it."""
    return any(word in _OTHERS for word in re.split(r"[.:-]", host.casefold()))


def way_to(host: str, web: str) -> str:
    """What to do so that GitHub is asked on a remote's host, and not on `web`; "" if it is none."""
    if is_no_github(host):
        return ""
    if web != "github.com":  # only a setting names another one, and it comes before what gh knows
        return f"if {host} is meant: unset GITHUB_API_URL, and api_url in your config.toml"
    if is_known_to_gh(host):
        return f"for a GitHub of its own: gh auth login --hostname {host}"
    return f"for a GitHub of its own: export GITHUB_API_URL=https://{host}/api/v3"


def remote_repositories(git: Git, api_url: str) -> list[Repository]:
    """Every repository, on the GitHub that we talk to, from which a remote fetches or to which it pushes.

    One process; `insteadOf` is applied. Empty in a folder that is not a repository.
    """
    urls = [url for urls in git.remotes().values() for url in urls]
    web = web_host(api_url)
    remotes = [parsed for url in urls if (parsed := parse_remote(url)) and _is_host(parsed, web)]
    return [remote.repository for remote in remotes]


def _is_host(remote: Remote, web: str) -> bool:
    # A name without a dot is an alias from ssh's config, which people with two accounts use.
    is_alias = remote.may_be_alias and "." not in remote.host
    return remote.host in (web, f"ssh.{web}", f"www.{web}") or is_alias


def _verb(args: tuple[str, ...]) -> str:
    """The git command's name, after any `-c name=value`."""
    return next((arg for arg in args if not arg.startswith("-") and "=" not in arg), "")


def push(git: Git, remote: str, refspec: str) -> None:
    """Push a branch and follow it, unless it has a submodule's commit that is on no branch of its remote.

    The user's own settings for that (`push.recurseSubmodules`, `submodule.recurse`) have precedence. With
    `only`, git would push nothing of the repository itself and still report success: the branch goes too.
    Source: https://git-scm.com/docs/git-push

    Raises:
        Refused: somebody took commits out of the branch on the remote (a secret, say); to git, pushing them
            again is a fast-forward.
        BadConfig, GitFailed, Transient: as `GitRepository.run` does.
    """
    known = git.run("config", "--get-regexp", r"^(submodule|push\.recursesubmodules)", check=False)
    is_set = re.search(r"(?m)^(push\.recursesubmodules|submodule\.recurse)( |$)", known)
    words = ("--recurse-submodules=check",) if known and not is_set else ()
    if re.findall(r"(?m)^push\.recursesubmodules (.*)", known)[-1:] == ["only"]:  # the last counts
        words = ("--recurse-submodules=on-demand",)
    source, _, ref = refspec.partition(":")
    branch = ref.removeprefix("refs/heads/")
    # So what was pushed is known in a clone of a single branch, too, whose settings follow no other.
    follow = f"remote.{remote}.fetch=+{ref}:refs/remotes/{remote}/{branch}"
    sent = ("-c", follow, "push", "--quiet", *words, "--set-upstream", remote, refspec)
    shown = git.remote_head_of(branch, remote)
    # With a lease, git would also overwrite what the branch here lacks; there it stays a plain push.
    if shown and git.run("merge-base", shown, source, check=False) == shown:
        _refuse_set_back(git, remote, branch, f"{shown}..{source}", shown)
        try:
            git.run(*sent, f"--force-with-lease={ref}:{shown}", remote=remote)
        except GitFailed as error:
            if "stale info" not in error.evidence:
                raise
        else:
            return
        there = git.run("ls-remote", remote, ref, remote=remote).partition("\t")[0]
        if there and git.run("merge-base", there, source, check=False) == there:
            _refuse_set_back(git, remote, branch, f"{there}..{source}", shown)
    git.run(*sent, remote=remote)


def _refuse_set_back(git: Git, remote: str, branch: str, new: str, shown: str) -> None:
    """Refuse to push the range `new` if the branch had some of it, as shown last or before a fetch."""
    words = ("rev-list", "--walk-reflogs", f"refs/remotes/{remote}/{branch}", "--")
    had = {shown, *git.run(*words, check=False).split()}
    commits = git.run("rev-list", new, "--").split()
    newest = next((commit for commit in commits if commit in had), "")
    if newest:
        import shlex

        there, quoted = new.partition("..")[0], shlex.quote(branch)
        number = git.run("rev-list", "--count", f"{there}..{newest}")
        names = {"branch": branch, "remote": remote, "quoted": quoted}
        raise Refused(sentence("set-back", number=number, **names))


def _known_cause(output: str) -> str:
    """Why git failed and what helps, if its own words would mislead or say it too late; else ""."""
    _, is_checked, below = output.partition("not be found on any remote:\n")
    if is_checked:  # git's further words read as if the remote had not answered
        import shlex

        module = shlex.quote(below.partition("\n")[0].strip())
        why = f"the submodule {module} has commits that, as known here, no branch of its remote has"
        way = f"push them: git -C {module} push; or if a tag there has them: git config push"
        return f"{why}; {way}.recurseSubmodules no."
    # git's own words end so; a server's have its mark before them, or git's own words behind them.
    trusting = re.search(r"\n\t(git config --global --add safe\.directory .+)\s*\Z", output)
    if trusting:
        whose = "the repository belongs to another user of this machine"
        return f"{whose}; trust it with: {trusting[1]}"
    if "repository was archived so it is read-only" in output:
        return "its repository is archived on GitHub; an administrator has to unarchive it first."
    return ""


def _refuse(args: tuple[str, ...], output: str) -> NoReturn:
    if known := _known_cause(output):
        why = redact(known)
        raise GitFailed(f"git {_verb(args)} failed: {why}", evidence=why.removesuffix("."))
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    text = output.casefold()
    # A partial clone fetches files.
    is_local = _verb(args) in _WHOLE and "promisor remote" not in text
    ends = (_PUSH_ENDS, _ADD_ENDS, _COMMIT_ENDS, *([_HUNG_UP] if is_local else []))
    lines = [line for line in lines if not line.startswith(ends)] or lines
    telling = [line for mark in _TELLING for line in lines if line.startswith(mark)]
    words = telling[0] if telling else (lines[-1] if lines else "no words")
    if words.endswith("error: 403"):  # the server's own words give the reason
        words = " ".join([*(line for line in lines if line.startswith("remote: ")), words])
    if words.endswith("(failed to update ref)"):  # so do they here: what stands in the ref's way
        words = next((line for line in lines if line.startswith("remote: error: ")), words)
    if words.endswith(":"):  # below it, git lists items (mostly files), each after a tab
        below = output.partition(words)[2].splitlines()[1:]
        listed = takewhile(lambda line: line.startswith("\t"), below)
        words = f"{words} {few(line.strip() for line in listed)}".strip()
    evidence = redact(re.sub(r"//[^/@\s]+@", "//", words))[:300]
    why = evidence if evidence.endswith((".", "!", "?")) else f"{evidence}."  # more may follow
    is_answer = is_local or re.search(r"returned error: 40[134]|end does not support", text)
    if not is_answer and _UNREACHED.search(text):
        name = "unread" if _verb(args) in _READING else "unreached"
        raise Transient(sentence(name, verb=_verb(args), why=why), is_ambiguous=True)
    raise GitFailed(f"git {_verb(args)} failed: {why}", evidence=evidence)
