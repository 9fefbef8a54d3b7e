# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Single rules of the rewriter, each on a few lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket.rewrite.rewriter import Outcome, rewrite
from hocket.rewrite.sites import Options
from hocket.rewrite.syntax import Source

ALL = "call MPI_Allreduce(a, b, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)"
WORK = "do i = 1, n\n  w(i) = w(i) + 1\nend do"


def module(body: str, use: str = "use mpi", declarations: str = "", more: str = "") -> str:
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"""module m
contains
  subroutine s(n, a, b, w)
    {use}
    implicit none
    integer, intent(in) :: n
    real(8) :: a(n), b(n), w(n)
    integer :: i, k, ierr
{declarations}
{lines}
  end subroutine
{more}end module
"""


def rewritten(text: str, options: Options | None = None) -> tuple[str, list[Outcome]]:
    path = Path("m.f90")
    result = rewrite([Source(path, text.encode())], options or Options())
    return result.new[path].decode(), result.outcomes


def codes(text: str, options: Options | None = None) -> set[str]:
    return {refusal.code for one in rewritten(text, options)[1] for refusal in one.refusals}


def test_the_wait_stands_directly_before_what_needs_the_message() -> None:
    new, _ = rewritten(module(f"{ALL}\n{WORK}\nw = b"))
    assert new.index("MPI_Iallreduce") < new.index("do i = 1, n") < new.index("MPI_Wait") < new.index("w = b")
    assert "    asynchronous :: a, b\n" in new


def test_independent_work_overtakes_what_needs_the_message() -> None:
    new, _ = rewritten(module(f"{ALL}\nk = int(b(1))\na(1) = 0\n{WORK}"))
    assert new.index("end do") < new.index("MPI_Wait") < new.index("k = int(b(1))") < new.index("a(1) = 0")


def test_annotations_state_what_cannot_be_proved() -> None:
    hidden = f"{ALL}\n!$hocket independent\ndo i = 1, n\n  w(i) = b(k)\nend do"
    assert codes(module(hidden.replace("!$hocket independent", "! nothing"))) == {"end", "dependence"}
    _, (outcome,) = rewritten(module(hidden))
    assert any(one.proof == "stated by line 11" for one in outcome.obligations)
    unknown = f"{ALL}\n!$hocket pure\ncall elsewhere(w, n)"
    assert "unknown-call" in codes(module(unknown.replace("!$hocket pure", "!")))
    _, (outcome,) = rewritten(module(unknown))
    assert any("line 12 is pure" in one.claim for one in outcome.obligations)
    assert codes(module(f"!$hocket keep\n{ALL}\n{WORK}")) == {"keep"}


def test_pure_does_not_hide_arguments() -> None:
    assert "dependence" in codes(module(f"{ALL}\n!$hocket pure\ncall elsewhere(b, n)"))

    first = "call MPI_Bcast(b(1), 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)"
    assert "dependence" in codes(module(f"{first}\n!$hocket pure\ncall elsewhere(b(2), n)"))  # from there on, or before


def test_arguments_of_external_procedures_need_the_users_trust() -> None:
    text = module(f"{ALL}\n{WORK}")
    external = text.removeprefix("module m\ncontains\n").removesuffix("end module\n")
    assert codes(external) == {"external"}
    new, (outcome,) = rewritten(external, Options(trusts_compiler=True))
    assert "asynchronous" not in new
    assert any(one.proof == "assumed, as --trust-compiler allows" for one in outcome.obligations)
    assert codes(text) == set()
    attribute = external.replace("integer :: i, k, ierr", "integer :: i, k, ierr\n    asynchronous :: a, b")
    assert codes(attribute) == set()  # its callers see an interface, or the program is wrong already


def test_clocks_are_crossed_only_if_the_user_accepts_that() -> None:
    body = f"{ALL}\nw(1) = MPI_Wtime()\ndo i = 2, n\n  w(i) = w(i) + 1\nend do"
    assert "clock" in codes(module(body))
    assert codes(module(body), Options(ignores_clocks=True)) == set()


