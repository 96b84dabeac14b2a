"""Writes down which page GitHub's published description has about each call that the sandbox answers.

    python -m tests.sandbox.wire.published_pages OPENAPI FILE

OPENAPI is `generated/api.github.com.json` of the npm package @octokit/openapi. FILE is the router's
`pages.txt`: a method, a path as the router writes it, and the page, for each call.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from lifecycle.sandbox.wire.rest.router import ROUTES

HEADER = """\
# GitHub's pages about the calls that the sandbox answers. Generated; do not edit: make pages
# From api.github.com.json of the npm package @octokit/openapi, MIT licence,
# https://github.com/octokit/openapi
"""


def pages_of(description: str) -> str:
    """The text of `pages.txt`: what the description says of the router's calls."""
    published: dict[str, str] = {}
    for path, calls in json.loads(description)["paths"].items():
        for method, call in calls.items():
            published[f"{method.upper()} {re.sub(r'{.*?}', '*', path)}"] = call["externalDocs"][
                "url"
            ]
    names = {f"{route.method} {route.path}" for route in ROUTES}
    known = {name: published.get(re.sub(r"<.*?>", "*", name)) for name in sorted(names)}
    return HEADER + "".join(f"{name} {page}\n" for name, page in known.items() if page)


def main(argv: list[str]) -> int:
    """Write the file; exit code 2 on wrong usage."""
    if len(argv) != 2:
        sys.stderr.write("Usage: python -m tests.sandbox.wire.published_pages OPENAPI FILE\n")
        return 2
    description = Path(argv[0]).read_text(encoding="utf-8")
    Path(argv[1]).write_text(pages_of(description), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
