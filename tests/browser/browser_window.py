# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""A page in headless Chromium."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

BINARIES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> tuple[str, str] | None:
    """The browser and its driver; None where one of them is missing."""
    found = next(filter(None, map(shutil.which, BINARIES)), None)
    driver = shutil.which("chromedriver")
    return None if found is None or driver is None else (found, driver)


def launch(chromium: str, chromedriver: str, profile: Path) -> Any:
    """The driver of a window that nobody sees. `profile`: a folder that the browser may fill."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    # no sandbox: Chromium's own does not work for root or in most containers; the pages are ours
    switches = (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        f"--user-data-dir={profile}",
    )
    for switch in switches:
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # Chromium leaves folders in the temporary folder
    service = webdriver.ChromeService(chromedriver, env={**os.environ, "TMPDIR": str(profile)})
    return webdriver.Chrome(options=options, service=service)


class Browser:
    """One window on one page."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self.script = driver.execute_script
        self.script_until_done = driver.execute_async_script  # which calls its last argument
        self._shown: tuple[Path, int, bool] | None = None

    def show(self, path: Path, width: int = 1280, dark: bool = False) -> None:
        """For tests that only look: loads the page unless it was the last one. Drawing it takes seconds."""
        if self._shown != (path, width, dark):
            self.open(path, width, dark)

    def open(self, path: Path, width: int = 1280, dark: bool = False) -> None:
        """Loads the page and draws all its charts."""
        self._shown = None
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self._driver.get("about:blank")
        self._driver.get_log("browser")  # forgets what earlier pages have logged
        self._driver.get_log("performance")
        self._resize(width, 900)
        self._driver.get(path.as_uri())
        self.script("document.querySelectorAll('details').forEach((element) => { element.open = true; });")
        # a window as tall as the page brings every chart into view
        self._resize(width, self.script("return document.documentElement.scrollHeight"))
        self._driver.set_script_timeout(60)
        self._driver.execute_async_script(
            """
            const done = arguments[0];
            const charts = [...document.querySelectorAll("[data-chart]")];
            const wait = () => charts.every((chart) => chart.dataset.drawn) ? done() : setTimeout(wait, 50);
            wait();
            """
        )
        self._shown = (path, width, dark)

    def set_dark(self, dark: bool) -> None:
        self._shown = None
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

    def console(self) -> list[str]:
        return [entry["message"] for entry in self._driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Everything that was asked for by address, but for the page itself and data in the page."""
        urls = []
        for entry in self._driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                urls.append(message["params"]["request"]["url"])
        return [url for url in urls if not url.startswith(("data:", "blob:", "about:"))]

    def screenshot(self, path: Path) -> None:
        self._driver.save_screenshot(str(path))

    def _resize(self, width: int, height: int) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
