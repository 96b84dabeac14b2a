"""The page at `/`, in a real browser: what a person sees of a sandbox while others use it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import requests
from msgspec.structs import replace
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select, WebDriverWait

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.control.page import view
from lifecycle.sandbox.seed import SeedIssue, SeedRepository, default_seed
from lifecycle.sandbox.server import Sandbox
from tests.sandbox.control.browser import browser

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from selenium.webdriver import Chrome

    Api = Callable[..., requests.Response]

EVIL = '<img src=x onerror="document.title=1"> & "quotes"'


def text(page: Chrome, css: str) -> str:
    """What a person reads in the first such part of the page."""
    return page.find_element(By.CSS_SELECTOR, css).text


def sees(page: Chrome, css: str, words: str) -> None:
    """Wait until a part of the page says so."""
    # While the page renews itself an element may be gone: then it is looked for again.
    WebDriverWait(page, 20).until(
        lambda _: words in page.execute_script(
            "return document.querySelector(arguments[0])?.innerText ?? ''", css
        )
    )  # fmt: skip


def test_a_person_watches_a_sandbox(tmp_path: Path) -> None:
    """Board, issues, pull requests, checks, requests and faults, each as soon as it happens.

    Once the sandbox went, the page says that what it shows is old.
    """
    seed = default_seed()
    other = SeedRepository("octo-org/other", issues=[SeedIssue(1, EVIL)])
    both = replace(seed, repositories=[*seed.repositories, other])
    with browser(tmp_path / "profile") as page:
        with Sandbox(both) as sandbox:
            control = Control(sandbox.info.control_url)
            page.get(sandbox.info.api_url)
            assert page.title == "octo-org/hello-service · sandbox"
            sees(page, "#state", "live")
            sees(page, "[data-column='Todo']", "Fix race condition in task queue")
            assert "None yet." in text(page, "[aria-labelledby=pulls]")
            control.set_field(42, "Status", "In Review")
            control.set_field(42, "Agent", "agent-7")
            sees(page, "[data-column='In Review']", "agent-7")
            control.push_commit("work", {"a.txt": "a"}, "Work")
            number = control.open_pull("work", EVIL)
            control.set_check(number, "unit tests", conclusion="failure")
            sees(page, "[aria-labelledby=pulls]", "unit tests: failure")
            assert EVIL in text(page, "[aria-labelledby=pulls]")
            requests.get(f"{sandbox.info.api_url}/repos/x/y", timeout=5)
            sees(page, ".log", "GET /repos/x/y")
            assert "1 failed" in text(page, "[aria-labelledby=requests]")
            control.add_fault("bad-gateway", path="/merge$", count=3, probability=0.5)
            sees(
                page, "[aria-labelledby=requests]", "status 502, before it is done, 50% of the time"
            )
            Select(page.find_element(By.ID, "repository")).select_by_visible_text("octo-org/other")
            sees(page, "h1", "octo-org/other")
            sees(page, "[aria-labelledby=issues]", EVIL)
            assert page.title == "octo-org/other · sandbox"
            assert page.execute("getLog", {"type": "browser"})["value"] == []
        sees(page, "#state", "not reachable")
        assert EVIL in text(page, "#live")


def test_the_page_costs_nothing_while_nothing_changes(api: Api, sandbox: Sandbox) -> None:
    """It asks with what it has and gets 304; it is in no log and on no budget, and shows no token."""
    first = api("GET", "/_sandbox/page")
    again = api("GET", "/_sandbox/page", headers={"If-None-Match": first.headers["ETag"]})
    assert (first.status_code, again.status_code) == (200, 304)
    assert sandbox.site is not None
    assert sandbox.site.log.total == 0
    assert sandbox.info.token not in first.text
    assert "script-src 'self'" in first.headers["Content-Security-Policy"]


def test_programs_get_the_api(api: Api) -> None:
    """Who does not ask for HTML at `/` gets GitHub's list of addresses."""
    assert api("GET", "/").json()["issues_url"].endswith("/issues")
    assert "<!doctype html>" in api("GET", "/", headers={"Accept": "text/html"}).text


@pytest.mark.parametrize("count", [3, 130])
def test_a_page_is_for_eyes(count: int) -> None:
    """Of a long list it holds the newest, and says how many there are."""
    issues = [SeedIssue(number, f"Task {number}") for number in range(1, count + 1)]
    seed = replace(default_seed().with_home(issues=issues), projects=[])
    with Sandbox(seed) as sandbox:
        assert sandbox.site is not None
        shown = view.view(sandbox.site, None)
        html = requests.get(f"{sandbox.info.api_url}/_sandbox/page", timeout=5).text
    assert shown["issue_count"] == count
    assert [row["number"] for row in shown["issues"]] == list(
        range(count, max(0, count - view.MOST), -1)
    )
    assert (f"The newest {view.MOST} of {count}." in html) == (count > view.MOST)


@pytest.mark.soak("sandbox/control/test_page.py::test_a_person_watches_a_sandbox")
def test_a_narrow_page_breaks_no_words(tmp_path: Path) -> None:
    """On a phone (390 px) nothing but tables scrolls sideways, titles have room, the log has a frame."""
    with Sandbox() as sandbox, browser(tmp_path / "profile") as page:
        for number in range(60):
            requests.get(f"{sandbox.info.api_url}/repos/x/y{number}", timeout=5)
        people = Control(sandbox.info.control_url)
        people.push_commit("long", {"a.txt": "a"}, "A")
        people.open_pull("long", "l" * 200)
        page.get(sandbox.info.api_url)
        sees(page, "#live", "l" * 200)
        widths = "return [...document.querySelectorAll('td.wide')].map(one => one.clientWidth)"
        assert max(page.execute_script(widths)) < 700, (
            "a title without spaces takes the others' room"
        )
        page.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True},
        )
        page.get(sandbox.info.api_url)
        sees(page, ".log", "GET /repos/x/y59")
        assert page.execute_script("return document.documentElement.scrollWidth") <= 390
        # A cell that is narrower than its longest word has had to break it.
        broken = page.execute_script(
            "return [...document.querySelectorAll('td.wide, .card p')].filter("
            "one => one.scrollWidth > one.clientWidth + 1 || one.clientWidth < 120).length"
        )
        assert broken == 0
        log = page.execute_script(
            "const one = document.querySelector('.log'); return [one.clientHeight, one.scrollHeight]"
        )
        assert log[0] < log[1]
        assert log[0] <= 600
        page.save_screenshot(str(tmp_path / "narrow.png"))
