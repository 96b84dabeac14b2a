"""Commands are words; no shell reads them."""

from __future__ import annotations

import json
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.platforms.command_argv import as_line, commands_in
from tests.batches import each_row

SEVERAL = '["npm", "ci"], ["npm", "test"]'

REFUSED: tuple[tuple[str, str], ...] = (
    ("npm ci && npm test", f"[{SEVERAL}]"),
    ("npm ci\nnpm test", f"[{SEVERAL}]"),
    ("cd web && npm test", '["sh", "-c", "cd web && npm test"]'),
    ("npm ci\n. ./env\nnpm test", '["sh", "-c", "npm ci\\n. ./env\\nnpm test"]'),
    ("npm ci && CI=1 npm test", '["sh", "-c", "npm ci && CI=1 npm test"]'),
    ("make; make test", '["sh", "-c", "make; make test"]'),
    ("make test | tee log", '["sh", "-c", "make test | tee log"]'),
    ("make test > log", '["sh", "-c", "make test > log"]'),
    ("make test 2>&1", '["sh", "-c", "make test 2>&1"]'),
    ("cat < input", '["sh", "-c", "cat < input"]'),
    ("serve &", '["sh", "-c", "serve &"]'),
    ("(make)", '["sh", "-c", "(make)"]'),
    ("echo $HOME", '["sh", "-c", "echo $HOME"]'),
    ('echo "$HOME"', '["sh", "-c", "echo \\"$HOME\\""]'),
    ('echo "\\$HOME"', '["sh", "-c", "echo \\"\\\\$HOME\\""]'),
    ('echo "`date`"', '["sh", "-c", "echo \\"`date`\\""]'),
    ("echo `date`", '["sh", "-c", "echo `date`"]'),
    ("pytest tests/*.py", '["sh", "-c", "pytest tests/*.py"]'),
    ("pytest test?.py", '["sh", "-c", "pytest test?.py"]'),
    ("pytest test_[ab].py", '["sh", "-c", "pytest test_[ab].py"]'),
    ("pytest {a,b}.py", '["sh", "-c", "pytest {a,b}.py"]'),
    ("~/bin/check", '["sh", "-c", "~/bin/check"]'),
    ("make # all", '["sh", "-c", "make # all"]'),
    ("CI=1 npm test", '["env", "CI=1", "npm", "test"]'),
    ("cd web", '["sh", "-c", "cd web"]'),
    ("npm ci && cd web", '["sh", "-c", "npm ci && cd web"]'),
    ("npm ci; . bin/activate;", '["sh", "-c", "npm ci; . bin/activate;"]'),
    ("npm ci | tee log; cd web\n", '["sh", "-c", "npm ci | tee log; cd web\\n"]'),
    ("export CI", '["sh", "-c", "export CI"]'),
    (". venv/bin/activate", '["sh", "-c", ". venv/bin/activate"]'),
)
"""Texts that need a shell, and the fix that the refusal names."""


@each_row(("text", "fix"), REFUSED)
def test_what_needs_a_shell_is_refused_with_the_fix(text: str, fix: str) -> None:
    """The fix is JSON that can be pasted in the text's place, and is taken then."""
    with pytest.raises(ValueError, match="shell") as refusal:
        commands_in(text)
    assert fix in str(refusal.value)
    assert commands_in(json.loads(fix))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("npm test", ("npm", "test")),
        ("  npm   test ", ("npm", "test")),
        ("go test ./...", ("go", "test", "./...")),
        ("dotnet test '--collect:XPlat Coverage'", ("dotnet", "test", "--collect:XPlat Coverage")),
        ("pytest -k 'a and not b'", ("pytest", "-k", "a and not b")),
        ("pytest 'tests/*.py'", ("pytest", "tests/*.py")),
        ("echo '$HOME' \\$HOME", ("echo", "$HOME", "$HOME")),
        ("make a#b x=1 a~b", ("make", "a#b", "x=1", "a~b")),
        ("mvn -Dtest=A -B test", ("mvn", "-Dtest=A", "-B", "test")),
        ("echo {} a{b}c", ("echo", "{}", "a{b}c")),
        ("echo ''", ("echo", "")),
    ],
)  # fmt: skip
def test_a_text_is_split_as_a_shell_splits_it(text: str, words: tuple[str, ...]) -> None:
    """Where a shell would do nothing else with it, the words are those that a shell would make."""
    assert commands_in(text) == (words,)
    # The program is left out: it is not started here.
    rest = text.split(maxsplit=1)[1]
    done = subprocess.run(["sh", "-c", f"printf '%s\\0' {rest}"], capture_output=True, check=True)
    assert tuple(done.stdout.decode().split("\0")[:-1]) == words[1:]


@pytest.mark.parametrize(
    ("value", "commands"),
    [
        (None, ()),
        ("", ()),
        ([], ()),
        (["a", "b c"], (("a", "b c"),)),
        ([["a", "b"], ["c"]], (("a", "b"), ("c",))),
        (["sh", "-c", "a | b"], (("sh", "-c", "a | b"),)),
        (["./my tool", "x"], (("./my tool", "x"),)),
        (["printf", "a\n\tb"], (("printf", "a\n\tb"),)),
    ],
)
def test_lists_are_taken_as_they_are(value: object, commands: tuple[object, ...]) -> None:
    """A list is one command, a list of lists several, and nothing is no command."""
    assert commands_in(value) == commands


@each_row(
    ("value", "says"),
    [
        (1, "not a text, a list"),
        ({"a": 1}, "not a text, a list"),
        (True, "not a text, a list"),
        (["a", ["b"]], "not a text, a list"),
        (["a", 1], "not a text, a list"),
        ([["a"], []], "not a text, a list"),
        ([["a", 1]], "not a text"),
        ([["a", ["b"]]], "not a text"),
        ([""], "does not name a program"),
        (["  "], "does not name a program"),
        ("'' x", "does not name a program"),
        ("echo 'a", "never closed"),
        (["npm ci", "npm test"], f"[{SEVERAL}]"),
        ([["cd", "web"], ["npm", "test"]], '["sh", "-c", "cd web && npm test"]'),
        ([["npm", "ci"], ["CI=1", "npm"]], '["env", "CI=1", "npm"]'),
        (["cd", "web"], '["sh", "-c", "cd web"]'),
        (["CI=1", "npm"], '["env", "CI=1", "npm"]'),
        (["a\0b"], "invisible characters"),
        (["echo", "\x1b[2J"], "invisible characters"),
        (["echo", "\r"], "invisible characters"),
        (["echo", "a\u202eb"], "invisible characters"),
        (["echo", "a\u200bb"], "invisible characters"),
        (["echo", "\ud800"], "invisible characters"),
        ("x" * 8_001, "8,000"),
        (["x" * 8_001], "8,000"),
    ],
)
def test_what_is_no_command_is_refused(value: object, says: str) -> None:
    """The sentence says what is wrong, and shows no character that cannot be seen."""
    with pytest.raises(ValueError, match=r".") as refusal:
        commands_in(value)
    assert says in str(refusal.value)
    assert str(refusal.value).isprintable()


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_a_line_gives_a_shell_the_very_words(words: list[str]) -> None:
    """Whatever the words are, a shell that reads the line starts with these and runs nothing else."""
    line = as_line((("printf", "%s\\0", *words),))
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == words


def test_of_several_commands_each_needs_the_success_of_the_last() -> None:
    """A shell that reads the line stops at the first that fails, with its status."""
    line = as_line((("sh", "-c", "exit 3"), ("echo", "never")))
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