def test_new_names_are_added_to_only() -> None:
    use = "use mpi_f08, only: MPI_Allreduce, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD"
    new, _ = rewritten(module(f"{ALL}\n{WORK}", use))
    assert f"{use}, MPI_Iallreduce, MPI_Wait, MPI_STATUS_IGNORE, MPI_Request\n" in new.replace(" &\n    ", " ")
    assert "type(MPI_Request) :: hocket_request\n" in new


def test_procedures_are_added_to_only_where_it_has_them() -> None:
    """MPICH's module mpi has no procedures with buffers of any type: they are called without an interface."""
    use = "use mpi, only: MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD"
    new, _ = rewritten(module(f"{ALL}\n{WORK}", use))
    assert f"{use}, MPI_STATUS_IGNORE\n" in new


def test_layout_and_spelling_are_kept() -> None:
    text = module(
        "CALL MPI_ALLREDUCE(a, b, &\n     n, MPI_DOUBLE_PRECISION, &  ! two\n     MPI_MAX, MPI_COMM_WORLD, ierr)\n"
        + WORK
    )
    assert codes(text) == {"layout"}  # a comment in the call
    new, _ = rewritten(text.replace("  ! two", "").replace("\n", "\r\n"))
    assert "CALL MPI_IALLREDUCE(a, b, &\r\n" in new
    assert "CALL MPI_WAIT(hocket_request, MPI_STATUS_IGNORE, ierr)\r\n" in new
    assert "\n" not in new.replace("\r\n", "")


def test_comments_behind_do_and_then_stay_there() -> None:
    new, _ = rewritten(module(f"do k = 1, 3  ! steps\n  ! first\n  w = 1\n  {ALL}\nend do  ! done"))
    assert new.count("! steps") == new.count("! first") == new.count("! done") == 1
    assert new.index("! steps") < new.index("MPI_Iallreduce") < new.index("! first") < new.index("MPI_Wait")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("if (k > 0) b(1) = 1\nw = b", "dependence"),
        ("w = [(b(i), i = 1, n)]", "dependence"),
        ("where (b > 0) w = 1", "dependence"),
        ("select case (k)\ncase (1)\n  w = b\ncase default\n  w = 1\nend select", "dependence"),
        ("w(1:2) = b(size(a))", "dependence"),
        ("read (*, *, end=10) k\nw = 1\n10 continue", "io"),
        ("do concurrent (i = 1:n)\n  w(i) = 1\nend do", "unknown"),
        ("critical\n  w = 1\nend critical", "unknown"),
        ("call random_number(w)", "unknown-call"),
        ("w = w .plus. a", "unknown-call"),
    ],
)
def test_what_follows_forbids_the_rewrite(body: str, code: str) -> None:
    assert code in codes(module(f"{ALL}\n{body}"))


def test_a_scalar_that_is_read_after_the_loop_keeps_its_order() -> None:
    first = "do i = 1, n\n  k = i\n  w(i) = b(i) + k\nend do"
    second = "do i = 1, n\n  k = 2 * i\n  v(i) = k\nend do"
    declarations = "    real(8) :: v(n)"
    assert codes(module(f"{ALL}\n{first}\n{second}", declarations=declarations)) == set()
    read_behind = module(f"{ALL}\n{first}\n{second}\nw(1) = k", declarations=declarations)
    assert codes(read_behind, Options(makes_parts=False)) == {"end", "dependence"}


def test_the_loop_variable_has_its_value_after_a_split_loop() -> None:
    body = "call MPI_Bcast(b(1), 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)\n"
    new, _ = rewritten(module(body + "do i = 1, n\n  w(i) = b(i)\nend do\na(1) = i"))
    assert "do i = 2, n" in new
    assert "    i = max(1, n + 1)\n" in new
    new, _ = rewritten(module(body + "do i = 1, n\n  w(i) = b(i)\nend do"))
    assert "i = max" not in new


