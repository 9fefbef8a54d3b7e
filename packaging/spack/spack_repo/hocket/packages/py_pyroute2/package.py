# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyPyroute2(PythonPackage):
    """Netlink library for Python: links, addresses, routes and network namespaces of Linux."""

    homepage = "https://github.com/svinota/pyroute2"
    pypi = "pyroute2/pyroute2-0.9.7.tar.gz"

    license("Apache-2.0 OR GPL-2.0-or-later")

    version("0.9.7", sha256="a678b098478c46ec51d6bf9a03c3cd2ac0172dffa590e9e8c1eeab633d0c17c6")

    depends_on("python@3.9:", type=("build", "run"))
    depends_on("py-setuptools", type="build")
