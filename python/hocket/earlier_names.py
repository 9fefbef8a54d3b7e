# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Modules by the names that the documentation gave them before they moved into packages: `import` finds them still."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType

NAMES = {
    "hocket.job_simulation": "hocket.simulation.jobs",
    "hocket.network_source": "hocket.networks.source",
    "hocket.recording": "hocket.traces.recording",
    "hocket.replay": "hocket.traces.replay",
    "hocket.simulate_request": "hocket.simulation.request",
    "hocket.trace": "hocket.traces.trace",
    "hocket.traced_rank": "hocket.traces.traced_rank",
    "hocket.what_if": "hocket.simulation.what_if",
}


class EarlierNames(Loader):
    """A finder and loader of `sys.meta_path`."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in NAMES else None

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = import_module(NAMES[module.__name__])  # `import` takes it from there
