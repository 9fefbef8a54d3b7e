# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Pages that need no network: a template with style, script and plotly inside."""

from __future__ import annotations

import base64
import gzip
import importlib.resources
import json
from collections.abc import Mapping
from typing import Any

import jinja2
from markupsafe import Markup

from hocket.report import text
from hocket.report.figure_parts import Figure


def render_page(
    template: str, charts: Mapping[str, Figure], fragments: Mapping[str, Markup] | None = None, **values: Any
) -> str:
    """The template of that name with `values`, with plotly figures, and with fragments of HTML.

    Figures and fragments go by name to the elements that page.js puts them into. They are compressed in the page.
    """
    packed = json.dumps({"charts": charts, "fragments": fragments or {}}, separators=(",", ":"))
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("hocket.report", "."), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template(template).render(
        text=text,
        style=Markup(_resource("style.css").decode()),
        script=Markup(_resource("page.js").decode()),
        plotly=_in_text(_resource("plotly/plotly-cartesian.min.js.gz")),
        charts=charts,
        packed_charts=_in_text(gzip.compress(packed.encode(), 9, mtime=0)),
        **values,
    )


def _resource(name: str) -> bytes:
    return importlib.resources.files("hocket.report").joinpath(name).read_bytes()


def _in_text(compressed: bytes) -> str:
    """As page.js unpacks it."""
    return base64.b64encode(compressed).decode("ascii")
