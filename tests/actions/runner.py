"""A small runner: it runs the steps of a composite action, and of a job, as GitHub's runner does.

Real bash, real files, real processes; what it does not know it refuses. Sources, all under
https://docs.github.com/actions/reference/workflows-and-actions/: `variables` (the default variables),
`workflow-syntax#jobsjob_idstepsshell` (`shell: bash` is `bash --noprofile --norc -eo pipefail FILE`),
`metadata-syntax` (composite actions see their inputs as the context `inputs` only, not as INPUT_…; their
steps run in the workspace), `contexts`. That the outputs of a composite action are set although a step
failed, and that the steps after it are left out, is read in https://github.com/actions/runner
(Runner.Worker, CompositeActionHandler.cs).
"""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from lifecycle.sandbox.wire.recorder import VARIABLE as RECORD
from tests.actions.commands import SUMMARY_BYTES, Annotation, BadCommandError, Listener, pairs_in
from tests.actions.expressions import Scope, as_text

SECONDS = 250.0
"""No step takes so long, also while its machine is busy; the tests' own limit is a little above."""

BASH = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail")
_OWN = ("PATH", "LANG", "TMPDIR", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", RECORD)
"""Variables of this machine that a step sees; and whatever says where pip finds packages."""


class UnknownStepError(Exception):
    """The step does what this runner does not know."""


@dataclass(frozen=True, slots=True)
class Event:
    """What started the workflow: its name, and the payload that GITHUB_EVENT_PATH holds."""

    name: str
    payload: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Machine:
    """A runner's machine, and what GitHub gives to the job.

    Attributes:
        workspace: GITHUB_WORKSPACE.
        temp: RUNNER_TEMP.
        home: the home of the runner's user.
        project: the checkout that `actions/checkout` brings into the workspace.
        api_url: the REST API; GraphQL's lies beside it.
        token: the workflow's own.
        secrets, variables: the contexts `secrets` and `vars`.
        inputs: those of workflow_dispatch.
        during: what happens while the step of a name runs, such as a cancellation: it is called with the id
            of the step's own process, the only one that gets signals (Runner.Sdk, ProcessInvoker.cs).
    """

    workspace: Path
    temp: Path
    home: Path
    project: Path
    api_url: str
    repository: str
    event: Event
    token: str
    secrets: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, object] = field(default_factory=dict)
    during: Mapping[str, Callable[[int], None]] = field(default_factory=dict)

    def contexts(self) -> dict[str, Any]:
        """What every expression sees."""
        github = {
            "event_name": self.event.name,
            "event": self.event.payload,
            "repository": self.repository,
            "repository_owner": self.repository.partition("/")[0],
            "token": self.token,
            "api_url": self.api_url,
            "workspace": str(self.workspace),
        }
        secrets = {"GITHUB_TOKEN": self.token, **self.secrets}
        found = {"github": github, "secrets": secrets, "vars": dict(self.variables)}
        return {**found, "inputs": dict(self.inputs)}

    def environment(self) -> dict[str, str]:
        """The default variables, and of this machine's own only what any machine has."""
        parts = urlsplit(self.api_url)
        given = {k: v for k, v in os.environ.items() if k in _OWN or k.startswith("PIP_")}
        return given | {
            "HOME": str(self.home),
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": self.api_url,
            "GITHUB_GRAPHQL_URL": f"{self.api_url}/graphql",
            "GITHUB_SERVER_URL": f"{parts.scheme}://{parts.netloc}",
            "GITHUB_EVENT_NAME": self.event.name,
            "GITHUB_EVENT_PATH": str(self._payload()),
            "GITHUB_REPOSITORY": self.repository,
            "GITHUB_REPOSITORY_OWNER": self.repository.partition("/")[0],
            "GITHUB_WORKSPACE": str(self.workspace),
            "GITHUB_RUN_ID": "1658821493",
            "RUNNER_OS": "macOS" if sys.platform == "darwin" else "Linux",
            "RUNNER_TEMP": str(self.temp),
        }

    def _payload(self) -> Path:
        file = self.home / "event.json"
        file.write_text(json.dumps(self.event.payload))
        return file


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an action or a job.

    Attributes:
        code: the exit code of the step that failed, 0 if none did.
        log: what people see; secrets and masks are `***`.
        raw: every line as it was printed, before any masking.
        summary: of all steps, as it is shown.
        ran: the names of the steps that were run.
    """

    code: int
    outputs: Mapping[str, str]
    summary: str
    annotations: tuple[Annotation, ...]
    log: str
    raw: str
    ran: tuple[str, ...]

    @property
    def told(self) -> str:
        """The summary as a reader sees its text: entities are characters, spaces of no width nothing."""
        return html.unescape(self.summary).replace("\N{ZERO WIDTH SPACE}", "")

    def said(self, level: str) -> list[str]:
        """The messages of the annotations of one level."""
        return [one.message for one in self.annotations if one.level == level]


@dataclass
class Job:
    """A job on a machine: what its steps share."""

    machine: Machine
    listener: Listener = field(default_factory=Listener)
    raw: list[str] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    checked_out: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for secret in (self.machine.token, *self.machine.secrets.values()):
            self.listener.masks |= {line for line in secret.splitlines() if line.strip()}

    def outcome(self, code: int, outputs: Mapping[str, str]) -> Outcome:
        """What became of it."""
        listener = self.listener
        return Outcome(
            code,
            outputs,
            "".join(self.summaries),
            tuple(listener.annotations),
            "\n".join(listener.log),
            "\n".join(self.raw),
            tuple(self.ran),
        )

    def steps(self, steps: list[Any], contexts: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Run steps until one fails; its exit code, and the context `steps`."""
        done: dict[str, Any] = {}
        code = 0
        for number, step in enumerate(steps):
            scope = Scope({**contexts, "steps": done, "env": dict(self.variables)}, code != 0)
            if not scope.holds(step.get("if")):
                continue
            self.ran.append(scope.text(step.get("name") or step.get("uses") or step["run"]))
            ended, outputs = self._step(step, scope)
            code = code or ended
            done[step.get("id", f"__{number}")] = {
                "outputs": outputs,
                "outcome": "failure" if ended else "success",
            }
        return code, done

    def _step(self, step: Mapping[str, Any], scope: Scope) -> tuple[int, Mapping[str, str]]:
        unknown = set(step) - {"id", "if", "name", "uses", "with", "env", "run", "shell"}
        if unknown:
            raise UnknownStepError(f"a step with {', '.join(sorted(unknown))}")
        if "uses" in step:
            given = {k: scope.text(v) for k, v in step.get("with", {}).items()}
            return self._used(step["uses"], given)
        if step.get("shell", "bash") != "bash":
            raise UnknownStepError(f"the shell {step['shell']}")
        if "${{" in step["run"]:
            raise UnknownStepError("an expression in a script")
        own = {k: scope.text(v) for k, v in step.get("env", {}).items()}
        own |= {"GITHUB_ACTION_PATH": scope.contexts["github"].get("action_path", "")}
        return self._script(step["run"], own)

    def _used(self, what: str, given: Mapping[str, str]) -> tuple[int, Mapping[str, str]]:
        if what.startswith("./"):
            outcome = self.action(self.machine.workspace / what, given)
            return outcome.code, outcome.outputs
        name = what.partition("@")[0]
        if name.endswith("/.github/actions/reconcile"):
            outcome = self.action(self.machine.project / ".github/actions/reconcile", given)
            return outcome.code, outcome.outputs
        if name == "actions/setup-python":
            self._python(given["python-version"])
        elif name == "actions/checkout":
            self._checkout(given)
        else:
            raise UnknownStepError(what)
        return 0, {}

    def _python(self, version: str) -> None:
        """This interpreter, whatever version was asked for; its folder is first on PATH."""
        if not version.strip():
            raise UnknownStepError("actions/setup-python without a version")
        folder = self.machine.temp / "python"
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "python").exists():
            base = getattr(sys, "_base_executable", sys.executable)
            (folder / "python").symlink_to(base)
        self.paths.insert(0, str(folder))

    def _checkout(self, given: Mapping[str, str]) -> None:
        """The project's files, linked into the workspace."""
        self.checked_out.append(given.get("ref", ""))
        for name in ("lifecycle", "graphql", "hooks", "requirements", ".github"):
            (self.machine.workspace / name).symlink_to(self.machine.project / name)

    def action(self, folder: Path, given: Mapping[str, str]) -> Outcome:
        """Run a composite action with these inputs; the ones that it does not know are refused."""
        wanted = yaml.safe_load((folder / "action.yml").read_text(encoding="utf-8"))
        if unknown := set(given) - set(wanted["inputs"]):
            raise UnknownStepError(f"the inputs {', '.join(sorted(unknown))}")
        contexts = self.machine.contexts()
        outside = Scope(contexts)
        contexts["inputs"] = {
            name: given.get(name, outside.text(one.get("default", "")))
            for name, one in wanted["inputs"].items()
        }
        contexts["github"]["action_path"] = str(folder)
        del contexts["secrets"], contexts["vars"]  # an action sees neither
        code, done = self.steps(wanted["runs"]["steps"], contexts)
        scope = Scope({**contexts, "steps": done})
        outputs = {name: scope.text(one["value"]) for name, one in wanted["outputs"].items()}
        return self.outcome(code, outputs)

    def _script(self, script: str, own: Mapping[str, str]) -> tuple[int, Mapping[str, str]]:
        """Run a script with files of its own, and read what it wrote into them."""
        folder = self.machine.temp / "_runner_file_commands" / str(len(self.ran))
        folder.mkdir(parents=True, exist_ok=True)
        files = {
            name: folder / name.casefold() for name in ("OUTPUT", "ENV", "PATH", "STEP_SUMMARY")
        }
        for file in files.values():
            file.write_text("")
        (folder / "script.sh").write_text(script)
        environment = {**self.machine.environment(), **self.variables, **own}
        environment |= {f"GITHUB_{name}": str(file) for name, file in files.items()}
        environment["PATH"] = os.pathsep.join([*self.paths, environment["PATH"]])
        with subprocess.Popen(
            [*BASH, str(folder / "script.sh")],
            cwd=self.machine.workspace,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as process:
            if happens := self.machine.during.get(self.ran[-1]):
                happens(process.pid)
            said, _ = process.communicate(timeout=SECONDS)
        for line in said.decode().splitlines():
            self.raw.append(line)
            self.listener.hear(line)
        self._read(files)
        return process.returncode, pairs_in(files["OUTPUT"].read_text(encoding="utf-8"))

    def _read(self, files: Mapping[str, Path]) -> None:
        self.variables |= pairs_in(files["ENV"].read_text(encoding="utf-8"))
        self.paths[:0] = files["PATH"].read_text(encoding="utf-8").split()
        summary = files["STEP_SUMMARY"].read_text(encoding="utf-8")
        if len(summary.encode()) > SUMMARY_BYTES:
            raise BadCommandError("the summary is longer than 1 MiB, so nobody sees it")
        self.summaries.append(self.listener.masked(summary))


def run_action(machine: Machine, folder: Path, **given: object) -> Outcome:
    """Run a composite action in a job of its own; an input's `_` stands for its `-`."""
    inputs = {name.replace("_", "-"): as_text(value) for name, value in given.items()}
    return Job(machine).action(folder, inputs)


def run_job(machine: Machine, workflow: Path, name: str) -> Outcome | None:
    """Run one job of a workflow, once for its whole matrix; None if its `if` says no."""
    wanted = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"][name]
    contexts = machine.contexts()
    if not Scope(contexts).holds(wanted.get("if")):
        return None
    matrix = wanted.get("strategy", {}).get("matrix", {})
    job = Job(machine)
    code = 0
    for shard in matrix.get("shard", [None]):
        ended, _ = job.steps(wanted["steps"], {**contexts, "matrix": {"shard": shard}})
        code = code or ended
    return job.outcome(code, {})
