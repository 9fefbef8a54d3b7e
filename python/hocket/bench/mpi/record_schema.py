# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Whether a line of a file of results is as records.schema.json says; of JSON Schema what that file uses."""

from __future__ import annotations

import functools
import json
import math
from pathlib import Path
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "integer": (int,), "number": (int, float),
    "boolean": (bool,), "null": (type(None),),
}  # fmt: skip


@functools.cache
def _definitions() -> dict[str, Any]:
    schema = json.loads(Path(__file__).with_name("records.schema.json").read_text(encoding="utf-8"))
    definitions: dict[str, Any] = schema["$defs"]
    return definitions


def read_record(line: str | bytes) -> dict[str, Any]:
    """Raises ValueError with what is wrong. Fields that the schema does not know are those of a later version."""
    try:
        record = json.loads(line)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    kind = record.get("type") if isinstance(record, dict) else None
    if not isinstance(kind, str) or "properties" not in _definitions().get(kind, {}):
        raise ValueError("its type is unknown")
    _check(record, _definitions()[kind], kind)
    return dict(record)


def _check(value: Any, schema: dict[str, Any], name: str) -> None:
    if "$ref" in schema:
        schema = _definitions()[schema["$ref"].removeprefix("#/$defs/")]
    names = schema.get("type", [])
    if names and not any(_has_type(value, one) for one in ([names] if isinstance(names, str) else names)):
        raise ValueError(f"{name} is {json.dumps(value)[:40]}")
    if "enum" in schema and value not in schema["enum"]:
        raise ValueError(f"{name} is {json.dumps(value)[:40]}")
    if isinstance(value, (int, float)) and not (
        value >= schema.get("minimum", -math.inf) and value > schema.get("exclusiveMinimum", -math.inf)
    ):
        raise ValueError(f"{name} is {value}")
    if isinstance(value, dict):
        missing = [one for one in schema.get("required", ()) if one not in value]
        if missing:
            raise ValueError(f"{missing[0]} is missing")
        properties, others = schema.get("properties", {}), schema.get("additionalProperties")
        for key, one in value.items():
            of_key = properties.get(key, others)
            if isinstance(of_key, dict):
                _check(one, of_key, key)
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            raise ValueError(f"{name} is empty")
        if "items" in schema:
            for one in value:
                _check(one, schema["items"], name)


def _has_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _TYPES[name]) and not (isinstance(value, float) and not math.isfinite(value))
