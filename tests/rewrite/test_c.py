# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""C and C++: which calls are rewritten, which stay and why, and that every answer keeps its bits on real MPIs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hocket.errors import InvalidInput
from hocket.rewrite.c_rewriter import rewrite_c
from hocket.rewrite.c_source import mpi_options, read_c_source
from hocket.rewrite.outcomes import Rewritten
from hocket.rewrite.sites import Options
from mpis import MPIS

FOLDER = Path(__file__).resolve().parent / "c"
INCLUDES = mpi_options(str(MPIS[0].mpicc))


def rewritten(path: Path, text: bytes | None = None) -> Rewritten:
    return rewrite_c([read_c_source(path, text, INCLUDES)], Options(), INCLUDES)


def small(
    tmp_path: Path, body: str, parameters: str = "double *restrict a, double *restrict w", before: str = ""
) -> Rewritten:
    loop = "for (int i = 0; i < 9; i++) {\n    w[i] = w[i] + i;\n  }"
    text = body.replace("BCAST", "MPI_Bcast(a, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);").replace("LOOP", loop)
    main = "int main(void) {\n  double a[9], w[9];\n  f(a, w);\n  return 0;\n}\n"
    start = "#include <mpi.h>\n" + (f"{before}\n" if before else "")
    (tmp_path / "f.c").write_text(f"{start}void f({parameters}) {{\n{text}\n}}\n{main}")
    return rewritten(tmp_path / "f.c")


def test_the_windows_that_a_person_finds_are_found() -> None:
    path = FOLDER / "kernels.c"
    result = rewritten(path)
    lines = path.read_text().splitlines()
    listed = [number + 1 for number, line in enumerate(lines, 1) if line.strip() == "// window"]
    assert [one.line for one in result.outcomes if one.is_rewritten] == listed
    assert len(listed) == 8
    assert all(obligation.proof for one in result.outcomes for obligation in one.obligations)
    again = rewritten(path, result.new[path])
    assert again.new[path] == result.new[path]
    new = result.new[path].splitlines()
    assert [line for line in path.read_bytes().splitlines() if b"MPI_" not in line and line not in new] == []


@pytest.mark.parametrize("name", ["adversarial.c", "adversarial.cc", "traps.c", "traps.cc"])
def test_what_cannot_be_proved_stays(name: str) -> None:
    path = FOLDER / name
    result = rewritten(path)
    expected = {
        number + 1: found[1]
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (found := re.match(r"\s*// expect: (\S+)", line))
    }
    assert {one.line for one in result.outcomes} == set(expected)
    assert [one for one in result.outcomes if one.is_rewritten] == []
    assert result.new[path] == path.read_bytes()
    for one in result.outcomes:
        codes = [refusal.code for refusal in one.refusals]
        assert any(code.startswith(expected[one.line]) for code in codes), (one.line, one.refusals)


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    def added(terms: int) -> Rewritten:
        return small(tmp_path, f"  BCAST\n  LOOP\n  w[0] = {' + '.join(['w[0]'] * terms)};")

    assert added(900).outcomes[0].is_rewritten
    with pytest.raises(InvalidInput, match="f: expressions, blocks or calls are nested more deeply"):
        added(9000)


def test_statements_are_annotated(tmp_path: Path) -> None:
    plain = small(tmp_path, "  BCAST\n  LOOP", "double *a, double *w")
    assert [one.code for one in plain.outcomes[0].refusals] == ["pointer"]
    stated = small(tmp_path, "  // hocket restrict a\n  BCAST\n  LOOP", "double *a, double *w")
    (one,) = stated.outcomes
    assert one.is_rewritten
    assert any(part.proof == "stated by line 3" for part in one.obligations)
    new = stated.new[tmp_path / "f.c"].decode()
    assert new.index("// hocket restrict a") < new.index("MPI_Ibcast(a, 9,") < new.index("w[i] = w[i]")
    divided = small(tmp_path, "  if (w[0] > 0) {\n    // hocket uniform\n    BCAST\n    LOOP\n  }")
    assert any("stated by line 4" in part.proof for part in divided.outcomes[0].obligations)


