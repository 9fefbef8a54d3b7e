# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Headless Chromium for the tests of the report."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from browser_window import Browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    chromedriver = shutil.which("chromedriver")
    if chromium is None or chromedriver is None:
        pytest.skip("needs chromium and chromedriver (Debian: apt-get install chromium chromium-driver)")
    selenium = pytest.importorskip("selenium.webdriver", reason="needs the Python package selenium")
    options = selenium.ChromeOptions()
    options.binary_location = chromium
    profile = tmp_path_factory.mktemp("chromium")
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
    service = selenium.ChromeService(chromedriver, env={**os.environ, "TMPDIR": str(profile)})
    driver = selenium.Chrome(options=options, service=service)
    yield Browser(driver)
    driver.quit()