def test_a_procedure_of_another_file_is_looked_into() -> None:
    other = """module o
  real(8) :: kept(9)
contains
  subroutine touch(x)
    real(8) :: x(:)
    x = kept
  end subroutine
end module
"""
    text = module(f"{ALL}\ncall touch(w)", "use mpi\n    use o")
    assert "unknown-call" in codes(text)
    result = rewrite([Source(Path("o.f90"), other.encode()), Source(Path("m.f90"), text.encode())])
    assert [one.is_rewritten for one in result.outcomes] == [True]
    shared = text.replace("MPI_Allreduce(a, b, n,", "MPI_Allreduce(a, kept, 9,")
    result = rewrite([Source(Path("o.f90"), other.encode()), Source(Path("m.f90"), shared.encode())])
    assert "dependence" in {one.code for one in result.outcomes[0].refusals}


def test_the_wait_for_a_call_in_a_branch_goes_behind_the_branch() -> None:
    receive = "call MPI_Recv(b, n, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, {}, ierr)"
    body = f"if (k > 0) then\n  {receive.format('MPI_STATUS_IGNORE')}\nend if\n{WORK}\na = b"
    new, (outcome,) = rewritten(module(body))
    places = ["hocket_request = MPI_REQUEST_NULL", "if (k > 0)", "MPI_Irecv", "end if", "do i", "MPI_Wait", "a = b"]
    assert [new.index(place) for place in places] == sorted(new.index(place) for place in places)
    assert any("waits for nothing" in one.claim for one in outcome.obligations)
    # The status of a receive that is not carried out would change.
    own = body.replace("MPI_STATUS_IGNORE", "status")
    assert "end" in codes(module(own, declarations="    integer :: status(MPI_STATUS_SIZE)"))
    assert "end" in codes(module(body.replace("end if", "  b(1) = 0\nend if")))
    assert "end" in codes(module(body.replace(WORK, "w = b")))


@pytest.mark.parametrize("bounds", ["1, k", "1, min(n, k)", "1, size(v(1:k))", "i, n", "1, i"])
def test_a_loop_that_changes_its_bounds_stays_whole(bounds: str) -> None:
    """Fortran computes the bounds once; a loop in two parts would compute them twice."""
    first = "k = n; i = 5\ncall MPI_Bcast(b(1), 1, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)"
    fission = f"{first}\ndo i = {bounds}\n  v(i) = i\n  k = 3\n  w(i) = b(1)\nend do"
    split = f"{first}\ndo i = {bounds}\n  k = 3\n  w(i) = b(i)\nend do"
    for body in (fission, split):
        new, _ = rewritten(module(body, declarations="    real(8) :: v(n)"))
        assert new.count(f"do i = {bounds}") == new.count("do i") == 1


def test_ranks_that_take_no_part_any_more_harm_nobody() -> None:
    rank = "call MPI_Comm_rank(MPI_COMM_WORLD, k, ierr)"
    assert codes(module(f"{rank}\nif (k > 3) stop\n{ALL}\n{WORK}")) == set()
    # All that have the communicator go on; those that return from a call for all ranks may meet it elsewhere.
    some = ALL.replace("MPI_COMM_WORLD", "comm")
    guard = "if (comm == MPI_COMM_NULL) return"
    assert codes(module(f"{rank}\n{guard}\n{some}\n{WORK}", declarations="    integer :: comm")) == set()
    assert codes(module(f"{rank}\n{guard}\n{ALL}\n{WORK}", declarations="    integer :: comm")) == {"divergence"}
    assert codes(module(f"{rank}\nif (k > 3) return\n{ALL}\n{WORK}")) == {"divergence"}
    assert codes(module(f"{rank}\nif (k == 0) then\n  {ALL}\n  {WORK}\nend if")) == {"divergence"}
    assert (
        codes(module(f"call MPI_Comm_size(MPI_COMM_WORLD, k, ierr)\nif (k > 1) then\n  {ALL}\n  {WORK}\nend if"))
        == set()
    )


