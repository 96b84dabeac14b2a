"""How an agent does by hand what the verbs do: the product's own commands, the same for each tracker."""

from __future__ import annotations

from lifecycle.core.tracker import Wording


def own_commands(*, publish: str = "", start: str = "") -> Wording:
    """The command lines; `publish` and `start` where there is such a thing."""
    return Wording(
        show="lifecycle tracker show {id}",
        ready="lifecycle tracker ready --label {label}",
        claim="lifecycle tracker claim {id}",
        close='lifecycle tracker close {id} --reason "…"',
        label="lifecycle tracker label {id} --add {label} --create",
        comment="lifecycle tracker comment {id} -",
        publish=publish,
        start=start,
    )
