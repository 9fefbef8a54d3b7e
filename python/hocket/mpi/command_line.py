# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""Reading the command line of a launcher: its options, where its program stands, how many ranks it starts."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hocket.errors import InvalidInput

_EXAMPLE = "give the whole command, for instance: mpiexec -n 8 ./app"
# Options of Open MPI's and MPICH's mpiexec that take no value, and two; the others take one.
_WITHOUT_VALUE = frozenset(
    "allow-run-as-root oversubscribe nooversubscribe map-by-node nolocal pernode use-hwthread-cpus display-map "
    "display-allocation report-bindings bind-to-none bind-to-core tag-output timestamp-output verbose v quiet q l "
    "prepend-rank genvall genvnone envall envnone do-not-launch leave-session-attached enable-recovery "
    "disable-hostname-propagation".split()
)
_WITH_TWO_VALUES = frozenset({"mca", "gmca", "omca", "prtemca", "pmixmca", "genv", "env"})
_OR_AS_ONE = frozenset({"genv", "env"})  # of MPICH: NAME VALUE or NAME=VALUE
# Options whose one value may be the path of an executable.
_WITH_EXECUTABLE = frozenset({"launcher", "launcher-exec", "bootstrap", "bootstrap-exec", "rmk", "prefix", "debugger"})
_MPIEXEC_COUNTS = ("-n", "-np", "--np", "--n", "-c")


@dataclass(frozen=True)
class _Manager:
    """A batch system's launcher, which reads its options as getopt_long does."""

    short: Mapping[str, str]  # letter -> long name
    without_value: frozenset[str]  # long names, or letters that have none
    may_have_value: frozenset[str] = frozenset()  # only behind `=`, or right behind the letter
    variables: Mapping[str, str] = field(default_factory=dict)  # option -> what gives it in the environment


_MANAGERS = {
    "srun": _Manager(
        {"n": "ntasks", "N": "nodes", "w": "nodelist", "m": "distribution"},
        frozenset(
            "preserve-env hold no-kill kill-on-bad-exit label overcommit oversubscribe quiet unbuffered verbose "
            "disable-status contiguous no-allocate overlap exact multi-prog pty quit-on-interrupt reboot spread-job "
            "use-min-nodes resv-ports help usage version whole ignore-pbs async consolidate-segments debugger-test "
            "interactive parsable spread-segments stepmgr test-only wait-for-children "
            "E H h k l O Q s u v V X Z".split()
        ),
        frozenset(
            "immediate compress nice propagate send-libs exclusive bcast x11 external-launcher oom-kill-step "
            "I K".split()
        ),
        {"ntasks": "SLURM_NTASKS", "nodes": "SLURM_NNODES", "ntasks-per-node": "SLURM_NTASKS_PER_NODE"},
    ),
    "flux": _Manager(
        {"n": "ntasks", "N": "nodes"},
        frozenset("exclusive unbuffered label-io verbose quiet dry-run debug help x u l v h".split()),
    ),
}
_PER_NODE = ("ntasks-per-node", "tasks-per-node")


def batch_launcher(command: Sequence[str]) -> str | None:
    """ "srun" or "flux" where a batch system starts the program itself; None for mpiexec and its like."""
    name = Path(command[0]).name
    return name if name in _MANAGERS else None


def has_program(command: Sequence[str]) -> bool:
    """Whether there is a word behind the launcher's options."""
    return _read(command)[1] < len(command)


def program_index(command: Sequence[str]) -> int:
    """Where the program's name stands in the command. Raises InvalidInput if there is no program that can be run."""
    i = _read(command)[1]
    if i >= len(command):
        raise InvalidInput(f"the command names no program: {' '.join(command)}", hint=_EXAMPLE)
    if shutil.which(command[i]) is None:
        raise InvalidInput(f"{command[i]}: no such program, or it is not executable", hint=_EXAMPLE)
    return i


def option_values(command: Sequence[str]) -> dict[str, str]:
    """Options of srun or flux by their long names, those without a value with ""; empty for other launchers."""
    return dict(_read(command)[0])


def num_ranks(command: Sequence[str]) -> int | None:
    """The number of ranks that the launcher's options ask for, over all parts of `a : b`; None if they do not say."""
    counts = [_ranks_of(part) for part in parts_of(command)]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def parts_of(command: Sequence[str]) -> list[list[str]]:
    """Those of a command that starts several programs, `a : b`, each with the launcher in front."""
    if batch_launcher(command) == "flux":
        return [list(command)]
    parts: list[list[str]] = [[command[0]]]
    for word in command[1:]:
        if word == ":":
            parts.append([command[0]])
        else:
            parts[-1].append(word)
    return parts


def count_options(command: Sequence[str]) -> tuple[str, ...]:
    """Options whose value, the next word, is the number of ranks."""
    return ("-n", "--ntasks") if batch_launcher(command) else _MPIEXEC_COUNTS


def with_program(command: Sequence[str], program: Sequence[str]) -> list[str]:
    """The same launcher and options with another program."""
    require_one_program(command)
    return [*command[: program_index(command)], *program]


