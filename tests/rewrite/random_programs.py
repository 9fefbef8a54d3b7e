# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Random subroutines with loops, sections, branches and communication, and a program that runs all of them.

Every subscript is within bounds: vectors have the elements -2 to n + 3, matrices 0 to n + 1 in each dimension.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

VECTORS = ("a", "b", "c", "d", "e")
MATRICES = ("p", "q")
SIZE = 9  # n; a multiple of three, the number of ranks that alltoall and allgather are made for


@dataclass
class Generator:
    random: random.Random
    lines: list[str] = field(default_factory=list)
    indent: str = "  "
    loops: list[str] = field(default_factory=list)

    def subroutine(self, name: str) -> list[str]:
        self.lines = [
            f"subroutine {name}(n, a, b, c, d, e, p, q, seed)",
            "  implicit none",
            "  include 'mpif.h'",
            "  integer, intent(in) :: n, seed",
            "  real(8), intent(inout) :: a(-2:n+3), b(-2:n+3), c(-2:n+3), d(-2:n+3), e(-2:n+3)",
            "  real(8), intent(inout) :: p(0:n+1,0:n+1), q(0:n+1,0:n+1)",
            "  real(8) :: s, t, w, g(n,n), h(n,n), u(n), v(n), x(0:n)",
            "  integer :: i, j, k, l, m, ierr",
            "  character(80) :: text",
            "  s = seed; t = 1; w = 2",
            "  m = n / 3",
            "  l = n; i = 1; j = 1; k = 1",
            "  g = seed",
            "  h = 2",
        ]
        self.statements(self.random.randint(4, 9), 0)
        if self.random.random() < 0.3:
            self.hidden_read()
        self.lines += [
            "  a(0) = a(0) + s",
            "  b(0) = b(0) + t + w",
            "  c(0) = c(0) + sum(g*h)",
            f"end subroutine {name}",
            "",
        ]
        return self.lines

    def put(self, text: str) -> None:
        self.lines.append(self.indent + text)

    def statements(self, count: int, depth: int) -> None:
        for _ in range(count):
            choice = self.random.random()
            if choice < 0.22 and depth < 2:
                self.communication()
            elif choice < 0.26 and depth < 2:
                self.halo()
            elif choice < 0.3 and depth < 2:
                self.through_the_message()
            elif choice < 0.36 and depth == 0:
                self.stages()
            elif choice < 0.6:
                self.loop()
            elif choice < 0.68 and depth < 2:
                self.outer_loop(depth)
            elif choice < 0.74 and depth < 2:
                self.branch(depth)
            elif choice < 0.85:
                self.section()
            elif choice < 0.93:
                self.put(f"{self.pick('stw')} = {self.scalar_value()}")
            elif choice < 0.95:
                self.hidden_read()
            elif choice < 0.97:
                self.put(f"call mix({self.pick(VECTORS)}, {self.pick('stw')}, n)")
            else:
                self.put(f"! {self.pick(['a note', 'another'])}")

    def hidden_read(self) -> None:
        """Of a scalar, in a statement that is not analysed."""
        name, target = self.pick("stwwijk"), f"{self.pick(VECTORS)}({self.pick(['0', '1', 'n'])})"
        if self.random.random() < 0.5:
            self.put(f"write (text, *) {name}")
            self.put(f"read (text, *) {target}")
        else:
            self.put(f"associate (one => {name})")
            self.put(f"  {target} = one")
            self.put("end associate")

    def pick(self, values: object) -> str:
        return str(self.random.choice(list(values)))  # type: ignore[call-overload]

    # Expressions

    def subscript(self, loops: list[str]) -> str:
        """From -1 to n + 2 where a loop's variable is 1 to n."""
        if loops and self.random.random() < 0.8:
            i = self.pick(loops)
            return self.pick([i, i, i, f"{i}-1", f"{i}+1", f"{i}+2", f"n+1-{i}", f"n-{i}"])
        return self.pick(["0", "1", "n", "n+1", "2", "m", "n-1"])

    def small(self, loops: list[str]) -> str:
        """From 0 to n + 1."""
        if loops and self.random.random() < 0.8:
            i = self.pick(loops)
            return self.pick([i, i, f"{i}-1", f"{i}+1", f"n+1-{i}"])
        return self.pick(["0", "1", "n", "n+1", "m"])

    def element(self, loops: list[str]) -> str:
        if self.random.random() < 0.7:
            return f"{self.pick(VECTORS)}({self.subscript(loops)})"
        return f"{self.pick(MATRICES)}({self.small(loops)},{self.small(loops)})"

    def value(self, loops: list[str]) -> str:
        terms = [self.element(loops) for _ in range(self.random.randint(1, 2))]
        if self.random.random() < 0.25:
            terms.append(self.pick("stw"))
        return f"0.5d0*({' + '.join(terms)}) + {self.random.randint(1, 3)}"

    def scalar_value(self) -> str:
        return f"0.25d0*({self.element([])} + {self.pick('stw')})"

    # Statements

    def loop(self) -> None:
        variable = self.pick("ij")
        lower, upper = self.pick(["1", "1", "1", "2", "m"]), self.pick(["n", "n", "n", "n-1", "m"])
        step = self.pick(["", "", "", "", ", 2"])
        changes_bound = self.random.random() < 0.1
        if changes_bound:
            self.put("l = n - 1")
            upper = self.pick(["l", "min(l, n)"])
        elif self.random.random() < 0.05:
            self.put(f"{variable} = 2")
            lower = variable
        self.put(f"do {variable} = {lower}, {upper}{step}")
        self.indent += "  "
        kind = self.random.random()
        if kind < 0.3:
            inner = "k"
            self.put(f"do {inner} = 1, n")
            self.put(f"  {self.pick(MATRICES)}({self.small([inner])},{self.small([variable])}) = "
                     f"{self.value([variable, inner])}")  # fmt: skip
            self.put("end do")
        elif kind < 0.5:
            self.put(f"w = {self.value([variable])}")
            self.put(f"{self.element([variable])} = w + 1")
        elif kind < 0.7:
            relation = self.pick(["== 1", "== n", "> 2", "< n", "/= 1", "<= m"])
            self.put(f"if ({variable} {relation}) then")
            self.put(f"  {self.element([variable])} = {self.value([variable])}")
            if self.random.random() < 0.6:
                self.put("else")
                self.put(f"  {self.element([variable])} = {self.value([variable])}")
            self.put("end if")
        else:
            for _ in range(self.random.randint(1, 2)):
                self.put(f"{self.element([variable])} = {self.value([variable])}")
        if changes_bound:
            self.put("l = 2")
            self.put(f"{self.element([variable])} = {self.value([variable])}")
        self.indent = self.indent[:-2]
        self.put("end do")
        if self.random.random() < 0.15:
            self.put(f"s = 0.5d0*s + {self.pick([variable, 'l'])}")

    def outer_loop(self, depth: int) -> None:
        self.put("do k = 1, 2")
        self.indent += "  "
        self.statements_without_k(self.random.randint(2, 4), depth + 1)
        self.indent = self.indent[:-2]
        self.put("end do")

    def statements_without_k(self, count: int, depth: int) -> None:
        for _ in range(count):
            choice = self.random.random()
            if choice < 0.4:
                self.communication()
            elif choice < 0.75:
                self.simple_loop()
            else:
                self.section()

    def simple_loop(self) -> None:
        variable = self.pick("ij")
        self.put(f"do {variable} = 1, n")
        self.put(f"  {self.element([variable])} = {self.value([variable])}")
        self.put("end do")

    def branch(self, depth: int) -> None:
        self.put(f"if (seed > {self.random.randint(0, 3)}) then")
        self.indent += "  "
        for _ in range(self.random.randint(1, 3)):
            self.pick_one([self.communication, self.communication, self.simple_loop, self.section])
        if self.random.random() < 0.3:
            self.lines.append(f"{self.indent[:-2]}else")
            self.communication()
        self.indent = self.indent[:-2]
        self.put("end if")

    def pick_one(self, actions: list[object]) -> None:
        self.random.choice(actions)()  # type: ignore[operator]

    def section(self) -> None:
        low, high = self.pick([("1", "n"), ("2", "n-1"), ("0", "n+1"), ("1", "m"), ("m", "n")]).strip("()").split(", ")
        low, high = low.strip("'"), high.strip("'")
        one, other = self.random.sample(VECTORS, 2)
        if self.random.random() < 0.5:
            self.put(f"{one}({low}:{high}) = 0.5d0*{other}({low}:{high}) + {self.random.randint(1, 3)}")
        elif self.random.random() < 0.5:
            self.put(f"{one} = 0.5d0*{other} + {self.random.randint(1, 3)}")
        else:
            p, q = self.random.sample(MATRICES, 2)
            self.put(f"{p}(:,{self.small([])}) = 0.5d0*{q}(:,{self.small([])}) + 1")

    def communication(self) -> None:
        one, other = self.random.sample(VECTORS, 2)
        p, q = self.random.sample(MATRICES, 2)
        column, another = self.small([]), self.small([])
        r = "MPI_DOUBLE_PRECISION"
        last = "MPI_COMM_WORLD, ierr"
        start = self.pick(["-2", "0", "1", "2"])
        calls = [
            f"MPI_Bcast({one}({start}), {self.pick(['1', 'm', 'n', 'n+1'])}, {r}, 0, {last})",
            f"MPI_Bcast({one}, n+6, {r}, 0, {last})",
            f"MPI_Bcast({one}(1:n), n, {r}, 0, {last})",
            f"MPI_Bcast({p}(0,{column}), n+2, {r}, 0, {last})",
            f"MPI_Bcast({p}(1,{column}), n, {r}, 0, {last})",
            f"MPI_Bcast({p}(:,{column}), n+2, {r}, 0, {last})",
            f"MPI_Bcast({self.pick('stw')}, 1, {r}, 0, {last})",
            f"MPI_Allreduce({one}(1), {other}(1), n, {r}, MPI_MAX, {last})",
            f"MPI_Allreduce({one}(0), {other}(n), {self.pick(['1', '2'])}, {r}, MPI_MAX, {last})",
            f"MPI_Allreduce(s, t, 1, {r}, MPI_MAX, {last})",
            f"MPI_Reduce({one}, {other}, n+6, {r}, MPI_MAX, 0, {last})",
            f"MPI_Alltoall({one}(1), m, {r}, {other}(1), m, {r}, {last})",
            f"MPI_Alltoall({one}(1:n), m, {r}, {other}(1:n), m, {r}, {last})",
            f"MPI_Allgather({one}(1), m, {r}, {other}(1), m, {r}, {last})",
            f"MPI_Allgather({p}(0,{column}), 1, {r}, {q}(0,{another}), 1, {r}, {last})",
            f"MPI_Send({one}({start}), {self.pick(['1', 'm', 'n'])}, {r}, 0, 1, {last})",
            f"MPI_Recv({one}({start}), {self.pick(['1', 'm', 'n'])}, {r}, 0, 1, MPI_COMM_WORLD, "
            "MPI_STATUS_IGNORE, ierr)",
            f"MPI_Recv({p}(0,{column}), n+2, {r}, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)",
        ]
        self.put(f"call {self.pick(calls)}")

    def through_the_message(self) -> None:
        """A collective between loops that go through what is sent and received."""
        one, other = self.random.sample(VECTORS, 2)
        variable, r, last = self.pick("ij"), "MPI_DOUBLE_PRECISION", "MPI_COMM_WORLD, ierr"
        if self.random.random() < 0.3:
            self.put(f"do {variable} = 1, {self.pick(['n', 'm'])}")
            self.put("  do k = 1, n")
            self.put(f"    g(k,{variable}) = {self.value([variable, 'k'])}")
            self.put("  end do")
            self.put("end do")
            calls = [
                f"MPI_Allreduce(g, h, n*n, {r}, MPI_MAX, {last})",
                f"MPI_Bcast(g(1,1), n*n, {r}, 0, {last})",
                f"MPI_Bcast(g(1,2), n*m, {r}, 0, {last})",
                f"MPI_Reduce(g(:,m), h(:,1), n, {r}, MPI_MAX, 0, {last})",
            ]
            self.put(f"call {self.pick(calls)}")
            self.put(f"do {variable} = {self.pick('12')}, n")
            self.put("  do k = 1, n")
            self.put(
                f"    {self.pick('pq')}(k,{variable}) = h(k,{variable}) + g({self.pick(['1', 'k', 'n'])},{variable})"
            )
            self.put("  end do")
            self.put("end do")
            return
        self.put(f"do {variable} = {self.pick('12')}, {self.pick(['n', 'm', 'n-1'])}")
        self.put(f"  {one}({self.subscript([variable])}) = {self.value([variable])}")
        self.put("end do")
        if self.random.random() < 0.3:
            self.put(f"s = 0.5d0*s + {self.pick(['m', '1'])}")
        count = self.pick(["n", "n", "n+1", "m"])
        begin, other_begin = self.pick(["1", "1", "0", "2", "-1"]), self.pick(["1", "1", "0", "2"])
        calls = [
            f"MPI_Allreduce({one}({begin}), {other}({other_begin}), {count}, {r}, MPI_MAX, {last})",
            f"MPI_Allreduce({one}, {other}, n+6, {r}, MPI_MAX, {last})",
            f"MPI_Bcast({one}({begin}:{begin}+{count}-1), {count}, {r}, 0, {last})",
            f"MPI_Reduce({one}({begin}), {other}({begin}), {count}, {r}, MPI_MAX, 0, {last})",
        ]
        self.put(f"call {self.pick(calls)}")
        self.put(f"do {variable} = {self.pick('112')}, {self.pick(['n', 'n', 'n-1', 'm'])}")
        source = self.pick([one, other])
        self.put(f"  {self.element([variable])} = 0.5d0*{source}({self.pick([variable, variable, variable + '+1'])}) "
                 f"+ {self.value([variable])}")  # fmt: skip
        self.put("end do")

    def stages(self) -> None:
        """A loop that makes a message and needs what it gives, in arrays of its own or not."""
        r, last = "MPI_DOUBLE_PRECISION", "MPI_COMM_WORLD, ierr"
        sent, got = self.random.sample(["u", "v", "x", "u", self.pick(VECTORS)], 2)
        if sent == got:
            got = "x"
        begin, is_short, is_simple = self.pick("112"), self.random.random() < 0.3, self.random.random() < 0.7
        count = self.pick(["n", "n", "m"]) if is_short else "n"
        first = self.pick(["", "(1)"]) if "x" not in (sent, got) and {sent, got} <= set("uv") else "(1)"
        call = self.pick("aaasb")
        self.put(f"do k = {begin}, {self.pick(['2', '3', 'n'])}")
        self.indent += "  "
        for name in (sent, got):
            if is_short:
                self.put(f"if (k == {begin}) {name} = 5")  # what is not written later keeps a value
            elif name == "x":
                self.put("x(0) = k")
        for name in (got, sent) if self.random.random() < 0.3 else (sent,):
            low, high = (self.pick("12"), self.pick(["n", "n-1"])) if is_short else ("1", "n")
            made = f"a({self.subscript(['i'])}) + k" if is_simple else self.value(["i", "k"])
            self.put(f"do i = {low}, {high}")
            self.put(f"  {name}(i) = {made}")
            self.put("end do")
        if self.random.random() < 0.3:
            self.put(f"{self.pick('st')} = {self.pick(['k', '2*k'])}")
        if call == "a":
            self.put(f"call MPI_Allreduce({sent}{first}, {got}{first}, {count}, {r}, MPI_MAX, {last})")
        elif call == "s":
            self.put(f"call MPI_Send({sent}(1), {count}, {r}, 0, 1, {last})")
        else:
            self.put(f"call MPI_Bcast({sent}(1), {count}, {r}, 0, {last})")
        needed = got if call == "a" else sent
        for _ in range(self.random.randint(1, 2)):
            self.put(f"do j = 1, {self.pick(['n', 'm'])}")
            target = "e(j)" if is_simple else self.element(["j", "k"])
            self.put(f"  {target} = 0.5d0*{self.pick([needed, needed, sent])}(j) + {self.value(['j', 'k'])}")
            self.put("end do")
        self.indent = self.indent[:-2]
        self.put("end do")

    def halo(self) -> None:
        """Messages into the cells outside 1 to n, and a loop that reads its neighbours."""
        one, other = self.random.sample(VECTORS, 2)
        r = "MPI_DOUBLE_PRECISION"
        if self.random.random() < 0.5:
            p, q = self.random.sample(MATRICES, 2)
            self.put(f"call MPI_Sendrecv({p}(0,n), n+2, {r}, 0, 1, {p}(0,0), n+2, {r}, 0, 1, MPI_COMM_WORLD, "
                     "MPI_STATUS_IGNORE, ierr)")  # fmt: skip
            self.put("do j = 1, n")
            self.put("  do k = 1, n")
            self.put(f"    {q}(k,j) = 0.5d0*({p}(k,j-1) + {self.pick(MATRICES)}(k,j+1))")
            self.put("  end do")
            self.put("end do")
            return
        for cell, edge in self.random.sample([("0", "n"), ("n+1", "1")], self.random.randint(1, 2)):
            self.put(f"call MPI_Sendrecv({one}({edge}), 1, {r}, 0, 1, {one}({cell}), 1, {r}, 0, 1, MPI_COMM_WORLD, "
                     "MPI_STATUS_IGNORE, ierr)")  # fmt: skip
        target = self.pick([other, other, other, one])
        low, high = self.pick(["1", "m"]), self.pick(["n", "n", "n-1"])
        self.put(f"do i = {low}, {high}")
        self.put(f"  {target}(i) = 0.5d0*({one}(i-1) + {one}({self.pick(['i+1', 'n+1-i', 'i'])})) + {self.pick('stw')}")
        self.put("end do")


