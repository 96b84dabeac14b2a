"""`lifecycle run add-failure|retry-recommendation|retry-context|scan-dependencies`: what failed, or may."""

from __future__ import annotations

import click

from lifecycle.cli.command_session import option
from lifecycle.cli.run.run_session import RunSession, in_run
from lifecycle.run.gates.gate_rules import check_states
from lifecycle.run.table import FailureCategory
from lifecycle.run.trouble import external_services
from lifecycle.run.trouble.retry_advice import advice
from lifecycle.run.trouble.retry_context import retry_lines
from lifecycle.run.trouble.story_failures import failed


@click.command("add-failure", short_help="Record what failed in a story.")
@click.argument("story", metavar="STORY")
@click.argument("text")
@option(
    "--category CATEGORY",
    "code, test, infra, external or timeout. Default: told from the text.",
    type=click.Choice([kind.value for kind in FailureCategory]),
)
@option("--file PATH", "Where it failed.", default="")
@option("--line N", "The line there.", type=click.IntRange(min=1), default=None)
@in_run
def add_failure(
    given: RunSession, *, story: str, text: str, category: str | None, file: str, line: int | None
) -> None:
    """Record that something failed in STORY, TEXT being its message.

    The category decides whether and when it is tried again: lifecycle run retry-recommendation. What gates
    and reviews find is recorded by these. After three iterations that failed the story is given up, and
    the next one is worked on.
    """
    given.store.demanded()
    kind = FailureCategory(category) if category else None
    tree = given.tree_if_known
    with given.store.changing() as change:
        change.run = failed(
            change.run, story, text, given.now, kind, tree=tree, file=file, line=line or 0
        )
        failure = change.run.story(story).failures[-1]
        added = f"Added failure: {failure.id} [{failure.category}]"
        told = change.told(f"{added} {failure.text}")
    data = {"id": failure.id, "category": failure.category.value, "text": failure.text}
    where = {"file": failure.file, "line": failure.line, "iteration": failure.iteration}
    given.show([added, *told], {**data, **where, "escalations": told})


@click.command("retry-recommendation", short_help="Whether a story is tried again, and when.")
@click.argument("story", metavar="STORY")
@in_run
def retry_recommendation(given: RunSession, *, story: str) -> None:
    """Print as JSON whether STORY is tried again: after how many seconds, or why a person is needed.

    After infra and timeout each failure doubles the wait. The same failure twice on an unchanged tree is
    stuck; where waiting is the remedy, once the longest wait did not help.
    """
    told = advice(given.store.demanded().story(story), given.tree_if_known).data
    given.show_json(told)


@click.command("retry-context", short_help="What the developer gets before another try.")
@click.argument("story", metavar="STORY")
@in_run
def retry_context(given: RunSession, *, story: str) -> None:
    """Print what failed in STORY, what to fix, the files changed, its checks, and the recommendation."""
    one = given.store.demanded().story(story)
    facts = given.facts_since(one.base)
    states, told = check_states(one, facts.tree), advice(one, facts.tree)
    lines = retry_lines(one, states, facts.changed, told)
    data = {
        "story": one.id,
        "files": list(facts.changed),
        "checks": {check.value: state.value for check, state in states.items()},
        "recommendation": told.data,
        "text": lines,
    }
    given.show(lines, data)


@click.command("scan-dependencies", short_help="Find the services outside that a story speaks of.")
@click.argument("story", metavar="STORY")
@option("--table", "Print the block for the developer, in Markdown.")
@in_run
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
    dependencies = [
        {
            "type": one.type,
            "category": one.category,
            "keyword": one.keyword,
            "mock": one.mock,
            "requires_secrets": one.needs_secrets,
        }
        for one in services
    ]
    lines = external_services.dependency_table if table else external_services.dependency_lines
    given.show(lines(made), {"story": made.id, "dependencies": dependencies})
