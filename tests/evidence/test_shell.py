"""Which commands a command line runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.evidence.command_lines import Command, commands
from tests.batches import each_row


@each_row(
    ("line", "wanted"),
    [
        ("bd close bd-1", ["bd close bd-1"]),
        ('bd close x --reason="all done; ok"', ["bd close x --reason=all done; ok"]),
        ("echo 'bd close 1' && bd show x", ["echo bd close 1", "bd show x"]),
        ('grep -r "bd close" .', ["grep -r bd close ."]),
        ("cat <<'EOF' > f\nbd close 3\nEOF\nls", ["cat", "ls"]),
        ("cat <<-EOF | sh\n\tbd close 3\n\tEOF\nls", ["cat", "sh", "ls"]),
        ("cat <<A <<B\none\nA\nbd close\nB\nls", ["cat", "ls"]),
        ("# bd close 1\nls # bd close", ["ls"]),
        ("a; b | c || d\ne & f", ["a", "b", "c", "d", "e", "f"]),
        ("(cd x; pytest)", ["cd x", "pytest"]),
        ("if bd close 3; then ls; fi", ["bd close 3", "ls", "fi"]),
        ("FOO=1 timeout 60 /usr/bin/python3.11 -m pytest -q 2>&1", ["pytest -q"]),
        ("cd x && uv run --with a pytest tests/ > out.txt", ["cd x", "pytest tests/"]),
        ("bash -lc 'cd a && npx vitest run'", ["cd a", "vitest run"]),
        ("sudo -u me env A=b nice make test", ["make test"]),
        ("./gradlew test", ["gradlew test"]),
        ("echo $(bd close 3)", ["echo $", "bd close 3"]),
        ("pytest \\\n  -q", ["pytest -q"]),
        ("echo a\\ b", ["echo a b"]),
        ("", []),
        ("   \n ", []),
    ],
)
def test_the_simple_commands_of_a_line(line: str, wanted: list[str]) -> None:
    """Quotes, comments, here-documents, wrappers and inner shells are what they are."""
    assert [" ".join(command.words) for command in commands(line)] == wanted


@each_row(
    ("line", "decides"),
    [
        ("pytest", True),
        ("pytest;", True),
        ("cd x && pytest", True),
        ("pytest && echo ok", True),
        ("cd x; pytest", True),
        ("pytest | tail -5", False),
        ("set -o pipefail; pytest | tail -5", True),
        ("pytest || true", False),
        ("pytest; echo done", False),
        ("pytest &", False),
        ("bash -c 'pytest; true'", False),
        ("bash -c 'cd a && pytest'", True),
        ("(cd a; pytest)", True),
        ("(cd a; pytest) && echo ok", True),
        ("(pytest) || true", False),
        ("(pytest) &", False),
        ("{ pytest; } | tail", False),
        ("{ pytest; }", True),
        ("! pytest", False),
        ("time pytest", True),
        ("echo $(pytest)", False),
        ("diff <(pytest) old", False),
        ("pytest() { true; }", False),
        ("trap x EXIT; pytest", False),
        ("true || pytest", False),
        ("cd a || exit 1; pytest", True),
        ("test -d a || exit 0; pytest", False),
        ("test -d a || { cd b; pytest; }", False),
        ("exec true; pytest", False),
        ("exec pytest", True),
        ("set +o pipefail; pytest | tail", False),
        ("set -euo pipefail; pytest | tail", True),
        ("pytest | tail; set -o pipefail", False),
        ("false || true\npytest", True),
        ("false || true; pytest", True),
        ("false || true & pytest", True),
        ("false || cd x && pytest", False),
        ("set -o pipefail; set +o pipefail; pytest | cat", False),
        ("set -o pipefail; pytest |& cat", True),
        ("set -e pipefail; pytest | cat", False),
        ("exec; pytest", True),
        ("exit 2; pytest", True),
        ("exit; pytest", False),
        ("return 10; pytest", True),
        ("return 0; pytest", False),
        ("(true || pytest)", False),
        ("sh -c pytest", True),
        ("zsh -ec pytest", True),
        ("pytest && sleep 1 &", False),
    ],
)
def test_whose_exit_status_the_line_has(line: str, decides: bool) -> None:
    """A status that a pipe, a list or an `||` takes over is not the command's own."""
    (run,) = [command for command in commands(line) if command.words == ("pytest",)]
    assert run.is_last is decides


def test_what_stands_around_a_command() -> None:
    """Its variables, also of a wrapper and of an inner shell; and the files that its output goes to."""
    (run,) = commands(
        "A=1 env B=2 uv run pytest -q > log 2>/dev/null 2>&1 >&2 < input >/dev/stderr"
    )
    assert run.words == ("pytest", "-q")
    assert (run.sets, run.files) == (("A=1", "B=2"), ("log", "/dev/null"))
    (inner,) = commands("A=1 bash -c 'B=2 pytest' > log | cat | tail")[:1]
    assert (set(inner.sets), inner.files, inner.after) == ({"A=1", "B=2"}, ("log",), "|")


