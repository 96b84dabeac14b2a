"""The place of a worktree's tracker, and the actor in whose name it is used.

The actor is, in this order: the agent of the claim that the worktree holds; LIFECYCLE_ACTOR; else a
name of this agent's own, `user-digits`, like the names of claims' agents. The digits are made from
the machine, the worktree and the client's session. So two agents never share a name, and the same
agent has the same name at every call. A new session in the worktree is another agent.
"""

from __future__ import annotations

import getpass
import re
from typing import Final

from lifecycle.claim.record import claim_file
from lifecycle.core.errors import BadConfig, ClaimRefused, GitFailed, NotInstalled, NoToken
from lifecycle.core.tracker import GITHUB, Tracker
from lifecycle.git.tracked_files import tracked
from lifecycle.settings import resources, running_client
from lifecycle.storage import log, store, workflow_files
from lifecycle.trackers import registry

sentence: Final = resources.Sentences("app/refusals.toml")

ACTOR = "LIFECYCLE_ACTOR"
"""The variable that names the actor if no claim does."""

_NOBODY = "agent"
_ACTOR = r"[\w.@:/+-]{1,100}"


def tracker_of(world: registry.TrackerHub) -> Tracker:
    """The tracker of this worktree.

    If another tracker's database is here but its program is missing or may not run, GitHub's issues take
    its place, if GitHub can be used and the staged workflow's tasks were not that tracker's; the log and
    `note_of` say so.

    Raises:
        BadConfig: the settings cannot be used, or name an unknown tracker.
        NotInstalled: the tracker's program is missing or may not run, and nothing takes its place.
    """
    place = place_of(world)
    lack, is_replaced = lack_of(world)
    if lack and not is_replaced:
        raise NotInstalled(lack)
    if lack:
        log.write(world.root, f"tracker: {lack}")
    tracker = registry.open_tracker(registry.chosen(world), place)
    session = running_client.session_of({}, world.environment)
    return registry.noting(tracker, world.root, world.clock, session)


def note_of(world: registry.TrackerHub) -> str:
    """A sentence if GitHub's issues are used only because another tracker cannot be used; else "".

    Raises:
        BadConfig: the settings cannot be used.
    """
    lack, is_replaced = lack_of(world)
    return lack if is_replaced else ""


def lack_of(world: registry.TrackerHub) -> tuple[str, bool]:
    """Why another tracker that is here cannot be used, and whether GitHub's issues take its place.

    ("", False) if nothing is missing. Raises BadConfig: the settings cannot be used.
    """
    why, way = registry.lacking(world)
    if not why:
        return "", False
    from lifecycle.stages.session import workflow_tasks

    # Not if another tracker named the staged workflow's tasks here, which are in it still.
    is_replaced = workflow_tasks.asked(workflow_files.WorkflowFiles(world.root)) in ("", GITHUB)
    if is_replaced:
        try:
            _ = world.base, world.forge
        except (BadConfig, GitFailed, NoToken):  # no repository on GitHub, or no token for it
            is_replaced = False
    so = "tasks are GitHub's issues" if is_replaced else "no task was read or changed"
    return f"{why}, so {so}; {way}.", is_replaced


def issues_of(world: registry.TrackerHub) -> Tracker:
    """GitHub's issues as a tracker, whichever tracker this worktree uses; raises BadConfig."""
    return registry.open_tracker(GITHUB, place_of(world))


def inner_of(world: registry.TrackerHub, agent: str = "", tracker: str = "") -> Tracker | None:
    """The tracker of this worktree unless it is GitHub, in the name of this agent if one is given.

    While a task is taken, there is an agent before there is a claim file. A link stays in the tracker in
    which it was made: `tracker` is that tracker's name, whichever one is found here now.

    Raises:
        BadConfig: the settings cannot be used, or name an unknown tracker.
    """
    name, place = tracker or registry.chosen(world), place_of(world, agent)
    return None if name == GITHUB else registry.open_tracker(name, place)


def place_of(world: registry.TrackerHub, agent: str = "") -> registry.TrackerPlace:
    """Where this world's tracker is opened, for this agent if one is given; raises BadConfig."""
    named = agent or _claimed_by(world) or _configured(world.environment.get(ACTOR, ""))
    seat = registry.seat_in(world.root, running_client.session_of({}, world.environment))
    return registry.TrackerPlace(hub=world, named=named, seat=seat, user=_user())


def _claimed_by(world: registry.TrackerHub) -> str:
    """The agent that the claim file names, or "": a file that came with the repository names nobody."""
    try:
        file = store.read(world.root / store.CLAIM_FILE, follow=False)
        claim = claim_file.Claim.of(claim_file.parse(file.content)) if file is not None else None
    except (OSError, claim_file.CorruptClaimError, ClaimRefused):
        return ""
    if claim is None or not re.fullmatch(_ACTOR, claim.agent_id):
        return ""
    is_tracked = tracked(world.root, world.deadline, world.environment, [store.CLAIM_FILE])
    return "" if is_tracked else claim.agent_id


def _configured(name: str) -> str:
    if name and (not re.fullmatch(_ACTOR, name) or name.startswith("-")):
        raise BadConfig(sentence("no-actor", variable=ACTOR, name=name))
    return name


def _user() -> str:
    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # an account without a name, as containers have
        return _NOBODY
    return re.sub(r"[^\w.-]+", "-", name).strip("-") or _NOBODY
