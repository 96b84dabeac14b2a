"""What a file is to a test run: a test, text for people, configuration, or the code that is tested.

By its path alone, and by the conventions of the runners that the table knows. Sources: the pages that the
rows of `runners.json` name, and https://maven.apache.org/guides/introduction/introduction-to-the-standard-directory-layout.html
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final


class FileKind(StrEnum):
    """What a file is."""

    TEST = "test"
    DOCS = "docs"
    CONFIGURATION = "configuration"
    CODE = "code"


TEST_FOLDERS: Final = frozenset(
    {
        *("test", "tests", "testing", "__tests__", "__mocks__", "__snapshots__"),
        *("spec", "specs", "e2e", "cypress", "features", "testdata", "fixtures", "t"),
        *("androidTest", "integrationTest", "integration-tests", "unittests"),
    }
)
"""Folders that hold nothing but tests and what they need."""

TEST_NAMES: Final = (
    r"test_.*|conftest\.py|tests\.py",  # pytest, unittest, Django
    r".*[._-](?:test|tests|spec|cy|e2e)\.\w+",  # Jest, Vitest, node, Go, RSpec, Dart, Elixir, Deno
    r".*(?:Test|Tests|TestCase|IT|Spec|Specs)\.(?:java|kt|kts|scala|groovy|cs|fs|vb|php|swift|hs|m|mm)",
    r"Test[A-Z].*\.(?:java|kt|cs|php)",
    r".*\.(?:feature|bats|robot|snap|t)",
)
"""Names of files of tests, whatever their folder."""

DOC_FOLDERS: Final = frozenset({"docs", "doc", "documentation"})
DOC_NAMES: Final = (
    r".*\.(?:md|mdx|markdown|rst|adoc|txt|org)",
    r"(?:LICENSE|LICENCE|NOTICE|AUTHORS|README|CHANGELOG|CODEOWNERS)(?:\..*)?",
)
CONFIGURATION_NAMES: Final = (
    r"\..*",  # .gitignore, .editorconfig
    r".*\.(?:toml|ya?ml|json5?|jsonc|ini|cfg|conf|properties|lock|env|editorconfig|csproj|sln|gradle)",
    r".*\.config\.[cm]?[jt]s|.*\.gradle\.kts|pom\.xml|go\.(?:mod|sum)|Gemfile|Rakefile|Podfile",
    r"(?:Dockerfile|Makefile|Jenkinsfile|Procfile|CMakeLists\.txt|justfile|requirements.*)(?:\..*)?",
)
CONFIGURATION_FOLDERS: Final = frozenset(
    {".github", ".claude", ".lifecycle", ".vscode", ".circleci"}
)

_KINDS: Final = (
    (FileKind.TEST, TEST_FOLDERS, TEST_NAMES),
    (FileKind.CONFIGURATION, CONFIGURATION_FOLDERS, CONFIGURATION_NAMES),
    (FileKind.DOCS, DOC_FOLDERS, DOC_NAMES),
)


def kind_of(path: str) -> FileKind:
    """What the file at a path, from the top of the worktree, is."""
    *folders, name = path.split("/")
    for kind, in_folders, names in _KINDS:
        if not in_folders.isdisjoint(folders) or any(re.fullmatch(each, name) for each in names):
            return kind
    return FileKind.CODE
