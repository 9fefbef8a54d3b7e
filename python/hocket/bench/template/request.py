# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What `hocket bench new` asks for: a folder with a pattern that can be measured at once, to be changed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hocket.errors import InvalidInput
from hocket.io.files import write_whole
from hocket.mpi.build_inputs import source_folder

FORMAT = "hocket.bench-template/1"
LANGUAGES = {"c": "c", "c++": "cpp", "fortran": "f90", "steps": "toml"}  #: with the ends of the files' names
_TEMPLATE = "ring"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
_LICENSE = re.compile(r"(?m)^\W*SPDX-\S+: [^\n]*\n")
# How the library is made; -DOMPI_SKIP_MPICXX leaves out what MPI-3 has taken out of C++.
_MAKE = {
    "c": ("MPICC", "mpicc", "-O2 -Wall -fPIC -shared"),
    "c++": ("MPICXX", "mpicxx", "-O2 -Wall -std=c++17 -DOMPI_SKIP_MPICXX -fPIC -shared"),
    "fortran": ("MPIFORT", "mpifort", "-O2 -Wall -fPIC -shared"),
}


@dataclass(frozen=True)
class TemplateRequest:
    name: str  #: of the pattern, and of the folder
    language: str = "c"  #: a key of LANGUAGES
    folder: Path = Path()  #: where the new folder is made


@dataclass(frozen=True)
class TemplateResult:
    folder: Path
    files: tuple[str, ...]
    commands: tuple[str, ...]  #: that build it and measure it

    @property
    def values(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "folder": str(self.folder),
            "files": list(self.files),
            "commands": list(self.commands),
        }


def run(request: TemplateRequest) -> TemplateResult:
    """Writes the folder. Raises InvalidInput."""
    if not _NAME.fullmatch(request.name):
        raise InvalidInput(
            f"{request.name!r} is no name of a pattern; accepted: a letter, then letters, digits and _, all small",
            "for instance halo_exchange",
        )
    folder = request.folder / request.name
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise InvalidInput(f"{folder}: is there already", "give another name or --output") from None
    except OSError as error:
        raise InvalidInput(f"{folder}: cannot be made: {error.strerror}", "give another --output") from None
    contents = _contents(request.name, request.language)
    for name, text in contents.items():
        write_whole(folder / name, text)
    commands = [f"hocket bench run {folder}/{request.name}.toml --quick -- mpiexec -n 2"]
    if "Makefile" in contents:
        commands.insert(0, f"make -C {folder}")
    return TemplateResult(folder, tuple(sorted(contents)), tuple(commands))


def _contents(name: str, language: str) -> dict[str, str]:
    suite = _template("ring.toml")
    if language == "steps":
        return {f"{name}.toml": _named(suite, name)}
    source = f"{name}.{LANGUAGES[language]}"
    head, tail = suite[suite.index("format = ") : suite.index("[[patterns]]")], suite[suite.index("[quick]") :]
    selected = '[[plugins]]\nfile = "libring.so"\n\n[[items]]\nuse = "plugin.ring"\n\n'
    contents = {
        source: _named(_template(f"ring.{LANGUAGES[language]}"), name),
        f"{name}.toml": _named(head + selected + tail, name),
        "Makefile": _makefile(name, source, language),
    }
    if language != "fortran":  # whose source holds the interface itself
        contents["hocket_bench.h"] = (source_folder() / "mpi/include/hocket_bench.h").read_text(encoding="utf-8")
    return contents


def _template(name: str) -> str:
    """Without the licence of this project: what is made of it belongs to whoever makes it."""
    text = (source_folder() / "mpi/bench/templates" / name).read_text(encoding="utf-8")
    return _LICENSE.sub("", text).lstrip("\n")


def _named(text: str, name: str) -> str:
    # In Fortran the text has a length.
    text = text.replace('len=5), target :: name = "ring"', f'len={len(name) + 1}), target :: name = "ring"')
    return re.sub(rf'"(lib|plugin\.|pattern\.)?{_TEMPLATE}(\.so)?"', rf'"\g<1>{name}\g<2>"', text)


def _makefile(name: str, source: str, language: str) -> str:
    variable, compiler, flags = _MAKE[language]
    header = "" if language == "fortran" else " hocket_bench.h"
    return (
        f"# {variable} is that of the MPI whose mpiexec runs it.\n{variable} ?= {compiler}\n\n"
        f"lib{name}.so: {source}{header}\n\t$({variable}) {flags} -o $@ {source}\n"
    )
