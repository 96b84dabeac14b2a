"""How an agent does by hand what the verbs do: bd's own commands.

Source: `bd --help`, https://github.com/steveyegge/beads.
"""

from __future__ import annotations

import shlex

from lifecycle.core.tracker import Wording
from lifecycle.trackers.beads.bd_probe import Build
from lifecycle.trackers.tracker_place import own_commands

START = "/bd-start"


def commands(build: Build, actor: str, publish: str) -> Wording:
    """The command lines of this build.

    Args:
        build: what it can do.
        actor: in whose name an agent claims; bd lets whoever has the same name claim again.
        publish: the words that send to others, "" if there is nobody to send to.
    """
    name = shlex.quote(actor)
    claim = f"bd update {{id}} --claim --actor={name}" if build.claims else own_commands().claim
    limit = " --limit 0" if build.unlimited else ""
    return Wording(
        show="bd show {id}",
        ready=f"bd ready --label {{label}} --unassigned{limit}",
        claim=claim,
        close='bd close {id} --reason "Summary of changes"',
        label="bd label add {id} {label}",
        comment=own_commands().comment,
        publish=f"bd {publish}" if publish else "",
        start=START,
    )
