"""The runner does what GitHub's does, so that a test that passes with it means something."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.actions.commands import BadCommandError, Listener, pairs_in
from tests.actions.events import issue, schedule
from tests.actions.expressions import UnknownExpressionError
from tests.actions.runner import Event, Machine, Outcome, UnknownStepError, run_action

Folder = Path


def machine(folder: Path, event: Event | None = None, **secrets: str) -> Machine:
    """A machine that no GitHub stands beside."""
    (folder / "workspace").mkdir(exist_ok=True)
    return Machine(
        workspace=folder / "workspace",
        temp=folder / "temp",
        home=folder,
        project=folder,
        api_url="http://127.0.0.1:9",
        repository="octo-org/hello-service",
        event=event or schedule(),
        token="workflow-token",
        secrets=secrets,
    )


def ran(
    folder: Path, *steps: dict[str, object], event: Event | None = None, **secrets: str
) -> Outcome:
    """Run a composite action of these steps; it has the input `name` and the output `out`."""
    wanted = {
        "inputs": {"name": {"default": "${{ github.token }}"}},
        "outputs": {"out": {"value": "${{ steps.last.outputs.out }}"}},
        "runs": {"using": "composite", "steps": list(steps)},
    }
    (folder / "action.yml").write_text(yaml.safe_dump(wanted))
    return run_action(machine(folder, event, **secrets), folder)


def bash(script: str, **more: object) -> dict[str, object]:
    """A step that runs a script."""
    return {"run": script, "shell": "bash", **more}


def test_a_script_ends_at_the_first_failure(tmp_path: Path) -> None:
    """`bash -eo pipefail`: also in a pipe; the steps after it are left out, and the code is kept."""
    done = ran(tmp_path, bash("false | true\ntouch on"), bash("touch more", name="more"))
    assert done.code == 1
    assert list((tmp_path / "workspace").iterdir()) == []
    assert "more" not in done.ran


def test_outputs_are_set_although_a_step_failed(tmp_path: Path) -> None:
    """Who goes on after a failed action still reads what it found."""
    done = ran(tmp_path, bash('echo "out=3" >>"$GITHUB_OUTPUT"; exit 7', id="last"))
    assert (done.code, done.outputs) == (7, {"out": "3"})


def test_a_step_that_asks_runs_after_a_failure(tmp_path: Path) -> None:
    """`always()` is how a workflow cleans up."""
    done = ran(tmp_path, bash("exit 1"), bash("touch here", **{"if": "always()"}))
    assert done.code == 1
    assert (tmp_path / "workspace/here").exists()


def test_variables_and_paths_are_for_the_steps_after(tmp_path: Path) -> None:
    """GITHUB_ENV and GITHUB_PATH do not touch the step that writes them."""
    script = (
        'echo "WORD=one" >>"$GITHUB_ENV"; echo /some/where >>"$GITHUB_PATH"; test -z "${WORD:-}"'
    )
    then = 'echo "out=$WORD ${PATH%%:*}" >>"$GITHUB_OUTPUT"'
    done = ran(tmp_path, bash(script), bash(then, id="last"))
    assert done.outputs == {"out": "one /some/where"}


def test_inputs_are_no_variables(tmp_path: Path) -> None:
    """A composite action gets no INPUT_…: only what its `env` takes from the context."""
    script = 'echo "out=${INPUT_NAME:-none} $GIVEN" >>"$GITHUB_OUTPUT"'
    done = ran(tmp_path, bash(script, id="last", env={"GIVEN": "${{ inputs.name }}"}))
    assert done.outputs == {"out": "none workflow-token"}


def test_secrets_and_masks_are_not_shown(tmp_path: Path) -> None:
    """What `secrets` holds, line by line, and what ::add-mask:: names, in log and summary."""
    script = """
    echo "first second workflow-token"
    echo "::add-mask::found"
    echo "found"
    echo "second found" >>"$GITHUB_STEP_SUMMARY"
    """
    done = ran(tmp_path, bash(script), KEY="first\nsecond")
    assert done.log == "*** *** ***\n***"
    assert done.summary == "*** ***\n"
    assert "first second" in done.raw


def test_annotations_are_heard_and_unescaped(tmp_path: Path) -> None:
    """Also in the old form, in the middle of a line; not between ::stop-commands:: and its end."""
    script = """
    echo "::warning title=a%3A b%2C c::one%0Atwo %2525"
    echo "text ##[error]old"
    echo "::stop-commands::word"
    echo "::error::nobody hears"
    echo "::word::"
    echo "::notice::again"
    """
    done = ran(tmp_path, bash(script))
    assert [(a.level, a.title, a.message) for a in done.annotations] == [
        ("warning", "a: b, c", "one\ntwo %25"),
        ("error", "", "old"),
        ("notice", "", "again"),
    ]
    assert "::error::nobody hears" in done.log


def test_the_event_lies_in_a_file(tmp_path: Path) -> None:
    """GITHUB_EVENT_PATH holds the payload, GITHUB_EVENT_NAME its name."""
    script = (
        'grep -c "$GITHUB_EVENT_NAME" /dev/null || grep -q \'"number": 42\' "$GITHUB_EVENT_PATH"'
    )
    assert ran(tmp_path, bash(script), event=issue("closed", 42)).code == 0


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ({"uses": "someone/else@v1"}, UnknownStepError),
        ({"run": "true", "shell": "pwsh"}, UnknownStepError),
        ({"run": "echo ${{ inputs.name }}", "shell": "bash"}, UnknownStepError),
        ({"run": "true", "shell": "bash", "continue-on-error": True}, UnknownStepError),
        (
            {"run": "true", "shell": "bash", "env": {"A": "${{ secrets.A }}"}},
            UnknownExpressionError,
        ),
        ({"run": "echo '::set-output name=a::b'", "shell": "bash"}, BadCommandError),
        ({"run": 'echo nothing >>"$GITHUB_OUTPUT"', "shell": "bash"}, BadCommandError),
    ],
)
def test_what_it_does_not_know_is_refused(
    tmp_path: Path, step: dict[str, object], error: type[Exception]
) -> None:
    """It never passes over a thing that GitHub's runner would do, or fail at."""
    with pytest.raises(error):
        ran(tmp_path, step)


def test_values_of_several_lines() -> None:
    """NAME<<END, and an end that never comes is refused."""
    assert pairs_in("a=1=2\nb<<END\nx=1\n\ny\nEND\nc=") == {"a": "1=2", "b": "x=1\n\ny", "c": ""}
    with pytest.raises(BadCommandError):
        pairs_in("b<<END\nx")


def test_a_line_that_only_looks_like_a_command() -> None:
    """An unknown name is text, and so is what does not begin the line."""
    listener = Listener()
    listener.hear("::else::x")
    listener.hear("so ::error::x")
    assert (listener.annotations, listener.log) == ([], ["::else::x", "so ::error::x"])
