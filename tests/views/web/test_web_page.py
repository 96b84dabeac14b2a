"""The page of all worktrees in a real browser: what a person sees who leaves it open."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.support.ui import WebDriverWait

from lifecycle.core.messages.figures import span
from lifecycle.core.plan import Audience, Notice
from lifecycle.run.state import UserFix
from lifecycle.run.table import RunStatus
from lifecycle.storage.store import CLAIM_FILE
from lifecycle.views.web.all_worktrees import LISTED
from lifecycle.views.web.web_server import WatchServer
from tests.sandbox.control.browser import browser
from tests.views.overview.overview_ground import NOTE, OverviewGround
from tests.views.web.web_ground import WebGround

WIDTHS = (390, 768, 1280, 1600)
SCHEMES = ("light", "dark")
LONG = "Make the importer of " + "very" * 30 + " long words, " + "and of sentences that go on, " * 5
EVIL = "<img src=x onerror=\"document.title='evil'\"><script>document.title='evil'</script>"

CONTRAST = """
const parse = (text) => text.match(/[\\d.]+/g).map(Number);
const line = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const light = ([r, g, b]) => [r, g, b].map(line)
  .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
const behind = (node) => {
  for (; node; node = node.parentElement) {
    const color = parse(getComputedStyle(node).backgroundColor);
    if (color.length === 3 || color[3] > 0) return color;
  }
  return [255, 255, 255];
};
const found = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const node = walk.currentNode.parentElement, text = walk.currentNode.textContent.trim();
  if (!text || !node.getClientRects().length || node.closest("script, .unseen")) continue;
  const [a, b] = [light(parse(getComputedStyle(node).color)), light(behind(node))];
  found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), text]);
}
return found;
"""
"""The contrast of each visible text with what is behind it, as WCAG 2 counts it."""

OUTSIDE = """
const width = document.documentElement.clientWidth;
return [...document.querySelectorAll("body *")].filter((one) => {
  const box = one.getBoundingClientRect();
  return box.width > 1 && (box.right > width + 1 || box.left < -1) && !one.closest(".unseen");
}).map((one) => one.outerHTML.slice(0, 80));
"""
"""What reaches beyond the sides of the screen."""

HURRIED = """
const own = setTimeout, meant = new Set();
window.spans = () => [...meant];
window.setTimeout = (then, ms) => own(then, meant.add(ms) && ms / 10);
"""
"""The page asks and tells as it does, in a tenth of the time; `spans` are those that it meant."""


@dataclass
class ShownPage:
    """A browser that shows the page of a server."""

    page: Chrome
    server: WatchServer

    def open(self, width: int = 1280, scheme: str = "light") -> None:
        """Show it on a screen of this width, by day or by night."""
        height = 844 if width < 500 else 900
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        self.page.get(self.server.address)
        self.sees("#state", "live")

    def run(self, script: str) -> Any:
        """What a script in the page returns."""
        return self.page.execute_script(script)

    def text(self, css: str) -> str:
        """What a person reads there; "" if there is no such part."""
        return str(self.run(f"return document.querySelector({css!r})?.innerText ?? ''"))

    def sees(self, css: str, words: str) -> None:
        """Wait until a part of the page says so."""
        wait(self.page).until(lambda _: words in self.text(css))


def wait(page: Chrome) -> WebDriverWait[Chrome]:
    """Wait for what a page shows, and look often."""
    return WebDriverWait(page, 30, poll_frequency=0.05)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """One browser for all of this file."""
    with browser(tmp_path_factory.mktemp("browser") / "profile") as page:
        hurried = {"source": HURRIED}
        page.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", hurried)
        yield page


@contextmanager
def shown(running: Chrome, user: WebGround) -> Iterator[ShownPage]:
    """The page of this user; whatever it showed before, the browser complains of nothing."""
    with user.served() as server:
        running.execute("getLog", {"type": "browser"})
        yield ShownPage(running, server)
        complaints = running.execute("getLog", {"type": "browser"})["value"]
        running.get("about:blank")
    assert [one["message"] for one in complaints] == []


def full(user: WebGround) -> OverviewGround:
    """Four clones and seven worktrees: each part of an overview, four that wait, one that is broken."""
    now = user.clock.now()
    whole = user.clone("hello-service")
    whole.everything()
    user.linked(whole, "hello-service-43").claim(phase="coding", issue_number=43)
    fix = UserFix("B1", "Create an account at the card processor", now - 5 * 3600)
    user.clone("payments").run(status=RunStatus.AWAITING_USER, fix=fix)
    docs = user.clone("docs")
    merged = {"pull.url": "https://github.com/o/r/pull/107", "judged": "merged_detected"}
    docs.claim({"merged:107": now - 90_000}, memory=merged, phase="merged_detected", pr_number=107)
    broken = user.linked(docs, "docs-99")
    act = Notice("x", "Fix, commit and push.", Audience.ACT)
    broken.claim(queue=(NOTE, act), phase="coding", issue_number=99, branch="b" * 90)
    (broken.root / ".claude").mkdir()
    (broken.root / ".claude/workflow-state.json").write_text("{")
    user.linked(docs, "docs-idle")
    failing = user.clone("infra")
    failing.in_review(failed=["lint", "unit tests"])
    titled(failing, LONG)
    return whole


def titled(ground: OverviewGround, title: str) -> None:
    """Give the claim this title, as it was last seen on GitHub."""
    path = ground.root / ".lifecycle/state.json"
    path.write_text(path.read_text().replace("Fix the race", json.dumps(title)[1:-1]))
    os.utime(path, ns=(2, 2))


def test_at_every_width_by_day_and_by_night(
    running: Chrome, user: WebGround, tmp_path: Path
) -> None:
    """Nothing scrolls sideways or is cut off, what waits is seen at once, and every text can be read."""
    full(user)
    with shown(running, user) as page:
        for width in WIDTHS:
            for scheme in SCHEMES:
                page.open(width, scheme)
                where = f"{width} {scheme}"
                assert page.run("return document.documentElement.scrollWidth") <= width, where
                assert page.run(OUTSIDE) == [], where
                below = page.run(
                    "return [...document.querySelectorAll('#waits h2, #waits-list > li:first-child')]"
                    ".map((one) => one.getBoundingClientRect().bottom <= innerHeight)"
                )
                assert below == [True, True], where
                found = page.run(CONTRAST)
                assert len(found) > 60
                assert [text for ratio, text in found if ratio < 4.5] == [], where
                page.page.save_screenshot(str(tmp_path / f"{width}-{scheme}.png"))
        back = page.run("return getComputedStyle(document.body).backgroundColor")
        assert back == "rgb(16, 19, 23)"


def test_what_waits_comes_first_and_the_longest_of_it_before_all(
    running: Chrome, user: WebGround
) -> None:
    """Each with since when, and what to type or open; the tab's title says how many there are."""
    full(user)
    with shown(running, user) as page:
        page.open()
        assert page.page.title == "(4) lifecycle"
        assert page.text("#waits-head") == "4 things wait for you"
        items = page.run(
            "return [...document.querySelectorAll('#waits-list > li')].map((e) => e.innerText)"
        )
        begins = [item.partition(" ")[0] for item in items[:3]]
        assert begins == ["1.0", "5.0", "30"]
        assert "Should I close issue #42?" in items[0]
        assert f"cd {user.folder}/home/src/docs && lifecycle close" in items[0]
        assert "Create an account at the card processor" in items[1]
        assert "lifecycle run user-fix-complete" in items[1]
        assert "PR #107 waits for a person to merge it" in items[2]
        first = page.run("return document.querySelector('main > *').id")
        assert first == "waits"
        cards = page.run("return [...document.querySelectorAll('.card')].map((e) => e.innerText)")
        assert len(cards) == 6
        whole = next(card for card in cards if "TESTING" in card)
        for words in ("#42 Fix the race", "~/src/hello-service", "checks running", "for 40 min",
                      "#107", "all green", "CI: 3/3 passed.", "told 2 times", "1 of 3",
                      "S2 Pay back"):  # fmt: skip
            assert words in whole, words
        assert "1 worktree without work" in page.text("#idle")
        assert "pr_created → checks_running" in page.text("#events")
        assert sum("workflow-state.json" in card for card in cards) == 1


