"""Services outside of the project that a story mentions, by whole words, and their substitutes."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import msgspec

from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.markdown_table import table
from lifecycle.core.messages import figures
from lifecycle.run.state import ExternalDependency, Run, Story
from lifecycle.run.texts.told import filled
from lifecycle.settings import resources


@dataclass(frozen=True, slots=True)
class ServiceRow:
    """One kind of service.

    Attributes:
        type: its short name.
        category: what it does.
        named: the words that mention it; the first of them that matches is shown.
        mock: its substitute in development and tests.
        needs_secrets: even its substitute may need credentials.
        is_general: its words fit any service: it counts only if no row of another kind does.
    """

    type: str
    category: str
    named: tuple[str, ...]
    mock: str
    needs_secrets: bool = True
    is_general: bool = False


_WORDS: Final = resources.texts("run/trouble/words.toml")

SERVICES: Final = msgspec.convert(_WORDS["services"], tuple[ServiceRow, ...])
"""The kinds of services: both tables of the design as one."""


@cache
def _pattern(keyword: str) -> re.Pattern[str]:
    """A pattern for the keyword as whole words, in any case, also plural; a hyphen equals a space."""
    words = r"[\s-]+".join(map(re.escape, re.split(r"[\s-]", keyword)))
    return re.compile(rf"(?<![\w]){words}s?(?!\w)", re.IGNORECASE)


def services_in(text: str) -> tuple[ExternalDependency, ...]:
    """The services that a text mentions, each once, in the table's order."""
    words = [[word for word in row.named if _pattern(word).search(text)] for row in SERVICES]
    named = [(row, hits[0]) for row, hits in zip(SERVICES, words, strict=True) if hits]
    special = [(row, word) for row, word in named if not row.is_general]
    return tuple(
        ExternalDependency(row.type, row.category, word, row.mock, row.needs_secrets)
        for row, word in special or named
    )


def scanned(run: Run, story_id: str) -> Run:
    """The run with the services that a story's title, criteria and design mention."""
    run.demand_open()
    story = run.story(story_id)
    text = "\n".join((story.title, *(criterion.text for criterion in story.criteria), story.design))
    return run.with_story(story.but(dependencies=services_in(text)))


def dependency_lines(story: Story, *, as_table: bool = False) -> list[str]:
    """Lines on the services that a story mentions: a list, or the design's block with a table."""
    services = story.dependencies
    if not services:
        return [f"Detected no external dependencies in {story.id}."]
    if not as_table:
        counted = figures.count(len(services), "external dependency", "external dependencies")
        lines = [line for service in services for line in filled("dependency", service=service)]
        return [f"Detected {counted}:", *lines[:-1]]
    rows = [(row.type, row.category, "yes" if row.needs_secrets else "no") for row in services]
    return filled(
        "dependencies",
        story=story,
        services=table(("Type", "Category", "Requires Secrets"), rows),
        mocks=[f"- **{service.type}:** {service.mock}" for service in services],
        secrets=filled("secrets") if any(service.needs_secrets for service in services) else [],
    )