def test_what_one_rank_reads_is_the_same_on_all_once_it_is_broadcast() -> None:
    read = "call MPI_Comm_rank(MPI_COMM_WORLD, i, ierr)\nif (i == 0) read (*, *) k\n"
    branch = f"if (k > 1) then\n  {ALL}\n  {WORK}\nend if"
    assert codes(module(read + branch)) == {"divergence"}
    broadcast = "call MPI_Bcast(k, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)\n"
    _, outcomes = rewritten(module(read + broadcast + branch))
    assert [one.is_rewritten for one in outcomes] == [False, True]


def test_the_command_line_is_the_same_on_all_ranks() -> None:
    word = "call get_command_argument(1, word)\nread (word, *) k\n"
    branch = f"if (k > 1) then\n  {ALL}\n  {WORK}\nend if"
    assert codes(module(word + branch, declarations="    character(len=9) :: word")) == set()
    own = "call MPI_Comm_rank(MPI_COMM_WORLD, i, ierr)\nword = char(48 + i)\nread (word, *) k\n"
    assert codes(module(own + branch, declarations="    character(len=9) :: word")) == {"divergence"}


def test_a_branch_that_may_differ_can_be_declared_uniform() -> None:
    body = "call MPI_Comm_rank(MPI_COMM_WORLD, k, ierr)\nif (k < 9) then\n  !$hocket uniform\n  {}\n  {}\nend if"
    _, (outcome,) = rewritten(module(body.format(ALL, WORK.replace("\n", "\n  "))))
    assert any(one.claim == "all ranks run this call" for one in outcome.obligations)


HALVED = """module m
  use mpi
  implicit none
contains
  subroutine spread(x, n)
    integer, intent(in) :: n
    real(8), intent({}) :: x(n)
    integer :: ierr
    call MPI_Bcast(x, n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
  end subroutine
  subroutine announce()
    integer :: ierr
    call MPI_Ssend(shared, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, ierr)
  end subroutine
  subroutine s(n, a, b, w)
    integer, intent(in) :: n
    real(8) :: a(n), b(n), w(n)
{}
  end subroutine
end module
"""


def test_a_procedure_is_divided_once_for_all_its_callers() -> None:
    body = (
        "    call spread(a, n)\n    w = 2 * w\n    a(1) = w(1)\n    call spread(b, n=n)\n    w = 3 * w\n    b(1) = w(1)"
    )
    new, outcomes = rewritten(HALVED.replace("implicit none", "integer :: shared").format("out", body))
    assert [one.is_rewritten for one in outcomes if one.procedure == "s"] == [True, True]
    assert new.count("subroutine spread_start(x, n, hocket_request)") == new.count("subroutine spread_finish(") == 1
    assert new.count("subroutine spread(x, n)") == 1  # for callers elsewhere
    assert "n=n, hocket_request=" in new
    assert new.count("intent(out)") == 1  # a half would lose what the other has received
    again, _ = rewritten(new)
    assert again == new


def test_a_procedure_without_arguments_is_divided() -> None:
    body = "    shared = 2\n    call announce()\n    w = 2 * w"
    new, _ = rewritten(HALVED.replace("implicit none", "integer :: shared").format("inout", body))
    assert "subroutine announce_start(hocket_request)\n" in new
    assert new.index("call announce_start(hocket_request") < new.index("w = 2") < new.index("call announce_finish(")


def test_a_procedure_with_a_name_for_c_is_not_divided() -> None:
    text = HALVED.format("inout", "    call spread(a, 3)\n    w = 2 * w\n    a(1) = w(1)")
    assert "subroutine spread_start(" in rewritten(text)[0]
    assert (
        "subroutine spread_start(" not in rewritten(text.replace("spread(x, n)", 'spread(x, n) bind(c, name="s")'))[0]
    )


