"""A real browser for pages: Debian's Chromium without a screen, driven through its own driver."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from tests.needed import lack

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BROWSERS = (
    *("chromium", "google-chrome"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
RUNNERS_OWN = os.environ.get("CHROMEWEBDRIVER", "")
"""Where a runner of GitHub's keeps the driver that fits its browser."""

FLAGS = (
    "--headless=new",
    "--no-sandbox",  # a test runs as root in a container often enough
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1400,1600",
)


def program(*names: str) -> str | None:
    """The first of these programs that is on PATH."""
    return next((found for name in names if (found := shutil.which(name))), None)


@contextmanager
def browser(profile: Path) -> Iterator[webdriver.Chrome]:
    """A browser with an empty profile; where there is none, the test is not run."""
    chromium, driver = program(*BROWSERS), program("chromedriver", f"{RUNNERS_OWN}/chromedriver")
    if not chromium or not driver:
        lacking = "chromedriver" if chromium else "Chromium"
        lack("a real browser", f"{lacking} is not installed; `make browser` installs it")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    running = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield running
    finally:
        running.quit()
