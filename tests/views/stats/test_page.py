"""The page that `lifecycle stats --html` writes, in a real browser that has no network."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.support.ui import WebDriverWait

from lifecycle.cli.main import run
from lifecycle.storage import journal
from lifecycle.views.stats import stats_page
from lifecycle.views.stats.stats_page import charts
from lifecycle.views.stats.summary import Flake, Summary
from tests.sandbox.control.browser import browser
from tests.views.stats.journals import CLAIMED, WHOLE, moved
from tests.views.stats.test_summary import HARD

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selenium.webdriver import Chrome

EVIL = '</script><img src=x onerror="document.title=\'evil\'"> & {{ 7 * 7 }} "quotes" <b>bold</b>'


def numbers(**changes: Any) -> Summary:
    """A summary with stages, phases, labels and agents, all of whose names a stranger chose."""
    evil = moved(0, "", "CODING", EVIL, actor=EVIL, detail={"labels": [EVIL], "title": EVIL})
    entries = (*WHOLE, *CLAIMED, *HARD, evil, moved(9, "CODING", "TESTING", EVIL, actor=EVIL))
    summary = Summary(entries)
    for name, value in changes.items():
        setattr(summary, name, value)
    return summary


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Chrome, Path]]:
    """A browser without network that shows the page."""
    folder = tmp_path_factory.mktemp("page")
    html = stats_page.render(numbers(), "all tasks")
    (folder / "stats.html").write_text(html, encoding="utf-8")
    with browser(folder / "profile") as running:
        running.execute_cdp_cmd("Network.enable", {})
        running.execute_cdp_cmd(
            "Network.emulateNetworkConditions",
            {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0},
        )
        yield running, folder


def opened(running: Chrome, folder: Path, width: int, *, is_dark: bool = False) -> None:
    """Show the page on a screen so wide, and wait until every chart is drawn."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    running.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
    running.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    running.get((folder / "stats.html").as_uri())
    wanted = len(charts(numbers()))
    script = "return document.querySelectorAll('.plotly-graph-div .barlayer .point').length > 0 && "
    script += "document.querySelectorAll('.plotly-graph-div .barlayer').length"
    wait = WebDriverWait(running, 30, poll_frequency=0.05)
    wait.until(lambda _: running.execute_script(script) == wanted)


@pytest.mark.once("a phone is the same page")
@pytest.mark.parametrize("width", [1280, 390])
def test_charts_are_drawn_without_network(shown: tuple[Chrome, Path], width: int) -> None:
    """On a desk and on a phone: bars within the screen, no error, nothing fetched, no sideways scroll."""
    running, folder = shown
    opened(running, folder, width)
    bars = running.execute_script(
        "return [...document.querySelectorAll('.barlayer .point path')].map(e => {"
        " const b = e.getBoundingClientRect(); return [b.left, b.right, b.height]; })"
    )
    assert len(bars) > 20
    assert all(0 <= left <= right <= width for left, right, _ in bars)
    assert all(height > 3 for _, _, height in bars)
    fetched = "return performance.getEntriesByType('resource').length"
    assert running.execute_script(fetched) == 0
    assert running.execute("getLog", {"type": "browser"})["value"] == []
    assert running.execute_script("return document.documentElement.scrollWidth") <= width
    labels = running.execute_script(
        "return [...document.querySelectorAll('.chart')].map(e => e.getAttribute('aria-label'))"
    )
    drawn = charts(numbers())
    assert labels == [f"{chart.title}. {'; '.join(chart.sentences)}." for chart in drawn]
    (folder / f"{width}.png").write_bytes(running.get_screenshot_as_png())


def test_a_bar_tells_what_it_stands_for(shown: tuple[Chrome, Path]) -> None:
    """Under the pointer it has its row, its time and all words of its name."""
    running, folder = shown
    opened(running, folder, 1280)
    bar = running.find_element("css selector", "#stage-times .barlayer .point path")
    ActionChains(running).move_to_element(bar).perform()
    hover = "return document.querySelector('#stage-times .hoverlayer').textContent"
    told = WebDriverWait(running, 30).until(lambda _: running.execute_script(hover))
    first = charts(numbers())[0].bars[0]
    for words in (first["y"][0], first["text"][0], first["name"]):
        assert words in told


