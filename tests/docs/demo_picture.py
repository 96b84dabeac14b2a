"""What `lifecycle demo` prints, as text and as a picture: one real run, its passing numbers made equal."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from tests.docs.pages import ROOT

PICTURE = ROOT / "docs" / "pictures" / "demo.svg"
WIDTH = 100

_PASSING = (
    (r"(?<=127\.0\.0\.1:)\d+", "43889"),
    (r"(?<=octocat-)\d{16}", "1795251656951395"),
    (r"(?<= at )[0-9a-f]{7}", "33b69c6"),
    (r"(?<=done\x1b\[0m in )[\d.]+(?= s)", "3.3"),
)
"""What is of this run only, and what stands on the page instead."""

_FONTS = re.compile(r"@font-face \{\{.*?\n    \}\}\n", re.DOTALL)
"""The fonts that rich's pictures would load from elsewhere; a picture of ours loads nothing."""


@cache
def printed() -> Text:
    """What the demo prints on a terminal with colours, 100 columns wide.

    Raises:
        subprocess.CalledProcessError: the demo did not end well.
    """
    command = Path(sys.executable).with_name("lifecycle")
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    told = subprocess.run(
        [command, "demo"],
        env={**kept, "COLUMNS": str(WIDTH), "FORCE_COLOR": "1", "TERM": "xterm-256color"},
        capture_output=True,
        text=True,
        check=True,
    )
    text = told.stdout.strip("\n")
    for pattern, example in _PASSING:
        text = re.sub(pattern, example, text)
    lines = [Text.from_ansi(line) for line in text.splitlines()]
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)


def demo() -> str:
    """The run as a block of plain text."""
    return f"```text\n{printed().plain}\n```"


def picture() -> str:
    """The run as an SVG; the same run gives the same bytes."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), markup=False, highlight=False)
    console.print(printed())
    console.print()  # the frame cuts into its last line
    form = _FONTS.sub("", CONSOLE_SVG_FORMAT).replace("Fira Code, monospace", "monospace")
    svg = console.export_svg(title="lifecycle demo", code_format=form, unique_id="demo")
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def words_in(svg: str) -> str:
    """What a picture shows below its title, without any space: where lines break does not matter."""
    root = ET.fromstring(svg)  # noqa: S314  our own picture
    _, *shown = (one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}text"))
    return "".join("".join(shown).split())
