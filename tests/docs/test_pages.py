"""The pages hang together: links lead somewhere, and what they say of code is so."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from lifecycle import api
from lifecycle.app import news_packets
from lifecycle.core.plan import REPLIES, Audience
from lifecycle.core.values import configured
from lifecycle.hooks import wake
from lifecycle.setup.init.supplies import SHIM_FILES, WORKFLOW_FILES
from tests.docs.pages import ROOT, Page, codes_in, every_page

ARCHITECTURE = Page(ROOT / "docs/architecture.md")
CONTRIBUTING = Page(ROOT / "CONTRIBUTING.md")
HOOKS = Page(ROOT / "docs/hooks.md")
API = Page(ROOT / "docs/api.md")
CHANGES = Page(ROOT / "docs/changes.md")
GLOSSARY = Page(ROOT / "docs/glossary.md")
ROOMS = sorted(
    path.name for path in (ROOT / "lifecycle").iterdir() if (path / "__init__.py").exists()
)


OF_THE_PROJECT = r"(?:lifecycle|tests|docs|hooks|graphql|requirements)/[\w./-]*"
OF_A_ROOM = rf"(?:{'|'.join(ROOMS)})/[\w./-]*"
MODULE = r"[\w./]+\.py"
CLASS = r"([A-Z][a-z]\w+)(?:\.\w+)?(?:\(.*\))?"
TARGET = re.compile(r"(?m)(?:`|^)make (?:[A-Z]+=\S+ )?([a-z]+)")


def named(path: Path, pattern: str) -> list[str]:
    """What a page has in code quotes and in this form."""
    return [code for code in codes_in(Page(path).text) if re.fullmatch(pattern, code)]


def may_have(pattern: str) -> Callable[[Path], bool]:
    """Whether a page has something in quotes of this form; unlike `named`, it does not take it apart."""
    quoted = re.compile(rf"`(?:{pattern})`")
    return lambda path: bool(quoted.search(path.read_text(encoding="utf-8")))


def each_page(tells: Callable[[Path], object]) -> pytest.MarkDecorator:
    """Once for each page that has something to hold; every worker asks that when it collects."""
    pages = [path for path in every_page() if tells(path)]
    return pytest.mark.parametrize("path", pages, ids=lambda path: path.name)


@each_page(lambda path: "](" in Page(path).text)
def test_every_link_leads_somewhere(path: Path) -> None:
    """A link to a file finds the file, and one to a heading finds the heading."""
    for link in Page(path).links:
        parts = urlsplit(link)
        if parts.scheme:
            assert parts.scheme == "https", link
            continue
        target = (path.parent / parts.path).resolve() if parts.path else path
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        if parts.fragment:
            assert parts.fragment in Page(target).anchors, link


def test_every_page_can_be_reached_from_the_readme() -> None:
    """Nobody has to know that a page exists: the README links to each."""
    linked = {(ROOT / link.partition("#")[0]).resolve() for link in Page(ROOT / "README.md").links}
    assert set(every_page()) - {ROOT / "README.md"} <= linked


@each_page(lambda path: TARGET.findall(Page(path).text))
def test_every_make_target_is_one(path: Path) -> None:
    """`make X` on a page is a target of the Makefile."""
    targets = re.findall(r"(?m)^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert set(TARGET.findall(Page(path).text)) <= set(targets)


@each_page(may_have(f"{OF_THE_PROJECT}|{OF_A_ROOM}"))
def test_every_file_of_the_project_that_a_page_names_exists(path: Path) -> None:
    """A path in code quotes that begins like one of ours leads to a file or folder, or `init` writes it."""
    for code in named(path, f"{OF_THE_PROJECT}|{OF_A_ROOM}"):
        tops = ("", "lifecycle") if re.fullmatch(OF_THE_PROJECT, code) else ("lifecycle",)
        is_there = any((ROOT / top / code).exists() for top in tops)
        assert is_there or code in WORKFLOW_FILES, code


@each_page(may_have(MODULE))
def test_every_module_that_a_page_names_exists(path: Path) -> None:
    """A file of Python's in code quotes is one of the project's, or an example or `init` writes it."""
    files = [found for top in ("lifecycle", "tests") for found in (ROOT / top).rglob("*.py")]
    there = {f"/{found.relative_to(ROOT).as_posix()}" for found in files}
    there |= {f"/{name}" for name in (*SHIM_FILES, *WORKFLOW_FILES)}
    for code in named(path, MODULE):
        assert any(name.endswith(f"/{code}") for name in there), code


def test_the_changes_say_nothing_twice() -> None:
    """A merge that keeps the lines of both sides leaves one over, or a sentence without its begin."""
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    assert [line for line, times in Counter(lines).items() if times > 1 and len(line) > 40] == []


PAST = ("CHANGELOG.md", "api.md")
"""The pages that name what was called otherwise before; the others tell of today alone."""


@cache
def words_of_the_code() -> set[str]:
    """All words in the code that are written as classes are."""
    words: set[str] = set()
    for folder in ("lifecycle", "tests"):
        for source in (ROOT / folder).rglob("*.py"):
            words |= set(re.findall(r"\b[A-Z][a-z]\w+", source.read_text(encoding="utf-8")))
    return words


@each_page(lambda path: path.name not in PAST and may_have(CLASS)(path))
def test_every_class_that_a_page_names_is_one(path: Path) -> None:
    """A name in code quotes that is written as classes are stands in the code: no old name is left."""
    for code in named(path, CLASS):
        assert re.split(r"\W", code)[0] in words_of_the_code(), code


def test_every_file_that_a_change_touches_exists() -> None:
    """Whoever follows a row of docs/changes.md finds each file of it, and the tests that hold it."""
    for table in CHANGES.tables:
        assert table.rows, table.header
        for row in table.rows:
            files = [code for cell in row[1:] for code in codes_in(cell) if "/" in code]
            assert files, row[0]
            for code in files:
                assert (ROOT / code).exists(), code


def test_the_likely_changes_are_all_there() -> None:
    """The first table has a row for each of them, and says what holds it."""
    rows = CHANGES.tables[0].rows
    subjects = [
        "event of the client", "tracker", "platform", "check of", "message", "phase", "setting",
        "command", "operation of the public API", "finding of reconcile", "stage", "failure of GitHub's",
    ]  # fmt: skip
    assert len(rows) == len(subjects)
    for row, subject in zip(rows, subjects, strict=True):
        assert subject in row[0]
        assert any(code.startswith(("tests/", "lifecycle/")) for code in codes_in(row[2]))


def test_the_glossary_has_one_word_for_one_thing() -> None:
    """Its words are in order, each once; a word that is not used for one and is another says of which."""
    rows = GLOSSARY.tables[0].rows
    words = [row[0] for row in rows]
    assert words == sorted(set(words), key=str.casefold)
    assert 35 <= len(words) <= 60
    assert all(row[1] for row in rows)
    without = {word.strip() for row in rows for word in re.sub(r"\(.*?\)", "()", row[2]).split(",")}
    assert not without & set(words)


def test_the_architecture_can_be_read_in_one_go() -> None:
    """What does not fit is where its subject is."""
    assert len(ARCHITECTURE.text.splitlines()) <= 200


def test_the_reply_table_is_the_one_in_code() -> None:
    """The page's table of events and audiences is REPLIES, neither more nor less."""
    shown = {
        codes_in(row[0])[0]: (codes_in(row[1])[0], set(codes_in(row[2])))
        for row in HOOKS.table("What each may say").rows
    }
    wanted = {
        name: (channel.event, {audience.value for audience in channel.places})
        for name, channel in REPLIES.items()
    }
    assert shown == wanted


