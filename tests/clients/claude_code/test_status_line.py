"""The line that a person sees below the messages of the real client."""

from __future__ import annotations

import json

import pytest

from tests.clients.claude_code.client import TIMEOUT, Client
from tests.clients.claude_code.model import Model
from tests.conftest import Place

pytestmark = pytest.mark.timeout(TIMEOUT)


def test_the_client_shows_what_is_at_work(client: Client, place: Place, model: Model) -> None:
    """It starts what `init --statusline` put in, and shows that below the line that was set before."""
    path = client.settings / "settings.json"
    settings = json.loads(path.read_text())
    settings["statusLine"] = {"type": "command", "command": "echo a line of theirs"}
    path.write_text(json.dumps(settings))
    place.ready(phase="coding")
    client.lifecycle("init", "--statusline")
    with client.session() as terminal:
        terminal.types("Where are we?")
        model.hears("Where are we?")
        terminal.rests()
        terminal.sees("a line of theirs", "#42 coding")
        assert terminal.leaves() == 0
    assert client.is_gone(), client.left()
