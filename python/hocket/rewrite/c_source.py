# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""C and C++ files as libclang understands them, and the functions in them."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hocket.errors import Error, InvalidInput
from hocket.rewrite.libraries import clang
from hocket.rewrite.nesting import too_deep

CXX_SUFFIXES = (".cc", ".cpp", ".cxx")
SUFFIXES = (".c", *CXX_SUFFIXES)
Cursor = Any  # of libclang
_ERROR = 3  # severity
_SAME_MACROS = frozenset(b"__cplusplus __STDC_VERSION__ __linux__ __unix__ __x86_64__ __aarch64__ __FILE__".split())
#: Attributes that leave a function what its text says.
_HARMLESS = frozenset(
    b"noinline always_inline gnu_inline unused used nonnull nothrow leaf hot cold noreturn malloc format optimize"
    b" flatten warn_unused_result returns_nonnull aligned deprecated nodiscard maybe_unused target"
    b" no_instrument_function".split()
)
#: Of a function's tree: a few frames each are far from `deep_nesting`'s.
_MOST_LEVELS = 1000


@dataclass
class CSource:
    """A file, and the tree of its text after preprocessing."""

    path: Path
    text: bytes
    unit: Any  # of translation, in libclang

    @cached_property
    def lines(self) -> list[bytes]:
        """With their line ends."""
        return [bytes(line) for line in re.findall(rb"[^\n]*\n|[^\n]+$", self.text)]

    @cached_property
    def own_texts(self) -> list[bytes]:
        """Its text, and those of the headers that are not the system's."""
        declared = [one for one in self.unit.cursor.get_children() if not self.has(one) and not is_of_the_system(one)]
        headers = {str(one.location.file.name) for one in declared}
        return [self.text, *(Path(name).read_bytes() for name in sorted(headers))]

    @cached_property
    def compiler_macro(self) -> str:
        """A macro of the compiler on which the text depends, and which libclang may define differently; empty: none."""
        defined = {name for text in self.own_texts for name in re.findall(rb"#\s*define\s+(\w+)", text)}
        for text in self.own_texts:
            for condition in re.findall(rb"(?m)^\s*#\s*(?:el)?if(.*)", text.replace(b"\\\n", b" ")):
                asked = re.sub(rb"^n?def\s+__GNUC__|defined\s*\(?\s*__GNUC__\s*\)?|//.*|/\*.*?\*/", b"", condition)
                for name in re.findall(rb"\b(?:__\w+|_OPENMP|_OPENACC)\b", asked):
                    if name not in defined and name not in _SAME_MACROS:
                        return str(name.decode())
        return ""

    def spelled(self, cursor: Cursor) -> bytes:
        """The text of a word where it is written, which may be a macro or a header."""
        extent = cursor.extent
        file = extent.start.file
        text = self.text if file is None or file.name == str(self.path) else Path(file.name).read_bytes()
        return text[extent.start.offset : extent.end.offset]

    def of(self, cursor: Cursor) -> str:
        """Its text."""
        extent = cursor.extent
        return self.text[extent.start.offset : extent.end.offset].decode(errors="replace")

    def has(self, cursor: Cursor) -> bool:
        """Whether it stands in this file itself."""
        return cursor.location.file is not None and cursor.location.file.name == str(self.path)


