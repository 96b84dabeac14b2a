"""`lifecycle sandbox`: the embedded GitHub; and `lifecycle demo`, the main job on it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lifecycle.cli.main import RowGroup
from lifecycle.cli.terminal import behind, json_text
from lifecycle.core.errors import Refused
from lifecycle.core.light_dataclass import asdict

if TYPE_CHECKING:
    from lifecycle.sandbox.control import Control

T = TypeVar("T")

REVIEWS = {
    "approve": "APPROVED",
    "request-changes": "CHANGES_REQUESTED",
    "comment": "COMMENTED",
    "dismiss": "DISMISSED",
}
"""A person's verdict on the command line, and the state that GitHub gives the review."""
STATES = (
    "queued", "in_progress", "success", "failure", "neutral", "cancelled", "skipped", "timed_out",
    "action_required",
)  # fmt: skip
"""The states of a check on the command line: two statuses, and conclusions of a completed check."""

KINDS = {
    "port": click.IntRange(0, 65535),
    "path": click.Path(path_type=Path),
    "method": click.Choice(["merge", "squash", "rebase"]),
    "verdict": click.Choice(list(REVIEWS)),
    "state": click.Choice(STATES),
}
"""Click's types for words on the command line, beside those of `main.py`."""


@click.group("sandbox", cls=RowGroup, table="demo/commands")
def command() -> None:
    """An embedded GitHub on loopback: REST, GraphQL, and git over smart HTTP."""


def serve(port: int, seed: Path | None, db: Path | None) -> int:
    """Print one JSON line with the addresses and the token, then serve until stopped."""
    from lifecycle.sandbox.base.errors import SandboxError
    from lifecycle.sandbox.seed import read_seed
    from lifecycle.sandbox.server import serve as run

    try:
        return run(port=port, seed=read_seed(seed) if seed else None, db=db, out=behind(sys.stdout))
    except SandboxError as error:
        raise Refused(str(error)) from None
    except OSError as error:
        raise Refused(f"The sandbox could not listen on port {port}: {error.strerror}.") from None


def dump(*, url: str | None, db: Path | None) -> None:
    """Print a world as a seed, from a running sandbox or from its file."""
    from lifecycle.sandbox.base.errors import SandboxError
    from lifecycle.sandbox.seed.keeping import dumped

    if (url is None) == (db is None):
        raise click.UsageError("Name a running sandbox with --url, or a file with --db.")
    try:
        text = dumped(db) if db is not None else _asked(str(url), lambda world: world.dump())
    except SandboxError as error:
        raise Refused(str(error)) from None
    click.echo(text, nl=False, file=behind(sys.stdout))


def _asked(url: str, act: Callable[[Control], T], repo: str | None = None) -> T:
    """What a running sandbox answers.

    Raises:
        Refused: nobody answers at the address, or it is impossible in this world; then the sentence is the
            sandbox's own.
    """
    from lifecycle.sandbox.control import Control, ControlError

    try:
        return act(Control(f"{url.rstrip('/')}/_sandbox", repo))
    except ControlError as error:
        raise Refused(str(error)) from None
    except (OSError, ValueError):
        raise Refused(f"No sandbox answers at {url}; nothing was done.") from None


def _act(
    sentence: str, act: Callable[[Control], object], *, url: str, repo: str | None, as_json: bool
) -> None:
    """Do what people or CI do in a running sandbox; print `sentence`, or JSON with a sha or id."""
    reference = _asked(url, act, repo)
    click.echo(json.dumps({"done": sentence, "made": reference}) if as_json else sentence)


def merge(*, number: int, method: Any, delete_branch: bool, by: str, **where: Any) -> None:
    """Merge pull request NUMBER of a running sandbox."""
    _act(
        f"Pull request #{number} is merged.",
        lambda human: human.merge_pull(number, method=method, delete_branch=delete_branch, by=by),
        **where,
    )


def review(*, number: int, verdict: str, by: str, body: str, **where: Any) -> None:
    """Review pull request NUMBER of a running sandbox.

    VERDICT is approve, request-changes, comment, or dismiss.
    """
    state: Any = REVIEWS[verdict]
    sentence = f"Pull request #{number} has the review: {verdict}."
    _act(sentence, lambda human: human.review(number, state, login=by, body=body), **where)


def check(*, number: int, name: str, state: str, log: Path | None, **where: Any) -> None:
    """Set the check NAME on the head of pull request NUMBER of a running sandbox.

    STATE is queued, in_progress, or a conclusion: success, failure, neutral, cancelled, skipped,
    timed_out, or action_required.
    """
    ended = None if state in STATES[:2] else state
    status = "completed" if ended else state
    text = log.read_text(encoding="utf-8", errors="replace") if log else None
    _act(
        f"Check {name} of pull request #{number} is {state}.",
        lambda human: human.set_check(number, name, status=status, conclusion=ended, log=text),
        **where,
    )


def comment(*, number: int, text: str, by: str, **where: Any) -> None:
    """Comment on issue or pull request NUMBER of a running sandbox."""
    _act(f"#{number} has the comment.", lambda human: human.comment(number, text, by=by), **where)


def demo(*, as_json: bool) -> int:
    """Run a task from claim to close on the embedded GitHub, in a few seconds.

    Needs no token and no network. Exits 0 only if the issue was really closed and the board is at Done.
    """
    from lifecycle.cli.demo.demo_story import tell

    story = tell(quiet=as_json)
    if as_json:
        click.echo(json_text({**asdict(story), "ok": story.is_good}))
    return 0 if story.is_good else 1