CONSENT_RULE = (
    "When the agent writes `done`, it counts as the yes only if a person wrote a prompt after the merge "
    "(and after the question, if one was asked), or if there is no session, as on a terminal. It never "
    "counts at a stop of another client. Otherwise you are asked. Without the `user-prompt-submit` "
    "hook, only `lifecycle close` is the yes."
)


@pytest.mark.parametrize(
    "path", [ROOT / "README.md", ROOT / "docs/hooks.md"], ids=lambda path: path.name
)
def test_what_counts_as_the_yes_is_said_in_the_same_words(path: Path) -> None:
    """Both pages that tell of closing have the rule's one sentence."""
    assert CONSENT_RULE in " ".join(path.read_text(encoding="utf-8").split())


def test_every_audience_is_explained() -> None:
    """The page's second table explains each audience of the code once."""
    (table,) = [table for table in HOOKS.tables if table.header[0] == "audience"]
    assert sorted(table.codes()) == sorted(audience.value for audience in Audience)


def test_the_deadlines_are_those_in_code() -> None:
    """Each entrypoint's wall clock on the page is the constant that ends it."""
    rows = HOOKS.table("Deadlines").rows
    shown = {name: row[1] for row in rows for name in codes_in(row[0])}
    wanted = dict.fromkeys(REPLIES, f"{configured.HOOK_SECONDS:g} s")
    wanted |= {name: f"{seconds:g} s" for name, seconds in wake.SECONDS.items()}
    assert shown == wanted | dict.fromkeys(
        wake.UNLIMITED,
        f"none; each look 8 s, and the logs of failed checks {news_packets.FETCH_SECONDS:g} s",
    )