@pytest.mark.parametrize(
    ("before", "is_the_same"),
    [
        ("int n = 3;", True),
        ("int n;\n  MPI_Comm_size(MPI_COMM_WORLD, &n);", True),
        ("int n;\n  MPI_Comm_rank(MPI_COMM_WORLD, &n);", False),
        ("int n = 3;\n  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);", True),
        ("int n = 3;\n  MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_SELF);", False),
        ("int n = w[0];", False),
        ("int n = 3;\n  if (w[0] > 0) n = 4;", False),
        ("int n = 3;\n  if (w[0] > 0) {\n    n++;\n  }", False),
        ("int n = 3;\n  int *p = &n;\n  *p = w[0];", False),
    ],
)
def test_a_loop_is_as_long_on_all_ranks(tmp_path: Path, before: str, is_the_same: bool) -> None:
    result = small(tmp_path, f"  {before}\n  for (int k = 0; k < n; k++) {{\n    BCAST\n    LOOP\n  }}")
    one = result.outcomes[-1]
    assert one.name == "MPI_Bcast"
    assert one.is_rewritten == is_the_same, one.refusals
    assert is_the_same or "divergence" in [refusal.code for refusal in one.refusals]


@pytest.mark.one_of_each_family  # versions do not differ in what these calls give
def test_every_answer_keeps_its_bits(mpi, hocket_cli, tmp_path: Path) -> None:
    (tmp_path / "kernels.c").write_bytes((FOLDER / "kernels.c").read_bytes())
    command = ["--verify", "--ranks", "2,3", "--json", "--", str(mpi.mpiexec), "-n", "3", "{}"]
    done = hocket_cli("rewrite", "kernels.c", *command)
    values = json.loads(done.stdout)
    assert [(one["ranks"], one["is_equal"]) for one in values["comparisons"]] == [(2, True), (3, True)], done.stdout
    assert sum(one["is_rewritten"] for one in values["calls"]) == 8


def test_wrong_input_ends_with_one_message(tmp_path: Path, hocket_cli) -> None:
    (tmp_path / "wrong.c").write_text("int main(void) { return x; }\n")
    (tmp_path / "a.f90").write_text("end\n")
    for arguments, message in (
        (["wrong.c"], "wrong.c: line 1: use of undeclared identifier 'x'"),
        (["missing.c"], "missing.c: cannot be read"),
        (["wrong.c", "a.f90"], "files of C and of Fortran cannot be rewritten together"),
        (["wrong.c", "--compile", "'"], "No closing quotation"),
        (["a.f90", "--compile", "-I. -O2"], "--compile '-O2': of Fortran's compiler -I FOLDER is understood"),
    ):
        done = hocket_cli("rewrite", *arguments)
        assert done.returncode == 2, done.stdout + done.stderr
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    program = (
        "import sys; sys.modules['clang.cindex'] = None; sys.argv = ['hocket', 'rewrite', 'a.c']; "
        "from hocket.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "hint: pip install 'hocket[rewrite-c]'" in done.stderr


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("void other(void);\nvoid g(void) {\n  other();\n}\n", "other, which is not among the files, may call f"),
        ('#include "g.h"\n', "f is named where it is not known to be called"),
        ("void (*p)(double *restrict, double *restrict);\nvoid g(void) {\n  p = f;\n}\n", "f is passed on in line"),
        ("#define CALL(x, y) f(x, y)\nvoid g(int *k) {\n  if (*k) CALL(0, 0);\n}\n", "the condition in line"),
    ],
)
def test_who_else_may_call_a_function_is_looked_for(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "g.h").write_text(
        "void f(double *restrict, double *restrict);\nstatic inline void h(int k) {\n  if (k) f(0, 0);\n}\n"
    )
    result = small(tmp_path, "  BCAST\n  LOOP")
    assert result.outcomes[0].is_rewritten
    source = (tmp_path / "f.c").read_text()
    prototype = "void f(double *restrict, double *restrict);\n"
    (tmp_path / "f.c").write_text(source.replace("void f(", prototype + text + "void f(", 1))
    (one,) = rewritten(tmp_path / "f.c").outcomes
    assert [refusal.code for refusal in one.refusals] == ["divergence"]
    assert reason in one.refusals[0].reason