@dataclass
class CFunction:
    """With its body, and the statements that state something: comments such as `// hocket restrict a b`."""

    cursor: Cursor
    source: CSource
    body: Cursor
    parameters: list[Cursor] = field(default_factory=list)

    @property
    def name(self) -> str:
        return str(self.cursor.spelling)

    @property
    def is_cxx(self) -> bool:
        return self.source.path.suffix in CXX_SUFFIXES

    @cached_property
    def text(self) -> bytes:
        return self.source.text[self.cursor.extent.start.offset : self.cursor.extent.end.offset]

    @cached_property
    def may_be_replaced(self) -> bool:
        """Whether another definition may take its place when the program is linked or loaded."""
        # Attributes of earlier declarations too, which may stand in headers. A macro hides what it makes.
        attributes = [one for one in self.cursor.get_children() if kind(one) == "UNEXPOSED_ATTR"]
        words = [re.split(rb"[^\w]", self.source.spelled(one))[0].strip(b"_") for one in attributes]
        pragma = re.compile(rb"pragma\s+weak\s+" + re.escape(self.name.encode()) + rb"\b")
        return not _HARMLESS.issuperset(words) or any(map(pragma.search, self.source.own_texts))

    @cached_property
    def includes_text(self) -> bool:
        """Whether a part of the body stands in another file."""
        files = {one.location.file.name for one in c_walk(self.body) if one.location.file is not None}
        return not files <= {str(self.source.path)}

    @cached_property
    def directive_line(self) -> int:
        """The first line of the body with a directive of the preprocessor; 0: none."""
        first, last = self.cursor.extent.start.line, self.cursor.extent.end.line
        lines = self.source.lines[first - 1 : last]
        marks = (b"#", b"??=", b"%:")
        return next(
            (first + i for i, line in enumerate(lines) if line.lstrip().startswith(marks) or b"_Pragma" in line), 0
        )


def read_c_source(path: Path, text: bytes | None = None, options: Sequence[str] = ()) -> CSource:
    """Raises InvalidInput for a file that cannot be read or compiled. `options`: of the compiler, such as -I."""
    if text is None:
        try:
            text = path.read_bytes()
        except OSError as error:
            raise InvalidInput(f"{path}: cannot be read: {error.strerror}", "name a C or C++ source file") from None
    if b"\0" in text or b"\r" in text or text.startswith(b"\xef\xbb\xbf"):
        raise InvalidInput(
            f"{path}: is not a text file, or has other line ends than Unix, or a byte order mark",
            "name a C or C++ source file",
        )
    try:
        content = text.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: byte {error.start} is not UTF-8", "save the file as UTF-8") from None
    standard = "-std=gnu17" if path.suffix == ".c" else "-std=gnu++17"
    language = "c" if path.suffix == ".c" else "c++"
    arguments = ["-x", language, standard, *_system_options(), *options]
    try:
        unit = clang().Index.create().parse(str(path), args=arguments, unsaved_files=[(str(path), content)])
    except clang().TranslationUnitLoadError:
        raise InvalidInput(f"{path}: libclang cannot read it", "check the options of --compile") from None
    for one in unit.diagnostics:
        if one.severity >= _ERROR:
            raise InvalidInput(
                f"{path}: line {one.location.line}: {one.spelling}", "compile it; --compile gives options such as -I"
            )
    source = CSource(path, text, unit)
    for function in functions_of(source):
        if _is_deeper(function.body, _MOST_LEVELS):
            raise too_deep(f"{path}: {function.name}")
    return source


def _is_deeper(cursor: Cursor, levels: int) -> bool:
    """An error of too many frames would be lost in libclang's callbacks."""
    level = [cursor]
    for _ in range(levels):
        level = [inner for one in level for inner in one.get_children()]
        if not level:
            return False
    return True


def _system_options() -> list[str]:
    """Headers of the compiler, which libclang's package lacks, and those of MPI."""
    found = []
    if (gcc := shutil.which("gcc")) is not None:
        done = subprocess.run([gcc, "-print-file-name=include"], capture_output=True, text=True, check=False)
        found += ["-isystem", done.stdout.strip()] if done.returncode == 0 else []
    return found


def mpi_options(compiler: str) -> list[str]:
    """Where `mpicc` finds mpi.h. Raises Error where there is no such compiler."""
    path = shutil.which(compiler)
    if path is None:
        raise Error(f"there is no {compiler}, which knows where mpi.h is", "install an MPI, or name it with --mpicc")
    for option in ("-show", "--showme"):
        done = subprocess.run([path, option], capture_output=True, text=True, check=False)
        words = shlex.split(done.stdout) if done.returncode == 0 else []
        if includes := [word for word in words if word.startswith("-I")]:
            return includes
    return []


