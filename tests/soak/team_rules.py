"""What must hold of a team: a task has one holder at most; no work is lost, and nothing told twice."""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.claim.record.state import is_same
from tests.soak.ground import Ground
from tests.soak.rules import Rule, _is_led, _leases
from tests.soak.sequence import Step


def count_closings(at: Ground, step: Step) -> Iterator[str]:
    """How often each issue was closed; violates nothing."""
    closings = at.known.setdefault("closings", {})
    for number, issue in at.after["issues"].items():
        was_open = at.before["issues"].get(number, {}).get("state") == "open"
        closings[number] = closings.get(number, 0) + (was_open and issue["state"] != "open")
    yield from ()


def told_once(at: Ground, _step: Step) -> Iterator[str]:
    """An issue has no more comments that it is completed than it was closed."""
    for number, issue in at.after["issues"].items():
        told = [c["body"] for c in issue["comments"] if "<!-- lifecycle:completed" in c["body"]]
        if len(told) > at.known["closings"][number]:
            yield f"#{number} was closed {at.known['closings'][number]} times, and told {told}"


def one_holder(at: Ground, _step: Step) -> Iterator[str]:
    """Whoever goes on with an open task, by its own files, has the lease; so nobody else has it."""
    leases = _leases(at.after)
    for clone in at.clones.values():
        claim, record = clone.claim, clone.state.get("record") or {}
        issue = str(claim.get("issue_number"))
        if at.after["issues"].get(issue, {}).get("state") != "open":
            continue
        lease = clone.ownership.get("lease")
        if _is_led(at, clone, claim, record) and leases.get(f"refs/agent-claims/{issue}") != lease:
            yield f"clone {clone.number} goes on with #{issue}, lease {lease}, leases {leases}"


def holder_shown(at: Ground, _step: Step) -> Iterator[str]:
    """The card of a held task shows its claim, unless a person set it, or a sweep's draft the Status."""
    leases, cards = _leases(at.after), at.known["card"]
    for clone in at.clones.values():
        claim, issue = clone.claim, str(clone.claim.get("issue_number"))
        lease, card = leases.get(f"refs/agent-claims/{issue}"), at.after["board"].get(issue)
        if not claim or card is None or lease is None or clone.ownership.get("lease") != lease:
            continue
        for name, key in (("Status", "status"), ("Agent", "agent_id")):
            setter, shown = cards.get((issue, name)), card["values"].get(name)
            is_ours = bool(setter) if name == "Status" else setter is not None
            if is_ours and not is_same(shown, claim[key]):
                yield f"#{issue}: {name} is {shown}, the claim {claim}"


def all_free(at: Ground, _step: Step) -> Iterator[str]:
    """Days after the last sign of life no task is held, and no card names an agent that we named."""
    yield from (f"{ref} {sha}" for ref, sha in _leases(at.after).items())
    for (issue, name), setter in at.known["card"].items():
        shown = at.after["board"][issue]["values"].get("Agent")
        if name == "Agent" and setter is not None and shown:
            yield f"the card of #{issue} names {shown}"


def work_kept(at: Ground, _step: Step) -> Iterator[str]:
    """Every commit of an agent's can be reached in its clone."""
    for clone in at.clones.values():
        there = set(clone.place.git("rev-list", "--all").split())
        yield from (f"{sha} of clone {clone.number}" for sha in clone.commits if sha not in there)


EACH: tuple[Rule, ...] = (count_closings,)
REST: tuple[Rule, ...] = (told_once, one_holder, holder_shown, work_kept)
HOME: tuple[Rule, ...] = (told_once, all_free)
