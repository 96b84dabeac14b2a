"""`lifecycle run add-failure|retry-recommendation|retry-context|scan-dependencies`: what failed, or may."""

from __future__ import annotations

from lifecycle.cli.run.run_session import RunSession
from lifecycle.run.gates.gate_rules import check_states
from lifecycle.run.state import fields_of
from lifecycle.run.table import FailureCategory
from lifecycle.run.trouble import external_services
from lifecycle.run.trouble.retry_advice import advice
from lifecycle.run.trouble.retry_context import retry_lines
from lifecycle.run.trouble.story_failures import failed


def add_failure(
    given: RunSession,
    *,
    story: str,
    text: str,
    category: FailureCategory | None,
    file: str,
    line: int | None,
) -> None:
    """Record that something failed in STORY, TEXT being its message.

    The category decides whether and when it is tried again: lifecycle run retry-recommendation. What gates
    and reviews find is recorded by these. After three iterations that failed the story is given up, and
    the next one is worked on.
    """
    given.store.demanded()
    tree = given.tree_if_known
    with given.store.changing() as change:
        change.run = failed(
            change.run, story, text, given.now, category, tree=tree, file=file, line=line or 0
        )
        failure = change.run.story(story).failures[-1]
        added = f"Added failure: {failure.id} [{failure.category}]"
        told = change.told(f"{added} {failure.text}")
    data = fields_of(failure, "id", "category", "text", "file", "line", "iteration")
    given.show([added, *told], {**data, "escalations": told})


def retry_recommendation(given: RunSession, *, story: str) -> None:
    """Print as JSON whether STORY is tried again: after how many seconds, or why a person is needed.

    After infra and timeout each failure doubles the wait. The same failure twice on an unchanged tree is
    stuck; where waiting is the remedy, once the longest wait did not help.
    """
    given.show_json(advice(given.store.demanded().story(story), given.tree_if_known).data)


def retry_context(given: RunSession, *, story: str) -> None:
    """Print what failed in STORY, what to fix, the files changed, its checks, and the recommendation."""
    one = given.store.demanded().story(story)
    facts = given.facts_since(one.base)
    states, told = check_states(one, facts.tree), advice(one, facts.tree)
    lines = retry_lines(one, states, facts.changed, told)
    data = {"story": one.id, "files": facts.changed, "checks": states}
    given.show(lines, {**data, "recommendation": told.data, "text": lines})


def scan_dependencies(given: RunSession, *, story: str, table: bool) -> None:
    """Look for services outside of the project in STORY's title, criteria and design, by whole words.

    Each is shown with what stands in for it in development and tests, and is kept with the story.
    """
    with given.store.changing() as change:
        change.run = external_services.scanned(change.run, story)
        made = change.run.story(story)
        services = made.dependencies or ()
        named = ", ".join(one.keyword for one in services) or "none"
        change.note(f"Scanned {made.id} for external dependencies: {named}")
    shown = {name: name for name in ("type", "category", "keyword", "mock")}
    found = [fields_of(one, **shown, requires_secrets="needs_secrets") for one in services]
    lines = external_services.dependency_table if table else external_services.dependency_lines
    given.show(lines(made), {"story": made.id, "dependencies": found})
