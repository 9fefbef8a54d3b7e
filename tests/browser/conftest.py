# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Headless Chromium for the tests of the report."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser_window import Browser, find_chromium, launch


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    found = find_chromium()
    if found is None:
        pytest.skip("needs chromium and chromedriver (Debian: apt-get install chromium chromium-driver)")
    pytest.importorskip("selenium.webdriver", reason="needs the Python package selenium")
    driver = launch(*found, tmp_path_factory.mktemp("chromium"))
    yield Browser(driver)
    driver.quit()
