# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The hocket authors

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyHocket(PythonPackage):
    """Makes the communication of an unmodified MPI program faster on the network it has."""

    homepage = "https://hocket.example"
    pypi = "hocket/hocket-0.1.0.tar.gz"

    license("Apache-2.0")

    version("0.1.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("sweep", default=True, description="Campaigns: rows as Parquet, frames, pictures")
    variant("dask", default=False, description="Campaigns on a Dask cluster")

    depends_on("cxx", type="build")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-scikit-build-core@0.11:", type="build")
    depends_on("py-nanobind@2.9:", type="build")
    depends_on("cmake@3.21:", type=("build", "run"))
    depends_on("mpi", type="run")  # the MPI parts are built on first use, once for each MPI

    depends_on("py-click@8.1:", type=("build", "run"))
    depends_on("py-filelock@3.12:", type=("build", "run"))
    depends_on("py-jinja2@3.1:", type=("build", "run"))
    depends_on("py-numpy@1.26:", type=("build", "run"))
    depends_on("py-platformdirs@4:", type=("build", "run"))
    depends_on("py-psutil@5.9:", type=("build", "run"))
    depends_on("py-pyroute2@0.7:", type=("build", "run"))
    depends_on("py-rich@13:", type=("build", "run"))
    depends_on("py-scipy@1.11:", type=("build", "run"))

    with when("+sweep"):
        depends_on("py-pyarrow@15:", type=("build", "run"))
        depends_on("py-pandas@2:", type=("build", "run"))
        depends_on("py-matplotlib@3.8:", type=("build", "run"))
    with when("+dask"):
        depends_on("py-distributed@2024.1:", type=("build", "run"))
        depends_on("py-dask-jobqueue@0.8:", type=("build", "run"))

    conflicts("%gcc@:11", msg="hocket is C++20: gcc 12 or later")
