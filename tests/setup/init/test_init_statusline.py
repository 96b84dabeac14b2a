"""`lifecycle init --statusline`: ours beside another one, and everything to the byte when it goes."""

from __future__ import annotations

import json
import shlex
import subprocess

import pytest

from lifecycle.settings.resources import hook_script
from lifecycle.setup.init.client_settings import LINE_MARK, own_status_line
from lifecycle.setup.init.init_mark import MARK
from tests.cli.outcome import ok, refused
from tests.setup.init.conftest import Clone
from tests.setup.init.test_init import LOCAL, SHARED, settings

SCRIPT = str(hook_script("statusline").absolute())
USERS = "home/.claude/settings.json"


def everything(clone: Clone) -> dict[str, bytes]:
    """Every file of the clone but git's, and what it excludes."""
    files = [path for path in clone.root.rglob("*") if path.is_file()]
    mine = [p for p in files if ".git" not in p.relative_to(clone.root).parts]
    exclude = clone.root / ".git/info/exclude"
    return {str(path.relative_to(clone.root)): path.read_bytes() for path in (*mine, exclude)}


def test_it_is_put_in_alone_and_goes_without_a_trace(clone: Clone) -> None:
    """No hook and no permission beside it; a second time changes nothing; git sees nothing of it."""
    before = everything(clone)
    said = ok(clone.run("init", "--statusline"))
    assert "status line" in said
    assert settings(clone) == {"statusLine": {"type": "command", "command": shlex.quote(SCRIPT)}}
    assert clone.git("status", "--porcelain", "--untracked-files=all") == ""
    once = everything(clone)
    ok(clone.run("init", "--statusline"))
    assert everything(clone) == once
    ok(clone.run("init", "--remove"))
    assert everything(clone) == before
    assert not (clone.root / ".claude").exists()


THEIRS = [
    '{"statusLine":{"type":"command","command":"~/line.sh"}}',
    '{\n\t// mine\n\t"statusLine": {"command": "a \\u0062 \'c\' \\"d\\"", "padding": 0},\r\n}',
    '\ufeff{ "x": 1, "statusLine": { "type": "command", "command": "echo \\"command\\": 1" } }\n',
]


@pytest.mark.once("test_settings has every form of the file, by properties")
@pytest.mark.parametrize("text", THEIRS)
def test_another_one_is_called_and_comes_back_to_the_byte(clone: Clone, text: str) -> None:
    """Its command is the argument of ours, and the rest of it stays, whatever comes in later."""
    clone.write(LOCAL, text.encode())
    theirs = settings(clone)["statusLine"]
    ok(clone.run("init", "--statusline"))
    now = settings(clone)["statusLine"]
    own = own_status_line(now)
    assert own is not None
    assert own.above == theirs["command"]
    assert {**now, "command": theirs["command"]} == theirs
    ok(clone.run("init"))
    ok(clone.run("init", "--statusline"))
    assert settings(clone)["statusLine"] == now
    ok(clone.run("init", "--remove"))
    assert clone.read(LOCAL).encode() == text.encode()


def test_without_its_mark_it_stays_until_init_has_run_again(clone: Clone) -> None:
    """Somebody may have set it by hand; then it goes, and the one above it is back."""
    text = '{"statusLine": {"type": "command", "command": "echo theirs", "padding": 2}}'
    clone.write(LOCAL, text)
    ok(clone.run("init", "--statusline"))
    (clone.root / LINE_MARK).unlink()
    before = everything(clone)
    said = ok(clone.run("init", "--remove"))
    assert "so none were removed" in said
    assert everything(clone) == before
    ok(clone.run("init", "--statusline"))
    ok(clone.run("init", "--remove"))
    assert clone.read(LOCAL) == text


def test_that_a_line_without_its_mark_stays_is_said_beside_marked_hooks(clone: Clone) -> None:
    """It runs on: the person hears how it goes, and hears nothing of it where there is none."""
    ok(clone.run("init"))
    ok(clone.run("init", "--statusline"))
    (clone.root / LINE_MARK).unlink()
    said = ok(clone.run("init", "--remove"))
    assert (
        said.count("shows lifecycle's status line, and has no mark of it, so the line was kept")
        == 1
    )
    assert settings(clone).keys() == {"statusLine"}
    ok(clone.run("init", "--statusline"))
    assert "status line, and" not in ok(clone.run("init", "--remove"))
    assert settings(clone) == {}


