# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Pages that need no network: a template with style, script and plotly inside."""

from __future__ import annotations

import base64
import gzip
import importlib.resources
from typing import Any

import jinja2
from markupsafe import Markup

from hocket.errors import Error
from hocket.report import text


def render_page(template: str, **values: Any) -> str:
    """The template of that name with `values`, among them `charts`: plotly figures by name."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("hocket.report", "."), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template(template).render(
        text=text,
        style=Markup(_resource("style.css")),
        script=Markup(_resource("page.js")),
        plotly=_compressed_plotly(),
        **values,
    )


def _resource(name: str) -> str:
    return importlib.resources.files("hocket.report").joinpath(name).read_text(encoding="utf-8")


def _compressed_plotly() -> str:
    """plotly.js as base64 of gzip, which the page unpacks: a third of its size."""
    try:
        script = importlib.resources.files("plotly").joinpath("package_data", "plotly.min.js").read_bytes()
    except (ModuleNotFoundError, FileNotFoundError) as error:
        raise Error(
            f"the package plotly is not installed as expected: {error}", "pip install --force-reinstall plotly"
        ) from None
    return base64.b64encode(gzip.compress(script, 9, mtime=0)).decode("ascii")
