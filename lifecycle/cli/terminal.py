"""Cleans everything that the command line prints: both streams pass `redact.shown`.

`guarded` puts a `CleanStream` before standard output and standard error while a command runs, so that no
secret is printed, and no stranger's control character reaches a terminal. Only a `console` writes colours
and links; the texts that it draws pass the same function.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO

from lifecycle.core.redact import as_data, redact, shown, swept, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

_PLAIN = {"✓": "+", "✗": "x", "→": ">", "○": "o", "·": "-", "▸": ">", "█": "#", "░": "."}
"""Substitutes for our signs in an output whose encoding lacks them."""

_FRAMES = r"(?i)<(?=[/!?A-Z])|:{3,}|\](?=\()|(?<=current) (?=workflow stage|stage *:)"
"""Characters that begin a tag, a stage's marker, a link or a sentence of ours: escaped in JSON."""


class CleanStream(io.TextIOBase):
    """A text stream that cleans its input with `redact.shown`, and passes it on to `raw`."""

    def __init__(self, raw: TextIO) -> None:
        self.raw = raw

    def write(self, text: str | bytes) -> int:
        """Clean a text and write it to the stream behind this one; raises what that stream raises.

        Bytes are treated as text: click prints the scripts for shell completion as bytes.
        """
        self.raw.write(shown(text if isinstance(text, str) else text.decode("utf-8", "replace")))
        return len(text)

    def flush(self) -> None:
        """Flush the stream behind it."""
        self.raw.flush()

    def close(self) -> None:
        """Nothing: Python ends the stream behind it. From 3.13 on it tells of a flush that fails here."""

    def isatty(self) -> bool:
        """True if a terminal is behind it."""
        return self.raw.isatty()

    def fileno(self) -> int:
        """The descriptor behind it, for processes that get it as their own output."""
        return self.raw.fileno()

    def writable(self) -> bool:
        """True: it takes text."""
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a plain attribute there
        """The encoding of the stream behind it."""
        return self.raw.encoding


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Python's handler for characters that an encoding lacks: a plain sign, else "?"."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character, "?") for character in lacking), error.end


@contextmanager
def guarded() -> Iterator[None]:
    """Put standard output and standard error behind a `CleanStream` while a command runs.

    If an output lacks one of our signs, a plain one is shown, for any other character "?". A stream that
    was given up meanwhile, or was closed before we were started, stays None.
    """
    codecs.register_error("plain", _plainly)
    before = (sys.stdout, sys.stderr)
    for stream in before:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="plain")
    out, sys.stderr = (stream and CleanStream(stream) for stream in before)
    sys.stdout = out
    try:
        yield
    finally:
        if sys.stdout is out:
            sys.stdout = before[0]
        sys.stderr = before[1]


def behind(stream: TextIO) -> TextIO:
    """The stream without its `CleanStream`, for output that must arrive unchanged."""
    return stream.raw if isinstance(stream, CleanStream) else stream


def passing(stream: TextIO | None) -> Callable[[bytes], None]:
    """A function that writes the bytes of a child's output to this stream at once, uncleaned.

    Output for a closed stream, or one that nobody reads any more, is dropped.
    """
    text = None if stream is None else behind(stream)
    is_open = isinstance(text, io.TextIOWrapper)

    def take(part: bytes) -> None:
        nonlocal is_open
        if text is None or not is_open:
            return
        try:
            text.flush()
            # Past the buffer: output that nobody reads must not be tried again at the end.
            while part:
                part = part[os.write(text.fileno(), part) :]
        except BrokenPipeError:
            is_open = False

    return take


def say(text: str, stream: TextIO | None = None) -> None:
    """Print a line at once; nothing if the stream was closed before we were started."""
    stream = sys.stdout if stream is None else stream
    if stream is not None:
        stream.write(f"{text}\n")
        stream.flush()


def say_all(lines: Iterable[str], data: Mapping[str, Any], *, as_json: bool) -> None:
    """Print lines as they are, or one JSON object."""
    for line in [json_text(data)] if as_json else lines:
        say(line)


def is_terminal(stream: TextIO | None) -> bool:
    """True if the stream is a terminal; a stream that was closed before we were started is None."""
    return stream is not None and stream.isatty()


def one_line(text: str) -> str:
    """Anybody's text as one line, without secrets, control characters and imitations of our words."""
    return as_data(redact(text))


def at_once(text: str) -> None:
    """Write a line to standard error past every buffer, for an exit that flushes none."""
    with suppress(OSError):  # nobody reads any more
        os.write(2, f"{shown(text)}\n".encode("utf-8", "replace"))


