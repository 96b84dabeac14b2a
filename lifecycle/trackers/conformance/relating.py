"""What blocks what, and what a tracker says of itself."""

from __future__ import annotations

from lifecycle.core.errors import BlockedBy, Invalid, Lacking
from lifecycle.core.tracker import Capability, TaskStatus
from lifecycle.trackers.conformance.case import CheckCase, NotHere, checks_of, demand, raises, same


def a_blocked_task_waits(case: CheckCase) -> None:
    """It names its blocker and is not ready, until the blocker is closed; again it blocks if reopened."""
    case.need(Capability.DEPENDENCIES)
    made, blocker = case.make(), case.make()
    found = case.one.add_dependency(made.id, blocker.id)
    for task in (found, case.two.get(made.id)):
        same(task.blocked_by, (blocker.id,), "blocked_by")
        demand(not task.is_ready, "a blocked task is ready")
    labels = (case.label,)
    same([task.id for task in case.two.ready(labels=labels)], [blocker.id], "what is ready")
    case.one.close(blocker.id)
    same(case.two.get(made.id).blocked_by, (), "blocked_by once the blocker is closed")
    same([task.id for task in case.two.ready(labels=labels)], [made.id], "what is ready then")
    case.one.reopen(blocker.id)
    same([task.id for task in case.two.ready(labels=labels)], [blocker.id], "what is ready again")


def a_blocked_task_is_not_closed(case: CheckCase) -> None:
    """BlockedBy, and it stays open."""
    case.need(Capability.DEPENDENCIES)
    made, blocker = case.make(), case.make()
    case.one.add_dependency(made.id, blocker.id)
    with raises(BlockedBy, "closing a blocked task"):
        case.one.close(made.id, reason="x")
    demand(case.two.get(made.id).status is not TaskStatus.CLOSED, "it is closed all the same")


def a_dependency_is_added_once(case: CheckCase) -> None:
    """Again it is no error and no write; two blockers are two."""
    case.need(Capability.DEPENDENCIES)
    made, blocker, other = case.make(), case.make(), case.make()
    case.one.add_dependency(made.id, blocker.id)
    is_written = case.is_written_by(
        lambda: case.one.add_dependency(made.id, blocker.id), made.id, blocker.id
    )
    demand(not is_written, "the second call wrote something")
    case.one.add_dependency(made.id, other.id)
    found = case.two.get(made.id).blocked_by
    same(sorted(found), sorted((blocker.id, other.id)), "blocked_by")


def a_circle_is_invalid(case: CheckCase) -> None:
    """No task waits for itself, neither at once nor over others."""
    case.need(Capability.DEPENDENCIES)
    one, two, three = case.make(), case.make(), case.make()
    with raises(Invalid, "a task that waits for itself"):
        case.one.add_dependency(one.id, one.id)
    case.one.add_dependency(one.id, two.id)
    with raises(Invalid, "two tasks that wait for each other"):
        case.one.add_dependency(two.id, one.id)
    case.one.add_dependency(two.id, three.id)
    with raises(Invalid, "three tasks in a circle"):
        case.one.add_dependency(three.id, one.id)
    same(case.two.get(three.id).blocked_by, (), "what the third one waits for")


def without_dependencies_they_are_lacking(case: CheckCase) -> None:
    """Lacking, which names the capability."""
    if case.one.abilities().has(Capability.DEPENDENCIES):
        raise NotHere("it has dependencies")
    made, blocker = case.make(), case.make()
    with raises(Lacking, "adding a dependency") as refused:
        case.one.add_dependency(made.id, blocker.id)
    same(refused.error.capability, Capability.DEPENDENCIES, "the capability")


def publishing_is_a_capability(case: CheckCase) -> None:
    """With it: `publish` succeeds twice, and has a command. Without it: Lacking, and no command."""
    command = case.one.wording().publish
    if case.one.abilities().has(Capability.PUBLISH):
        demand(bool(command), "it can publish, and its wording has no command for it")
        case.one.publish()
        case.one.publish()
        return
    same(command, "", "the command to publish")
    with raises(Lacking, "publishing") as refused:
        case.one.publish()
    same(refused.error.capability, Capability.PUBLISH, "the capability")


def two_actors_are_two(case: CheckCase) -> None:
    """Each has a name of its own, the same in every object, and nobody else's."""
    same(case.tracker(1).actor, case.one.actor, "the same actor's name")
    demand(case.one.actor != case.two.actor, f"two actors are called {case.one.actor!r}")
    demand(bool(case.one.actor), "an actor has no name")


def it_says_what_it_can(case: CheckCase) -> None:
    """A name, abilities that stay, and commands that name the task where one is meant."""
    demand(bool(case.one.name), "it has no name")
    same(case.one.abilities(), case.one.abilities(), "what it can, asked twice")
    wording = case.one.wording()
    for verb in ("show", "claim", "close", "label", "comment"):
        command = getattr(wording, verb)
        demand("{id}" in command, f"the command to {verb} does not name the task: {command!r}")
    demand(bool(wording.ready), "there is no command that shows what is ready")


CHECKS = checks_of(__name__)
