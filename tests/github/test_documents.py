"""The documents in graphql/, against the whole schema that GitHub publishes.

The schema is the npm package @octokit/graphql-schema. LIFECYCLE_GITHUB_SDL names a copy; otherwise it
is downloaded once into `.cache/`. Without npm these tests are skipped, unless
LIFECYCLE_REQUIRE_SDL=1 says that they must not be.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from graphql import (
    GraphQLSchema,
    OperationDefinitionNode,
    OverlappingFieldsCanBeMergedRule,
    build_ast_schema,
    parse,
    specified_rules,
    validate,
)

from lifecycle.resources import graphql_documents

PACKAGE = "@octokit/graphql-schema@15.26.1"
CACHE = Path(__file__).parents[2] / ".cache" / "octokit-graphql-schema-15.26.1.graphql"
# GitHub does not enforce the merging of overlapping fields; its own `gh` violates the rule.
RULES = [rule for rule in specified_rules if rule is not OverlappingFieldsCanBeMergedRule]


def download(to: Path, scratch: Path) -> str | None:
    """Put the published schema at `to`; returns why it could not, or None."""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not installed"
    try:
        done = subprocess.run(
            [npm, "pack", PACKAGE, "--silent", "--pack-destination", str(scratch)],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            cwd=scratch,
        )
    except subprocess.TimeoutExpired:
        return "npm pack did not end within a minute"
    archives = list(scratch.glob("*.tgz"))
    if done.returncode != 0 or not archives:
        return f"npm pack failed: {done.stderr.strip()[-200:]}"
    with tarfile.open(archives[0]) as archive:
        found = archive.extractfile("package/schema.graphql")
        text = found.read() if found else b""
    to.parent.mkdir(exist_ok=True)
    # Whole or not at all: another worker may be reading.
    part = to.with_name(f"{to.name}.{os.getpid()}")
    part.write_bytes(text)
    part.replace(to)
    return None


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> GraphQLSchema:
    """GitHub's schema; about half a second to build."""
    named = os.environ.get("LIFECYCLE_GITHUB_SDL")
    path = Path(named) if named else CACHE
    if not path.is_file():
        why = "it is not there" if named else download(path, tmp_path_factory.mktemp("npm"))
        if why is not None:
            words = f"no copy of GitHub's GraphQL schema: {why}"
            if os.environ.get("LIFECYCLE_REQUIRE_SDL") == "1":
                pytest.fail(words)
            pytest.skip(words)
    document = parse(path.read_text(encoding="utf-8"), no_location=True)
    # The published text has a duplicate field, which strict building refuses.
    return build_ast_schema(document, assume_valid=True, assume_valid_sdl=True)


@pytest.mark.parametrize("path", graphql_documents(), ids=lambda path: path.stem)
def test_a_document_is_valid_on_github(schema: GraphQLSchema, path: Path) -> None:
    """Every field, argument and variable exists in GitHub's schema, with a type that fits."""
    assert validate(schema, parse(path.read_text(encoding="utf-8")), RULES) == []


@pytest.mark.parametrize("path", graphql_documents(), ids=lambda path: path.stem)
def test_a_document_is_named_for_its_operation(path: Path) -> None:
    """One operation a file, and the file's name is the operation's."""
    operations = [
        one
        for one in parse(path.read_text(encoding="utf-8")).definitions
        if isinstance(one, OperationDefinitionNode)
    ]
    names = [one.name.value for one in operations if one.name]
    assert names == ["".join(word.title() for word in path.stem.split("_"))]


def test_a_mistake_is_found(schema: GraphQLSchema) -> None:
    """The schema in use is GitHub's: what it does not have is refused."""
    wrong = parse('{ repository(owner: "o", name: "r") { isAgentic } }')
    assert [error.message for error in validate(schema, wrong, RULES)] == [
        "Cannot query field 'isAgentic' on type 'Repository'."
    ]
