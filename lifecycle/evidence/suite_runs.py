"""Test runs: which command line is one, and what it shows about its own end.

Only a run of a suite counts. A run of single files or tests, a command that only lists or builds, and
the words in an `echo` or a search do not count.

Source: the manuals of the runners, as https://docs.pytest.org/en/stable/reference/exit-codes.html and
https://doc.rust-lang.org/cargo/commands/cargo-test.html: exit status 0 means that all tests passed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from itertools import dropwhile, pairwise, takewhile

from lifecycle.evidence.command_lines import TOP, Command, Words, commands, listed
from lifecycle.evidence.line_effects import IDLE, KEEPING, QUIET, is_beside, is_idle, tells
from lifecycle.evidence.runners import runner_table
from lifecycle.evidence.runners.runner_table import UNKNOWN, Rows, RunnerRow, RunScope
from lifecycle.evidence.words import word_tables

CHECK = "lifecycle check"
"""The row of our own command, which keeps its own records."""

_PIPES = ("|", "|&")
_OWN = word_tables.table("words/commands")["own"]
_PLACES, _OUTPUTS, _FOLDERS = map(listed, ("places", "outputs", "folders"))
_BEFORE = (_PLACES | listed("loading") | listed("choosing")) - {"-p", "--project"}
"""Words before the name of what is to run, each with a value: `make -C web`, `pnpm --filter web`."""

_OF_NPM = frozenset(("-w", "--workspace"))
"""Options of npm's whose value is a package of the workspace."""

_NOWHERE = "/-"
"""Used for the worktree's top folder if that is unknown."""

_NAMING = listed("naming")
_PART_OF = re.compile(r"^:(?:[\w-]+:)+(?=\w)|^:(?=\w)|^[\w-]+/(?=\w+$)")
"""The beginning of a goal that is for one part of the project."""


class SuiteRun:
    """A test run in a command line.

    Attributes:
        name: what runs, in a few words.
        is_suite: it is not restricted to single files or tests.
        is_nothing: it only lists, builds or prints something.
        decides: the command line's exit status is that of the run.
        is_own: it is the project's own commands for this, and nothing else; for a check, the project
            configured it.
        is_shown: its output is neither redirected to a file nor changed, and shows how the line ended.
        is_sifted: a filter removes some lines of its output.
        is_whole: the command line's output is all of the run's output, and nothing else.
        is_plain: every part of the line has a known form.
        is_end: no command that may change a file comes after it.
        is_single: it is the only run in the line.
        suites: the project's own commands that it runs, as configured.
        rest: the words after those that identify the command.
        rows: the rows of the table that recognise it; () if none does.
        table: all rows, including the project's own.
        behind: the commands after it.
        within: for each run of the line: the folder that it runs in, from the top folder; the words that
            may be names of files; and the folder whose tests it runs. () if one runs in the top folder and
            names none, or is exactly the project's own.
        steps: the folders to which the line changes before it, and places in its arguments, in order: each
            path as written, with TOP for the top folder if that is unknown; "" if it is unknown itself;
            and whether the following commands run there.
    """

    is_shown = is_whole = is_end = is_single = is_plain = True
    is_nothing = is_own = is_sifted = False
    rows = table = tuple[RunnerRow, ...]()
    suites = rest = tuple[str, ...]()
    behind = tuple[Command, ...]()
    within = tuple[tuple[str, Words, str], ...]()
    steps = tuple[tuple[str, bool], ...]()

    def __init__(self, name: str, *, is_suite: bool, decides: bool) -> None:
        self.name, self.is_suite, self.decides = name, is_suite, decides

    @property
    def is_check(self) -> bool:
        """True if it runs only `lifecycle check`, which keeps its own records."""
        return bool(self.rows) and all(row.name == CHECK for row in self.rows)

    @property
    def wraps(self) -> bool:
        """True if one of its rows prints the output of whatever it runs."""
        return any(row.wraps for row in self.rows)


