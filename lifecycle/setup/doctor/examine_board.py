"""The board: whether it can be read, and has the fields and options that are written."""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.core.errors import BadConfig, LifecycleError
from lifecycle.core.redact import visible
from lifecycle.core.values.board_options import Status
from lifecycle.core.values.model import BoardSchema, TokenFacts
from lifecycle.setup.doctor.doctor_finding import (
    ON_GITHUB,
    DoctorFinding,
    FixStep,
    cause,
    fail,
    ok,
    warn,
)
from lifecycle.setup.doctor.examined import Examined

_OPTIONS = {
    Status.TODO: (FixStep.RELEASE, "giving a task back"),
    Status.IN_PROGRESS: (FixStep.CLAIM, "claiming"),
    Status.IN_REVIEW: (FixStep.PR, "opening the PR"),
    Status.DONE: (FixStep.CLOSE, "closing"),
}
"""Each option of Status, and the transition that moves a card there."""

_OPTIONAL = ("Priority", "Readiness", "Dependencies")


def check(case: Examined) -> Iterator[DoctorFinding]:
    """What the board is like."""
    if case.settings_problem is not None:
        return  # which board is meant is not known
    number = case.settings.project_number
    prefix = case.settings.labels_prefix
    if case.settings.labels_use == "always":
        yield ok("board.labels", f'The Status is kept as labels of the issue ("{prefix}todo").')
        return
    if number is None:
        yield ok("board.found", "No board is configured; issues and PRs work alone.")
        return
    facts = case.facts
    owner = case.settings.project_owner or (case.base.owner if case.base else "")
    if not owner or case.asking is None or not isinstance(facts, TokenFacts):
        return
    has_none = facts.scopes is not None and "project" not in facts.scopes
    if has_none or facts.kind == "actions":
        return  # said with the token
    try:
        case.world.refuse_strange_board()
    except BadConfig as error:
        fix = f"LIFECYCLE_PROJECT_OWNER={owner}, if that board is meant"
        yield fail("board.owner", cause(error), (*ON_GITHUB, FixStep.BOARD, FixStep.BRIEF), fix)
        return
    from lifecycle.github.board.board_client import ProjectRef

    project = ProjectRef(owner, number)
    try:
        schema, is_closed = case.asking.board(project), case.asking.is_closed(project)
    except LifecycleError as error:
        if case.world.choice.gives_up(error):
            yield warn(
                "board.labels",
                f"{cause(error)} The Status is kept as labels of the issue "
                f'("{prefix}in progress") meanwhile.',
                (FixStep.BOARD, FixStep.BRIEF),
                "use a token of somebody who may see the board",
            )
            return
        yield fail(
            "board.found",
            cause(error),
            (FixStep.BOARD, FixStep.BRIEF),
            f"gh project view {number} --owner {owner}",
        )
        return
    if is_closed:
        yield warn(
            "board.closed",
            f'The board "{visible(schema.title)}" is closed: its cards move, and nobody sees it.',
            (FixStep.BOARD,),
            f"gh project close {number} --owner {owner} --undo",
        )
    yield ok("board.found", f'The board "{visible(schema.title)}" can be read ({schema.url}).')
    yield from _status(schema)
    yield from _agent(schema, owner, number)
    yield from _optional(schema)


def _status(schema: BoardSchema) -> Iterator[DoctorFinding]:
    field = schema.field("Status")
    if field is None or not field.options:
        yield fail(
            "board.status",
            "The board has no single-select field Status.",
            (FixStep.BOARD, FixStep.CLAIM),
            f"add it at {schema.url}/settings",
        )
        return
    missing = [name for name in _OPTIONS if field.option(name) is None]
    if not missing:
        yield ok("board.status", f"Status has {', '.join(_OPTIONS)}.")
        return
    names = " and ".join(f'"{name}"' for name in missing)
    whose = " and ".join(_OPTIONS[name][1] for name in missing)
    yield fail(
        "board.status",
        f"Status has no option {names}: the card stays where it is at {whose}.",
        (FixStep.BOARD, *(_OPTIONS[name][0] for name in missing if name == Status.TODO)),
        f"add it at {schema.url}/settings",
    )


def _agent(schema: BoardSchema, owner: str, number: int) -> Iterator[DoctorFinding]:
    field = schema.field("Agent")
    if field is not None and field.kind == "TEXT":
        yield ok("board.agent", "Agent is a text field.")
        return
    what = "has no field Agent" if field is None else "has a field Agent that is no text"
    create = f"gh project field-create {number} --owner {owner} --name Agent --data-type TEXT"
    yield warn(
        "board.agent",
        f"The board {what}, so it does not show who is at work.",
        (FixStep.BOARD,),
        create if field is None else f"rename it at {schema.url}/settings, then: {create}",
    )


def _optional(schema: BoardSchema) -> Iterator[DoctorFinding]:
    missing = [name for name in _OPTIONAL if schema.field(name) is None]
    if missing:
        yield ok("board.optional", f"Without {', '.join(missing)}, which the board need not have.")
