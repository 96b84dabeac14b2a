"""Finds the GraphQL documents, the hook scripts, the plugin's pages, files of texts, and templates.

In a wheel they are inside the package; in a checkout, installed or not, they are the top-level folders
`graphql/`, `hooks/`, `commands/`, `agents/` and `skills/`. A file of texts is beside the module that
uses them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lifecycle.core.light_dataclass import dataclass

if TYPE_CHECKING:
    from jinja2 import Environment

_PACKAGE = Path(__file__).absolute().parents[1]

PLUGIN: Final = ("hooks", "commands", "agents", "skills")
"""The folders of a plugin that the command brings, too."""


def top_folder(name: str) -> Path:
    """The absolute path of one of these folders."""
    packaged = _PACKAGE / f"_{name}"
    return packaged if packaged.is_dir() else _PACKAGE.parent / name


def page(name: str) -> str:
    """The text of a file in one of these folders, such as `commands/claim.md`."""
    place, _, path = name.partition("/")
    return (top_folder(place) / path).read_text(encoding="utf-8")


def hook_script(name: str) -> Path:
    """The path of `hooks/NAME`."""
    return top_folder("hooks") / name


def packaged(name: str) -> str:
    """The text of a file of the package's own, by its path in it."""
    return (_PACKAGE / name).read_text(encoding="utf-8")


def install_line(verb: str, of: str = "", *, prefix: str | Path = sys.prefix) -> str:
    """The command line that installs a command, for the installer that installed it before.

    Args:
        verb: "install" it from the folder `of`, "add" the package `of`, or "renew" it.
        of: the folder or package, quoted for a shell.
        prefix: its environment: each installer but pip leaves a file of its own there.
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
    """The same as `texts`, but read only once; do not change it."""
    return texts(name)


@cache
def templates(folder: str, **filters: Callable[..., str]) -> Environment:
    """The templates in a folder of the package, with these filters, and those that are named here.

    What a template of HTML fills in is escaped; one of Markdown makes a text that its reader cleans.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    from lifecycle.core import redact, timing
    from lifecycle.core.messages import figures

    environment = Environment(
        loader=FileSystemLoader(_PACKAGE / folder),
        autoescape=select_autoescape(),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    names = ("block", "cell", "few", "listed", "named", "quoted", "redact", "short", "visible")
    environment.filters.update({name: getattr(redact, name) for name in names}, data=redact.as_data)
    times = {"iso": timing.render_time, "moment": timing.parse_time, "span": figures.span}
    environment.filters.update(times, many=figures.count, **filters)
    return environment


def drawn(path: str, /, **values: Any) -> list[str]:
    """The lines of a text: a template of the package's own, by its path in it, filled in."""
    folder, _, name = path.rpartition("/")
    text = templates(folder).get_template(name).render(values).removesuffix("\n")
    return text.split("\n") if text else []


@dataclass(eq=False)
class Sentences:
    """The sentences of a TOML file of the package's own, by name; it is read for the first of them."""

    file: str

    def __call__(self, name: str, /, **values: Any) -> str:
        """A sentence, filled in.

        Args:
            name: the sentence's name.
            values: what to fill in, by the first word in braces; several clauses with semicolons.
        """
        joined = {k: "; ".join(v) for k, v in values.items() if isinstance(v, (list, tuple))}
        return " ".join(table(self.file)[name].splitlines()).format_map({**values, **joined})


sentence: Final = Sentences("settings/sentences.toml")
"""The refusals of reading settings."""
