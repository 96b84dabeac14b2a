"""Where the GraphQL documents, the hook scripts, the plugin's pages and files of texts lie.

In a wheel they are inside the package; in a checkout, installed or not, they are the top-level folders
`graphql/`, `hooks/`, `commands/`, `agents/` and `skills/`. A file of texts lies beside the module that
says them.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any, Final

from lifecycle.core.light_dataclass import dataclass

_PACKAGE = Path(__file__).parents[1]

PLUGIN: Final = ("hooks", "commands", "agents", "skills")
"""The folders of a plugin that the command brings, too."""


def _folder(name: str) -> Path:
    packaged = _PACKAGE / f"_{name}"
    return packaged if packaged.is_dir() else _PACKAGE.parent / name


def graphql_document(name: str) -> str:
    """The text of `graphql/NAME.graphql`."""
    return page(f"graphql/{name}.graphql")


def graphql_documents() -> list[Path]:
    """Every GraphQL document of the product, in name order."""
    return sorted(_folder("graphql").glob("*.graphql"))


def page(name: str) -> str:
    """The text of a file in one of these folders, as `commands/claim.md`."""
    folder, _, path = name.partition("/")
    return (_folder(folder) / path).read_text(encoding="utf-8")


def plugin_folder(name: str) -> Path:
    """The command's copy of one of the `PLUGIN` folders."""
    return _folder(name)


def hooks_folder() -> Path:
    """The absolute folder that the hook scripts lie in."""
    return _folder("hooks").absolute()


def hook_script(name: str) -> Path:
    """The path of `hooks/NAME`."""
    return _folder("hooks") / name


def packaged(name: str) -> str:
    """The text of a file of the package's own, by its path in it."""
    return (_PACKAGE / name).read_text(encoding="utf-8")


def install_line(verb: str, of: str = "", *, prefix: str | Path = sys.prefix) -> str:
    """The command line by which a command is installed, in the words of what installed it before.

    Args:
        verb: to "install" it from the folder `of`, to "add" the package `of`, to "renew" it.
        of: as a shell reads it.
        prefix: its environment: each installer leaves a file of its own there, pip leaves none.
    """
    import shlex

    place, known = Path(prefix), table("settings/installers.toml")
    kinds = (kind for kind in known.values() if (place / kind["file"]).is_file())
    line = str(next(kinds, known["pip"])[verb])
    return line.format(of=of, python=shlex.quote(f"{place}/bin/python3"))


def texts(name: str) -> dict[str, Any]:
    """The tables of a TOML file of the package's own, by its path in it."""
    import tomllib

    return tomllib.loads(packaged(name))


@cache
def table(name: str) -> dict[str, Any]:
    """The same, read once; nobody changes it."""
    return texts(name)


@dataclass(eq=False)
class Sentences:
    """The sentences of a TOML file of the package's own, by name; it is read for the first of them."""

    file: str

    def __call__(self, name: str, /, **values: Any) -> str:
        """A sentence, filled in.

        Args:
            name: of the sentence.
            values: by the first word in braces, what is filled in there; several clauses with semicolons.
        """
        joined = {k: "; ".join(v) for k, v in values.items() if isinstance(v, (list, tuple))}
        return " ".join(table(self.file)[name].splitlines()).format_map({**values, **joined})


sentence: Final = Sentences("settings/sentences.toml")
"""What is refused where settings are read."""
