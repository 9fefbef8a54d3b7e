# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Networks out of the files that clusters already have: Slurm's topology, ibnetdiscover, hwloc, SimGrid platforms.

A reader takes a file's content and fills a `Draft`; what the file leaves open comes from options or is assumed and
told; the result is the text of a network file, which the core reads and checks like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from hocket.errors import InvalidInput
from hocket.interop.networks.draft import Draft
from hocket.interop.networks.recognise import FORMATS, Content, read_content
from hocket.interop.networks.values import Options, fill, hosts_of
from hocket.interop.networks.write import build, comments

if TYPE_CHECKING:
    from hocket import Network

__all__ = ["FORMATS", "Imported", "Options", "import_network"]


@dataclass(frozen=True)
class Imported:
    network: Network
    toml: str  # of the network, with what was assumed and left out as comments
    format: str
    hosts: int
    switches: int
    cables: int
    routing: str | None  # None: on a tree there is one way
    routes: int
    assumed: list[str]
    ignored: list[str]


def import_network(path: str, format_name: str | None = None, options: Options | None = None) -> Imported:
    """Reads a file of another program. Without a format it is recognised from the content.

    Raises InvalidInput.
    """
    options = options or Options()
    return import_content(read_content(path, format_name), options)


def import_content(content: Content, options: Options) -> Imported:
    form = FORMATS[content.format]
    _refuse_foreign_options(content.format, options)
    draft = Draft(content.source_name, content.format, Path(content.source_name).stem)
    import_module(f"hocket.interop.networks.{form.module}").read(content, draft, options)
    _choose_hosts(draft, options)
    if not draft.hosts:
        raise InvalidInput(f"{draft.source_name}: it has no host", f"import a file that names hosts: {form.what}")
    fill(draft, options, form.defaults)
    if options.ranks is not None:
        for host in draft.hosts.values():
            host.ranks = options.ranks
    routing = _routing(draft, options)
    network = build(draft, routing, 1 if options.seed is None else options.seed)
    return Imported(
        network=network,
        toml="\n".join([*comments(draft), network.to_toml()]),
        format=content.format,
        hosts=len(draft.hosts),
        switches=len(draft.switches),
        cables=len(draft.cables),
        routing=routing,
        routes=len(draft.routes),
        assumed=draft.assumed,
        ignored=draft.ignored,
    )


def _refuse_foreign_options(name: str, options: Options) -> None:
    """An option that a format cannot use would be a silent no."""
    for option, formats in (("names", ["ibnetdiscover"]), ("ranks_on", ["hwloc"])):
        if getattr(options, option) is not None and name not in formats:
            raise InvalidInput(f"--{option.replace('_', '-')} is for {formats[0]} files; this one is of {name}")


def _choose_hosts(draft: Draft, options: Options) -> None:
    if options.hosts is None:
        return

    draft.keep_hosts(hosts_of(options.hosts))


def _routing(draft: Draft, options: Options) -> str | None:
    if draft.is_tree():
        for option in ("routing", "seed"):
            if getattr(options, option) is not None:
                draft.ignored.append(f"--{option}: the network is a tree, where there is one way")
        return None
    if options.seed is not None and options.routing == "shortest-path":
        raise InvalidInput("--seed belongs to --routing ecmp alone")
    if options.routing is not None:
        return options.routing
    if not FORMATS[draft.format].spreads:
        return "shortest-path"
    draft.assumed.append(
        "messages are spread over the shortest paths by a hash of their ends (ecmp), as the file does not say its "
        "routes: --routing shortest-path takes the first path always"
    )
    return "ecmp"