def run_in(
    line: str, tests: Words = (), rows: Rows | None = None, root: str = "", folder: str = ""
) -> SuiteRun | None:
    """The test run in a command line; None if there is none.

    Args:
        line: the command line.
        tests: the project's own test commands; one of them with further words counts as well.
        rows: the table of runners; None for the table without rows of the project.
        root: the worktree's top folder; "" if unknown.
        folder: the event's `cwd`: where the line begins, or ended; "" counts as the top folder.
    """
    run = _run_in(line, tests, runner_table.rows() if rows is None else rows, root, folder)
    return None if run is None or run.is_nothing else run


def run_of(line: str, tests: Words, rows: Rows) -> SuiteRun:
    """The run in a command line that is known to have one; it may be a run of nothing."""
    run = _run_in(line, tests, rows, "", "")
    for command in _meant(line, _NOWHERE) if run is None else ():
        run = _checked(command.words[0], command.words[1:], command.sets, command, UNKNOWN)
    run = run or SuiteRun(line[:60], is_suite=True, decides=True)
    run.table, run.is_own = rows, bool(tests)
    return run


def _run_in(line: str, tests: Words, rows: Rows, root: str, folder: str) -> SuiteRun | None:
    top = root or _NOWHERE
    own = [command for text in tests for command in _meant(text, top)]
    parts = _placed(line, top, folder)
    known = [_run(command, own, rows, top) for command in parts]
    hits = {i: run for i, run in enumerate(known) if run is not None and not run.is_nothing}
    if not hits:
        return next((run for run in reversed(known) if run is not None), None)
    runs = list(hits.values())
    last = ([run for run in runs if run.is_suite] or runs)[-1]
    whole = SuiteRun(last.name, is_suite=last.is_suite, decides=all(run.decides for run in runs))
    whole.table = rows
    whole.is_own = all(run.is_own for run in runs)
    whole.suites = tuple(suite for run in runs for suite in run.suites)
    whole.behind = tuple(parts[max(hits) + 1 :])
    whole.is_single = len(hits) == 1
    have_rows = all(run.rows for run in runs)  # a run without a row may print anything
    whole.rows = tuple(dict.fromkeys(row for run in runs for row in run.rows if have_rows))
    # The programs through which these runs' output is piped.
    pipes = (takewhile(lambda two: two[0].after in _PIPES, pairwise(parts[i:])) for i in hits)
    filters = {behind.words[0] for pipe in pipes for _, behind in pipe}
    is_changed = any(parts[i].files or "!" in parts[i].raw[:2] for i in hits)
    whole.is_shown = not is_changed and filters <= listed("passing")
    whole.is_sifted = not filters <= KEEPING | {"tail"}
    whole.is_end = all(i in hits or is_idle(parts[i]) for i in range(min(hits), len(parts)))
    whole.is_plain = all(run.is_plain for run in runs)
    whole.is_plain &= _is_plain(parts, set(hits), decides=whole.decides)
    others = [command for index, command in enumerate(parts) if index not in hits]
    are_quiet = all(c.words[0] in QUIET | filters and not c.files for c in others)
    is_kept = filters <= KEEPING and are_quiet and all(c.after != "&" for c in parts)
    whole.is_whole = whole.is_shown and whole.is_single and whole.is_plain and is_kept
    if all(run.within for run in runs if run.is_suite):
        whole.within = tuple(place for run in runs for place in run.within)
    steps = _steps(parts, hits)
    whole.steps = tuple((path.replace(TOP, root or TOP), moves) for path, moves in steps)
    return whole


def _meant(text: str, top: str) -> list[Command]:
    """The command of a configured line that runs the tests: the last that has an effect.

    Empty for a text without a command.
    """
    placed = _placed(text, top)
    busy = [command for command in placed if command.words[0] not in IDLE] or placed
    return busy[-1:]