def console(*, is_error: bool = False, **options: Any) -> Console:
    """A console of rich's on one of the streams; markup and emoji codes in texts are not interpreted.

    Args:
        is_error: True for standard error, False for standard output.
        options: further options of rich's Console.
    """
    from rich.console import Console
    from rich.segment import Segment

    class Clean(Console):
        """Draws as any console does; the texts that it draws are `shown`."""

        def render(self, *args: Any, **keywords: Any) -> Iterator[Segment]:
            """The drawn pieces with their text cleaned; those that move the cursor are kept."""
            for segment in super().render(*args, **keywords):
                text = segment.text if segment.control else shown(segment.text)
                yield segment if text == segment.text else Segment(text, segment.style)

    stream = behind(sys.stderr if is_error else sys.stdout)
    made = Clean(file=stream, markup=False, emoji=False, highlight=False, **options)
    # COLUMNS=0, as some containers set it; a set width no longer follows the window.
    if not made.width:
        made.width = 80
    return made


WIDEST = 160
"""The most columns of a screen: in a wider row the cells are too far apart."""

LEAST = 28
"""The least columns of a cell without a fixed width, before others are put beside it."""

_GAP = 2


def fitted(screen: Console | None = None, widest: int = WIDEST) -> Console:
    """The console to draw on (default: standard output), `widest` columns wide at most."""
    drawn = screen or console()
    drawn.width = min(drawn.width, widest)
    return drawn


def styled(words: str, style: str = "") -> Text:
    """A text of rich's, for `table` and a console; rich is imported only when something is drawn."""
    from rich.text import Text

    return Text(words, style)


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        head: its name, "" for none.
        cell: returns the cell of a row; a text without a style may be anybody's.
        style: the style of a cell that has none.
        most: its greatest width; None for a column that shares the remaining space.
        justify: the alignment of its cells.
    """

    head: str
    cell: Callable[[Any], str | Text]
    style: str = ""
    most: int | None = 24
    justify: Literal["left", "right"] = "left"


def table(screen: Console, columns: Sequence[Column], rows: Sequence[Any]) -> Table:
    """A table of rich's without lines, in which nothing is cut off.

    The first column without a width is the main one. The others, in order, are put beside it as long as it
    keeps LEAST columns. The cells of the rest are above or below its own, with the names of their columns.
    Any other column that is empty in every row is left out.
    """
    from rich.table import Table
    from rich.text import Text

    main = next(column for column in columns if column.most is None)

    def drawn_cell(column: Column, row: Any) -> Text:
        cell = column.cell(row)
        return Text(one_line(cell), column.style) if isinstance(cell, str) else cell

    every = {column: [drawn_cell(column, row) for row in rows] for column in columns}
    cells = {column: texts for column, texts in every.items() if column is main or any(texts)}

    def width(column: Column) -> int:
        return max(screen.measure(text).maximum for text in (Text(column.head), *cells[column]))

    room = screen.width - min(LEAST, screen.width // 2, width(main))
    beside = []
    for column in cells:
        taken = min(width(column), column.most or LEAST) + _GAP if column is not main else 0
        if taken <= room:
            beside.append(column)
            room -= taken

    def cell(column: Column, at: int) -> Text:
        if column is not main:
            return cells[column][at]
        named = {other: Text(f"{other.head} " if other.head else "", "dim") for other in cells}
        inside = [
            text[at] if other is main else Text.assemble(named[other], text[at])
            for other, text in cells.items()
            if other is main or (other not in beside and text[at])
        ]
        return Text("\n").join(inside)

    drawn = Table.grid(padding=(0, _GAP, 0, 0))
    for column in beside:
        drawn.add_column(max_width=column.most, overflow="fold", justify=column.justify)
    if any(column.head for column in beside):
        drawn.add_row(*(Text(column.head, "dim") for column in beside))
    for at in range(len(rows)):
        drawn.add_row(*(cell(column, at) for column in beside))
    return drawn


def json_text(data: Mapping[str, Any]) -> str:
    """One JSON object as text: no secret in it, and no character that a terminal would obey.

    Such characters are escaped, and so are those that begin a tag or a stage's marker: a JSON parser gets
    each text unchanged, and neither a terminal nor a model that reads the output obeys it.
    """
    text = json.dumps(swept(dict(data), []), ensure_ascii=False)
    text = re.sub(_FRAMES, _escapes, text)
    if redact(text) != text:
        # A secret's pattern that spans an escaped line break: cleaning must not remove half an escape.
        text = re.sub(r"\\.", lambda match: r"\u0022" if match[0] == r"\"" else match[0], text)
    if text.isascii():
        return text
    return "".join(c if visible(c) == c else json.dumps(c)[1:-1] for c in text)


def _escapes(match: re.Match[str]) -> str:
    return "".join(f"\\u{ord(c):04x}" for c in match[0])
