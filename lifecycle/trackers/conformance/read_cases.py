"""Rules on reading: tasks, lists, ready tasks, and unknown ids."""

from __future__ import annotations

from lifecycle.core.errors import Invalid, NotFound
from lifecycle.core.tracker import Capability, TaskStatus
from lifecycle.trackers.conformance.case import CheckCase, demand, plain, refused, same

MANY = 120


def a_new_task_is_open_and_nobodys(case: CheckCase) -> None:
    """`get` shows the values given to `create`: open, without an assignee, ready."""
    made = case.make("Fix the race", description="It\nhappens.", priority=1)
    for task in (made, case.tracker(2).get(made.id)):
        same(task.id, made.id, "the id")
        same(task.title, "Fix the race", "the title")
        same(plain(task.description), "It\nhappens.", "the description")
        same(task.priority, 1, "the priority")
        case.stands(task, TaskStatus.OPEN, "")
        demand(bool(task.raw_status), "raw_status is empty; it holds the tracker's own word")
        demand(case.label in task.labels, f"the label is not there: {task.labels}")
        demand(task.is_ready, "a new task is not ready")


def an_unknown_id_is_not_found(case: CheckCase) -> None:
    """Each verb that takes an id raises NotFound for an unknown one.

    Ids are opaque: any text may be given, even one that looks like an option.
    """
    tracker, real, of = case.one, case.make().id, "of an unknown id"
    lost = f"{real}99999"  # in the tracker's own form
    for text in ("no-such-task", "--help", "-1", "0", "a b", "../1", "1/../2", "é"):
        refused(NotFound, f"get({text!r})", tracker.get, text)
    for name in ("get", "claim", "release", "reopen", "list_comments"):
        refused(NotFound, f"{name} {of}", getattr(tracker, name), lost)
    refused(NotFound, f"close {of}", tracker.close, lost, reason="x")
    refused(NotFound, f"edit {of}", tracker.edit, lost, title="x")
    refused(NotFound, f"edit_labels {of}", tracker.edit_labels, lost, add=("x",))
    refused(NotFound, f"comment {of}", tracker.comment, lost, case.key(), "x")
    if tracker.abilities().has(Capability.DEPENDENCIES):
        refused(NotFound, f"add_dependency {of}", tracker.add_dependency, lost, real)
        refused(NotFound, f"add_dependency (the blocker) {of}", tracker.add_dependency, real, lost)


def nothing_is_truncated(case: CheckCase) -> None:
    """However many tasks there are, `list` and `ready` return all of them."""
    made = {case.make(f"Number {number}").id for number in range(MANY)}
    same(set(case.listed()), made, "what `list` gives")
    same(set(case.ready()), made, "what `ready` gives")


def a_list_by_status_has_only_that(case: CheckCase) -> None:
    """Each status by itself, empty for one that no task has; without one, all that are not closed."""
    free, held, done = case.make(), case.make(), case.make()
    case.two.claim(held.id)
    case.one.close(done.id)
    same(set(case.listed()), {free.id, held.id}, "what `list` gives")
    made = {TaskStatus.OPEN: free, TaskStatus.IN_PROGRESS: held, TaskStatus.CLOSED: done}
    for status in (*made, TaskStatus.OTHER):
        ids = [made[status].id] if status in made else []
        listed = case.one.list(label=case.label, status=status)
        same([task.id for task in listed], ids, f"the list of {status}")
        demand(all(task.status is status for task in listed), f"a task in it is not {status}")


def a_list_has_only_the_label(case: CheckCase) -> None:
    """A label is a whole name: a part of it, or a longer one, does not match."""
    made = case.make()
    case.one.create(case.key(), title="Another", labels=(f"{case.label}-more",))
    same(case.listed(), [made.id], "the list of a label")
    same(case.one.list(label=f"{case.label}-none"), (), "the list of a label that nobody has")


def lists_are_by_urgency(case: CheckCase) -> None:
    """The most urgent first, then the oldest; tasks without a priority come last."""
    made = [case.make(f"P{rank}", priority=rank) for rank in (3, 0, 4, 1, 0, 2)]
    made.append(case.make("None"))
    for tasks in (case.one.list(label=case.label), case.one.ready(labels=(case.label,))):
        same({task.id for task in tasks}, {task.id for task in made}, "the tasks")
        ranks = [task.urgency[:2] for task in tasks]
        same(ranks, sorted(ranks), "the order")
        same([task.priority for task in tasks][:2], [0, 0], "the two most urgent")


def ready_leaves_out_what_cannot_be_begun(case: CheckCase) -> None:
    """Claimed and closed tasks are not ready; released and reopened ones are."""
    free, held, done = case.make(), case.make(), case.make()
    case.two.claim(held.id)
    case.one.close(done.id)
    same(case.ready(), [free.id], "what is ready")
    case.two.release(held.id)
    case.one.reopen(done.id)
    same(set(case.ready()), {free.id, held.id, done.id}, "what is ready again")


