"""SessionEnd: note that the claim's session is over, so that the next one may go on with it."""

from __future__ import annotations

from lifecycle import store
from lifecycle.answers.call import ENDED, Call
from lifecycle.hookio import Reply


def answer(call: Call) -> Reply:
    """Nothing is printed: nobody listens any more."""
    folder = call.desk.folder
    if call.session and folder.path.is_dir() and call.is_mine:
        store.write(folder.path / ENDED, f"{call.session}\n".encode())
    return Reply()
