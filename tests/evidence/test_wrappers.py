"""What stands before the program that runs: each wrapper, each runner of other programs, each container."""

from __future__ import annotations

from itertools import product

import pytest

from lifecycle.evidence.command_lines import commands
from tests.batches import each_row

WRAPPERS = (
    *(
        "command",
        "exec",
        "env",
        "nohup",
        "sudo",
        "nice",
        "timeout",
        "gtimeout",
        "xvfb-run",
        "stdbuf",
    ),
    *(
        "unbuffer",
        "setsid",
        "ionice",
        "caffeinate",
        "cross-env",
        "dotenv",
        "c8",
        "nyc",
        "corepack",
        "fvm",
        "sail",
    ),
    *("spring", "xcrun"),
)
RUNNERS = (
    *("uvx", "npx", "bunx", "pipx run", "pnpm dlx", "yarn dlx", "mise x"),
    *("uv run", "poetry run", "pipenv run", "pdm run", "hatch run", "rye run", "pixi run"),
    *("conda run", "mamba run", "micromamba run", "coverage run"),
    *("pnpm exec", "yarn exec", "npm exec", "bundle exec", "mise exec", "rbenv exec", "pyenv exec"),
    *("carton exec", "volta run", "ddev exec", "symfony php"),
)
CONTAINERS = (
    *("docker exec web", "podman exec web", "docker compose run web", "podman compose exec web"),
    *("docker-compose run web", "podman-compose exec web", "docker compose -f a.yml run --rm web"),
)
VALUED = (
    *("--with", "--extra", "--group", "--python", "-p", "--package", "--project", "--directory"),
    *(
        "-u",
        "-s",
        "-k",
        "-n",
        "-f",
        "--file",
        "-e",
        "--env",
        "--profile",
        "--project-name",
        "--user",
    ),
    *("-w", "--workdir", "-v", "--volume", "--env-file", "--entrypoint", "--name", "--index", "-l"),
    *("--label", "--project-directory", "--context", "-H", "--host", "--signal", "--kill-after"),
    *("--source", "--rcfile", "--omit", "--include", "--data-file", "--with-requirements"),
    *("--with-editable", "--from"),
)


def runs(line: str) -> list[str]:
    """What a line runs, each as one text."""
    return [" ".join(command.words) for command in commands(line)]


@each_row("begin", [*WRAPPERS, *RUNNERS, *CONTAINERS])
def test_what_is_before_a_program_is_not_what_runs(begin: str) -> None:
    """With options of its own as well; an option with a value takes the next word along."""
    for options in ("", " --quiet", " -x --name value"):
        words = begin if begin in CONTAINERS else f"{begin}{options}"
        assert runs(f"{words} pytest -q") == ["pytest -q"]


@each_row("option", VALUED)
def test_the_value_of_an_option_is_no_program(option: str) -> None:
    """Whichever of these programs takes it."""
    assert runs(f"uv run {option} value pytest -q") == ["pytest -q"]


INSTALLED = [
    *("jest", "vitest", "mocha", "ava", "playwright", "cypress", "tap", "turbo", "nx", "lerna"),
]


@each_row(("by", "name"), product(["yarn", "pnpm", "bun"], INSTALLED))
def test_a_package_manager_runs_an_installed_program_by_its_name(by: str, name: str) -> None:
    """Another word behind it is a script of the project's, or a command of its own."""
    assert runs(f"{by} {name} run") == [f"{name} run"]
    assert runs(f"{by} {name}er run") == [f"{by} {name}er run"]


@each_row(
    ("line", "what"),
    [
        ("python -m pytest -q", "pytest -q"),
        ("python3.12 -m pytest", "pytest"),
        ("pypy3 -m pytest", "pytest"),
        ("py -m pytest", "pytest"),
        ("python -X dev -W error -m pytest", "pytest"),
        ("python -X", "python -X"),
        ("python -bB -u -m pytest", "pytest"),
        ("python -W error -I manage.py test", "manage.py test"),
        ("python app/manage.py test", "manage.py test"),
        ("python script.py -m pytest", "python script.py -m pytest"),
        ("python", "python"),
        ("pythonic -m pytest", "pythonic -m pytest"),
        ("timeout 60 pytest", "pytest"),
        ("timeout 1.5m pytest", "pytest"),
        ("timeout --signal KILL 60s pytest", "pytest"),
        ("nice 60 pytest", "60 pytest"),
        *(
            (f"{line} run", "jest run")
            for line in ("yarn run jest", "bun run jest", "bun x jest@^29.1")
        ),
        *(
            (f"{line}@latest run", "jest run")
            for line in ("npx --yes jest", "bunx jest", "yarn dlx jest")
        ),
        ("npx @a/jest run", "jest run"),
        ("bun --bun jest run", "jest run"),
        ("bun run -b jest run", "jest run"),
        ("bun build --bun a.ts", "bun build --bun a.ts"),
        ("pnpm -r exec jest", "pnpm recursive exec jest"),
        ("pnpm exec jest -r", "jest -r"),
        ("pnpm", "pnpm"),
        ("pnpm run jest", "pnpm run jest"),
        ("docker run image pytest", "docker run image pytest"),
        ("docker compose up", "docker compose up"),
        ("docker compose up web pytest", "docker compose up web pytest"),
        ("compose run web pytest", "compose run web pytest"),
        ("A=1 B=2 /usr/local/bin/pytest -q", "pytest -q"),
        ("hatch run dev:pytest -q", "pytest -q"),
        ("uv run dev:pytest -q", "dev:pytest -q"),
    ],
)
def test_a_module_a_script_and_what_is_none(line: str, what: str) -> None:
    """Python's options are Python's; a script is what runs, but for Django's own."""
    assert runs(line) == [what]


@pytest.mark.parametrize("shell", ["sh", "bash", "zsh", "dash"])
def test_an_inner_shell_is_read_two_levels_deep(shell: str) -> None:
    """Its commands stand in its place; what is deeper is a command of that shell."""
    assert runs(f"{shell} -lc 'cd a; pytest'") == ["cd a", "pytest"]
    assert runs(f"""{shell} -c '{shell} -c "pytest -q"'""") == ["pytest -q"]
    third = f"""{shell} -c '{shell} -c "{shell} -c \\"pytest -q\\""'"""
    assert runs(third) == [f'{shell} -c "pytest -q"']
    assert runs(f"{shell} -c") == [f"{shell} -c"]
    assert runs(f"{shell} -x run.sh") == [f"{shell} -x run.sh"]


def test_words_that_run_nothing_are_no_command() -> None:
    """An assignment alone, a wrapper alone; and each here-document has its own end."""
    assert runs("A=1; env; timeout; uv run; hatch run; pytest") == ["pytest"]
    assert runs("""py"te"st'' 2>&1 -q >'a b'c -x""") == ["pytest -q -x"]
    assert runs("cat <<A\nx\nA\ncat <<B\nA\ny\nB\npytest") == ["cat", "cat", "pytest"]