@pytest.mark.parametrize(
    ("before", "between", "code"),
    [
        ("#define MPI_Bcast(a, n, t, r, c) MPI_Bcast(a, 2 * (n), t, r, c)\n", "", "unknown"),
        ("#include <setjmp.h>\nvoid g(jmp_buf e) {\n  longjmp(e, 1);\n}\n", "", "early-exit"),
        ("#include <sys/mman.h>\nvoid *g(void) {\n  return mmap(0, 9, 3, 1, 3, 0);\n}\n", "", "one-sided"),
        ("int MPI_Barrier(MPI_Comm c) {\n  return PMPI_Barrier(c);\n}\n", "", "unknown-call"),
        ("", "  static void *t[] = {&&y, &&z};\n  goto *t[a[0] > 0];\ny:\n  f(a, w);\nz:\n", "divergence"),
    ],
)
def test_what_a_whole_file_forbids(tmp_path: Path, before: str, between: str, code: str) -> None:
    small(tmp_path, "  BCAST\n  LOOP")
    source = (tmp_path / "f.c").read_text()
    source = source.replace("void f(", before + "void f(", 1).replace("  f(a, w);\n  return", between + "  return")
    (tmp_path / "f.c").write_text(source)
    assert (before or between) in source
    (one,) = rewritten(tmp_path / "f.c").outcomes
    assert code in [refusal.code for refusal in one.refusals]


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ("float b[7];", "sizeof(b) > 9 ? t : t"),
        ("MPI_OWN = (MPI_Datatype)(long)w[0];", "MPI_OWN"),
        ("n = (int)w[0];", "n < 0 || sizeof(double[n]) > 9 ? t : t"),
    ],
)
def test_a_start_stays_behind_what_its_arguments_need(tmp_path: Path, change: str, argument: str) -> None:
    (tmp_path / "own.h").write_text("extern MPI_Datatype MPI_OWN;\n")
    before = f"  MPI_Datatype t = MPI_BYTE;\n  int n = 3;\n  {change}\n  LOOP2"
    loop = "for (int i = 0; i < 9; i++) v[i] = i;"
    text = f"{before}\n  MPI_Bcast(a, 9, {argument}, 0, MPI_COMM_WORLD);\n  a[0] = w[0];".replace("LOOP2", loop)
    (tmp_path / "f.c").write_text(
        '#include <mpi.h>\n#include "own.h"\n'
        f"static void f(double *restrict a, double *restrict w, double *restrict v) {{\n{text}\n}}\n"
        "int main(void) {\n  double a[9], w[9], v[9];\n  f(a, w, v);\n  return 0;\n}\n"
    )
    result = rewritten(tmp_path / "f.c")
    assert [one.is_rewritten for one in result.outcomes] == [True], result.outcomes[0].refusals
    new = result.new[tmp_path / "f.c"].decode()
    assert new.index(change) < new.index("MPI_Ibcast") < new.index(loop) < new.index("MPI_Wait")


def test_a_member_that_is_an_operator_stays(tmp_path: Path) -> None:
    (tmp_path / "f.cc").write_text(
        "#include <mpi.h>\nstruct P {\n  double &operator[](int i);\n  double v[9];\n};\n"
        "double &P::operator[](int i) {\n"
        "  double a[9], w[9];\n  MPI_Bcast(a, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);\n"
        "  for (int k = 0; k < 9; k++) w[k] = k;\n  return v[i];\n}\n"
        "int main() {\n  P p;\n  return p[0] > 0;\n}\n"
    )
    (one,) = rewritten(tmp_path / "f.cc").outcomes
    assert [refusal.code for refusal in one.refusals] == ["divergence"]


def test_a_call_over_lines_with_backslashes_stays(tmp_path: Path) -> None:
    (one,) = small(tmp_path, "  MPI_Bcast(a, \\\n    9, MPI_DOUBLE, 0, MPI_COMM_WORLD);\n  LOOP").outcomes
    assert "layout" in [refusal.code for refusal in one.refusals]


