"""The control side: the client, what it can ask for, and the faults that it sets.

The client needs nothing but the standard library; what serves it is imported by the server alone.
"""

from lifecycle.sandbox.control.client import Control, ControlError, LoggedRequest

__all__ = ["Control", "ControlError", "LoggedRequest"]