def helper() -> str:
    return """subroutine mix(x, y, n)
  implicit none
  integer, intent(in) :: n
  real(8), intent(inout) :: x(-2:n+3), y
  integer :: i
  do i = 1, n
    x(i) = 0.5d0*x(i) + 0.125d0*y
  end do
  y = 0.5d0*y + 1
end subroutine mix

"""


def random_file(seed: int, count: int) -> str:
    """A file with `count` subroutines and a main program, which prints a checksum of all arrays for each."""
    names = [f"case_{number}" for number in range(count)]
    text = helper()
    for number, name in enumerate(names):
        text += "\n".join(Generator(random.Random(f"{seed}/{number}")).subroutine(name))
    calls = "\n".join(
        f"  call prepare()\n  call {name}({SIZE}, a, b, c, d, e, p, q, {i % 4})\n  call check({i})"
        for i, name in enumerate(names)
    )
    return f"""{text}program all_cases
  implicit none
  real(8) :: a(-2:{SIZE + 3}), b(-2:{SIZE + 3}), c(-2:{SIZE + 3}), d(-2:{SIZE + 3}), e(-2:{SIZE + 3})
  real(8) :: p(0:{SIZE + 1},0:{SIZE + 1}), q(0:{SIZE + 1},0:{SIZE + 1})
{calls}
contains
  subroutine prepare()
    integer :: i, j
    call restart()
    do i = -2, {SIZE + 3}
      a(i) = i
      b(i) = 3 * i + 1
      c(i) = 7 - i
      d(i) = mod(5 * i + 20, 11)
      e(i) = 2 * i
    end do
    do j = 0, {SIZE + 1}
      do i = 0, {SIZE + 1}
        p(i,j) = mod(i * 7 + j * 3, 13)
        q(i,j) = mod(i * 5 + j * 11, 17)
      end do
    end do
  end subroutine
  subroutine check(number)
    integer, intent(in) :: number
    integer :: pending
    call num_pending(pending)
    print '(i0,1x,i0,7(1x,z16.16))', number, pending, hash(a), hash(b), hash(c), hash(d), hash(e), &
      hash(reshape(p, [size(p)])), hash(reshape(q, [size(q)]))
  end subroutine
  integer(8) function hash(x)
    real(8), intent(in) :: x(:)
    integer :: i
    hash = 0
    do i = 1, size(x)
      hash = ieor(ishftc(hash, 7), transfer(x(i), hash))
    end do
  end function
end program all_cases
"""
