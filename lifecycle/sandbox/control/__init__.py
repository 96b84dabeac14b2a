"""The control side: the client, its verbs, and the faults that it sets.

The client needs only the standard library; only the server imports what answers it.
"""

from lifecycle.sandbox.control.client import Control, ControlError, LoggedRequest

__all__ = ["Control", "ControlError", "LoggedRequest"]