def _run(command: Command, own: list[Command], rows: Rows, top: str) -> SuiteRun | None:
    """The run that a command is; None if it is not one.

    The folder that it runs in counts like the same folder as a word: `cd tests/unit && pytest` is a run
    of a part. The folder in which the project's own command runs is the project's choice for the suite.

    Args:
        command: the command.
        own: the project's own commands.
        rows: the table of runners.
        top: the worktree's top folder.
    """
    words = command.words
    known = _known(words, rows)
    first, *others = (word for word in command.raw if word not in command.sets)
    line = words if known is not None else (posixpath.basename(first), *others)
    known = known or _known(line, rows)
    alike = _alike(words, own)
    if alike:
        return _own_run(command, alike, known[1] if known is not None else UNKNOWN, top)
    if known is None:
        return None
    name, row, rest = known
    run = _checked(name, rest, (*command.kept, *command.sets), command, row)
    goal = name.rpartition(" ")[2]
    begun = {*_parted(line[: len(line) - len(rest)])} - {*name.split()}
    kinds = {word[5:] for word in begun if re.match("test[:-].", word)}
    is_part = row.anywhere and any(_PART_OF.sub("", word) == goal != word for word in line)
    is_part |= bool(row.needs) and not any(re.search(row.needs, word) for word in rest)
    is_part |= bool(row.before) and any(map(runner_table.is_kind, begun))
    if is_part or not kinds <= listed("scripts"):
        run.is_suite = False  # `:app:test` of gradle, `core/test` of sbt, `test:unit`, `unit:test`
    there = _joined(command.folder, runner_table.valued(command.raw, _FOLDERS))
    source = _joined(command.folder, runner_table.valued(words, row.sources))
    run.is_suite &= _is_whole(there, top) and _is_whole(source, top) and not _packages(command)
    named = _named(rest, row, there, top)
    run.within = ((posixpath.relpath(there, top), named, "."),) if named or there != top else ()
    return run


def _packages(command: Command) -> list[tuple[str, str]]:
    """The packages of a workspace to which npm restricts a command, as `npx -w web jest` does.

    `npm exec` takes its options also behind the command, up to `--`.
    """
    of_npm = (*dropwhile(lambda word: word not in ("npm", "npx"), command.before),)
    if of_npm[:1] == ("npm",) and "--" not in of_npm:
        of_npm += (*takewhile(lambda word: word != "--", command.words),)
    return runner_table.valued(of_npm, _OF_NPM)


def _named(words: Words, row: RunnerRow, folder: str, top: str) -> Words:
    """The words that may be names of files, relative to the folder that the run is in."""
    sources = (value for _, value in runner_table.valued(words, row.sources))
    return tuple(
        posixpath.relpath(word, folder) if f"{word}/".startswith(f"{top}/") else word
        for word in (*runner_table.plain_words(words, row), *sources)
    )


def _own_run(command: Command, alike: list[Command], row: RunnerRow, top: str) -> SuiteRun:
    """The run of a command that has the same words as some of the project's own commands.

    Args:
        command: the command.
        alike: the project's own commands that it may be.
        row: its row of the table, UNKNOWN if no row recognises it.
        top: the worktree's top folder.
    """
    begin, sets = alike[0].words, (*command.kept, *command.sets)
    rest = command.words[len(begin) :]
    there = _joined(command.folder, runner_table.valued((*command.before, *rest), _FOLDERS))
    here = [mine for mine in alike if mine.folder == there]
    meant = _set_alike(here or alike, sets)
    own_sets = meant[0].sets if meant else ()
    added = tuple(word for word in sets if word not in own_sets)
    run = _checked(" ".join(begin), rest, added, command, row)
    run.is_own = True
    run.is_suite &= bool(here) or _is_whole(there, top)
    run.is_suite &= _packages(command) == _packages(alike[0])
    named = _named(rest, row, there, top)  # in addition to the project's own words
    at, *own = (posixpath.relpath(at, top) for at in (there, *(mine.folder for mine in meant)))
    run.within = tuple((at, named, home) for home in own) if named else ()
    run.suites = tuple(mine.line for mine in meant)
    return run


def _alike(words: Words, own: list[Command]) -> list[Command]:
    """The project's own commands with which the words begin; `pytest` does not cover `pytest -m slow`."""
    begun = [mine for mine in own if words[: len(mine.words)] == mine.words]
    longest = max((len(mine.words) for mine in begun), default=0)
    return [mine for mine in begun if len(mine.words) == longest]