def test_arguments_with_a_function_are_not_computed_twice() -> None:
    function = "  integer function number()\n    shared = shared + 1\n    number = shared\n  end function\nend module"
    for argument, halves in (("number()", 0), ("min(n, 3)", 1)):
        text = HALVED.format("inout", f"    call spread(a, {argument})\n    w = 2 * w\n    a(1) = w(1)")
        text = text.replace("implicit none", "integer :: shared").replace("end module", function)
        assert rewritten(text)[0].count("subroutine spread_start(") == halves


@pytest.mark.parametrize(
    "call", ["co_sum(w)", "co_max(w(1:2), result_image=1)", "co_broadcast(a=w, source_image=1, stat=k)"]
)
def test_collectives_of_coarrays_read_write_and_keep_their_order(call: str) -> None:
    assert codes(module(f"{ALL}\ncall {call}\n{WORK}")) == {"end", "order"}
    # In a procedure too. Nothing that touches its argument crosses it; what does not may stay beside the MPI call.
    shared = "  subroutine images(x)\n    real(8) :: x(:)\n    call co_sum(x)\n  end subroutine\n"
    assert codes(module(f"{ALL}\ncall images(w)\n{WORK}", more=shared)) == {"end", "order"}
    assert codes(module(f"{ALL}\n{WORK}\ncall {call}\nw = b")) == set()
    new, _ = rewritten(module(f"{ALL}\n{WORK}\ncall {call}\nw = b"))
    assert new.index("end do") < new.index("MPI_Wait") < new.index("call co_")


def test_an_unknown_collective_of_coarrays_is_refused() -> None:
    assert "communication" in codes(module(f"{ALL}\ncall co_sum()\n{WORK}"))


def test_an_exchange_announces_its_message_before_it_receives() -> None:
    """Received first, the answer to the other rank's message stands behind own data at times: docs/notebook."""
    swap = "call MPI_Sendrecv(b, n, MPI_REAL8, k, 1, a, n, MPI_REAL8, k, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)"
    new, _ = rewritten(module(f"{swap}\n{WORK}"))
    assert (
        0 < new.index("call MPI_Isend(b") < new.index("call MPI_Irecv(a") < new.index("end do") < new.index("MPI_Wait(")
    )


def test_the_status_of_an_exchange_is_that_of_its_receive() -> None:
    swap = "call MPI_Sendrecv(b, n, MPI_REAL8, k, 1, a, n, MPI_REAL8, 3, 1, MPI_COMM_WORLD, st, ierr)"
    new, _ = rewritten(module(f"{swap}\n{WORK}\nk = st(MPI_TAG)", declarations="    integer :: st(MPI_STATUS_SIZE)"))
    lines = new.splitlines()
    (receive,) = [line for line in lines if "MPI_Irecv(a" in line]
    request = receive.split(", ")[-2]
    assert f"    call MPI_Wait({request}, st, ierr)" in lines


def test_elements_that_are_passed_are_within_bounds() -> None:
    """So n is not negative here: u(0) and u(n + 1) are two elements, and one is received while the other is."""
    last = "MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr"
    swap = f"call MPI_Sendrecv(u({{}}), 1, MPI_REAL8, k, 1, u({{}}), 1, MPI_REAL8, k, 1, {last})"
    work = "do i = 1, n\n  w(i) = u(i-1) + u(i+1)\nend do"
    both = f"{swap.format('n', '0')}\n{swap.format('1', 'n+1')}\n{work}"
    for bounds, both_at_once in (("0:n+1", True), ("k:n+1", False)):
        new, outcomes = rewritten(module(both, declarations=f"    real(8) :: u({bounds})"))
        assert [one.is_rewritten for one in outcomes] == [True, True]
        assert (new.index("MPI_Irecv(u(n+1)") < new.index("MPI_Wait")) == both_at_once