def test_what_strangers_wrote_is_text(shown: tuple[Chrome, Path]) -> None:
    """A task's title, a label and an agent's name are shown as they were written, and do nothing."""
    running, folder = shown
    opened(running, folder, 1280)
    assert running.title == "lifecycle stats: all tasks"
    text = running.execute_script("return document.body.innerText")
    assert text.count(EVIL) == 4
    assert running.execute_script("return document.images.length") == 0


@pytest.mark.soak("views/stats/test_page.py::test_charts_are_drawn_without_network")
def test_it_follows_the_dark_of_the_screen(shown: tuple[Chrome, Path]) -> None:
    """In the dark the page is dark and the charts' words are light, also if it grows dark meanwhile."""
    running, folder = shown
    script = (
        "return [getComputedStyle(document.body).backgroundColor,"
        " getComputedStyle(document.querySelector('.xtick text')).fill]"
    )
    opened(running, folder, 1280)
    light = running.execute_script(script)
    scheme = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    running.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme)
    WebDriverWait(running, 30).until(lambda _: running.execute_script(script)[1] != light[1])
    meanwhile = running.execute_script(script)
    opened(running, folder, 1280, is_dark=True)
    assert running.execute_script(script) == meanwhile
    assert light[0] == "rgb(245, 246, 248)"
    assert meanwhile[0] == "rgb(16, 19, 23)"
    assert meanwhile[1] == "rgb(228, 232, 238)"


def test_the_page_may_load_nothing() -> None:
    """Its own policy forbids every address, whatever comes into it."""
    assert "default-src 'none'" in stats_page.render(numbers(), "all tasks")


def test_without_numbers_there_are_no_charts() -> None:
    """A summary of nothing is a page all the same."""
    html = stats_page.render(Summary(()), "all tasks")
    assert 'class="chart"' not in html
    assert "0 entries of the journal" in html


def test_the_most_time_is_that_of_a_stage_or_if_there_is_none_of_a_phase() -> None:
    """What held the work up may be a phase of the claim, which took longer than every stage."""
    assert "<dt>stage with most time</dt>" in stats_page.render(Summary((*WHOLE, *CLAIMED)), "x")
    assert "<dt>phase with most time</dt>" in stats_page.render(Summary(CLAIMED), "x")


def test_the_newest_tasks_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of very many tasks the page names the newest, and says of how many; as of labels and agents."""
    tasks = {f"#{number}": f"Task number {number}" for number in range(500)}
    html = stats_page.render(numbers(tasks=tasks), "all tasks")
    assert "The newest 200 of 500." in html
    assert "Task number 499" in html
    assert "Task number 299" not in html
    assert '<p class="dim">The first' not in html
    monkeypatch.setattr(stats_page, "MOST", 1)
    shorter = numbers()
    html = stats_page.render(shorter, "all tasks")
    for groups in (shorter.labels, shorter.agents):
        assert f"The first 1 of {len(groups)}." in html


def test_flakes_are_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a terminal: check, what failed, how often, when last; none without any, and text is text."""
    flakes = (Flake("unit", "test <b>a</b>", 3, 1_738_000_000.0), Flake("lint", "", 1, 0.0))
    text = stats_page.render(numbers(flakes=flakes), "x")
    assert (
        '<td class="text">unit</td><td class="text">test &lt;b&gt;a&lt;/b&gt;</td><td>3</td>'
        in text
    )
    assert "<td>2025-01-27 17:46</td>" in text
    assert '<td class="text">lint</td><td class="text">-</td><td>1</td>' in text
    assert "Flakes" not in stats_page.render(numbers(flakes=()), "x")
    monkeypatch.setattr(stats_page, "MOST", 1)
    shorter = stats_page.render(numbers(flakes=flakes), "x")
    assert "The most frequent 1 of 2." in shorter
    assert ">lint<" not in shorter


def test_without_the_library_a_sentence_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where plotly is not installed nothing is written, and the way to install it is said."""
    root, page = tmp_path / "work", tmp_path / "page.html"
    subprocess.run(["git", "init", "--quiet", root], check=True)
    journal.note(root, *WHOLE)
    monkeypatch.chdir(root)
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    assert run(["stats", "--html", str(page)]) == 1
    sentence = r"so no page was written; install it beside the command with: .* plotly "
    assert re.search(sentence, capsys.readouterr().err)
    assert not page.exists()