def test_forty_worktrees_are_one_page(running: Chrome, user: WebGround) -> None:
    """All of them are there, ten wait, and the first of these is seen without scrolling on a phone."""
    main = user.clone("monorepo")
    for number in range(40):
        ground = user.linked(main, f"monorepo-{number}")
        if number % 4 == 0:
            ground.in_review()
        else:
            ground.claim(phase="coding", issue_number=100 + number)
    with shown(running, user) as page:
        for width in (390, 1600):
            page.open(width)
            wait(running).until(
                lambda _: page.run("return document.querySelectorAll('.card').length") == 40
            )
            assert page.run("return document.documentElement.scrollWidth") <= width
            assert page.text("#waits-head") == "10 things wait for you"
            seen = page.run(
                "return [...document.querySelectorAll('#waits-list > li')].filter((one) =>"
                " one.getBoundingClientRect().bottom <= innerHeight).length"
            )
            assert seen >= (3 if width == 390 else 10)


def test_a_change_is_shown_by_itself_and_leaves_the_rest_alone(
    running: Chrome, user: WebGround
) -> None:
    """A file changes and the page does, without being loaded anew; focus, open parts and nodes stay."""
    whole = full(user)
    other = OverviewGround(whole.root.parent / "docs-99", user.clock)
    with shown(running, user) as page:
        page.open()
        page.run("window.same = true; window.kept = [...document.querySelectorAll('.card')]")
        page.run("document.querySelector('details[id$=-waiting]').open = true")
        page.run("document.querySelector('#waits-list > li:last-child a').focus()")
        focused = page.run("return document.activeElement.outerHTML")
        path = whole.root / CLAIM_FILE
        path.write_text(path.read_text().replace("checks_running", "coding"))
        page.sees("#waits-head", "3 things wait")
        assert page.page.title == "(3) lifecycle"
        assert page.run("return window.same")
        kept = page.run("return window.kept.map((one) => one.isConnected)")
        assert kept.count(False) == 1
        assert page.run("return document.querySelector('details[id$=-waiting]').open")
        assert page.run("return document.activeElement.outerHTML") == focused
        # The part with the focus is drawn anew: the focus is where it was.
        (other.root / ".claude/workflow-state.json").unlink()
        wait(running).until(lambda _: "workflow-state.json" not in page.text("#cards"))
        assert page.run("return document.activeElement.outerHTML") == focused
        page.run("document.querySelector('.card h3 a').focus()")
        (whole.root.parent / "docs" / CLAIM_FILE).unlink()
        page.sees("#waits-head", "2 things wait")


