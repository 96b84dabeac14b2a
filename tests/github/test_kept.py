"""Connections that are kept: one for many looks, and what happens when it is gone."""

from __future__ import annotations

import pytest

from lifecycle.core.errors import Transient
from lifecycle.core.timing import Deadline
from lifecycle.core.values.model import Look
from lifecycle.sandbox.control.faults import Fault
from tests.github.hub import Hub, PatientClock

LOOK = Look(issue=42, branch="work", checks=True, comments=True, board=True)


def test_twenty_looks_are_twenty_requests_on_one_connection(hub: Hub) -> None:
    """A poller that keeps its client keeps its connection, counted at the server."""
    for _ in range(20):
        hub.forge.observe(LOOK)
    assert hub.control.connections() == 1
    assert hub.asked() == ["ObserveClaim"] * 20


def test_rest_keeps_a_connection_of_its_own(hub: Hub) -> None:
    """Reads and writes of one client come on one connection."""
    for number in (41, 42, 43):
        hub.forge.issue(number)
        hub.forge.comment(number, "seen")
    assert (hub.control.connections(), len(hub.control.requests())) == (1, 6)


def test_a_connection_that_was_closed_meanwhile_is_replaced(hub: Hub) -> None:
    """Who comes back to a closed connection opens another, and sends each request once."""
    hub.forge.observe(LOOK)
    hub.forge.issue(42)
    assert hub.control.drop_connections() == 2
    hub.forge.observe(LOOK)
    hub.forge.comment(42, "once")
    assert hub.control.connections() == 4
    assert hub.asked() == [
        "ObserveClaim",
        "GET /issues/42",
        "ObserveClaim",
        "POST /issues/42/comments",
    ]
    assert [one["body"] for one in hub.world()["issues"]["42"]["comments"]] == ["once"]


def test_a_connection_that_breaks_under_a_read_is_replaced(hub: Hub) -> None:
    """The closing crossed the request: a read is sent again, on a connection that is then kept."""
    hub.forge.observe(LOOK)
    hub.control.add_fault(Fault("cut", operation="ObserveClaim"))
    hub.control.add_fault(Fault("cut", path="/issues/42$"))
    hub.forge.observe(LOOK)
    hub.forge.observe(LOOK)
    hub.forge.issue(42)
    hub.forge.issue(42)
    numbers = [one.connection for one in hub.control.requests()]
    assert numbers[0] == numbers[1]
    assert numbers[2] == numbers[3] != numbers[0]
    assert numbers[5] == numbers[6] != numbers[4]


def test_a_connection_that_breaks_under_a_comment_is_said(hub: Hub) -> None:
    """What creates is never sent again: the caller is told that it may have been done."""
    hub.forge.comment(42, "first")
    hub.control.add_fault(Fault("cut", method="POST", when="after"))
    with pytest.raises(Transient) as caught:
        hub.forge.comment(42, "second")
    assert caught.value.is_ambiguous
    assert len(hub.world()["issues"]["42"]["comments"]) == 2


def test_a_renewed_deadline_uses_the_same_connection(
    hub: Hub, deadline: Deadline, clock: PatientClock
) -> None:
    """Past the deadline nothing is sent; renewed, the same clients go on as before."""
    hub.forge.observe(LOOK)
    clock.sleep(3600)
    with pytest.raises(Transient, match="time for this look is up"):
        hub.forge.observe(LOOK)
    deadline.renew(30)
    hub.forge.observe(LOOK)
    hub.forge.issue(42)
    assert hub.asked() == ["ObserveClaim", "ObserveClaim", "GET /issues/42"]
    hub.control.clear_requests()
    hub.forge.observe(LOOK)
    hub.forge.issue(42)
    assert hub.control.connections() == 2


def test_a_kept_connection_waits_as_long_as_the_new_deadline_says(
    hub: Hub, deadline: Deadline
) -> None:
    """A time-out is of its request, not of the connection's first."""
    names = {"owner": "octo-org", "name": "hello-service", "branch": "work"}
    hub.graph.execute("observe_branch", names)
    deadline.renew(0.3)
    hub.control.add_fault(Fault("hang", operation="ObserveBranch"))
    with pytest.raises(Transient, match="did not answer in time"):
        hub.graph.execute("observe_branch", names)
    assert hub.control.connections() == 1
