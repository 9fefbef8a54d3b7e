# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What the tests of imported networks share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hocket import InvalidInput
from hocket.interop.networks import Imported

SAMPLES = Path(__file__).parent / "samples/network_import"
Import = Callable[..., Imported]


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(InvalidInput) as error:
        call()
    return f"{error.value.message}\n{error.value.hint}"