def test_what_strangers_wrote_does_nothing(running: Chrome, user: WebGround) -> None:
    """A title with a script in it is read as it was written, on the first page and on the next."""
    ground = user.clone("hello")
    ground.in_review()
    titled(ground, EVIL)
    with shown(running, user) as page:
        page.open()
        assert EVIL in page.text(".card")
        titled(ground, "another")
        path = ground.root / CLAIM_FILE
        data = json.loads(path.read_text())
        path.write_text(json.dumps({**data, "summary": "s", "agent_id": EVIL, "phase": "coding"}))
        page.sees(".card", "coding")
        assert EVIL in page.text(".card")
        assert page.run("return document.images.length") == 0
        assert "evil" not in page.page.title


def test_a_server_that_went_is_told(running: Chrome, user: WebGround) -> None:
    """What is shown stays, marked as old, with what to do; nobody takes it for the present."""
    full(user)
    with user.served() as server:
        page = ShownPage(running, server)
        page.open()
        assert page.text("#gone") == ""
    page.sees("#gone", "does not answer any more")
    assert "Start it again" in page.text("#gone")
    assert page.text("#state") == "not live"
    assert page.run("return document.body.className") == "old"
    assert "#42 Fix the race" in page.text("#cards")
    running.get("about:blank")
    running.execute("getLog", {"type": "browser"})


def test_a_server_that_does_not_answer_is_told_until_it_does(
    running: Chrome, user: WebGround
) -> None:
    """One that Ctrl-Z stopped, or that is behind a dead tunnel, takes the request, but never answers it.

    It is waited for as long, and asked as often, as the manual says; seldom by a page that is hidden.
    """
    user.clone("hello").claim()
    with shown(running, user) as page:
        page.open()
        page.run(
            "const o = AbortSignal, own = o.timeout.bind(o);"
            "o.timeout = (ms) => own((window.last = ms) / 30)"
        )
        with page.server.worktrees._lock:
            page.sees("#gone", "does not answer any more")
            assert page.text("#state") == "not live"
            today = page.run("return new Date().toDateString()")
            assert f"what you see is of {today}, " in page.text("#gone")
        page.sees("#state", "live, ")
        assert page.text("#gone") == ""
        assert page.run("return window.last") == 15_000
        assert {2_000} <= {*page.run("return spans()")} <= {0, 150, 2_000}
        page.run("Object.defineProperty(document, 'hidden', {value: true})")
        wait(running).until(lambda _: 15_000 in page.run("return spans()"))


