"""The GraphQL documents of the product, as the tests read them."""

from __future__ import annotations

from pathlib import Path

from lifecycle.settings import resources


def graphql_document(name: str) -> str:
    """The text of `graphql/NAME.graphql`."""
    return resources.page(f"graphql/{name}.graphql")


def graphql_documents() -> list[Path]:
    """Every document, in name order."""
    return sorted(resources.top_folder("graphql").glob("*.graphql"))
