# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The output of ibnetdiscover, and ibsim's network files, which leave most of it out.

A block is a node (Switch, Ca, Hca or Rt) and a line for each port that has a link; each link stands there twice, at
both ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hocket.errors import InvalidInput
from hocket.interop.networks.draft import Cable, Draft
from hocket.interop.networks.hostlist import quoted
from hocket.interop.networks.recognise import LARGEST_BYTES, Content
from hocket.interop.networks.values import Options
from hocket.report.text import counted

# Data rates of a lane in bit/s, which is what is left of the signalling rate by the line code: SDR to QDR (2.5, 5 and
# 10 Gbit/s) send 10 bits for 8; FDR10, FDR and EDR (10.3125, 14.0625 and 25.78125) 66 for 64; later ones are called by
# their data rates.
LANE_RATES = {
    "SDR": 2e9,
    "DDR": 4e9,
    "QDR": 8e9,
    "FDR10": 10e9,
    "FDR": 14.0625e9 * 64 / 66,
    "EDR": 25e9,
    "HDR": 50e9,
    "NDR": 100e9,
    "XDR": 200e9,
}

WIDTHS = ("1", "2", "4", "8", "12")  # lanes of a link

_HEADER = re.compile(r'(Switch|Ca|Hca|Rt)\s+([0-9]+)\s+"([^"]*)"\s*(?:#\s*(.*))?')
_PORT = re.compile(
    r'\[([0-9]{1,9})\](?:\[ext [0-9]+\])?(?:\([0-9a-fA-Fx]+\))?\s+"([^"]*)"\s*\[([0-9]{1,9})\](?:\[ext [0-9]+\])?'
    r"(?:\([0-9a-fA-Fx]+\))?\s*(.*)"
)
_SPEED = re.compile(r"\b([0-9]+)x([A-Z]+[0-9]*)\s*$")
_WIDTH = re.compile(r"\bw=([0-9]+)\b")
_SETTING = re.compile(r"(vendid|devid|sysimgguid|switchguid|caguid|rtguid|hcaguid)\s*=", re.IGNORECASE)
# Of chassis (ibnetdiscover -g), and what it says on standard error.
_REMARK = re.compile(r"(Chassis|Non-Chassis Nodes|src/\w+\.c:|ibwarn:|ibpanic:|ibnetdiscover:)", re.IGNORECASE)
# "node17 mlx5_0", "node17 HCA-1": what the kernel makes of host and device. A card without a name says its model.
_HOST_DEVICE = re.compile(r"(\S+) ((?:HCA-|mlx[45]_|hfi1_|qib|ibp|roceP?|bnxt_re|irdma|i40iw)\S*)")
_MANAGED_SWITCH = re.compile(r"MF[0-9]+;([^:;]+):")
_IN_SWITCH = "Aggregation Node"  # the reduction engine of a switch, which answers as if it was a card
_GENERIC = {"localhost", "localhost.localdomain", "(none)", "node"}


@dataclass
class Device:
    line: int
    kind: str  # "Switch", "Ca" or "Rt"
    id: str
    description: str
    name: str = ""  # of the node in the network
    ports: dict[int, Port] = field(default_factory=dict)


@dataclass
class Port:
    line: int
    device: str
    port: int
    speed: str


def read(content: Content, draft: Draft, options: Options) -> None:
    devices = _read_devices(content.text, draft)
    names = _read_names(options.names) if options.names is not None else {}
    _name_devices(devices, names, draft)
    _Cabling(devices, draft).join()


def _read_devices(text: str, draft: Draft) -> dict[str, Device]:
    devices: dict[str, Device] = {}
    current: Device | None = None
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or line.startswith("#") or _SETTING.match(line) or _REMARK.match(line):
            continue
        if header := _HEADER.fullmatch(line):
            kind = {"Hca": "Ca"}.get(header[1], header[1])
            current = Device(number, kind, header[3], _description(header[4] or ""))
            if not current.id:
                draft.refuse(number, f"the {header[1]} has no name", 'expected: such as Switch 36 "S-0002c90200417670"')
            if current.id in devices:
                first = devices[current.id].line
                draft.refuse(number, f"a second node is {quoted(current.id)}; the first is in line {first}")
            devices[current.id] = current
        elif found := _PORT.fullmatch(line):
            if current is None:
                draft.refuse(number, "a port comes before any node", 'expected: a line such as Switch 36 "S-0002c9"')
            port = Port(number, found[2], int(found[3]), found[4])
            if int(found[1]) in current.ports:
                first = current.ports[int(found[1])].line
                draft.refuse(number, f"port {found[1]} of {quoted(current.id)} stands in line {first} already")
            current.ports[int(found[1])] = port
        else:
            draft.refuse(
                number,
                f"{quoted(line)} is neither a node nor a port",
                'expected: Switch, Ca, Hca or Rt, ports and "name", or [port] "name"[port] (ibnetdiscover without -p)',
            )
    return devices


def _description(comment: str) -> str:
    quotes = re.match(r'"(.*)"', comment)
    return quotes[1].strip() if quotes else ""


def _read_names(path: str) -> dict[str, str]:
    """A node name map, as OpenSM and ibnetdiscover take it: a GUID and a name on each line."""
    try:
        with open(path, "rb") as file:
            text = file.read(LARGEST_BYTES).decode("utf-8-sig", errors="backslashreplace")
    except (OSError, ValueError) as error:
        raise InvalidInput(
            f"--names: cannot read {path}: {error}", "give a file with a GUID and a name a line"
        ) from error
    names: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        content = line.strip()
        if not content or content.startswith("#"):
            continue
        found = re.fullmatch(r'(?:[HSR]-|0x)?([0-9a-fA-F]{1,16})\s+(?:"([^"]+)"|([^"\s]+)).*', content)
        if found is None:
            raise InvalidInput(
                f"{path}:{number}: {quoted(content)} is not a GUID and name", 'expected: 0x0002c9 "node1"'
            )
        names[found[1].lower().zfill(16)] = found[2] or found[3]
    return names