def test_every_dependency_is_explained() -> None:
    """Each runtime dependency, extras included, has a row: what for, under which licence, and where."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    listed = [*project["dependencies"], *(name for extra in extras for name in extra)]
    wanted = {re.split(r"[\[<>=]", name)[0].casefold() for name in listed}
    rows = CONTRIBUTING.table("Dependencies").rows
    assert {row[0].split()[0].casefold() for row in rows} == wanted
    for row in rows:
        places = codes_in(row[3])
        assert places, row[0]
        for place in places:
            assert (ROOT / "lifecycle" / place).exists(), place


def test_every_module_is_in_the_tree() -> None:
    """The list on the architecture page names every module and room at the top of lifecycle/."""
    (tree,) = [block.code for block in ARCHITECTURE.blocks if block.code.startswith("lifecycle/\n")]
    named = set(re.findall(r"(?m)^ *([\w.-]+(?:\.py|/))", tree))
    top = (ROOT / "lifecycle").iterdir()
    there = {f"{p.name}/" if p.is_dir() else p.name for p in top if p.suffix == ".py" or p.is_dir()}
    assert {name for name in there if not name.startswith("_")} <= named
    for name in named:
        assert any((ROOT / folder / name).exists() for folder in ("", "lifecycle", "tests")), name


def test_the_api_page_lists_every_public_name() -> None:
    """The names on the page are those that lifecycle.api exports."""
    tables = [API.table("Names"), API.table("Errors")]
    shown = {row for table in tables for row in table.codes()}
    assert shown == set(api.__all__)


def test_the_worktree_row_lists_every_verb() -> None:
    """The page names each public method and property of Worktree."""
    (row,) = [row for row in API.table("Names").rows if row[0] == "`Worktree`"]
    public = {name for name in vars(api.Worktree) if not name.startswith("_")}
    assert set(codes_in(row[1])) == public


def test_the_github_row_lists_every_group() -> None:
    """The page names each public method and property of GitHub."""
    (row,) = [row for row in API.table("Names").rows if row[0] == "`GitHub`"]
    assert set(codes_in(row[1])) == {name for name in vars(api.GitHub) if name[0] != "_"}


def test_the_operations_are_all_on_the_page() -> None:
    """The table of operations names each public method of each group, in the order of the code."""
    hub = api.GitHub("octo-org/hello-service", token="none", environment={})
    groups: dict[str, object] = {"board": hub.board(1)}
    names = [name for name in vars(api.GitHub) if name[0] != "_"]
    groups |= {name: getattr(hub, name) for name in names if name not in ("board", "disconnect")}
    wanted = {
        group: [name for name in vars(type(found)) if name[0] != "_"]
        for group, found in groups.items()
    }
    rows = API.table("All of them").rows
    assert {codes_in(row[0])[0].partition("(")[0]: codes_in(row[1]) for row in rows} == wanted
    told = {
        f"{group}.{name}": getattr(groups[group], name).__doc__ or ""
        for group, listed in wanted.items()
        for name in listed
        if name.startswith("ensure_")
    }
    # What `help` shows of each, as the page says: its requests, errors and sources.
    assert [
        name for name, text in told.items() if not re.search("(?s)Requests.*Source.*Raises", text)
    ] == []


def test_the_examples_print_what_the_page_says(tmp_path: Path) -> None:
    """The blocks under a heading are one program: it runs without a warning and prints what they say."""
    blocks, paths = [], []
    for number, heading in enumerate(["Example", "Operations that may be repeated"]):
        under = API.blocks_under(heading)
        programs = [block.code for block in under if block.language == "python"]
        assert programs, heading
        paths.append(tmp_path / f"example_{number}.py")
        paths[-1].write_text("".join(programs), encoding="utf-8")
        blocks += under
    each = "import runpy, sys; [runpy.run_path(path, run_name='__main__') for path in sys.argv[1:]]"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", each, *paths],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "".join(block.code for block in blocks if block.language == "text")
