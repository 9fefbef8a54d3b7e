# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

"""The testbed's remote shell: a script named `ssh` that enters the namespaces of a host by nsenter (util-linux).

A shell script, because MPI launchers start one per host and a Python interpreter costs ten times as much.
"""

from __future__ import annotations

from collections.abc import Mapping

from hocket.testbed.layout import Host

_SCRIPT = """\
#!/bin/sh
# ssh [OPTIONS] HOST [COMMAND...]: runs COMMAND by the shell of another host of this testbed.
while [ $# -gt 0 ]; do
    case $1 in
    -[bcDEeFIiJLlmOopQRSWw]) shift 2 || shift ;;
    -*) shift ;;
    *) break ;;
    esac
done
if [ $# -eq 0 ]; then
    echo "ssh: no host given" >&2
    exit 255
fi
host=${1#*@}
shift
case $host in
%(cases)s
*)
    echo "ssh: host '$host' is not in this testbed (%(names)s)" >&2
    exit 255
    ;;
esac
export HOSTNAME="$name"
if [ $# -eq 0 ]; then
    exec nsenter $enter sh
fi
exec nsenter $enter sh -c "$*"
"""


def agent_script(hosts: Mapping[Host, Mapping[str, str]]) -> str:
    """`hosts`: for each host, the option of nsenter (`net`, `uts`, ...) -> path of the namespace."""
    cases = []
    for host, paths in hosts.items():
        enter = " ".join(f"--{kind}={path}" for kind, path in paths.items())
        cases.append(f"{host.name} | {host.address}) name={host.name} enter='{enter}' ;;")
    return _SCRIPT % {"cases": "\n".join(cases), "names": " ".join(host.name for host in hosts)}
