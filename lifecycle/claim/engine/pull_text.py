"""Title and body of the pull request that a hand-off opens.

The project's own template wins: the first of GitHub's usual places that the commit has. It may hold
`{{summary}}` and `{{issue}}`; whichever is missing is put in front. Boxes are always unchecked: a
checklist that a program has ticked says nothing.
"""

from __future__ import annotations

import re

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


def body(template: str, *, summary: str, issue: int, link: str) -> str:
    """The body: summary, link to the issue (`Refs #N` or `Closes #N`), checklist, test plan.

    Args:
        template: the project's own, or empty.
        summary: what was done.
        issue: its number.
        link: the word before it.
    """
    text = _unchecked(template or _TEMPLATE)
    parts = {"{{summary}}": summary.strip()[:SUMMARY_LIMIT], "{{issue}}": f"{link} #{issue}"}
    missing = [value for mark, value in parts.items() if mark not in text]
    for mark, value in parts.items():
        text = text.replace(mark, value)
    if missing:
        text = "\n\n".join([*missing, text])
    return text[:BODY_LIMIT]


def _unchecked(text: str) -> str:
    return re.sub(r"(?m)^([ \t]*[-*+] )\[[xX]\]", r"\1[ ]", text)