def test_comments_stay(tmp_path: Path) -> None:
    new = small(tmp_path, "  // first\n  BCAST  // second\n  LOOP  // third").new[tmp_path / "f.c"].decode()
    assert "  // first\n  MPI_Request hocket_request;\n" in new
    assert "&hocket_request);  // second\n" in new
    assert "  }  // third\n" in new


def test_a_function_of_the_name_of_mpi_is_no_call_of_mpi(tmp_path: Path) -> None:
    (tmp_path / "f.cc").write_text(
        "#include <mpi.h>\nnamespace own {\nvoid MPI_Bcast(void *, int, MPI_Datatype, long, MPI_Comm);\n}\n"
        "int main() {\n  double a[9], w[9];\n  using own::MPI_Bcast;\n"
        "  MPI_Bcast(a, 9, MPI_DOUBLE, 0L, MPI_COMM_WORLD);\n  for (int i = 0; i < 9; i++) w[i] = i;\n}\n"
    )
    assert rewritten(tmp_path / "f.cc").outcomes == []


@pytest.mark.parametrize(("change", "is_the_same"), [("", True), ("  argv[1] = name;\n", False)])
def test_the_command_line_is_the_same_on_all_ranks(tmp_path: Path, change: str, is_the_same: bool) -> None:
    (tmp_path / "f.c").write_text(
        "#include <mpi.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {\n  double a[9], w[9];\n"
        f"  char name[9];\n  MPI_Get_processor_name(name, &argc);\n{change}  if (atoi(argv[1])) {{\n"
        "    MPI_Bcast(a, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);\n    for (int i = 0; i < 9; i++) w[i] = i;\n  }\n}\n"
    )
    (one,) = rewritten(tmp_path / "f.c").outcomes
    assert one.is_rewritten == is_the_same, one.refusals


@pytest.mark.parametrize(
    ("arguments", "code"), [("TWO, MPI_DOUBLE, 0", "layout"), ("a, ')' - ' ', MPI_DOUBLE, ',' - ','", "")]
)
def test_arguments_are_what_they_seem(tmp_path: Path, arguments: str, code: str) -> None:
    small(tmp_path, f"  MPI_Bcast({arguments}, MPI_COMM_SELF);\n  LOOP".replace("TWO", "a, 9"))
    source = (tmp_path / "f.c").read_text().replace("void f", "#define TWO a, 9\nvoid f", 1)
    (tmp_path / "f.c").write_text(source.replace("MPI_Bcast(a, 9,", "MPI_Bcast(TWO,") if code else source)
    result = rewritten(tmp_path / "f.c")
    assert [[refusal.code for refusal in one.refusals] for one in result.outcomes] == [[code] if code else []]
    assert code or f"MPI_Ibcast({arguments}, MPI_COMM_SELF, &" in result.new[tmp_path / "f.c"].decode()


@pytest.mark.parametrize(
    ("before", "body", "code"),
    [
        # The program's own operation, whose name C tells from MPI_MAX.
        ("extern MPI_Op mpi_max;", "MPI_Allreduce(a, w, 9, MPI_DOUBLE, mpi_max, MPI_COMM_WORLD);", "unknown-call"),
        # Another declaration, or the linker, may put another function in its place.
        ("void g(double *w) __attribute__((weak));\nvoid g(double *w) { w[0] = 1; }", "BCAST\n  g(w);", "unknown-call"),
        ("#pragma weak g\nvoid g(double *w) { w[0] = 1; }", "BCAST\n  g(w);", "unknown-call"),
        ("#define W __attribute__((weak))\nW void g(double *w) { w[0] = 1; }", "BCAST\n  g(w);", "unknown-call"),
        # A function of the program, not of the C library.
        (
            "double k;\ndouble cbrt(double x) { return x + k; }",
            "BCAST\n  k = a[0];\n  w[0] = cbrt(w[0]);",
            "dependence",
        ),
        ("#undef MPI_COMM_WORLD\n#define MPI_COMM_WORLD own\nextern MPI_Comm own;", "BCAST\n  LOOP", "preprocessor"),
        ("#ifdef __OPTIMIZE__\n#define N 3\n#endif", "BCAST\n  LOOP", "preprocessor"),
        # Calls that are no statements of a block are listed.
        ("", "if (w[0] > 0) BCAST", "layout"),
        ("", "int rc = BCAST\n  w[0] = rc;", "layout"),
    ],
)
def test_what_stands_before_the_function_is_looked_at(tmp_path: Path, before: str, body: str, code: str) -> None:
    result = small(tmp_path, body, before=before)
    assert [one.is_rewritten for one in result.outcomes] == [False]
    assert code in {refusal.code for refusal in result.outcomes[0].refusals}