def functions_of(source: CSource) -> Iterator[CFunction]:
    """Those defined in the file itself."""
    kinds = clang().CursorKind
    wanted = (kinds.FUNCTION_DECL, kinds.CXX_METHOD)
    stack = list(source.unit.cursor.get_children())[::-1]
    while stack:
        cursor = stack.pop()
        if not source.has(cursor):
            continue
        if cursor.kind in (kinds.NAMESPACE, kinds.LINKAGE_SPEC, kinds.UNEXPOSED_DECL):
            stack.extend(list(cursor.get_children())[::-1])
        elif cursor.kind in wanted and cursor.is_definition():
            parts = list(cursor.get_children())
            bodies = [one for one in parts if one.kind == kinds.COMPOUND_STMT]
            if bodies:
                parameters = [one for one in parts if one.kind == kinds.PARM_DECL]
                yield CFunction(cursor, source, bodies[-1], parameters)


def is_of_the_system(cursor: Cursor) -> bool:
    """Or of MPI, or built into the compiler."""
    file = cursor.location.file
    if file is None or cursor.location.is_in_system_header:
        return True
    path = Path(file.name)
    roots = ("/usr/include", "/usr/lib", "/usr/local/include")
    return (path.parent / "mpi.h").exists() or any(path.is_relative_to(one) for one in roots)


def outer_names(block: Cursor) -> frozenset[str]:
    """Names in a block that stand for what is declared outside of it."""
    first, last = block.extent.start.offset, block.extent.end.offset
    found = set()
    for one in c_walk(block):
        if kind(one) in ("DECL_REF_EXPR", "TYPE_REF") and (what := one.referenced) is not None:
            is_in_file = what.location.file is not None and what.location.file.name == block.location.file.name
            if not is_in_file or not first <= what.location.offset < last:
                found.add(str(what.spelling))
    return frozenset(found)


def around(body: Cursor, cursor: Cursor) -> list[Cursor]:
    """What is around a place in a body, the outer first. By the tree, as all that a macro makes has the same text."""
    start, end = cursor.extent.start.offset, cursor.extent.end.offset
    stack = [[body]]
    while stack:
        path = stack.pop()
        if path[-1] == cursor:
            return path[:-1]
        for one in path[-1].get_children():
            if one.extent.start.offset <= start and end <= one.extent.end.offset:
                stack.append([*path, one])
    return [body]


def c_walk(cursor: Cursor) -> Iterator[Cursor]:
    stack = [cursor]
    while stack:
        one = stack.pop()
        yield one
        stack.extend(list(one.get_children())[::-1])


def children_of(cursor: Cursor) -> list[Cursor]:
    return list(cursor.get_children())


def first_child(cursor: Cursor) -> Cursor:
    return next(iter(cursor.get_children()))


def kind(cursor: Cursor) -> str:
    return str(cursor.kind.name)


def operator_of(source: CSource, cursor: Cursor) -> str:
    """Of a binary or unary operation, as it stands in the file; empty where a macro makes it."""
    parts = list(cursor.get_children())
    start, end = cursor.extent.start.offset, cursor.extent.end.offset
    if len(parts) == 2:
        between = source.text[parts[0].extent.end.offset : parts[1].extent.start.offset]
        if not start <= parts[0].extent.end.offset <= parts[1].extent.start.offset <= end:
            return ""
    elif len(parts) == 1:
        inner = parts[0].extent
        if not start <= inner.start.offset <= inner.end.offset <= end:
            return ""
        between = source.text[start : inner.start.offset] + source.text[inner.end.offset : end]
    else:
        return ""
    text = re.sub(rb"/\*.*?\*/|//[^\n]*", b" ", between, flags=re.DOTALL)
    return text.decode(errors="replace").strip()
