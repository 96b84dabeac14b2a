"""The names of branches; those that claims use, `claude/<slug>-<n>`, are made and read here."""

from __future__ import annotations

import re
import unicodedata

_SLUG_LIMIT = 40

_ODD = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|$)|[./]$|^[/.+-]|^@$")
"""Source: https://git-scm.com/docs/git-check-ref-format"""

_NAME = re.compile(r"claude/(?:.*-)?([1-9][0-9]{0,8})")


def branch_name(title: str, number: int) -> str:
    """`claude/<slug>-<n>`: the title's words in ASCII, cut at a word's end."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    words = "-".join(re.findall(r"[a-z0-9]+", plain.casefold()))
    cut = words[: _SLUG_LIMIT + 1].rpartition("-")[0] or words[:_SLUG_LIMIT]
    slug = words if len(words) <= _SLUG_LIMIT else cut
    return f"claude/{slug or 'task'}-{number}"


def is_branch(name: str) -> bool:
    """True if a branch may have this name."""
    return bool(name) and _ODD.search(name) is None


def named_issue(branch: str) -> int:
    """The issue whose claim would use this branch name; 0 if it has not the form of one."""
    name = _NAME.fullmatch(branch)
    return int(name[1]) if name else 0
