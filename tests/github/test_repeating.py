"""Several documents as one operation (lifecycle.github.client.graph)."""

from __future__ import annotations

import re

import pytest
from graphql import GraphQLSchema, parse, print_ast, validate

from lifecycle.github.client.graph import Document, document, repeated
from tests.github.test_documents import RULES, schema
from tests.graphql_texts import graphql_documents

__all__ = ["schema"]

BATCHES = [
    ("survey_holding",) * 25,
    ("survey_leases", "survey_tips", "survey_pulls", "survey_leases"),
    ("survey_open_issues",) * 2 + ("survey_closed_issues",) * 25,
    ("survey_issue",) * 100,
    ("survey_commit",) * 100,
    ("survey_commit",),
]
FRAGMENT = re.compile(r"^fragment (\w+) on .*?^}$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("names", BATCHES, ids=lambda names: f"{len(names)} {names[0]}")
def test_a_batch_is_valid_on_github(schema: GraphQLSchema, names: tuple[str, ...]) -> None:
    """What is sent is what GitHub understands, with as many parts as were asked for."""
    whole = Document.of(repeated(*names))
    text = whole.text
    assert validate(schema, parse(text), RULES) == []
    assert len(re.findall(r"^  p\d+: repository\(", text, re.MULTILINE)) == len(names)
    assert text.count("rateLimit") == 1
    assert whole.operation == document(names[0]).operation
    assert not whole.is_mutation


@pytest.mark.parametrize("names", BATCHES, ids=lambda names: f"{len(names)} {names[0]}")
def test_a_batch_is_written_as_graphql_core_writes_it(names: tuple[str, ...]) -> None:
    """It is put together as text; what a parser reads in it is all of it."""
    text = repeated(*names)
    assert print_ast(parse(text)) == text


def test_each_part_has_variables_of_its_own() -> None:
    """What the parts ask for is told apart; what fragments use is common to all."""
    assert Document.of(repeated("survey_issue", "survey_issue")).variables == {
        *("p0_owner", "p0_name", "p0_number", "p1_owner", "p1_name", "p1_number"),
        *("items", "labels"),
    }


def test_fragments_of_one_name_are_the_same_in_every_document() -> None:
    """A sweep's documents can be sent together: what they share is written alike."""
    known: dict[str, str] = {}
    for path in graphql_documents():
        if path.stem.startswith("survey_"):
            for found in FRAGMENT.finditer(path.read_text(encoding="utf-8")):
                assert known.setdefault(found[1], found[0]) == found[0], path.name
    assert {"SurveyPull", "SurveyIssue", "Holding"} <= known.keys()


@pytest.mark.parametrize(
    ("names", "error"),
    [
        (("set_board_fields",), TypeError),
        (("viewer",), ValueError),
    ],
)
def test_what_cannot_be_repeated_is_refused(names: tuple[str, ...], error: type[Exception]) -> None:
    """A mutation, and a document that asks for nothing of its own."""
    with pytest.raises(error):
        repeated(*names)


def test_a_batch_has_its_fragments_once() -> None:
    """A hundred issues are asked for with little more text than one."""
    one, hundred = (len(repeated(*("survey_issue",) * n)) for n in (1, 100))
    assert hundred < one * 20
