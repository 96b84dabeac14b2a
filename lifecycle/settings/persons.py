"""Who counts as a person: one who is outside of the client, or wrote a prompt after the question.

The same rule is used for commands of a run that only a person may give, and for gates of workflows that
need a person's yes. What an agent says about its user proves nothing.
"""

from __future__ import annotations

from typing import Final

from lifecycle.core.errors import Refused
from lifecycle.core.light_dataclass import dataclass
from lifecycle.settings import resources

TERMINAL: Final = "terminal outside of the client"
PROMPT: Final = "prompt after the question"


@dataclass(frozen=True, slots=True)
class Presence:
    """Who may be running a command.

    Attributes:
        is_inside: the client's agent may have started it.
        prompted_at: when a person last wrote a prompt, as the hook on prompts noted it; 0.0 if never.
    """

    is_inside: bool
    prompted_at: float = 0.0


def person(presence: Presence, asked_at: float, command: str) -> str:
    """The evidence that a person runs this command: TERMINAL or PROMPT.

    Args:
        presence: who may be running the command.
        asked_at: when the question was asked that a prompt would answer.
        command: the command as it is typed.

    Raises:
        Refused: nothing shows that it is a person.
    """
    if not presence.is_inside:
        return TERMINAL
    if presence.prompted_at > asked_at:
        return PROMPT
    raise Refused(resources.sentence("no-person", command=command))
