# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Which format a file has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from hocket.errors import InvalidInput
from hocket.interop.networks.values import Defaults
from hocket.io.files import printable

LARGEST_BYTES = 64 << 20


@dataclass(frozen=True)
class Format:
    module: str
    what: str
    defaults: Defaults
    spreads: bool = False  # where there are several paths, messages are spread over them


# The latencies are round values: a switched Ethernet cable as in networks/star8.toml, an InfiniBand hop, a cache line
# from core to core. The bandwidths of hwloc are those of one core that copies, and of a link between sockets.
FORMATS = {
    "slurm": Format("slurm", "Slurm's topology.conf or topology.yaml", Defaults("1 Gbit/s", "20 us"), spreads=True),
    "ibnetdiscover": Format(
        "ibnetdiscover", "the output of ibnetdiscover", Defaults("100 Gbit/s", "500 ns"), spreads=True
    ),
    "hwloc": Format(
        "hwloc",
        "the XML of hwloc (lstopo machine.xml)",
        Defaults(
            "10 GB/s",
            "50 ns",
            "40 GB/s",
            "100 ns",
            measure_bandwidth="large messages between two processes (osu_bw)",
            measure_latency="small messages between two processes (osu_latency)",
        ),
    ),
    "simgrid": Format("simgrid", "a SimGrid platform", Defaults("1 Gbit/s", "0 s")),
}
XML_ROOTS = {
    "topology": "hwloc",
    "root": "hwloc",  # of its first versions
    "platform": "simgrid",
}
_TEXT_SIGNS = (
    ("slurm", re.compile(r"^[ \t]*(SwitchName|BlockName)[ \t]*=", re.IGNORECASE | re.MULTILINE)),
    ("slurm", re.compile(r"^[ \t]*-?[ \t]*topology[ \t]*:", re.MULTILINE)),
    ("ibnetdiscover", re.compile(r'^[ \t]*(Switch|Ca|Hca|Rt)[ \t]+[0-9]+[ \t]+"', re.MULTILINE)),
)
_COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"PK\x03\x04")  # gzip, bzip2, xz, zstd, zip


@dataclass(frozen=True)
class Content:
    source_name: str
    format: str
    data: bytes

    @property
    def text(self) -> str:
        """Names may hold any bytes: those that are no UTF-8 stay visible."""
        return self.data.decode("utf-8-sig", errors="backslashreplace")


def read_content(path: str, format_name: str | None = None) -> Content:
    data = _read(path)
    name = "standard input" if path == "-" else printable(path)
    return Content(name, recognise(name, data) if format_name is None else format_name, data)


def recognise(source_name: str, data: bytes) -> str:
    from hocket.interop.networks.xml_reader import root_tag

    accepted = "accepted: " + ", ".join(f"{form.what} ({name})" for name, form in FORMATS.items())
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"<":
        tag = root_tag(source_name, data)
        if tag in XML_ROOTS:
            return XML_ROOTS[tag]
        from hocket.interop.networks.hostlist import quoted

        raise InvalidInput(f"{source_name}: its XML element {quoted(tag)} is of no known format", accepted)
    text = data.decode("utf-8", errors="replace")
    for name, sign in _TEXT_SIGNS:
        if sign.search(text):
            return name
    if re.search(r'^format *= *"hocket', text, re.MULTILINE):
        raise InvalidInput(f"{source_name}: it is a file of hocket already", "use it as it is: --network FILE")
    what = "it is empty" if not text.strip() else "its format is not recognised"
    raise InvalidInput(f"{source_name}: {what}", f"{accepted}; --format names the format")


def _read(path: str) -> bytes:
    try:
        if Path(path).is_dir():
            raise InvalidInput(f"{path}: it is a folder", "give a file")
        with open(0 if path == "-" else path, "rb", closefd=path != "-") as file:
            data = file.read(LARGEST_BYTES + 1)  # a device has no end
    except OSError as error:
        raise InvalidInput(f"{path}: cannot read the file: {error.strerror}", "give the path of a file") from error
    except ValueError as error:  # a zero byte in the name
        raise InvalidInput(f"the path cannot be read: {error}", "give the path of a file") from error
    if len(data) > LARGEST_BYTES:
        raise InvalidInput(f"{path}: it is longer than 64 MiB", "import a part of it")
    if data.startswith(_COMPRESSED):
        raise InvalidInput(f"{path}: it is compressed", "unpack it first")
    return data