AROUND: list[tuple[str, list[tuple[str, str, str]]]] = [
    ("pytest;", [("pytest", "", "own clear")]),
    ("pytest &", [("pytest", "&", "clear")]),
    ("pytest -n $(nproc)", [("pytest -n 8", "", "own clear")]),
    # What is assigned before it, and what commands before it assigned for all that follow.
    ("A=1; B=3 pytest A=2 | cat",
     [("pytest A=2", "|", "clear B=3 kept A=1"), ("cat", "", "own clear kept A=1")]),
    # An inner shell's commands are as far the line's as that shell is.
    ("A=1; B=2 sh -c 'cd a && pytest > log' > out | cat",
     [("cd a", "&&", "clear B=2 kept A=1 > out"), ("pytest", "|", "clear B=2 kept A=1 > log out"),
      ("cat", "", "own clear kept A=1")]),
    ("sh -c pytest || true", [("pytest", "||", "clear"), ("true", "", "clear")]),
    ("sh -c pytest && ls", [("pytest", "&&", "own clear"), ("ls", "", "own clear")]),
    ("alias a=b; sh -c pytest", [("alias a=b", ";", ""), ("pytest", "", "")]),
    ("sh -c 'alias a=b; pytest' && ls",
     [("alias a=b", ";", ""), ("pytest", "&&", ""), ("ls", "", "own clear")]),
    *((line, [(line, "", "own clear")]) for line in ("bash -x -c", "grep -c a b", "echo sh -c pytest")),
    # A substitution is one up to its end; parentheses behind a name make a function.
    ("echo $(ls; pwd); pytest",
     [("echo $", "(", "clear"), ("ls", ";", "inner"), ("pwd", ")", "inner"), ("pytest", "", "own clear")]),
    ("f() { ls; }; pytest", [("f", "(", ""), ("ls", ";", ""), ("pytest", "", "")]),
    # Several commands whose output goes into one file are not told apart; input and errors are no matter.
    ("{ pytest; ls; } > log", [("pytest", ";", ""), ("ls", "", "")]),
    ("(pytest; ls) > log", [("pytest", ";", ""), ("ls", "", "")]),
    ("(pytest) < in", [("pytest", "", "own clear")]),
    ("(pytest) 2>&1", [("pytest", "", "own clear")]),
    ("(ls; pytest > log)", [("ls", ";", "clear"), ("pytest", "", "own clear > log")]),
    ("> log pytest", [("pytest", "", "own clear > log")]),
    *((f"(a) {sign} b", [("a", sign, "clear"), ("b", "", "own clear")]) for sign in ("|", "|&", "&")),
    ("(a) || b", [("a", "||", "clear"), ("b", "", "clear")]),
    ("(a) && b", [("a", "&&", "own clear"), ("b", "", "own clear")]),
    # Whose status a pipe has, and which command turns its own around or ends the line.
    ("set -o pipefail; pytest | tee log && ls",
     [("set -o pipefail", ";", "clear"), ("pytest", "|", "own clear"), ("tee log", "&&", "own clear"),
      ("ls", "", "own clear")]),
    *((f"{first}; pytest | cat",
       [(first, ";", "clear"), ("pytest", "|", "clear"), ("cat", "", "own clear")])
      for first in ("echo -o pipefail", "set -e")),
    ("time ! pytest", [("pytest", "", "clear")]),
    ("echo a ! b", [("echo a ! b", "", "own clear")]),
    ("exit 1 2; pytest", [("exit 1 2", ";", "clear"), ("pytest", "", "clear")]),
    ("cat <<A\nx\nA\ncat <<B\ny\nB\npytest",
     [("cat", "\n", "clear"), ("cat", "\n", "clear"), ("pytest", "", "own clear")]),
]  # fmt: skip
"""(a line, of each of its commands the words, the operator behind it and what is known of it)."""


def test_what_a_line_makes_of_each_of_its_commands() -> None:
    """Whether the line's status is its own, whether something around it changes it, variables and files."""

    def known(command: Command) -> str:
        flags = {"own": command.is_last, "clear": command.is_clear, "inner": command.is_inner}
        words = [*(flag for flag, is_so in flags.items() if is_so), *command.sets]
        words += ["kept", *command.kept] if command.kept else []
        return " ".join([*words, *([">", *command.files] if command.files else [])])

    found = [
        (line, [(" ".join(each.words), each.after, known(each)) for each in commands(line)])
        for line, _ in AROUND
    ]
    assert found == AROUND


@given(st.text(st.sampled_from("ab '\"\\;|&<>()#\n$`{}EOF-")))
def test_any_line_is_read_to_its_end(line: str) -> None:
    """Unbalanced quotes and loose operators give fewer commands, never an error."""
    for command in commands(line):
        assert command.words


@pytest.mark.parametrize(
    "word", ["if", "then", "else", "elif", "do", "while", "until", "!", "{", "time"]
)
def test_a_word_of_the_shells_own_is_no_program(word: str) -> None:
    """What is behind it is what runs."""
    assert [command.words for command in commands(f"{word} pytest -q")] == [("pytest", "-q")]


@each_row(
    "begin",
    [
        *("uvx", "npx", "bunx", "pnpm dlx"),
        *("uv run", "poetry run", "pipenv run", "pdm run", "hatch run", "rye run"),
        *("pnpm exec", "yarn exec", "npm exec", "bundle exec", "mise exec"),
        *("command", "exec", "env", "nohup", "sudo", "nice", "timeout 5", "xvfb-run", "stdbuf"),
    ],
)
def test_what_starts_another_program_is_not_what_runs(begin: str) -> None:
    """Runners and wrappers are left out, and another word behind a runner's name is none of them."""
    assert [command.words for command in commands(f"{begin} pytest -q")] == [("pytest", "-q")]


@pytest.mark.parametrize(
    ("line", "clear"),
    [
        ("pytest; ls", [True, True]),
        ("function f; pytest", [False, False]),
        ("alias a=b; pytest", [False, False]),
        ("trap x EXIT; pytest", [False, False]),
        ("echo function; pytest", [True, True]),
    ],
)
def test_a_line_that_gives_words_another_meaning_is_not_clear(line: str, clear: list[bool]) -> None:
    """A function, an alias and a trap make something else of what is around them."""
    assert [command.is_clear for command in commands(line)] == clear