def test_without_scripts_it_is_a_page_that_renews_itself(running: Chrome, user: WebGround) -> None:
    """Where no script runs everything is there all the same, and the browser is told to load it again."""
    full(user)
    with shown(running, user) as page:
        page.open()
        page.sees("#waits-head", "4 things wait")  # on a busy machine they are read in turn
        running.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        try:
            running.get(page.server.address)
            source = running.page_source
        finally:
            running.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    assert '<meta http-equiv="refresh" content="10">' in source
    assert "4 things wait for you" in source
    assert "5.0 h" in source
    assert source.count("<article") == 6


def test_where_nothing_is_known_it_says_what_to_do(running: Chrome, user: WebGround) -> None:
    """Without a clone there is a sentence and a command; the first claim is shown by itself."""
    with shown(running, user) as page:
        page.open(390)
        assert page.text("#waits-head") == "Nothing waits for you"
        assert page.page.title == "lifecycle"
        assert "lifecycle claim 42" in page.text("#empty")
        assert "knows no clone of yours yet" in page.text("#empty")
        user.clone("hello").claim(phase="coding")
        page.server.worktrees.clock.sleep(LISTED)
        page.sees("#cards", "#42 Fix the race")
        assert page.text("#empty") == ""


def test_a_keyboard_and_a_screen_reader_find_their_way(running: Chrome, user: WebGround) -> None:
    """Headings in order, every part with a name, progress that is told, and links that Tab reaches."""
    full(user)
    with shown(running, user) as page:
        page.open()
        ranks = page.run(
            "return [...document.querySelectorAll('h1, h2, h3')].map((e) => Number(e.tagName[1]))"
        )
        assert ranks[0] == 1
        assert all(after - before <= 1 for before, after in pairwise(ranks))
        nameless = page.run(
            "return [...document.querySelectorAll('section, article, progress')].filter((one) => {"
            " const by = one.getAttribute('aria-labelledby');"
            " return !(by ? document.getElementById(by) : one.getAttribute('aria-label')); }).length"
        )
        assert nameless == 0
        twice = page.run(
            "const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);"
            "return ids.length - new Set(ids).size"
        )
        assert twice == 0
        roles = page.run(
            "return [...document.querySelectorAll('[role]')].map((e) => e.getAttribute('role'))"
        )
        assert {"status", "alert"} <= set(roles)
        page.run("document.body.tabIndex = -1; document.body.focus()")
        ActionChains(running).send_keys(Keys.TAB).perform()
        assert page.run("return document.activeElement.closest('#waits-list') !== null")
        assert page.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
        outside = page.run("return [...document.querySelectorAll('a[target]')].map((e) => e.rel)")
        assert set(outside) == {"noopener noreferrer"}


def test_the_script_counts_ages_as_the_product_does(running: Chrome, user: WebGround) -> None:
    """The page's own words for an age are those of every other view."""
    seconds = [0, 0.4, 59.4, 59.6, 89, 90, 3569, 3571, 3600, 5400.5, 86_399, 86_400, 1e6, 1e8]
    with shown(running, user) as page:
        page.open()
        told = page.run(f"return {json.dumps(seconds)}.map(span)")
    assert told == [span(one) for one in seconds]


def test_ages_go_by_the_servers_clock(running: Chrome, user: WebGround) -> None:
    """The browser may be on another machine, whose clock is wrong."""
    full(user)
    with shown(running, user) as page:
        page.open()
        assert page.text("#waits-list strong time") == "1.0 d"
        before = page.text("#state")
        page.run("const right = Date.now.bind(Date); Date.now = () => right() + 864e5")
        WebDriverWait(running, 30).until(lambda _: page.text("#state") != before)
        assert page.text("#waits-list strong time") == "1.0 d"


@pytest.mark.soak(
    "views/web/test_web_server.py::test_a_page_that_has_the_newest_is_told_so",
    "views/web/test_web_page.py::test_a_change_is_shown_by_itself_and_leaves_the_rest_alone",
)
def test_a_page_that_nobody_looks_at_asks_seldom(running: Chrome, user: WebGround) -> None:
    """While nothing changes the page asks with what it has, and gets no body."""
    full(user)
    with shown(running, user) as page:
        page.open()
        wait(running).until(
            lambda _: page.run(
                "return performance.getEntriesByType('resource').filter((one) =>"
                " one.name.endsWith('live.html') && one.responseStatus === 304).length"
            ) >= 2
        )  # fmt: skip
        sizes = page.run(
            "return performance.getEntriesByType('resource').filter((one) =>"
            " one.responseStatus === 304).map((one) => one.encodedBodySize)"
        )
        assert set(sizes) == {0}