def _set_alike(alike: list[Command], sets: Words) -> list[Command]:
    """Of several commands with the same words, those whose variables are set here; none if none fit."""
    if len(alike) == 1:
        return alike
    fitting = [mine for mine in alike if {*mine.sets} <= {*sets}]
    most = max((len(mine.sets) for mine in fitting), default=0)
    return [mine for mine in fitting if len(mine.sets) == most]


def _known(words: Words, rows: Rows) -> tuple[str, RunnerRow, Words] | None:
    """The name of a command that a row recognises, the row, and the words after that name."""
    words = _parted(words)
    plain = [
        word
        for last, word in pairwise(("", *words))
        if (not word.startswith(("-", "+")) and last not in _BEFORE) or _names(words, word)
    ]
    if not plain:
        return None
    for row in rows:
        for name in row.commands:
            program, *goals = name.split()
            # As a program is called: the project's own may be written with a folder.
            head = _head(plain, [posixpath.basename(program), *goals], row)
            if head:
                rest = [*words]
                for word in head:
                    rest.remove(word)
                return name, row, tuple(rest)
    return None


def _names(words: Words, option: str) -> bool:
    """True for an option of this program that names what to run."""
    return f"{words[0]}|{option}" in _NAMING


def _parted(words: Words) -> Words:
    """The words, but with each value of such an option as a separate word: `--targets=lint,test`."""
    parts: list[str] = []
    for last, word in pairwise(("", *words)):
        name, _, value = word.partition("=")
        if value and _names(words, name):
            parts += [name, *value.split(",")]
        else:
            parts += word.split(",") if _names(words, last) else [word]
    return tuple(parts)


def _head(plain: list[str], begin: list[str], row: RunnerRow) -> list[str]:
    """The words that identify a command as the one with this beginning; none if it is another."""
    head = plain[: len(begin)]
    if head == begin and (not row.alone or all(re.match(r"\w+=|\d+$", w) for w in plain[1:])):
        return head
    kinds = f"test[:-](?!watch)|{row.before or '$'}test$"
    is_kind = begin[-1] == "test" and re.match(kinds, head[-1])
    if head[:-1] == begin[:-1] and is_kind:
        return head
    if row.anywhere and plain[:1] == begin[:1]:
        goal = next((word for word in plain[1:] if _PART_OF.sub("", word) == begin[-1]), "")
        return [*begin[:-1], goal] if goal and {*begin[:-1]} <= {*plain} else []
    return []


def _checked(name: str, rest: Words, sets: Words, command: Command, row: RunnerRow) -> SuiteRun:
    scope = runner_table.scope_of(name, rest, sets, row)
    decides = command.is_last and not runner_table.is_status_hidden(name, rest, sets, row)
    run = SuiteRun(name, is_suite=scope is RunScope.SUITE, decides=decides)
    run.is_nothing = scope is RunScope.NOTHING
    run.is_plain = runner_table.are_known(rest, row)
    run.rows, run.rest = () if row is UNKNOWN else (row,), rest
    return run


def _is_plain(parts: list[Command], runs: set[int], *, decides: bool) -> bool:
    """True if every part of the line is known; an unknown part may change the runs' result.

    If the runs' status is not the line's own, nothing may print another run's output either.
    """
    is_fed = False
    for index, command in enumerate(parts):
        name, *rest = command.words
        is_read = name not in (".", "source") or re.search(_OWN["file"], "".join(rest[:1]))
        is_known = index in runs or (is_beside(command) and is_read)
        are_plain = all(re.match(_OWN["path"], word) for word in (*command.kept, *command.sets))
        is_mixed = index not in runs and not decides and tells(command, is_fed=is_fed)
        if not (command.is_clear and is_known and are_plain) or is_mixed:
            return False
        is_fed = command.after in _PIPES
    return True