def _guid(identity: str) -> str:
    return identity[2:].lower().zfill(16) if re.match(r"[HSR]-", identity) else identity


def _name_devices(devices: dict[str, Device], names: dict[str, str], draft: Draft) -> None:
    """Hosts by the name in the description, several cards of one under one name; else the node's own number."""
    in_switch = [d for d in devices.values() if d.kind == "Ca" and _IN_SWITCH in d.description]
    for device in in_switch:
        for port in device.ports.values():
            if port.device in devices:
                devices[port.device].ports.pop(port.port, None)
        del devices[device.id]
    if in_switch:
        draft.ignored.append(f"{counted(len(in_switch), 'aggregation node')} in switches, which are no hosts")
    cards: set[tuple[str, str]] = set()  # (host, card): two of the same name are on two hosts
    unnamed = 0
    for device in devices.values():
        mapped = names.get(_guid(device.id))
        if device.kind != "Ca":
            managed = _MANAGED_SWITCH.match(device.description)
            device.name = mapped or (managed[1] if managed else device.id)
            if mapped is None and (device.name in draft.switches or device.name in draft.hosts):
                device.name = device.id
            draft.add_switch(device.name, device.line)
            continue
        host, card = _host_and_card(mapped or device.description)
        if host is None or (host, card) in cards or host in draft.switches:
            host = device.id
            unnamed += 1
        device.name = host
        cards.add((host, card))
        if host not in draft.hosts:
            draft.add_host(host, device.line, relays=False)
    if unnamed:
        draft.assumed.append(
            f"each of {counted(unnamed, 'card')} whose description names no host, or one that has such a card already, "
            "is a host of its own, called by its GUID: give --names FILE, a node name map, if some belong together"
        )
    if routers := sum(device.kind == "Rt" for device in devices.values()):
        are = "is a switch" if routers == 1 else "are switches"
        draft.assumed.append(f"{counted(routers, 'router')} between subnets {are} like others")


def _host_and_card(description: str) -> tuple[str | None, str]:
    found = _HOST_DEVICE.fullmatch(description)
    host, card = (found[1], found[2]) if found else (description, "")
    usable = bool(host) and " " not in host and host.lower() not in _GENERIC
    return (host if usable else None), card


class _Cabling:
    def __init__(self, devices: dict[str, Device], draft: Draft) -> None:
        self.devices, self.draft = devices, draft

    def join(self) -> None:
        done: set[tuple[str, int]] = set()
        lost = outside = 0
        for device in self.devices.values():
            for number, port in device.ports.items():
                if (device.id, number) in done:
                    continue
                other = self.devices.get(port.device)
                if other is None:
                    lost += _is_host_id(port.device)
                    outside += not _is_host_id(port.device)
                    continue
                done.update({(device.id, number), (port.device, port.port)})
                self._check_back(device, number, port, other)
                rate = self._rate(port, other.ports.get(port.port))
                cable = Cable(port.line, rate, rate)
                if device.name != other.name:  # not a cable from card to card of one host
                    self.draft.add_cable(device.name, other.name, cable)
        for number, kind in ((lost, "cards"), (outside, "switches")):
            if number:
                self.draft.ignored.append(
                    f"{counted(number, 'link')} to {kind} without a block of their own: the file seems to be cut off"
                )
        self._drop_unlinked()

    def _check_back(self, device: Device, number: int, port: Port, other: Device) -> None:
        back = other.ports.get(port.port)
        if back is not None and (back.device, back.port) != (device.id, number):
            self.draft.refuse(
                port.line,
                f"port {number} of {quoted(device.id)} leads to port {port.port} of {quoted(other.id)}, which by line "
                f"{back.line} leads to port {back.port} of {quoted(back.device)}",
                "the file is inconsistent: run ibnetdiscover again",
            )

    def _rate(self, port: Port, back: Port | None) -> float | None:
        """In B/s; the ends of a link have the same speed, and say it at either."""
        for end in (port, back):
            if end is None:
                continue
            if found := _SPEED.search(end.speed):
                width, speed = found[1], found[2]
                if speed not in LANE_RATES or width not in WIDTHS:
                    self.draft.refuse(
                        end.line,
                        f"{quoted(found[0].strip())} is no known width and speed",
                        f"accepted: 1x, 2x, 4x, 8x or 12x of {', '.join(LANE_RATES)}, such as 4xHDR",
                    )
                return int(width) * LANE_RATES[speed] / 8
            if found := _WIDTH.search(end.speed):  # of ibsim, whose lanes are SDR
                if found[1] not in WIDTHS:
                    self.draft.refuse(
                        end.line, f"{quoted(found[0])} is no known width", f"accepted: w= {', '.join(WIDTHS)}"
                    )
                return int(found[1]) * LANE_RATES["SDR"] / 8
        return None

    def _drop_unlinked(self) -> None:
        degrees = self.draft.degrees()
        alone = [name for name in self.draft.hosts if degrees[name] == 0]
        if not self.draft.cables:
            line = min((device.line for device in self.devices.values()), default=1)
            self.draft.refuse(line, "no node has a link to another", "import the output of a whole fabric")
        for name in alone:
            del self.draft.hosts[name]
        if alone:
            self.draft.ignored.append(f"{counted(len(alone), 'host')} without a link")
        for name in [name for name in self.draft.switches if degrees[name] == 0]:
            del self.draft.switches[name]


def _is_host_id(identity: str) -> bool:
    return identity.startswith(("H-", "Hca", "Ca"))
