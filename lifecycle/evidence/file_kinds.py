"""What a file is to a test run: a test, text for people, configuration, or the code that is tested.

By its path alone, and by the conventions of the runners that the table knows (`words/files.json`).
Sources: the pages that the rows of `runners.json` name, and
https://maven.apache.org/guides/introduction/introduction-to-the-standard-directory-layout.html
"""

from __future__ import annotations

import re
from enum import StrEnum

from lifecycle.evidence.words import word_tables


class FileKind(StrEnum):
    """What a file is."""

    TEST = "test"
    DOCS = "docs"
    CONFIGURATION = "configuration"
    CODE = "code"


def kind_of(path: str) -> FileKind:
    """What the file at a path, from the top of the worktree, is."""
    *folders, name = path.split("/")
    for kind, row in word_tables.table("words/files").items():
        is_within = not set(row["folders"].split()).isdisjoint(folders)
        if is_within or any(re.fullmatch(pattern, name) for pattern in row["names"]):
            return FileKind(kind)
    return FileKind.CODE
