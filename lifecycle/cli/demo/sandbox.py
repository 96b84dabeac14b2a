"""`lifecycle sandbox`: the embedded GitHub; and `lifecycle demo`, the main job on it."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lifecycle.cli import terminal
from lifecycle.cli.command_session import already_json, json_option, option
from lifecycle.cli.terminal import behind
from lifecycle.core.errors import Refused

if TYPE_CHECKING:
    from lifecycle.sandbox.control import Control

Deed = tuple[str, "Callable[[Control], object]"]
"""What was done there, in a sentence, and the doing of it."""

REVIEWS = {
    "approve": "APPROVED",
    "request-changes": "CHANGES_REQUESTED",
    "comment": "COMMENTED",
    "dismiss": "DISMISSED",
}
"""What a person does with a review, and the state that GitHub gives it."""
CONCLUSIONS = (
    "success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required",
)  # fmt: skip
STATUSES = ("queued", "in_progress")


@click.group("sandbox")
def command() -> None:
    """An embedded GitHub on loopback: REST, GraphQL, and git over smart HTTP."""


@command.command("serve", short_help="Run it until stopped.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="0 takes a free one.")
@click.option(
    "--seed", type=click.Path(path_type=Path), help="A YAML or JSON file: the world to start from."
)
@click.option(
    "--db", type=click.Path(path_type=Path), help="A file to keep the world in; memory without it."
)
@already_json
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


@command.command("dump", short_help="Print a world as a seed.")
@click.option("--url", help="A running sandbox: its api_url, as `serve` prints it.")
@click.option("--db", type=click.Path(path_type=Path), help="A file of `serve --db`, not in use.")
@already_json
def dump(url: str | None, db: Path | None) -> int:
    """Print a world as a seed, from a running sandbox or from a file that one kept."""
    from lifecycle.sandbox.base.errors import SandboxError

    if (url is None) == (db is None):
        raise click.UsageError("Name a running sandbox with --url, or a file with --db.")
    try:
        click.echo(_dumped(url, db), nl=False, file=behind(sys.stdout))
    except SandboxError as error:
        raise Refused(str(error)) from None
    return 0


def _dumped(url: str | None, db: Path | None) -> str:
    """The seed as text.

    Raises:
        SandboxError: Nobody answers there, or the file holds no world.
    """
    from lifecycle.sandbox.base.errors import SandboxError
    from lifecycle.sandbox.control import Control, ControlError
    from lifecycle.sandbox.seed.keeping import dumped

    if url is None:
        return dumped(Path(db or ""))
    try:
        return Control(f"{url.rstrip('/')}/_sandbox").dump()
    except (OSError, ValueError, ControlError):
        raise SandboxError(f"No sandbox answers at {url}; nothing was dumped.") from None


def _of_people(function: Callable[..., Deed]) -> Callable[..., None]:
    """What people and CI do in a running sandbox: the function says it in a sentence, and how it is done.

    The command gets the options that say which sandbox and which repository. It prints the sentence; as
    JSON with the sha or the id that came of it.
    """

    @functools.wraps(function)
    def run(*, url: str, repo: str | None, as_json: bool, **given: Any) -> None:
        sentence, act = function(**given)
        made = _made(url, repo, act)
        click.echo(json.dumps({"done": sentence, "made": made}) if as_json else sentence)

    url = click.option(
        "--url",
        envvar="GITHUB_API_URL",
        show_envvar=True,
        required=True,
        help="A running sandbox: its api_url, as `serve` prints it.",
    )
    repository = option("--repo OWNER/NAME", "Which repository; the world's first without it.")
    return url(repository(json_option(run)))


def _made(url: str, repo: str | None, act: Callable[[Control], object]) -> object:
    """Do one thing in a running sandbox; what the sandbox says of it.

    Raises:
        Refused: nobody answers there, or the world is such that it cannot be done; the sandbox's own
            sentence says why.
    """
    from lifecycle.sandbox.control import Control, ControlError

    try:
        return act(Control(f"{url.rstrip('/')}/_sandbox", repo))
    except ControlError as error:
        raise Refused(str(error)) from None
    except (OSError, ValueError):
        raise Refused(f"No sandbox answers at {url}; nothing was done.") from None


@command.command("merge", short_help="Merge a pull request, as a person does.")
@click.argument("number", type=click.IntRange(min=1))
@click.option("--method", type=click.Choice(["merge", "squash", "rebase"]), default="merge")
@option("--delete-branch", "Delete its branch as well.")
@option("--by LOGIN", "Who does it.", default="")
@_of_people
def merge(number: int, method: Any, *, delete_branch: bool, by: str) -> Deed:
    """Merge pull request NUMBER of a running sandbox."""
    return f"Pull request #{number} is merged.", lambda human: human.merge_pull(
        number, method=method, delete_branch=delete_branch, by=by
    )


@command.command("review", short_help="Review a pull request, as a person does.")
@click.argument("number", type=click.IntRange(min=1))
@click.argument("verdict", metavar="VERDICT", type=click.Choice(list(REVIEWS)))
@option("--by LOGIN", "Who does it.", default="")
@option("--body TEXT", "What they say.", default="")
@_of_people
def review(number: int, verdict: str, *, by: str, body: str) -> Deed:
    """Review pull request NUMBER of a running sandbox.

    VERDICT is approve, request-changes, comment, or dismiss.
    """
    state: Any = REVIEWS[verdict]
    sentence = f"Pull request #{number} has the review: {verdict}."
    return sentence, lambda human: human.review(number, state, login=by, body=body)


@command.command("check", short_help="Set a check, as CI does.")
@click.argument("number", type=click.IntRange(min=1))
@click.argument("name")
@click.argument("state", metavar="STATE", type=click.Choice([*CONCLUSIONS, *STATUSES]))
@click.option("--log", type=click.Path(path_type=Path), help="A file with what the job printed.")
@_of_people
def check(number: int, name: str, state: str, *, log: Path | None) -> Deed:
    """Set the check NAME on the head of pull request NUMBER of a running sandbox.

    STATE is queued, in_progress, or how it ended: success, failure, neutral, cancelled, skipped,
    timed_out, or action_required.
    """
    ended = state if state in CONCLUSIONS else None
    status = "completed" if ended else state
    text = log.read_text(encoding="utf-8", errors="replace") if log else None
    sentence = f"Check {name} of pull request #{number} is {state}."
    return sentence, lambda human: human.set_check(
        number, name, status=status, conclusion=ended, log=text
    )


@command.command("comment", short_help="Comment on an issue, as a person does.")
@click.argument("number", type=click.IntRange(min=1))
@click.argument("text")
@option("--by LOGIN", "Who does it.", default="")
@_of_people
def comment(number: int, text: str, *, by: str) -> Deed:
    """Comment on issue or pull request NUMBER of a running sandbox."""
    return f"#{number} has the comment.", lambda human: human.comment(number, text, by=by)


def demo(*, as_json: bool) -> int:
    """Run a task from claim to close on the embedded GitHub, in a few seconds.

    Needs no token and no network. Exits 0 only if the issue really ended closed and the board Done.
    """
    from lifecycle.cli.demo.demo_story import DemoFailedError, opened, print_end, print_step, tell

    console = opened(quiet=as_json)
    try:
        story = tell(lambda step: print_step(console, step))
    except DemoFailedError as error:
        raise Refused(f"The demo did not finish: {error}") from None
    if as_json:
        click.echo(terminal.json_text(story.as_json()))
    else:
        print_end(console, story)
    return 0 if story.is_good else 1
