"""What `init --run` and the plugin give to runs, in the real client: skill, agents, commands."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lifecycle.setup.init.supplies import RUN_AGENTS, RUN_SKILL
from tests.clients.claude_code.client import TIMEOUT, Client
from tests.clients.claude_code.model import Call, Model, Request, on
from tests.clients.claude_code.wiring import init, plugin
from tests.conftest import Place
from tests.needed import ROOT
from tests.setup.init.test_plugin import page
from tests.setup.init.test_run_pages import TOOLS

SOAKED = pytest.mark.soak(
    "clients/claude_code/test_story.py::test_from_claim_to_close",
    "setup/init/test_run_pages.py::test_every_command_line_is_one",
)

pytestmark = pytest.mark.timeout(TIMEOUT)


def runs(client: Client) -> str:
    """`lifecycle init --run`; what stands before the names of its parts."""
    init(client, "--run")
    return ""


def plugged(client: Client) -> str:
    """The plugin alone; what stands before the names of its parts."""
    plugin(client)
    return "lifecycle:"


WAYS = pytest.mark.parametrize("way", [runs, plugged])
Way = Callable[[Client], str]


def agent(name: str, prompt: str) -> Call:
    """The model calls an agent, and waits for what it says."""
    asked = {"subagent_type": name, "description": "A task of the run", "prompt": prompt}
    return Call("Agent", {**asked, "run_in_background": False})


def of_agent(model: Model, name: str) -> Request:
    """The first request of an agent's own conversation."""
    return next(turn for turn in model.turns if f"Task for {name}" in turn.messages[0])


@SOAKED
@WAYS
def test_skill_and_agents_are_there_with_the_tools_that_they_say(
    client: Client, place: Place, model: Model, way: Way
) -> None:
    """The skill reaches the session; each agent has its own page and its own tools, and is waited for."""
    before = way(client)
    model.follows(
        on("Begin").say(Call("Skill", {"skill": f"{before}{RUN_SKILL}"})),
        on("You are the orchestrator").say(
            *(agent(f"{before}{name}", f"Task for {name}") for name in RUN_AGENTS)
        ),
        *(on(f"Task for {name}").say(f"The result of {name}.") for name in RUN_AGENTS),
    )
    done = client.run("-p", "Begin")
    assert done.returncode == 0, done.stderr
    for name in RUN_AGENTS:
        body = of_agent(model, name).body
        # Whoever has a shell searches with it: the client leaves the two tools for searching out.
        wanted = TOOLS[name] - {"Grep", "Glob"} if "Bash" in TOOLS[name] else TOOLS[name]
        assert {tool["name"] for tool in body["tools"]} == wanted
        begins = page(ROOT / f"agents/{name}.md")[1].split("\n\n")[0].strip()
        assert begins.splitlines()[0] in str(body["system"])
    last = model.turns[-1].new
    assert all(f"The result of {name}." in last for name in RUN_AGENTS)
    assert model.strange == []


PAGES = {
    "workflow": "autonomous run with this goal: ",
    "implement": "one story implemented: ",
    "review": "a code review of: ",
    "status": "tell the user in a few lines where everything stands",
}
"""Words of each command's page."""


@SOAKED
@pytest.mark.parametrize("words", ["", " the words"])
def test_a_projects_commands_come_before_the_clients_own(
    client: Client, place: Place, model: Model, words: str
) -> None:
    """Typed at a terminal and given to `-p`, with words and without: ours is what the model gets."""
    init(client, "--run")
    for name, says in PAGES.items():
        wanted = says + words.strip() if says.endswith(": ") else says
        assert client.run("-p", f"/{name}{words}").returncode == 0
        assert model.heard(wanted.strip()) == 1, name
    with client.session() as terminal:
        for name, says in PAGES.items():
            wanted = says + words.strip() if says.endswith(": ") else says
            terminal.types(f"/{name}{words}")
            model.hears(wanted.strip(), times=2)
            terminal.rests()
    assert model.strange == []


@SOAKED
def test_with_the_plugin_alone_two_have_a_second_name(
    client: Client, place: Place, model: Model
) -> None:
    """`/status` and `/review` are the client's own there; what is typed as doctor says leads to ours."""
    plugin(client)
    for name in ("status", "review"):
        client.run("-p", f"/{name}")
        assert model.heard(PAGES[name].strip()) == 0
    named = ("run-status", "run-review", "lifecycle:workflow", "implement")
    with client.session() as terminal:
        for name in named:
            says = PAGES[name.removeprefix("run-").removeprefix("lifecycle:")]
            terminal.types(f"/{name}")
            model.hears(says.strip())
            terminal.rests()
    with client.session() as terminal:
        terminal.types("/status")
        terminal.sees("Setting sources", since=terminal.sent)
    assert [model.heard(says.strip()) for says in PAGES.values()] == [1, 1, 1, 1]
