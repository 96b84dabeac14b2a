"""Title and body of the pull request that a hand-off opens.

The project's own template wins: the first of GitHub's usual places that exists. It may hold
`{{summary}}` and `{{issue}}`; whichever is missing is put in front. Boxes are always unchecked: a
checklist that a program has ticked says nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

TITLE_LIMIT = 256
BODY_LIMIT = 60_000
SUMMARY_LIMIT = 20_000
"""GitHub takes 65,536 characters; a long summary must not push the link to the issue out."""

TEMPLATES = (
    ".github/pull_request_template.md",
    ".github/PULL_REQUEST_TEMPLATE.md",
    ".github/pull_request_template.txt",
)

_TEMPLATE = """\
## Summary

{{summary}}

{{issue}}

## Mission integrity

- [ ] The change does what the issue asks for, all of it and nothing beside it
- [ ] Tests prove it, and fail without it
- [ ] No secret, personal data or machine path went in
- [ ] Documentation and changelog say what is true now
- [ ] Somebody who did not write it has read all of it

## Test plan

- [ ] The project's checks pass on this branch
- [ ] The behaviour was tried by hand where tests cannot see it
"""


def title(summary: str) -> str:
    """The summary on one line, within GitHub's limit."""
    line = " ".join(summary.split())
    return line if len(line) <= TITLE_LIMIT else f"{line[: TITLE_LIMIT - 1]}…"


def body(root: Path, *, summary: str, issue: int, link: str) -> str:
    """The body: summary, link to the issue (`Refs #N` or `Closes #N`), checklist, test plan."""
    text = _unchecked(_template(root))
    parts = {"{{summary}}": summary.strip()[:SUMMARY_LIMIT], "{{issue}}": f"{link} #{issue}"}
    missing = [value for mark, value in parts.items() if mark not in text]
    for mark, value in parts.items():
        text = text.replace(mark, value)
    if missing:
        text = "\n\n".join([*missing, text])
    return text[:BODY_LIMIT]


def _template(root: Path) -> str:
    for name in TEMPLATES:
        path = root / name
        if path.is_file():
            return path.read_text(encoding="utf-8", errors="replace")
    return _TEMPLATE


def _unchecked(text: str) -> str:
    return re.sub(r"(?m)^(\s*[-*+] )\[[xX]\]", r"\1[ ]", text)