def with_hosts(command: Sequence[str], hosts: str, family: str) -> tuple[str, ...]:
    """The launcher with these hosts to start ranks on, `a,b,c`, by the option of its MPI's family."""
    names = hosts.split(",")
    if not all(names):
        raise InvalidInput(f"--hosts {hosts}: a name is empty", "expected names with commas between them: a,b,c")
    manager = batch_launcher(command)
    if manager == "flux":
        raise InvalidInput(
            "--hosts does not apply to flux, which has no option for the host of each rank",
            "choose the hosts by flux's own --requires=hosts:..., or start the ranks with the MPI's mpiexec",
        )
    if manager == "srun":
        options = [f"--nodelist={hosts}", "--distribution=arbitrary", f"--nodes={len(set(names))}"]
        given = option_values(command)
        options += [] if "ntasks" in given else [f"--ntasks={len(names)}"]
        return (command[0], *options, *command[1:])
    return (command[0], "--host" if family == "openmpi" else "-hosts", hosts, *command[1:])


def require_one_program(command: Sequence[str]) -> None:
    if len(parts_of(command)) > 1:
        raise InvalidInput(
            "the command starts several programs (`:`), whose collectives cannot be measured one by one",
            "`hocket record`, `hocket advise` and `hocket run` serve such commands",
        )


def _read(command: Sequence[str]) -> tuple[list[tuple[str, str]], int]:
    """The options of a batch system's launcher, and where the program stands for any launcher."""
    manager = batch_launcher(command)
    return ([], _program_of_mpiexec(command)) if manager is None else _read_options(command, manager)


def _program_of_mpiexec(command: Sequence[str]) -> int:
    i = 1
    while i < len(command) and command[i].startswith("-"):
        option = command[i].lstrip("-")
        if "=" in option or option in _WITHOUT_VALUE:
            i += 1
        elif option in _WITH_TWO_VALUES:
            i += 2 if option in _OR_AS_ONE and "=" in "".join(command[i + 1 : i + 2]) else 3
        else:  # one value; an unknown option may have none
            following = command[i + 1] if i + 1 < len(command) else "-"
            is_program = os.sep in following and shutil.which(following) is not None
            i += 1 if following.startswith("-") or (is_program and option not in _WITH_EXECUTABLE) else 2
    return i


def _read_options(command: Sequence[str], manager: str) -> tuple[list[tuple[str, str]], int]:
    kind, i = _MANAGERS[manager], 1
    if manager == "flux":
        i = _after_flux_run(command)
    found: list[tuple[str, str]] = []
    while i < len(command) and command[i].startswith("-") and command[i] != "-":
        word = command[i]
        i += 1
        if word == "--":
            break
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            name = _whole_name(name, kind)
            takes_next = not equals and name not in kind.without_value | kind.may_have_value
        else:
            letters = word[1:]
            while letters[1:] and letters[0] in kind.without_value:
                letters = letters[1:]
            name, value = kind.short.get(letters[0], letters[0]), letters[1:].removeprefix("=")
            takes_next = not value and letters[0] not in kind.without_value | kind.may_have_value
        if takes_next:
            value = command[i] if i < len(command) else ""
            i += 1
        found.append((name, value))
    return found, min(i, len(command))


def _whole_name(name: str, kind: _Manager) -> str:
    """getopt_long takes the beginning of a name: here of those that have no value or are looked for."""
    known = kind.without_value | kind.may_have_value | set(kind.short.values()) | {*_PER_NODE, "export", "env"}
    if name in known:
        return name
    matching = [other for other in known if len(other) > 1 and other.startswith(name)]
    return matching[0] if len(matching) == 1 else name


def _after_flux_run(command: Sequence[str]) -> int:
    for i, word in enumerate(command[1:], 1):
        if word == "run":
            return i + 1
        if not word.startswith("-") and word != "mini":
            break
    raise InvalidInput(
        f"hocket does not know `{' '.join(command[:3])}`", "start the program with `flux run`, which waits for its end"
    )


def _ranks_of(part: Sequence[str]) -> int | None:
    manager = batch_launcher(part)
    if manager is None:
        return _ranks_of_mpiexec(part[1 : _program_of_mpiexec(part)])
    # In a job srun takes the allocation's number of tasks, whatever --nodes and --ntasks-per-node say.
    variables = {option: os.environ.get(name, "") for option, name in _MANAGERS[manager].variables.items()}
    given = {**variables, **option_values(part)}
    tasks = _number(given.get("ntasks"))
    if tasks is not None:
        return tasks
    nodes = _number(given.get("nodes"))
    each = next((count for name in _PER_NODE if (count := _number(given.get(name))) is not None), None)
    return None if nodes is None or each is None else nodes * each


def _ranks_of_mpiexec(options: Sequence[str]) -> int | None:
    for option, value in zip(options, [*options[1:], ""], strict=False):
        if option in _MPIEXEC_COUNTS and (option != "-c" or value.isdigit()):  # -c has other uses with some MPIs
            return _count(f"{option} {value}", value)
        if match := re.fullmatch(r"(?:-n|--np=)(\d+)", option):
            return _count(option, match[1])
    return None


def _count(words: str, value: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", value) or int(value) == 0:
        raise InvalidInput(
            f"{words}: no number of ranks", "accepted: a whole number from 1 on, as in mpiexec -n 8 ./app"
        )
    return int(value)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None
