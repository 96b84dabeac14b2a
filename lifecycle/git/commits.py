"""Which commits and trees exist, and how two of them differ: by file, by line, by submodule."""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.core.ports import Git

_NEW = ">"
"""How lines that come begin in a difference; the header of a file begins with `+++`."""


def commit_at(git: Git, name: str) -> str:
    """The commit that a name means; "" if there is none."""
    return git.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", check=False)


def head_of(git: Git) -> str:
    """The commit that HEAD is on; "" in a repository without one."""
    return commit_at(git, "HEAD")


def empty_tree(git: Git) -> str:
    """The name of the tree without files, with which the first commit is compared; GitFailed."""
    return git.run("hash-object", "-t", "tree", "--stdin")


def plain_diff(git: Git, before: str, after: str, **signs: str) -> str:
    """The difference of two commits without lines around it, whatever the user's own settings are.

    Args:
        git: the repository.
        before: the older commit or tree.
        after: the newer one.
        signs: what is put before the lines that are `new`, and before those that are `old`.

    Raises:
        GitFailed, Transient: git cannot answer.
    """
    plain = ("--unified=0", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")
    marks = (f"--output-indicator-{side}={sign}" for side, sign in signs.items())
    words = ("-c", "core.quotePath=false", "diff", *plain, "--src-prefix=a/", "--dst-prefix=b/")
    return git.run(*words, *marks, before, after)


def added_lines(git: Git, before: str, after: str) -> Iterator[tuple[str, str]]:
    """Each line that was added between two commits or trees: its file, as git shows it, and the line.

    The line begins with one mark, and text after a carriage return comes as a line of its own. git puts a
    file's name in quotes if it has unusual characters.

    Raises:
        GitFailed, Transient: git cannot say.
    """
    path, is_new = "", False
    for line in plain_diff(git, before, after, new=_NEW).split("\n"):
        if not is_new and line.startswith("+++ "):
            path = line.removeprefix("+++ ").removeprefix("b/").rstrip("\t")
        # Text after a carriage return may begin with anything.
        is_new = line.startswith(_NEW) or (is_new and not line.startswith(("@@ ", "diff --git ")))
        if is_new:
            yield path, line


def moved_modules(git: Git, before: str, after: str) -> tuple[str, ...]:
    """The submodules that are at another commit in the second tree than in the first; GitFailed."""
    plain = ("-r", "-z", "--no-renames", "--ignore-submodules=none")
    words = git.run("diff-tree", *plain, before, after).split("\0")
    pairs = zip(words[::2], words[1::2], strict=False)
    return tuple(path for about, path in pairs if about.split()[1:2] == ["160000"])
