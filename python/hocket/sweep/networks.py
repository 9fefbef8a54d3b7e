# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The networks of a campaign: files and generators with their changes, as values that are sent to workers."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
from pathlib import Path
from typing import Any

from hocket.errors import InvalidInput
from hocket.networks.source import NetworkSource
from hocket.networks.variation import VariedNetwork
from hocket.requests import decoded, hints_of

_OPTIONS = ("bandwidth", "latency", "routing", "seed")
_CHANGES = tuple(field.name for field in dataclasses.fields(VariedNetwork) if field.name != "source")
KEYS = ("from", *_OPTIONS, *_CHANGES)


def check_key(key: str, where: str) -> None:
    if key not in KEYS:
        raise InvalidInput(f"{where}: unknown {key!r}", f"accepted of a network: {', '.join(KEYS)}")


def checked(key: str, value: Any, where: str) -> Any:
    """A value of a network's key, as its field has it."""
    check_key(key, where)
    hint: Any = str if key == "from" else hints_of(NetworkSource if key in _OPTIONS else VariedNetwork)[key]
    return decoded(hint, value, where)


def network_of(values: dict[str, Any], folder: Path, where: str) -> VariedNetwork:
    """Files are looked for in the folder of the campaign, and their text is taken along.

    @raises InvalidInput if there is no such file. Whether the changes suit is known when it is loaded.
    """
    if "from" not in values:
        raise InvalidInput(f'{where}: "from" is missing', 'add a network file, or a generator: from = "star:8"')
    source = NetworkSource(values["from"], **{name: values[name] for name in _OPTIONS if name in values})
    path = folder / source.name
    if os.path.isfile(path) or not source.is_generated:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "no UTF-8, or no name of a file"
            raise InvalidInput(f"{where}: network {str(path)!r}: {reason}", "name a file or a generator") from None
        source = dataclasses.replace(source, toml=text)
    return VariedNetwork(source, **{name: values[name] for name in _CHANGES if name in values})


def digest_of(network: VariedNetwork) -> str:
    """The same for networks of the same content, whatever the folder; also the name that requests have for it."""
    name = Path(network.source.name).name if network.source.toml is not None else network.source.name
    plain = dataclasses.replace(network, source=dataclasses.replace(network.source, name=name))
    return "network-" + hashlib.sha256(repr(plain).encode()).hexdigest()[:32]


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "picture"