def a_family_of_labels_is_asked_for_by_its_beginning(case: CheckCase) -> None:
    """`name:*` matches every label that begins with `name:`, but not `name` itself."""
    family = f"{case.label}:"
    plain_one = case.make()
    docs = case.one.create(case.key(), title="Docs", labels=(f"{family}docs",))
    tests = case.one.create(case.key(), title="Tests", labels=(f"{family}tests",))
    case.one.create(case.key(), title="Other", labels=(f"{case.label}s",))
    same(set(case.ready(f"{family}*")), {docs.id, tests.id}, "the family")
    every = set(case.ready(case.label, f"{family}*"))
    same(every, {plain_one.id, docs.id, tests.id}, "the label and its family")
    same(case.one.ready(labels=(f"{case.label}/*",)), (), "a family that nobody has")


def several_labels_mean_any_of_them(case: CheckCase) -> None:
    """A task with one of them is listed, and one with two of them is listed once."""
    other = f"{case.label}-b"
    first = case.make()
    second = case.one.create(case.key(), title="B", labels=(other,))
    both = case.make(labels=(other,))
    ready = sorted(case.ready(case.label, other))
    same(ready, sorted([first.id, second.id, both.id]), "what is ready")


def ready_without_labels_is_every_task(case: CheckCase) -> None:
    """Without labels, every task is returned, with or without labels of its own."""
    made, bare = case.make(), case.one.create(case.key(), title="Bare")
    demand({made.id, bare.id} <= {task.id for task in case.one.ready()}, "a ready task is missing")


def a_blocked_task_waits(case: CheckCase) -> None:
    """It names its blocker and is not ready until that one is closed; if reopened, it blocks again."""
    made, blocker = case.blocked()
    for task in (case.one.add_dependency(made.id, blocker.id), case.two.get(made.id)):
        same(task.blocked_by, (blocker.id,), "blocked_by")
        demand(not task.is_ready, "a blocked task is ready")
    same(case.ready(), [blocker.id], "what is ready")
    case.one.close(blocker.id)
    same(case.two.get(made.id).blocked_by, (), "blocked_by once the blocker is closed")
    same(case.ready(), [made.id], "what is ready then")
    case.one.reopen(blocker.id)
    same(case.ready(), [blocker.id], "what is ready again")


def a_dependency_is_added_once(case: CheckCase) -> None:
    """Adding it again is no error and no write; two different blockers are two."""
    (made, blocker), other = case.blocked(), case.make()
    case.writes_nothing("the second call", case.one.add_dependency, made.id, blocker.id)
    case.one.add_dependency(made.id, other.id)
    same(sorted(case.two.get(made.id).blocked_by), sorted((blocker.id, other.id)), "blocked_by")


def a_circle_is_invalid(case: CheckCase) -> None:
    """No task waits for itself, neither directly nor through others."""
    case.need(Capability.DEPENDENCIES)
    depend = case.one.add_dependency
    first, second, third = case.make(), case.make(), case.make()
    refused(Invalid, "a task that waits for itself", depend, first.id, first.id)
    depend(first.id, second.id)
    refused(Invalid, "two tasks that wait for each other", depend, second.id, first.id)
    depend(second.id, third.id)
    refused(Invalid, "three tasks in a circle", depend, third.id, first.id)
    same(case.two.get(third.id).blocked_by, (), "what the third one waits for")


def without_dependencies_they_are_lacking(case: CheckCase) -> None:
    """It raises Lacking, which names the capability."""
    made, blocker = case.make(), case.make()
    case.lacks(Capability.DEPENDENCIES, case.one.add_dependency, made.id, blocker.id)


def publishing_is_a_capability(case: CheckCase) -> None:
    """With it, `publish` succeeds twice, and has a command. Without it: Lacking, and no command."""
    command = case.one.wording().publish
    if case.one.abilities().has(Capability.PUBLISH):
        demand(bool(command), "it can publish, and its wording has no command for it")
        case.one.publish()
        case.one.publish()
        return
    same(command, "", "the command to publish")
    case.lacks(Capability.PUBLISH, case.one.publish)


def two_actors_are_two(case: CheckCase) -> None:
    """Each has its own name, the same in every object, which nobody else has."""
    same(case.tracker(1).actor, case.one.actor, "the same actor's name")
    demand(case.one.actor != case.two.actor, f"two actors are called {case.one.actor!r}")
    demand(bool(case.one.actor), "an actor has no name")


def it_says_what_it_can(case: CheckCase) -> None:
    """It has a name, constant capabilities, and commands that name the task if one is given."""
    demand(bool(case.one.name), "it has no name")
    same(case.one.abilities(), case.one.abilities(), "what it can, asked twice")
    wording = case.one.wording()
    for verb in ("show", "claim", "close", "label", "comment"):
        command = getattr(wording, verb)
        demand("{id}" in command, f"the command to {verb} does not name the task: {command!r}")
    demand(bool(wording.ready), "there is no command that shows what is ready")