def _steps(parts: list[Command], hits: dict[int, SuiteRun]) -> Iterator[tuple[str, bool]]:
    """Where the line goes up to its last run, and the places in its runs' arguments."""
    for index, command in enumerate(parts[: max(hits) + 1]):
        target = _target(command.words)
        if target is not None:
            yield target, True
        elif index in hits:
            yield from ((path, False) for path in _places(command, hits[index].rest))


def _placed(line: str, top: str, folder: str = "") -> list[Command]:
    """The commands of a line, each with the folder that it runs in; an inner shell changes only its own."""
    stack, placed = [(tuple[int, ...](), posixpath.normpath(folder or top))], commands(line)
    for command in placed:
        target = _target(command.words)
        while command.shells[: len(stack[-1][0])] != stack[-1][0]:
            stack.pop()
        if target is not None:
            stack.append((command.shells, _gone(stack[-1][1], target, top)))
        command.line, command.folder = line, stack[-1][1]
    return placed


def _gone(here: str, target: str, top: str) -> str:
    """The folder to which a `cd` leads: the top folder if that is unknown.

    A client's shell stays where a line left it, and a client may report that folder: in `web`, a line with
    `cd web` has been there already.
    """
    if target[:1] in ("", "~"):
        return top
    target = target.replace(TOP, top)
    is_there = here.startswith(f"{top}/") and here.endswith(f"/{posixpath.normpath(target)}")
    return here if is_there else posixpath.normpath(posixpath.join(here, target))


def _joined(folder: str, options: Iterable[tuple[str, str]]) -> str:
    """The folder to which these options lead from another; for a file, the folder that contains it."""
    for _, value in options:
        is_file = re.search(r"[^./][^/]*\.\w+$|[a-z]file$", value)
        folder = posixpath.join(folder, posixpath.dirname(value) if is_file else value)
    return posixpath.normpath(folder)


def _is_whole(folder: str, top: str) -> bool:
    """True unless a folder is below the top folder and must be a part of the project or its tests."""
    if not folder.startswith(f"{top}/"):
        return True  # the top folder, or another project's: handled elsewhere
    below = folder[len(top) + 1 :]
    is_kind = re.search(runner_table.pattern("kind"), posixpath.basename(below))
    return is_kind is None and re.search(runner_table.pattern("folder"), below) is not None


def _target(words: Words) -> str | None:
    """The folder of a `cd`; "" if the line alone does not show it, None for another command."""
    if words[0] not in ("cd", "pushd", "popd"):
        return None
    names = [word for word in words[1:] if word not in ("-P", "-L", "--", "-e", "-@")]
    if words[0] == "popd" or len(names) != 1 or names == ["-"]:
        return ""
    return "" if re.search(r"[$`*?]", names[0].removeprefix(TOP)) else names[0]


def _places(command: Command, rest: Words) -> list[str]:
    """Paths in a run's words that may name its folder, or the folder of its tests."""
    words = (*command.raw[: len(command.raw) - len(rest)], *rest)
    paths = [value for _, value in runner_table.valued(words, _PLACES)]
    paths += [word[2:] for word in words if word.startswith("-C")]
    beside = (word for last, word in pairwise(("", *rest)) if last not in _OUTPUTS | _PLACES)
    paths += [word for word in beside if not word.startswith("-")]
    # With two slashes it is a bazel target: `//...`.
    return [path for path in paths if re.match(r"/(?!/)|[~$]", path) or ".." in path.split("/")]


def leads_away(run: SuiteRun, root: str) -> bool:
    """True unless all runs of a line are known to concern the worktree below `root`; "": unknown."""
    top = here = root or _NOWHERE
    for step, moves in run.steps:
        path = step.replace(TOP, top)
        there = posixpath.normpath(posixpath.join(here, path))
        is_elsewhere = not f"{there}/".startswith(f"{top}/")
        if not root and (path.startswith("/") or not here.startswith(top)):
            is_elsewhere = not moves or there.startswith(tuple(listed("elsewhere")))
        if is_elsewhere or path[:1] in ("", "$", "~"):
            return True
        here = there if moves else here
    return False
