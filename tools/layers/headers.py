# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Headers that do not compile alone."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from layers.sources import HEADERS, Tree
from layers.units import all_includes


def check_headers(tree: Tree) -> list[str]:
    """Compiles headers alone: all but those that a source file includes first, which the build compiles so, that of the
    MPI parts too. Those of the MPI parts need an MPI ($MPICC or mpicc), those of the bindings nanobind in this Python;
    without, they are left out. What has compiled once with the same texts and flags is not compiled again:
    build/headers remembers it."""
    with tempfile.TemporaryDirectory() as generated:
        return _problems(tree, Path(generated))


def _problems(tree: Tree, generated: Path) -> list[str]:
    root = tree.root
    flags = [f"-I{root / folder}" for folder in ("src", "mpi", "mpi/include")]
    flags += ["-isystem", str(root / "third_party/nlohmann_json"), "-isystem", str(root / "third_party/tomlplusplus")]
    warnings = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
    binding_flags = _binding_flags()
    mpi_flags = _mpi_flags(os.environ.get("MPICC", "mpicc"))
    if mpi_flags is not None and (root / "mpi/pmpi").exists():
        mpi_flags += _generated_wrappers(root / "mpi/pmpi/generate.py", mpi_flags, generated)

    compiler = subprocess.run(["c++", "--version"], capture_output=True, text=True, check=True).stdout
    wrappers = "".join(path.read_text() for path in sorted(generated.rglob("*")) if path.is_file())
    remembered = root / "build/headers"

    def compile_alone(path: Path) -> str:
        in_mpi = tree.module(path)[0] == "mpi"
        in_bindings = tree.module(path)[0] == "bindings"
        if (in_mpi and mpi_flags is None) or (in_bindings and not binding_flags):
            return ""
        # A .h file is plain C, a .hpp file C++. Included rather than compiled, so that #pragma once is no warning.
        language = ["cc", "-std=gnu11", "-x", "c"] if path.suffix == ".h" else ["c++", "-std=c++20", "-x", "c++"]
        command = [
            *language,
            "-fsyntax-only",
            *warnings,
            *flags,
            *((mpi_flags or []) if in_mpi else []),
            *(binding_flags if in_bindings else []),
            "-",
        ]
        asked = [compiler, *(word for word in command if str(generated) not in word), wrappers if in_mpi else ""]
        asked += [tree.texts[one] for one in sorted({path, *all_includes(tree, path)}) if one in tree.texts]
        good = remembered / hashlib.sha256("\0".join([tree.name(path), *asked]).encode()).hexdigest()
        if good.exists():
            return ""
        result = subprocess.run(command, input=f'#include "{path}"\n', capture_output=True, text=True, check=False)
        if result.returncode == 0:
            if remembered.parent.is_dir():
                remembered.mkdir(exist_ok=True)
                good.touch()
            return ""
        line = next((line for line in result.stderr.splitlines() if "error" in line), result.stderr[:200])
        return f"{tree.name(path)}: does not compile alone: {line}"

    compiled = {tree.first_include(path) for path in tree.texts if path.suffix not in HEADERS}
    headers = [path for path in tree.texts if path.suffix in HEADERS and path not in compiled]
    with ThreadPoolExecutor(max_workers=len(os.sched_getaffinity(0))) as pool:
        return [problem for problem in pool.map(compile_alone, headers) if problem]


def _mpi_flags(mpicc: str) -> list[str] | None:
    try:
        shown = subprocess.run([mpicc, "-show"], capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return None
    return [word for flag in shown if flag.startswith("-I") for word in ("-isystem", flag[2:])]


def _generated_wrappers(generator: Path, mpi_flags: list[str], into: Path) -> list[str]:
    """Flags that find what mpi/pmpi generates, as its CMakeLists.txt does."""
    preprocess = ["cc", *mpi_flags, "-E", "-P", "-x", "c", "-"]
    header = subprocess.run(preprocess, input="#include <mpi.h>\n", capture_output=True, text=True, check=True)
    preprocessed, folder = into / "mpi.h.i", into / "pmpi"
    preprocessed.write_text(header.stdout)
    folder.mkdir()
    subprocess.run([sys.executable, "-B", str(generator), str(preprocessed), str(folder)], check=True)
    return [f"-I{into}"]


def _binding_flags() -> list[str]:
    try:
        import nanobind
    except ImportError:
        return []
    return ["-isystem", nanobind.include_dir(), "-isystem", sysconfig.get_path("include")]