def test_hooks_before_and_a_line_after_them(clone: Clone) -> None:
    """Everything goes at once, in whichever order it came."""
    before = everything(clone)
    for order in (("--statusline", ""), ("", "--statusline")):
        for option in order:
            ok(clone.run("init", *filter(None, [option])))
        assert "hooks" in settings(clone)
        assert "statusLine" in settings(clone)
        ok(clone.run("init", "--remove"))
        assert everything(clone) == before


def test_hooks_whose_mark_was_lost_stay_when_the_line_goes(clone: Clone) -> None:
    """And the person is told so: they run on."""
    ok(clone.run("init"))
    ok(clone.run("init", "--statusline"))
    (clone.root / MARK).unlink()
    assert "so none were removed" in ok(clone.run("init", "--remove"))
    now = settings(clone)
    assert ("hooks" in now, "statusLine" in now) == (True, False)


@pytest.mark.parametrize("name", [SHARED, "user"])
def test_one_of_a_farther_file_is_called_and_left_alone(clone: Clone, name: str) -> None:
    """The client would show ours in its place: so ours calls it, and that file stays as it is."""
    text = '{"statusLine": {"type": "command", "command": "echo theirs", "padding": 2}}'
    path = clone.home / ".claude/settings.json" if name == "user" else clone.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    ok(clone.run("init", "--statusline"))
    now = settings(clone)["statusLine"]
    assert now["padding"] == 2
    assert path.read_text() == text
    done = subprocess.run(
        ["sh", "-c", now["command"]],
        cwd=clone.root,
        env={**clone.environment, "CLAUDE_PROJECT_DIR": str(clone.root)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "theirs\n"
    path.write_text(text.replace("echo theirs", "echo new"))
    ok(clone.run("init", "--statusline"))
    renewed = own_status_line(settings(clone)["statusLine"])
    assert renewed is not None
    assert renewed.above == "echo new"
    ok(clone.run("init", "--remove"))
    assert not (clone.root / LOCAL).exists()


def test_an_entry_that_was_edited_is_found_by_what_it_says(clone: Clone) -> None:
    """Somebody's change around it stays; their command comes back."""
    clone.write(LOCAL, '{"statusLine": {"type": "command", "command": "theirs"}}')
    ok(clone.run("init", "--statusline"))
    text = clone.read(LOCAL).replace(f'"{SCRIPT} theirs"', f"\"{SCRIPT}  'theirs'\"")
    clone.write(LOCAL, text.replace("{", '{"model": "opus", ', 1))
    ok(clone.run("init", "--remove"))
    assert settings(clone) == {
        "model": "opus",
        "statusLine": {"type": "command", "command": "theirs"},
    }


@pytest.mark.parametrize("value", ['"text"', '{"type": "other"}', "[]"])
def test_what_is_no_command_is_refused(clone: Clone, value: str) -> None:
    """One sentence, and nothing is written."""
    clone.write(LOCAL, f'{{"statusLine": {value}}}')
    before = everything(clone)
    assert "statusLine" in refused(clone.run("init", "--statusline"))
    assert everything(clone) == before


def test_it_goes_with_no_other_option(clone: Clone) -> None:
    """A usage error, and nothing is written."""
    for option in ("--shared", "--stages", "--run", "--permissions", "--remove"):
        assert clone.run("init", "--statusline", option).returncode == 2
    assert not (clone.root / ".claude").exists()


def test_a_dry_run_shows_it_and_writes_nothing(clone: Clone) -> None:
    """The diff has the entry."""
    said = ok(clone.run("init", "--statusline", "--dry-run"))
    assert "statusLine" in said
    assert not (clone.root / ".claude").exists()
    data = json.loads(ok(clone.run("init", "--statusline", "--json")))
    assert data["mode"] == "statusline"
    assert LINE_MARK in [
        change["path"].removeprefix(f"{clone.root}/") for change in data["changes"]
    ]


@pytest.mark.once("each part notes what it made")
@pytest.mark.parametrize(
    "orders",
    [("--permissions", "--statusline", ""), ("", "--statusline", "--shared")],
)
def test_the_settings_file_goes_whichever_part_made_it(
    clone: Clone, orders: tuple[str, ...]
) -> None:
    """What made the file went into another form meanwhile: the removal leaves no empty settings."""
    before = clone.contents()
    for option in (*orders, "--remove"):
        ok(clone.run("init", *filter(None, [option])))
    assert clone.contents() == before
