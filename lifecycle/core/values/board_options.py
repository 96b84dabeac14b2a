"""The options of the board's fields that mean something to the product."""

from __future__ import annotations


class Status:
    """The board's Status options that the engine itself writes, as the design names them."""

    TODO = "Todo"
    IN_PROGRESS = "In Progress"
    IN_REVIEW = "In Review"
    DONE = "Done"


READY_FOR_AGENT = "Ready for Agent"
"""The Readiness option of a task that an agent may take without a warning."""
