"""`lifecycle run add-failure|retry-recommendation|retry-context|scan-dependencies`: what failed, or may."""

from __future__ import annotations

import click

from lifecycle.cli.command_session import Session, in_worktree, option
from lifecycle.cli.run.run_session import RunSession
from lifecycle.run.gates.gate_rules import check_states
from lifecycle.run.gates.work_facts import facts_of
from lifecycle.run.table import FailureCategory
from lifecycle.run.trouble import external_services
from lifecycle.run.trouble.escalation import escalation_lines
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
@in_worktree()
def add_failure(
    session: Session, *, story: str, text: str, category: str | None, file: str, line: int | None
) -> None:
    """Record that something failed in STORY, TEXT being its message.

    The category decides whether and when it is tried again: lifecycle run retry-recommendation. What gates
    and reviews find is recorded by these. After three iterations that failed the story is given up, and
    the next one is worked on.
    """
    given = RunSession(session)
    given.store.demanded()
    kind = FailureCategory(category) if category else None
    tree = given.tree_if_known
    with given.store.changing() as change:
        before = change.run
        change.run = failed(
            before, story, text, given.now, kind, tree=tree, file=file, line=line or 0
        )
        failure = change.run.story(story).failures[-1]
        added = f"Added failure: {failure.id} [{failure.category}]"
        told = escalation_lines(before, change.run)
        for noted in (f"{added} {failure.text}", *told):
            change.note(noted)
    data = {"id": failure.id, "category": failure.category.value, "text": failure.text}
    where = {"file": failure.file, "line": failure.line, "iteration": failure.iteration}
    session.show([added, *told], {**data, **where, "escalations": told})


@click.command("retry-recommendation", short_help="Whether a story is tried again, and when.")
@click.argument("story", metavar="STORY")
@in_worktree()
def retry_recommendation(session: Session, *, story: str) -> None:
    """Print as JSON whether STORY is tried again: after how many seconds, or why a person is needed.

    After infra and timeout each failure doubles the wait. The same failure twice on an unchanged tree is
    stuck; where waiting is the remedy, once the longest wait did not help.
    """
    given = RunSession(session)
    told = advice(given.store.demanded().story(story), given.tree_if_known).data
    given.show_json(told)


@click.command("retry-context", short_help="What the developer gets before another try.")
@click.argument("story", metavar="STORY")
@in_worktree()
def retry_context(session: Session, *, story: str) -> None:
    """Print what failed in STORY, what to fix, the files changed, its checks, and the recommendation."""
    given = RunSession(session)
    one, world = given.store.demanded().story(story), session.world
    facts = facts_of(world.root, world.deadline, world.environment, one.base)
    states, told = check_states(one, facts.tree), advice(one, facts.tree)
    lines = retry_lines(one, states, facts.changed, told)
    data = {
        "story": one.id,
        "files": list(facts.changed),
        "checks": {check.value: state.value for check, state in states.items()},
        "recommendation": told.data,
        "text": lines,
    }
    session.show(lines, data)


@click.command("scan-dependencies", short_help="Find the services outside that a story speaks of.")
@click.argument("story", metavar="STORY")
@option("--table", "Print the block for the developer, in Markdown.")
@in_worktree()
def scan_dependencies(session: Session, *, story: str, table: bool) -> None:
    """Look for services outside of the project in STORY's title, criteria and design, by whole words.

    Each is shown with what stands in for it in development and tests, and is kept with the story.
    """
    given = RunSession(session)
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
    session.show(lines(made), {"story": made.id, "dependencies": dependencies})
