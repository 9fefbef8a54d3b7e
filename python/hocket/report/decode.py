# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""JSON text to typed dataclasses, strictly: every unknown, missing or mistyped key is refused by its path."""

from __future__ import annotations

import dataclasses
import json
import math
import types
import typing
from pathlib import Path
from typing import Any, TypeVar

from hocket import formats
from hocket.errors import InvalidInput
from hocket.io.json_input import refuse_duplicates, with_current_names

T = TypeVar("T")

_KIND_NAMES = {int: "a whole number", float: "a number", str: "a text", bool: "true or false", type(None): "null"}


def read_json_object(path: Path, expected_format: str) -> dict[str, Any]:
    """The JSON object in `path` without its "format" key, which must be `expected_format`."""
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise InvalidInput(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: cannot be read as UTF-8 text: {error}") from None
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=refuse_duplicates)
    except json.JSONDecodeError as error:
        hint = "the file is cut off: write it again" if error.pos >= len(text.rstrip()) else ""
        raise InvalidInput(f"{path}:{error.lineno}:{error.colno}: not valid JSON: {error.msg}", hint) from None
    except RecursionError:
        raise InvalidInput(f"{path}: not valid JSON: nested too deeply") from None
    except (InvalidInput, ValueError) as error:  # a number of too many digits is a plain ValueError
        raise InvalidInput(f"{path}: not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidInput(f"{path}: found {_show(value)}, expected a JSON object")
    found = value.pop("format", None)
    if found != expected_format:
        raise InvalidInput(
            f'{path}: "format" is {_show(found)}, expected "{expected_format}"',
            formats.hint(found, expected_format, "the file is of another kind, or of another version of hocket"),
        )
    return value


def decode(cls: type[T], value: Any, where: str) -> T:
    """`value` (parsed JSON) as the dataclass `cls`. `where` leads every message, e.g. the file's path."""
    return typing.cast(T, _decode(cls, value, f"{where}: ", ""))


def _decode(kind: Any, value: Any, file: str, key: str) -> Any:
    origin = typing.get_origin(kind)
    if dataclasses.is_dataclass(kind):
        return _decode_object(typing.cast(type, kind), value, file, key)
    if origin in (typing.Union, types.UnionType):
        if value is None:
            return None
        (inner,) = (choice for choice in typing.get_args(kind) if choice is not type(None))
        return _decode(inner, value, file, key)
    if origin in (list, tuple):
        if not isinstance(value, list):
            raise InvalidInput(f"{file}{key}: found {_show(value)}, expected a list")
        choices = typing.get_args(kind)
        if origin is list:
            return [_decode(choices[0], item, file, f"{key}[{i}]") for i, item in enumerate(value)]
        if len(value) != len(choices):
            raise InvalidInput(f"{file}{key}: found {len(value)} values, expected {len(choices)}")
        return tuple(_decode(choice, value[i], file, f"{key}[{i}]") for i, choice in enumerate(choices))
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            pass  # refused below
    # bool is a subclass of int in Python, but true is not a number in JSON; 1e999 parses as infinity
    elif type(value) is kind and not (kind is float and not math.isfinite(value)):
        if kind is int and not -(2**63) <= value < 2**63:
            raise InvalidInput(f"{file}{key}: found a whole number of more than 64 bits")
        return value
    raise InvalidInput(f"{file}{key}: found {_show(value)}, expected {_KIND_NAMES[kind]}")


def _decode_object(kind: type, value: Any, file: str, key: str) -> Any:
    if not isinstance(value, dict):
        raise InvalidInput(f"{file}{key}: found {_show(value)}, expected an object")
    hints = typing.get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}
    prefix = f"{key}." if key else ""
    value = with_current_names(value, fields)
    for name in value:
        if name not in fields:
            raise InvalidInput(f'{file}unknown key "{prefix}{name}"', f"accepted keys: {', '.join(fields)}")
    decoded = {}
    for name, field in fields.items():
        if name in value:
            decoded[name] = _decode(hints[name], value[name], file, f"{prefix}{name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise InvalidInput(f'{file}the key "{prefix}{name}" is missing')
    try:
        return kind(**decoded)
    except InvalidInput as error:  # from the dataclass's own check, which does not know the file
        raise InvalidInput(f"{file}{prefix}{error}", error.hint) from None


def _refuse_constant(name: str) -> Any:
    raise InvalidInput(f"{name} is not a number that JSON has")


def _show(value: Any) -> str:
    text = (
        json.dumps(value) if not isinstance(value, (dict, list)) else {dict: "an object", list: "a list"}[type(value)]
    )
    return text if len(text) <= 60 else text[:57] + "..."