def test_a_pointer_that_moves_is_not_the_only_one(tmp_path: Path) -> None:
    more = "  double *p = malloc(72);\n  p++;\n"
    (one,) = small(tmp_path, f"{more}  BCAST\n  LOOP", before="#include <stdlib.h>").outcomes
    assert one.is_rewritten
    sent = "  MPI_Bcast(p, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);\n  LOOP"
    (one,) = small(tmp_path, f"{more}{sent}", before="#include <stdlib.h>").outcomes
    assert "pointer" in [refusal.code for refusal in one.refusals]


def test_texts_keep_their_blanks(tmp_path: Path) -> None:
    call = 'MPI_Bcast(a, sizeof("step      size"), MPI_CHAR,   0, MPI_COMM_WORLD);'
    new = small(tmp_path, f"  {call}\n  LOOP").new[tmp_path / "f.c"].decode()
    assert 'MPI_Ibcast(a, sizeof("step      size"), MPI_CHAR, 0, MPI_COMM_WORLD' in new


def test_a_rank_that_is_one_collective_ahead_is_seen(tmp_path: Path) -> None:
    one = "  if (rank == 0) {\n    BCAST\n  }\n"
    other = "  if (rank > 0) {\n    BCAST\n  }\n"
    rank = "  int rank;\n  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
    results = [
        small(tmp_path, f"{rank}{before}  BCAST\n  LOOP\n{after}") for before, after in ((one, other), ("", other))
    ]
    assert [[call.is_rewritten for call in result.outcomes] for result in results] == [[False] * 3, [True, False]]
    # One communicator under another name.
    named = [one.replace("BCAST", "MPI_Bcast(a, 9, MPI_DOUBLE, 0, world);") for one in (one, other)]
    result = small(tmp_path, f"{rank}  MPI_Comm world = MPI_COMM_WORLD;\n{named[0]}  BCAST\n  LOOP\n{named[1]}")
    assert [call.is_rewritten for call in result.outcomes] == [False] * 3
    balanced = "  if (rank == 0) {\n    BCAST\n  } else {\n    BCAST\n  }\n"
    result = small(tmp_path, f"{rank}{balanced}  BCAST\n  LOOP\n{balanced}")
    assert [call.is_rewritten for call in result.outcomes] == [False, False, True, False, False]


def test_default_arguments_and_included_text_are_not_analysed(tmp_path: Path) -> None:
    path = tmp_path / "f.cc"
    path.write_text(
        "#include <mpi.h>\nstatic double factor = 1;\n"
        "static void scale(double *w, double f = factor) {\n  for (int i = 0; i < 9; i++) {\n    w[i] = f;\n  }\n}\n"
        "int main() {\n  double a[9], w[9];\n  int n = 0;\n"
        "  MPI_Bcast(a, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);\n  factor = a[0];\n  scale(w);\n  return n;\n}\n"
    )
    assert not rewritten(path).outcomes[0].is_rewritten
    (tmp_path / "call.inc").write_text("share(a, w);\n")
    path = tmp_path / "g.c"
    path.write_text(
        "#include <mpi.h>\nstatic void share(double *restrict a, double *restrict w) {\n"
        "  MPI_Bcast(a, 9, MPI_DOUBLE, 0, MPI_COMM_WORLD);\n  for (int i = 0; i < 9; i++) {\n    w[i] = i;\n  }\n}\n"
        "int main(void) {\n  double a[9], w[9];\n  int rank;\n  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
        '  if (rank == 0) {\n#include "call.inc"\n  }\n  return 0;\n}\n'
    )
    assert [one.code for one in rewritten(path).outcomes[0].refusals] == ["divergence"]
